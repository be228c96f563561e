//! One contact at a time, for processors without wide vectors.

use super::{Lane, Quad, Record, Spring, Targets, memory, quad, record};

impl Lane for f64 {
    const N: usize = 1;
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn load(from: &Record) -> f64 {
        from[0]
    }
    #[inline(always)]
    fn store(self, to: &mut Record) {
        to[0] = self;
    }
    #[inline(always)]
    fn mul_add(self, b: f64, c: f64) -> f64 {
        self * b + c
    }
    #[inline(always)]
    fn neg_mul_add(self, b: f64, c: f64) -> f64 {
        c - self * b
    }
    #[inline(always)]
    fn div(self, by: f64) -> f64 {
        self / by
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn max(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn less(self, other: f64) -> bool {
        self < other
    }
    #[inline(always)]
    fn select(mask: bool, a: f64, b: f64) -> f64 {
        if mask { a } else { b }
    }
    #[inline(always)]
    fn bits(mask: bool) -> u8 {
        mask.into()
    }

    #[inline(always)]
    unsafe fn places(x: *const Quad, i: *const u32, j: *const u32) -> [f64; 4] {
        // SAFETY: the caller's.
        let (a, b) = unsafe { (&*quad(x, *i).cast::<Quad>(), &*quad(x, *j).cast::<Quad>()) };
        [b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] + a[3]]
    }
    #[inline(always)]
    unsafe fn radii(x: *const Quad, i: *const u32) -> f64 {
        // SAFETY: the caller's.
        unsafe { *quad(x, *i).add(3) }
    }
    #[inline(always)]
    unsafe fn motions(v: *const Record, i: *const u32, j: *const u32, levers: &[Record; 2]) -> [f64; 8] {
        // SAFETY: the caller's.
        let (a, b) = unsafe { (&*record(v, *i).cast::<Record>(), &*record(v, *j).cast::<Record>()) };
        let (r, s) = (levers[0][0], levers[1][0]);
        std::array::from_fn(|k| match k {
            0..=2 => a[k] - b[k],
            4..=6 => a[k] * r + b[k] * s,
            _ => a[k] + b[k],
        })
    }
    #[inline(always)]
    unsafe fn spins(v: *const Record, i: *const u32, j: *const u32) -> [f64; 3] {
        // SAFETY: the caller's.
        let (a, b) = unsafe { (&*record(v, *i).cast::<Record>(), &*record(v, *j).cast::<Record>()) };
        [a[4] + b[4], a[5] + b[5], a[6] + b[6]]
    }
    #[inline(always)]
    unsafe fn springs(h: *const Spring, k: *const u32) -> [f64; 8] {
        // SAFETY: the caller's.
        let Spring { elastic: [x, y, z, stiffness], dashpot } = unsafe { *memory(h, *k) };
        let [a, b, c, d] = dashpot.map(f64::from);
        [x, y, z, stiffness, a, b, c, d]
    }
    #[inline(always)]
    unsafe fn elastic(h: *const Spring, k: *const u32) -> [f64; 4] {
        // SAFETY: the caller's.
        unsafe { (*memory(h, *k)).elastic }
    }
    #[inline(always)]
    unsafe fn store_springs(rows: [f64; 8], h: *mut Spring, k: *const u32, _: usize) {
        let [x, y, z, stiffness, a, b, c, d] = rows;
        let spring = Spring { elastic: [x, y, z, stiffness], dashpot: [a, b, c, d].map(|f| f as f32) };
        // SAFETY: the caller's.
        unsafe { *memory(h, *k).cast_mut() = spring }
    }
    #[inline(always)]
    unsafe fn scatter(rows: &[f64; 8], levers: &[Record; 2], i: *const u32, j: *const u32, to: &Targets, _: usize) {
        // SAFETY: the caller's.
        unsafe {
            let (r, s) = (levers[0][0], levers[1][0]);
            let a = &mut *to.of(*i).cast::<Record>();
            for k in 0..8 {
                a[k] += if (4..7).contains(&k) { rows[k] * r } else { rows[k] };
            }
            let b = &mut *to.of(*j).cast::<Record>();
            for k in 0..3 {
                b[k] -= rows[k];
                b[k + 4] += rows[k + 4] * s;
            }
        }
    }
}
