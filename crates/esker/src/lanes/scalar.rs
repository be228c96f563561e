//! One contact at a time, for processors without wide vectors.

use super::{Lane, Quad, Record, Targets, quad, record};

impl Lane for f64 {
    const N: usize = 1;
    type Mask = bool;

    #[inline(always)]
    fn splat(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> f64 {
        // SAFETY: the caller's.
        unsafe { *from }
    }
    #[inline(always)]
    unsafe fn load_where(mask: bool, from: *const f64) -> f64 {
        // SAFETY: the caller's.
        if mask { unsafe { *from } } else { 0.0 }
    }
    #[inline(always)]
    unsafe fn load_single_where(mask: bool, from: *const f32) -> f64 {
        // SAFETY: the caller's.
        if mask { unsafe { *from }.into() } else { 0.0 }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller's.
        unsafe { *to = self }
    }
    #[inline(always)]
    unsafe fn store_single(self, to: *mut f32) {
        // SAFETY: the caller's.
        unsafe { *to = self as f32 }
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
    fn min(self, other: f64) -> f64 {
        if self < other { self } else { other }
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
    fn mask(bits: u8) -> bool {
        bits & 1 == 1
    }

    #[inline(always)]
    unsafe fn records(v: *const Record, indices: *const u32) -> [f64; 8] {
        // SAFETY: the caller's.
        unsafe { *v.add(*indices as usize) }
    }
    #[inline(always)]
    unsafe fn places(x: *const Quad, i: *const u32, j: *const u32) -> [f64; 4] {
        // SAFETY: the caller's.
        let (a, b) = unsafe { (&*quad(x, *i).cast::<Quad>(), &*quad(x, *j).cast::<Quad>()) };
        [b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] + a[3]]
    }
    #[inline(always)]
    unsafe fn centres(x: *const Quad, i: *const u32, j: *const u32) -> [f64; 5] {
        // SAFETY: the caller's.
        unsafe {
            let [a, b, c, reach] = Self::places(x, i, j);
            [a, b, c, reach, *quad(x, *i).add(3)]
        }
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
    unsafe fn scatter(rows: &[f64; 8], levers: &[Record; 2], i: *const u32, j: *const u32, to: &Targets) {
        // SAFETY: the caller's.
        unsafe {
            let (r, s) = (levers[0][0], levers[1][0]);
            let a = &mut *to.of(0, *i).cast::<Record>();
            for k in 0..8 {
                a[k] += if (4..7).contains(&k) { rows[k] * r } else { rows[k] };
            }
            let b = &mut *to.of(1, *j).cast::<Record>();
            for k in 0..3 {
                b[k] -= rows[k];
                b[k + 4] += rows[k + 4] * s;
            }
        }
    }
}
