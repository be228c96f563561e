//! Which pairs to look at: those that may touch within the next steps, and the records they will need.

use crate::contact::list::Pairs;
use crate::lanes::{Lane, Quad, Spring, Vec3s, offset};

/// Chunks of candidates between asking for the records of grains and using them.
pub(super) const AHEAD: usize = 6;

/// Asks for the records of grains shortly before they are used.
///
/// Pairs are sorted by their first grain and grains by place, so that a grain is met first as the second one of a pair,
/// and the largest index met so far grows steadily: whatever it passes will be needed.
pub(super) struct Frontier {
    /// Offset of the next grain to ask for.
    pub next: u32,
    /// Offset of the first image.
    pub images: u32,
    /// Velocities, mean velocities, loads.
    pub columns: [*const i8; 3],
    /// Places.
    pub place: *const i8,
    /// Offset of the grain at the start of the third column, the loads.
    pub first: u32,
}

impl Frontier {
    /// Asks for what these second grains need.
    #[inline(always)]
    pub fn look_at(&mut self, partners: &[u32]) {
        let mut last = self.next;
        for &j in partners {
            last = last.max(if j < self.images { j } else { 0 });
        }
        // A jump is no steady growth: the grains are not sorted.
        self.next = self.next.max(last.saturating_sub(offset(4096)));
        while self.next < last {
            let at = self.next as usize;
            prefetch(self.place.wrapping_add(at));
            prefetch(self.columns[0].wrapping_add(2 * at));
            prefetch(self.columns[1].wrapping_add(2 * at));
            prefetch(self.columns[2].wrapping_add(2 * at).wrapping_sub(2 * self.first as usize));
            self.next += offset(1);
        }
    }
}

/// Asks for a cache line that will be needed soon.
#[inline(always)]
fn prefetch(line: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(line);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Which of eight pairs have a gap below `gap` \[m\].
#[inline(always)]
pub(super) unsafe fn nearer_than<L: Lane>(x: *const Quad, i: *const u32, j: *const u32, gap: f64) -> u8 {
    let mut bits = 0u8;
    for part in (0..8).step_by(L::N) {
        // SAFETY: the caller's.
        let [a, b, c, radii] = unsafe { L::places(x, i.add(part), j.add(part)) };
        let (d, reach) = (Vec3s::new(a, b, c), radii + L::splat(gap));
        bits |= L::bits(d.dot(d).less(reach * reach)) << part;
    }
    bits
}

/// Steps that the active pairs should last: about as many as make finding them cheap beside looking at all each step.
pub(super) const LASTING: f64 = 12.0;

/// Finds the pairs of the list with a gap below `gap` \[m\].
#[inline(always)]
pub(super) unsafe fn activate<L: Lane>(pairs: &mut Pairs, x: *const Quad, gap: f64) {
    pairs.settle();
    let count = pairs.len();
    let active = &mut pairs.active;
    active.room = gap;
    let mut len = 0;
    active.touching.resize(count / 8 + 2, 0);
    active.springs.clear();
    for column in [&mut active.i, &mut active.j, &mut active.k] {
        column.resize(count.next_multiple_of(8) + 8, 0);
    }
    for group in (0..count).step_by(8) {
        // SAFETY: the list holds whole groups of offsets.
        let mut bits =
            unsafe { nearer_than::<L>(x, pairs.i.as_ptr().add(group), pairs.j.as_ptr().add(group), active.room) };
        if group + 8 > count {
            bits &= (1 << (count - group)) - 1;
        }
        let here: [u32; 8] = std::array::from_fn(|l| (group + l) as u32);
        // SAFETY: there is room for all and eight more.
        unsafe {
            L::pick(bits, here.as_ptr(), active.k.as_mut_ptr().add(len));
            L::pick(bits, pairs.i.as_ptr().add(group), active.i.as_mut_ptr().add(len));
            L::pick(bits, pairs.j.as_ptr().add(group), active.j.as_mut_ptr().add(len));
        }
        // The bits and springs of those that touch, closed up.
        let (mut from, touching) = (bits, pairs.touching[group / 8]);
        while from != 0 {
            let bit = touching >> from.trailing_zeros() & 1;
            active.touching[len / 8] |= bit << (len % 8);
            let k = group + from.trailing_zeros() as usize;
            active.springs.push(if bit == 1 { pairs.springs[k] } else { Spring::default() });
            len += 1;
            from &= from - 1;
        }
    }
    active.len = len;
    active.touching.truncate(len.div_ceil(8));
    for column in [&mut active.i, &mut active.j, &mut active.k] {
        column.truncate(len.next_multiple_of(8));
        column[len..].fill(0);
    }
    for a in active.slot.len()..len.next_multiple_of(8) {
        active.slot.push((a * size_of::<Spring>()) as u32);
    }
}
