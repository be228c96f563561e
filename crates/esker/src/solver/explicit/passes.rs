//! Work cut up among the workers: each has its own part of the columns.

use crate::contact::list::{BLOCK, Segment};
use crate::integrate::Speeds;
use crate::integrate::isotropic::{Columns, Found, Isotropic, Pass};
use crate::law::Dissipation;
use crate::particles::{Motion, Particles};
use rayon::prelude::*;

/// One pass of the fast integration, each worker over its own grains; what was lost is added to the sums of their blocks.
/// Returns bounds of the speeds.
pub fn isotropic_pass(
    scheme: &Isotropic,
    pass: Pass,
    particles: &mut Particles,
    now: &mut [Motion],
    segments: &mut [Segment],
) -> Speeds {
    let n = particles.owned();
    let mut place = &mut particles.place[..n];
    let mut motion = &mut particles.motion[..n];
    let mut now = now;
    let mut load = particles.load.as_mut_slice();
    let mut jobs = Vec::with_capacity(segments.len());
    for segment in segments {
        let own = segment.grains.clone();
        let columns = Columns {
            place: split_off(&mut place, own.len()),
            motion: split_off(&mut motion, own.len()),
            now: (!now.is_empty()).then(|| split_off(&mut now, own.len())),
            load: split_off(&mut load, own.len()),
            mass: &particles.mass[own.clone()],
            kind: &particles.kind[own],
        };
        jobs.push((segment, columns));
    }
    let work = |(segment, columns): (&mut Segment, Columns)| {
        let mut found = Found::NOTHING;
        let Columns { place, motion, mut now, load, mass, kind } = columns;
        for (block, sum) in segment.sums.iter_mut().enumerate() {
            let range = block * BLOCK..place.len().min((block + 1) * BLOCK);
            let columns = Columns {
                place: &mut place[range.clone()],
                motion: &mut motion[range.clone()],
                now: now.as_mut().map(|now| &mut now[range.clone()]),
                load: &mut load[range.clone()],
                mass: &mass[range.clone()],
                kind: &kind[range],
            };
            let here = scheme.pass(pass, columns);
            let [damping, friction] = here.lost;
            sum.dissipated += Dissipation { damping, friction, rolling: 0.0 };
            found = found.merged(&here);
        }
        found
    };
    let found = if jobs.len() == 1 {
        jobs.into_iter().map(work).fold(Found::NOTHING, |a, b| a.merged(&b))
    } else {
        jobs.into_par_iter().map(work).reduce(|| Found::NOTHING, |a, b| a.merged(&b))
    };
    found.speeds()
}

/// Takes the first `n` entries off a slice.
pub fn split_off<'a, T>(rest: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(rest).split_at_mut(n);
    *rest = others;
    first
}
