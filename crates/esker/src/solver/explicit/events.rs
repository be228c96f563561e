//! What only soft contacts ask for between two steps: pairs of fixed grains, walls that jump, how fast walls come near.

use crate::boundary::MotionPart;
use crate::math::{Pose, Vec3};
use crate::measure::energy;
use crate::model::{Model, Wall};
use crate::neighbor::Candidates;
use crate::particles::Particles;
use crate::state::State;
use rayon::prelude::*;

/// Two fixed grains never act on each other.
pub fn drop_fixed_pairs(p: &Particles, candidates: &mut Candidates) {
    let n = p.owned();
    let fixed = (0..n).into_par_iter().with_min_len(4096).find_first(|&i| p.is_fixed(i));
    let Some(first) = fixed else { return };
    // In place: rows before the first fixed grain stay as they are.
    let mut end = candidates.start[first] as usize;
    let mut begin = end;
    for i in first..n {
        let row = begin..candidates.start[i + 1] as usize;
        begin = row.end;
        if p.is_fixed(i) {
            for k in row {
                let j = candidates.partner[k];
                if !p.is_fixed(candidates.identity(j).0 as usize) {
                    candidates.partner[end] = j;
                    end += 1;
                }
            }
        } else {
            candidates.partner.copy_within(row.clone(), end);
            end += row.len();
        }
        candidates.start[i + 1] = end as u32;
    }
    candidates.partner.truncate(end);
}

/// Bound of the speed at which the surface of a wall can come nearer to a resting grain \[m/s\]: zero for a drum that
/// turns about its own axis.
pub fn approach_speed(wall: &Wall, base: &Pose) -> f64 {
    let local = |through: Vec3, axis: Vec3| (base.to_local(through), base.orientation.conjugate() * axis);
    let rest = wall.motion_of_surface(base);
    let pivot_distance = |part: &MotionPart| match part {
        MotionPart::Rotate { through, axis, .. }
        | MotionPart::Swing { through, axis, .. }
        | MotionPart::Schedule { through, axis, .. } => {
            let (through, axis) = local(*through, *axis);
            wall.surface.extent_from(through, axis)
        }
        _ => 0.0,
    };
    rest.speed_bound(rest.parts.iter().map(pivot_distance).fold(0.0, f64::max))
}

/// Lets walls jump that are due to before `t + dt`: their contacts open, and the energy of these is booked.
pub fn jump(model: &Model, state: &mut State, jumping: &[usize]) {
    let before = energy::mechanical(model, state);
    state.contacts.walls.retain(|c| !jumping.contains(&(c.wall as usize)));
    state.ledger.switched += energy::mechanical(model, state) - before;
}

/// Walls that jump before the forces of the step that begins at `begin`, which are taken at `force_time`.
pub fn jumping(model: &Model, state: &State, begin: f64, force_time: f64) -> Vec<usize> {
    let half_way = model.integrator.scheme().half_way();
    let last = if half_way { begin - (force_time - begin) } else { begin };
    (0..model.walls.len())
        .filter(|&w| {
            let since = state.walls[w].since;
            model.walls[w].motion.jump_between(last - since, force_time - since) != Vec3::ZERO
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::{Leg, Motion, Polyline, Shell, Surface};
    use std::sync::Arc;

    fn speed(surface: Surface, legs: Vec<Leg>) -> f64 {
        speed_about(Vec3::Z, surface, legs)
    }

    fn speed_about(axis: Vec3, surface: Surface, legs: Vec<Leg>) -> f64 {
        let motion = Motion { parts: vec![MotionPart::Schedule { through: Vec3::X, axis, legs }] };
        let wall = Wall { name: "w".into(), material: 0, surface: Arc::new(surface), motion, active: true };
        approach_speed(&wall, &Pose::IDENTITY)
    }

    #[test]
    fn a_chain_that_turns_comes_nearer_no_faster_than_its_farthest_point_moves() {
        let chain = Polyline::segment(Vec3::ZERO, Vec3::new(4.0, 4.0, 0.0)).unwrap();
        let legs = vec![Leg { duration: 1.0, velocity: Vec3::ZERO, rate: -2.0 }];
        assert!((speed(Surface::Polyline(chain.clone()), legs.clone()) - 10.0).abs() < 1e-12);
        // About an axis in its plane what is far above sweeps fast.
        assert_eq!(speed_about(Vec3::Y, Surface::Polyline(chain), legs), f64::INFINITY);
    }

    #[test]
    fn a_scheduled_spin_about_the_own_axis_brings_nothing_nearer_and_a_shift_does() {
        let drum = Surface::Shell(Shell::new(Vec3::X, 2.0).unwrap());
        let spin = Leg { duration: 1.0, velocity: Vec3::ZERO, rate: 3.0 };
        assert_eq!(speed(drum.clone(), vec![spin]), 0.0);
        assert!(speed(drum, vec![spin, Leg { velocity: 0.5 * Vec3::Y, ..spin }]) >= 0.5);
    }
}
