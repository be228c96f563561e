//! Eight contacts at once.

use super::{Lane, Quad, Record, Targets, quad, record};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Neg, Sub};

/// Eight numbers in one register.
#[derive(Clone, Copy, Debug)]
pub struct F64x8(__m512d);

// SAFETY of all blocks below: only called where AVX-512 F, VL and DQ are enabled, see `Lane`; pointers are the caller's.

impl Add for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self(unsafe { _mm512_add_pd(self.0, o.0) })
    }
}
impl Sub for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self(unsafe { _mm512_sub_pd(self.0, o.0) })
    }
}
impl Mul for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self(unsafe { _mm512_mul_pd(self.0, o.0) })
    }
}
impl Neg for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(unsafe { _mm512_sub_pd(_mm512_setzero_pd(), self.0) })
    }
}

/// Calls a macro for each of eight contacts.
///
/// Closures would do, but the compiler gives them no instruction set and then leaves calls in the loop.
macro_rules! eight {
    ($m:ident) => {
        [$m!(0), $m!(1), $m!(2), $m!(3), $m!(4), $m!(5), $m!(6), $m!(7)]
    };
}

/// Eight records to eight columns, and back.
#[inline(always)]
unsafe fn transpose(r: [__m512d; 8]) -> [F64x8; 8] {
    unsafe {
        let (a, b) = (_mm512_unpacklo_pd(r[0], r[1]), _mm512_unpacklo_pd(r[2], r[3]));
        let (c, d) = (_mm512_unpacklo_pd(r[4], r[5]), _mm512_unpacklo_pd(r[6], r[7]));
        let [c0, c2, c4, c6] = halves(a, b, c, d);
        let (a, b) = (_mm512_unpackhi_pd(r[0], r[1]), _mm512_unpackhi_pd(r[2], r[3]));
        let (c, d) = (_mm512_unpackhi_pd(r[4], r[5]), _mm512_unpackhi_pd(r[6], r[7]));
        let [c1, c3, c5, c7] = halves(a, b, c, d);
        [F64x8(c0), F64x8(c1), F64x8(c2), F64x8(c3), F64x8(c4), F64x8(c5), F64x8(c6), F64x8(c7)]
    }
}

/// Even or odd columns from interleaved pairs of records.
#[inline(always)]
unsafe fn halves(a: __m512d, b: __m512d, c: __m512d, d: __m512d) -> [__m512d; 4] {
    unsafe {
        let (p, q) = (_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b));
        let (r, s) = (_mm512_shuffle_f64x2::<0x88>(c, d), _mm512_shuffle_f64x2::<0xdd>(c, d));
        [
            _mm512_shuffle_f64x2::<0x88>(p, r),
            _mm512_shuffle_f64x2::<0x88>(q, s),
            _mm512_shuffle_f64x2::<0xdd>(p, r),
            _mm512_shuffle_f64x2::<0xdd>(q, s),
        ]
    }
}

/// Four columns of eight short records, given as records (0, 2), (1, 3), (4, 6), (5, 7).
#[inline(always)]
unsafe fn transpose_quads(z: [__m512d; 4]) -> [F64x8; 4] {
    unsafe {
        let (a, b) = (_mm512_unpacklo_pd(z[0], z[1]), _mm512_unpacklo_pd(z[2], z[3]));
        let (c, d) = (_mm512_unpackhi_pd(z[0], z[1]), _mm512_unpackhi_pd(z[2], z[3]));
        [
            F64x8(_mm512_shuffle_f64x2::<0x88>(a, b)),
            F64x8(_mm512_shuffle_f64x2::<0x88>(c, d)),
            F64x8(_mm512_shuffle_f64x2::<0xdd>(a, b)),
            F64x8(_mm512_shuffle_f64x2::<0xdd>(c, d)),
        ]
    }
}

/// Two short records in one register.
#[inline(always)]
unsafe fn two(a: *const f64, b: *const f64) -> __m512d {
    unsafe { _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(_mm256_loadu_pd(a)), _mm256_loadu_pd(b)) }
}

/// Eight short records in the order of [`transpose_quads`].
macro_rules! quads {
    ($x:expr, $i:expr) => {
        [
            two(quad($x, *$i), quad($x, *$i.add(2))),
            two(quad($x, *$i.add(1)), quad($x, *$i.add(3))),
            two(quad($x, *$i.add(4)), quad($x, *$i.add(6))),
            two(quad($x, *$i.add(5)), quad($x, *$i.add(7))),
        ]
    };
}

/// Differences of the first three numbers of short records, sums of the last.
#[inline(always)]
unsafe fn differences(a: &[__m512d; 4], b: &[__m512d; 4]) -> [F64x8; 4] {
    unsafe {
        let sign = _mm512_setr_pd(-1.0, -1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0);
        transpose_quads([
            _mm512_fmadd_pd(a[0], sign, b[0]),
            _mm512_fmadd_pd(a[1], sign, b[1]),
            _mm512_fmadd_pd(a[2], sign, b[2]),
            _mm512_fmadd_pd(a[3], sign, b[3]),
        ])
    }
}

/// Numbers 4 to 6 of a record times a lever.
#[inline(always)]
unsafe fn levered(record: __m512d, lever: f64) -> __m512d {
    unsafe { _mm512_mask_mul_pd(record, 0b0111_0000, record, _mm512_set1_pd(lever)) }
}

/// Differences and sums of the motions of two grains.
#[inline(always)]
unsafe fn motion(v: *const Record, i: u32, j: u32, lever_i: f64, lever_j: f64) -> __m512d {
    unsafe {
        let sign = _mm512_setr_pd(-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0);
        let a = levered(_mm512_loadu_pd(record(v, i)), lever_i);
        let b = levered(_mm512_loadu_pd(record(v, j)), lever_j);
        _mm512_fmadd_pd(b, sign, a)
    }
}

/// Adds one load to both grains.
#[inline(always)]
unsafe fn add_load(record: __m512d, levers: [f64; 2], i: u32, j: u32, to: &Targets) {
    unsafe {
        let other = _mm512_setr_pd(-1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 0.0);
        let p = to.of(0, i);
        _mm512_storeu_pd(p, _mm512_add_pd(_mm512_loadu_pd(p), levered(record, levers[0])));
        let p = to.of(1, j);
        _mm512_storeu_pd(p, _mm512_fmadd_pd(levered(record, levers[1]), other, _mm512_loadu_pd(p)));
    }
}

impl Lane for F64x8 {
    const N: usize = 8;
    type Mask = __mmask8;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(unsafe { _mm512_set1_pd(x) })
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        Self(unsafe { _mm512_loadu_pd(from) })
    }
    #[inline(always)]
    unsafe fn load_where(mask: __mmask8, from: *const f64) -> Self {
        Self(unsafe { _mm512_maskz_loadu_pd(mask, from) })
    }
    #[inline(always)]
    unsafe fn load_single_where(mask: __mmask8, from: *const f32) -> Self {
        Self(unsafe { _mm512_maskz_cvtps_pd(mask, _mm256_loadu_ps(from)) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        unsafe { _mm512_storeu_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn store_single(self, to: *mut f32) {
        unsafe { _mm256_storeu_ps(to, _mm512_cvtpd_ps(self.0)) }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(unsafe { _mm512_fnmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn div(self, by: Self) -> Self {
        Self(unsafe { _mm512_div_pd(self.0, by.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(unsafe { _mm512_sqrt_pd(self.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(unsafe { _mm512_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(unsafe { _mm512_min_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn less(self, other: Self) -> __mmask8 {
        unsafe { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn select(mask: __mmask8, a: Self, b: Self) -> Self {
        Self(unsafe { _mm512_mask_blend_pd(mask, b.0, a.0) })
    }
    #[inline(always)]
    fn bits(mask: __mmask8) -> u8 {
        mask
    }
    #[inline(always)]
    fn mask(bits: u8) -> __mmask8 {
        bits
    }

    #[inline(always)]
    unsafe fn pick(bits: u8, from: *const u32, to: *mut u32) {
        unsafe { _mm256_storeu_si256(to.cast(), _mm256_maskz_compress_epi32(bits, _mm256_loadu_si256(from.cast()))) }
    }
    #[inline(always)]
    unsafe fn records(v: *const Record, indices: *const u32) -> [Self; 8] {
        macro_rules! one {
            ($l:expr) => {
                _mm512_loadu_pd(v.add(*indices.add($l) as usize).cast())
            };
        }
        unsafe { transpose(eight!(one)) }
    }
    #[inline(always)]
    unsafe fn places(x: *const Quad, i: *const u32, j: *const u32) -> [Self; 4] {
        unsafe { differences(&quads!(x, i), &quads!(x, j)) }
    }
    #[inline(always)]
    unsafe fn centres(x: *const Quad, i: *const u32, j: *const u32) -> [Self; 5] {
        unsafe {
            let first = quads!(x, i);
            let [a, b, c, reach] = differences(&first, &quads!(x, j));
            let (low, high) = (_mm512_unpackhi_pd(first[0], first[1]), _mm512_unpackhi_pd(first[2], first[3]));
            [a, b, c, reach, Self(_mm512_shuffle_f64x2::<0xdd>(low, high))]
        }
    }
    #[inline(always)]
    unsafe fn motions(v: *const Record, i: *const u32, j: *const u32, levers: &[Record; 2]) -> [Self; 8] {
        macro_rules! one {
            ($l:expr) => {
                motion(v, *i.add($l), *j.add($l), levers[0][$l], levers[1][$l])
            };
        }
        unsafe { transpose(eight!(one)) }
    }
    #[inline(always)]
    unsafe fn scatter(r: &[Self; 8], levers: &[Record; 2], i: *const u32, j: *const u32, to: &Targets) {
        unsafe {
            let records = transpose([r[0].0, r[1].0, r[2].0, r[3].0, r[4].0, r[5].0, r[6].0, r[7].0]);
            macro_rules! one {
                ($l:expr) => {
                    add_load(records[$l].0, [levers[0][$l], levers[1][$l]], *i.add($l), *j.add($l), to)
                };
            }
            eight!(one);
        }
    }
}
