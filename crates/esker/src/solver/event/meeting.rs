//! When grains meet that fly in the same field: the hot loop of the solver, several partners at once.

use crate::lanes::{Lane, Record, Vec3s, Width, prefetch};
use crate::math::Vec3;
use crate::particles::Flight;

/// A grain and what it looks for.
pub(super) struct Seeker<'a> {
    pub flights: &'a [Flight],
    pub grain: u32,
    /// Acceleration of all \[m/s²\].
    pub gravity: Vec3,
    /// Meetings at or after this do not matter \[s\].
    pub horizon: f64,
}

/// A meeting: when, and with whom.
pub(super) type Meeting = (f64, u32);

impl Seeker<'_> {
    /// Appends the meetings with the first `count` of some grains, which are to be shifted. The list must be longer by
    /// eight entries than that, all of them grains.
    pub fn meetings(&self, width: Width, grains: &[u32], count: usize, shift: Vec3, found: &mut Vec<Meeting>) {
        let n = self.flights.len();
        assert!(count + 8 <= grains.len(), "the list is longer than what is looked at");
        debug_assert!(grains.iter().all(|&j| (j as usize) < n) && (self.grain as usize) < n);
        // SAFETY: all entries that are read are grains; the width was found on this processor.
        unsafe {
            match width {
                #[cfg(target_arch = "x86_64")]
                Width::Eight => self.eight(grains, count, shift, found),
                #[cfg(target_arch = "x86_64")]
                Width::Four => self.four(grains, count, shift, found),
                _ => self.all::<f64>(grains, count, shift, found),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
    unsafe fn eight(&self, grains: &[u32], count: usize, shift: Vec3, found: &mut Vec<Meeting>) {
        // SAFETY: the caller's.
        unsafe { self.all::<crate::lanes::F64x8>(grains, count, shift, found) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn four(&self, grains: &[u32], count: usize, shift: Vec3, found: &mut Vec<Meeting>) {
        // SAFETY: the caller's.
        unsafe { self.all::<crate::lanes::F64x4>(grains, count, shift, found) }
    }

    /// Seen from each other two grains move on a straight line: |x + v t| = r is quadratic (Gavrilov 1999, eq. (3.8)). Both are
    /// taken to the later of the two beginnings, so that the time depends on nothing but the two flights, to the last bit and
    /// whoever looks. They meet only while they come nearer; those that overlap by rounding and come nearer meet at once; those that graze do not meet.
    #[inline(always)]
    unsafe fn all<L: Lane>(&self, grains: &[u32], count: usize, shift: Vec3, found: &mut Vec<Meeting>) {
        let splat = |v: Vec3| Vec3s::new(L::splat(v.x), L::splat(v.y), L::splat(v.z));
        let a = &self.flights[self.grain as usize];
        let (xa, va, since, radius) = (splat(a.position), splat(a.velocity), L::splat(a.since), L::splat(a.radius));
        let (shift, g, half) = (splat(shift), splat(self.gravity), L::splat(0.5));
        let (zero, horizon) = (L::splat(0.0), L::splat(self.horizon));
        let records: *const Record = self.flights.as_ptr().cast();
        for &j in &grains[..count] {
            prefetch(records.wrapping_add(j as usize));
        }
        let mut k = 0;
        while k < count {
            // SAFETY: the caller's; a flight is a record.
            let [x, y, z, u, v, w, began, r] = unsafe { L::records(records, grains.as_ptr().add(k)) };
            let (xb, vb) = (Vec3s::new(x, y, z), Vec3s::new(u, v, w));
            let t = since.max(began);
            // One of the two is zero: seen from the other side all signs change and nothing else.
            let (sa, sb) = (t - since, t - began);
            let apart = xa - xb - shift;
            let apart = vb.neg_mul_add(sb, va.mul_add(sa, apart));
            let apart = g.mul_add(half * (sa * sa - sb * sb), apart);
            let rate = g.mul_add(sa - sb, va - vb);
            let closing = apart.dot(rate);
            let reach = radius + r;
            let gap = reach.neg_mul_add(reach, apart.dot(apart));
            let square = rate.dot(rate).neg_mul_add(gap, closing * closing);
            let left = if count - k < L::N { (1u16 << (count - k)) as u8 - 1 } else { u8::MAX };
            let (nearing, overlapping) = (L::bits(closing.less(zero)), L::bits(gap.less(zero)));
            let reaching = L::bits(zero.less(square)) & !overlapping;
            let mut bits = nearing & (overlapping | reaching) & left;
            if bits != 0 {
                let wait = L::select(L::mask(reaching), gap.div(square.max(zero).sqrt() - closing), zero);
                let time = t + wait;
                bits &= L::bits(time.less(horizon));
                let mut times = [0.0; 8];
                // SAFETY: a lane has eight numbers at most.
                unsafe { time.store(times.as_mut_ptr()) };
                while bits != 0 {
                    let lane = bits.trailing_zeros() as usize;
                    found.push((times[lane], grains[k + lane]));
                    bits &= bits - 1;
                }
            }
            k += L::N;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn all_widths_find_the_roots_of_the_quadratic_and_both_sides_the_same_bits() {
        let mut random = Stream::new(2, Purpose::Noise, 0);
        let mut draw = |size: f64| {
            Vec3::new(random.between(-size, size), random.between(-size, size), random.between(-size, size))
        };
        let flights: Vec<Flight> = (0..64)
            .map(|k| Flight {
                position: draw(1.0),
                velocity: draw(1.0),
                since: 0.01 * f64::from(k % 7),
                radius: 0.1 + 0.001 * f64::from(k),
            })
            .collect();
        let grains: Vec<u32> = (0..64).chain([0; 8]).collect();
        let (gravity, shift) = (draw(1.0), draw(0.3));
        for width in Width::all() {
            let look = |grain: u32, shift: Vec3| {
                let seeker = Seeker { flights: &flights, grain, gravity, horizon: f64::INFINITY };
                let mut found = Vec::new();
                seeker.meetings(width, &grains, 64, shift, &mut found);
                found
            };
            let mut met = 0;
            for i in 0..64u32 {
                for (time, j) in look(i, shift) {
                    met += 1;
                    let back =
                        look(j, -shift).into_iter().find(|other| other.1 == i).expect("seen from the other side");
                    assert_eq!(back.0.to_bits(), time.to_bits());
                    let at = |f: &Flight| {
                        let s = time - f.since;
                        f.position + s * f.velocity + 0.5 * s * s * gravity
                    };
                    let (a, b) = (&flights[i as usize], &flights[j as usize]);
                    let distance = (at(a) - at(b) - shift).length();
                    let reach = a.radius + b.radius;
                    let begin = a.since.max(b.since);
                    // They touch then, or overlap from the beginning.
                    assert!(
                        (distance - reach).abs() < 1e-13 || time == begin && distance < reach,
                        "{i} {j}: {distance}"
                    );
                }
            }
            assert!(met > 100, "{met}");
        }
    }
}
