//! Four contacts at once.

use super::{Lane, Quad, Record, Targets, quad, record};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Neg, Sub};

/// Four numbers in one register.
#[derive(Clone, Copy, Debug)]
pub struct F64x4(__m256d);

// SAFETY of all blocks below: only called where AVX2 and FMA are enabled, see `Lane`; pointers are the caller's.

impl Add for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self(unsafe { _mm256_add_pd(self.0, o.0) })
    }
}
impl Sub for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self(unsafe { _mm256_sub_pd(self.0, o.0) })
    }
}
impl Mul for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self(unsafe { _mm256_mul_pd(self.0, o.0) })
    }
}
impl Neg for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(unsafe { _mm256_sub_pd(_mm256_setzero_pd(), self.0) })
    }
}

/// Calls a macro for each of four contacts, see [`super::avx512`] on closures.
macro_rules! four {
    ($m:ident) => {
        [$m!(0), $m!(1), $m!(2), $m!(3)]
    };
}

/// Four records to four columns, and back.
#[inline(always)]
unsafe fn transpose(r: [__m256d; 4]) -> [F64x4; 4] {
    unsafe {
        let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
        [
            F64x4(_mm256_permute2f128_pd::<0x20>(a, c)),
            F64x4(_mm256_permute2f128_pd::<0x20>(b, d)),
            F64x4(_mm256_permute2f128_pd::<0x31>(a, c)),
            F64x4(_mm256_permute2f128_pd::<0x31>(b, d)),
        ]
    }
}

/// A lever for numbers 4 to 6 of a record, one for number 7.
#[inline(always)]
unsafe fn lever(lever: f64) -> __m256d {
    unsafe { _mm256_blend_pd::<0b1000>(_mm256_set1_pd(lever), _mm256_set1_pd(1.0)) }
}

/// Difference of two places, sum of the radii.
#[inline(always)]
unsafe fn place(x: *const Quad, i: u32, j: u32) -> __m256d {
    unsafe {
        let (a, b) = (_mm256_loadu_pd(quad(x, i)), _mm256_loadu_pd(quad(x, j)));
        _mm256_fmadd_pd(a, _mm256_setr_pd(-1.0, -1.0, -1.0, 1.0), b)
    }
}

/// First half of the difference of two motions.
#[inline(always)]
unsafe fn linear(v: *const Record, i: u32, j: u32) -> __m256d {
    unsafe {
        let (a, b) = (_mm256_loadu_pd(record(v, i)), _mm256_loadu_pd(record(v, j)));
        _mm256_fmadd_pd(b, _mm256_setr_pd(-1.0, -1.0, -1.0, 1.0), a)
    }
}

/// Second half of a record.
#[inline(always)]
unsafe fn half(v: *const Record, i: u32) -> __m256d {
    unsafe { _mm256_loadu_pd(record(v, i).add(4)) }
}

/// Second half of the sum of two motions, with levers.
#[inline(always)]
unsafe fn angular(v: *const Record, i: u32, j: u32, lever_i: f64, lever_j: f64) -> __m256d {
    unsafe { _mm256_add_pd(_mm256_mul_pd(half(v, i), lever(lever_i)), _mm256_mul_pd(half(v, j), lever(lever_j))) }
}

/// Adds one load to both grains.
#[inline(always)]
unsafe fn add_load(linear: __m256d, angular: __m256d, levers: [f64; 2], i: u32, j: u32, to: &Targets) {
    unsafe {
        let p = to.of(0, i);
        _mm256_storeu_pd(p, _mm256_add_pd(_mm256_loadu_pd(p), linear));
        let turn = _mm256_mul_pd(angular, lever(levers[0]));
        _mm256_storeu_pd(p.add(4), _mm256_add_pd(_mm256_loadu_pd(p.add(4)), turn));
        let p = to.of(1, j);
        let minus = _mm256_setr_pd(-1.0, -1.0, -1.0, 0.0);
        _mm256_storeu_pd(p, _mm256_fmadd_pd(linear, minus, _mm256_loadu_pd(p)));
        let turn = _mm256_mul_pd(angular, lever(levers[1]));
        let plus = _mm256_setr_pd(1.0, 1.0, 1.0, 0.0);
        _mm256_storeu_pd(p.add(4), _mm256_fmadd_pd(turn, plus, _mm256_loadu_pd(p.add(4))));
    }
}

impl Lane for F64x4 {
    const N: usize = 4;
    type Mask = __m256d;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self(unsafe { _mm256_set1_pd(x) })
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> Self {
        Self(unsafe { _mm256_loadu_pd(from) })
    }
    #[inline(always)]
    unsafe fn load_where(mask: __m256d, from: *const f64) -> Self {
        Self(unsafe { _mm256_and_pd(mask, _mm256_loadu_pd(from)) })
    }
    #[inline(always)]
    unsafe fn load_single_where(mask: __m256d, from: *const f32) -> Self {
        Self(unsafe { _mm256_and_pd(mask, _mm256_cvtps_pd(_mm_loadu_ps(from))) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        unsafe { _mm256_storeu_pd(to, self.0) }
    }
    #[inline(always)]
    unsafe fn store_single(self, to: *mut f32) {
        unsafe { _mm_storeu_ps(to, _mm256_cvtpd_ps(self.0)) }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(unsafe { _mm256_fnmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn div(self, by: Self) -> Self {
        Self(unsafe { _mm256_div_pd(self.0, by.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(unsafe { _mm256_sqrt_pd(self.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(unsafe { _mm256_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(unsafe { _mm256_min_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn less(self, other: Self) -> __m256d {
        unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn select(mask: __m256d, a: Self, b: Self) -> Self {
        Self(unsafe { _mm256_blendv_pd(b.0, a.0, mask) })
    }
    #[inline(always)]
    fn bits(mask: __m256d) -> u8 {
        unsafe { _mm256_movemask_pd(mask) as u8 }
    }
    #[inline(always)]
    fn mask(bits: u8) -> __m256d {
        unsafe {
            let each = _mm256_setr_epi64x(1, 2, 4, 8);
            let set = _mm256_and_si256(_mm256_set1_epi64x(bits.into()), each);
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, each))
        }
    }

    #[inline(always)]
    unsafe fn records(v: *const Record, indices: *const u32) -> [Self; 8] {
        macro_rules! low {
            ($l:expr) => {
                _mm256_loadu_pd(v.add(*indices.add($l) as usize).cast())
            };
        }
        macro_rules! high {
            ($l:expr) => {
                _mm256_loadu_pd(v.add(*indices.add($l) as usize).cast::<f64>().add(4))
            };
        }
        unsafe {
            let ([a, b, c, d], [e, f, g, h]) = (transpose(four!(low)), transpose(four!(high)));
            [a, b, c, d, e, f, g, h]
        }
    }
    #[inline(always)]
    unsafe fn places(x: *const Quad, i: *const u32, j: *const u32) -> [Self; 4] {
        macro_rules! one {
            ($l:expr) => {
                place(x, *i.add($l), *j.add($l))
            };
        }
        unsafe { transpose(four!(one)) }
    }
    #[inline(always)]
    unsafe fn centres(x: *const Quad, i: *const u32, j: *const u32) -> [Self; 5] {
        unsafe {
            let [a, b, c, reach] = Self::places(x, i, j);
            let r = |l: usize| *quad(x, *i.add(l)).add(3);
            [a, b, c, reach, Self(_mm256_setr_pd(r(0), r(1), r(2), r(3)))]
        }
    }
    #[inline(always)]
    unsafe fn motions(v: *const Record, i: *const u32, j: *const u32, levers: &[Record; 2]) -> [Self; 8] {
        macro_rules! linear {
            ($l:expr) => {
                linear(v, *i.add($l), *j.add($l))
            };
        }
        macro_rules! angular {
            ($l:expr) => {
                angular(v, *i.add($l), *j.add($l), levers[0][$l], levers[1][$l])
            };
        }
        unsafe {
            let ([a, b, c, d], [e, f, g, h]) = (transpose(four!(linear)), transpose(four!(angular)));
            [a, b, c, d, e, f, g, h]
        }
    }
    #[inline(always)]
    unsafe fn scatter(r: &[Self; 8], levers: &[Record; 2], i: *const u32, j: *const u32, to: &Targets) {
        unsafe {
            let linear = transpose([r[0].0, r[1].0, r[2].0, r[3].0]);
            let angular = transpose([r[4].0, r[5].0, r[6].0, r[7].0]);
            macro_rules! one {
                ($l:expr) => {
                    add_load(linear[$l].0, angular[$l].0, [levers[0][$l], levers[1][$l]], *i.add($l), *j.add($l), to)
                };
            }
            four!(one);
        }
    }
}
