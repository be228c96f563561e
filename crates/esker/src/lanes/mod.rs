//! Several contacts at once: one formula, written over a [`Lane`], runs one, four or eight contacts wide.
//!
//! The widths are chosen when a run begins ([`Width::best`]): AVX-512 and AVX2 where the processor has them, plain
//! scalars elsewhere. Each width gives the same bits in every run. Between the vector widths and the scalar one results
//! differ by rounding only, because only the vector units multiply and add in one rounding here: asked of a processor
//! that cannot, a fused multiply-add is a slow library call.
//!
//! This is the one module, with [`crate::contact::batch`] which calls it, that reads memory through raw pointers:
//! records are loaded whole and transposed in registers, which gathers do at half the speed.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

#[cfg(target_arch = "x86_64")]
pub use avx2::F64x4;
#[cfg(target_arch = "x86_64")]
pub use avx512::F64x8;

use std::ops::{Add, Mul, Neg, Sub};

/// A record of eight numbers of a grain: [`crate::particles::Motion`], [`crate::particles::Load`], a mean velocity.
pub type Record = [f64; 8];

/// A record of four: [`crate::particles::Place`].
pub type Quad = [f64; 4];

/// Where the [`Quad`] of a grain begins, in bytes; its [`Record`]s begin at twice that. An address is then one addition.
#[inline(always)]
pub const fn offset(grain: u32) -> u32 {
    grain * size_of::<Quad>() as u32
}

/// The grain of an [`offset`].
#[inline(always)]
pub const fn index(offset: u32) -> usize {
    offset as usize / size_of::<Quad>()
}

/// Most grains with their images, and most pairs, whose offsets fit.
pub const MOST: usize = u32::MAX as usize / size_of::<Quad>();

/// Record of four of a grain.
#[inline(always)]
unsafe fn quad(x: *const Quad, offset: u32) -> *const f64 {
    // SAFETY: the caller's.
    unsafe { x.byte_add(offset as usize).cast() }
}

/// Record of eight of a grain.
#[inline(always)]
unsafe fn record(v: *const Record, offset: u32) -> *const f64 {
    // As an index of pairs of bytes the doubling is part of the address, not a sum that would be done in vectors.
    // SAFETY: the caller's.
    unsafe { v.cast::<[u8; 2]>().add(offset as usize).cast() }
}

/// Asks for a cache line that will be needed soon.
#[inline(always)]
pub fn prefetch<T>(line: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Numbers of `N` contacts.
///
/// # Safety
/// The functions that take pointers read and write the records at the first `N` offsets, which must be there. All
/// functions must be called where the instruction set of the lane is enabled.
#[allow(clippy::missing_safety_doc)] // one section for all of them
pub trait Lane: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// Contacts at once.
    const N: usize;
    /// One truth value per contact.
    type Mask: Copy;

    /// The same number for all.
    fn splat(x: f64) -> Self;
    /// `N` numbers one after another.
    unsafe fn load(from: *const f64) -> Self;
    /// The same, zeros where the mask is not set.
    unsafe fn load_where(mask: Self::Mask, from: *const f64) -> Self;
    /// `N` numbers of single precision, zeros where the mask is not set.
    unsafe fn load_single_where(mask: Self::Mask, from: *const f32) -> Self;
    /// Writes `N` numbers one after another.
    unsafe fn store(self, to: *mut f64);
    /// Writes `N` numbers in single precision.
    unsafe fn store_single(self, to: *mut f32);
    /// self · b + c.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// c − self · b.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Quotient.
    fn div(self, by: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The larger one; `other` if they cannot be compared.
    fn max(self, other: Self) -> Self;
    /// The smaller one; `other` if they cannot be compared.
    fn min(self, other: Self) -> Self;
    /// self < other.
    fn less(self, other: Self) -> Self::Mask;
    /// `a` where the mask is set, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// The mask as bits, contact 0 first.
    fn bits(mask: Self::Mask) -> u8;
    /// The mask of the lowest `N` bits.
    fn mask(bits: u8) -> Self::Mask;

    /// Writes those of eight indices whose bit is set one after another. All eight places may be written to.
    #[inline(always)]
    unsafe fn pick(bits: u8, from: *const u32, mut to: *mut u32) {
        let mut bits = bits;
        while bits != 0 {
            // SAFETY: the caller's.
            unsafe {
                *to = *from.add(bits.trailing_zeros() as usize);
                to = to.add(1);
            }
            bits &= bits - 1;
        }
    }
    /// Differences of the first three numbers, j − i, and sum of the last.
    unsafe fn places(x: *const Quad, i: *const u32, j: *const u32) -> [Self; 4];
    /// The same, then the last numbers of the first grains.
    unsafe fn centres(x: *const Quad, i: *const u32, j: *const u32) -> [Self; 5];
    /// The eight numbers of the records at `N` indices (not offsets).
    unsafe fn records(v: *const Record, indices: *const u32) -> [Self; 8];
    /// i − j of numbers 0 to 2, sum of number 3, sum of numbers 4 to 6 times the levers, sum of 7.
    unsafe fn motions(v: *const Record, i: *const u32, j: *const u32, levers: &[Record; 2]) -> [Self; 8];
    /// Adds what acts on both bodies: numbers 0 to 2 with opposite signs, 3 and 7 to i only, 4 to 6 times the levers to
    /// both.
    unsafe fn scatter(rows: &[Self; 8], levers: &[Record; 2], i: *const u32, j: *const u32, to: &Targets);
}

/// Where loads go: the first and the second grains each to a column, or nowhere where another worker adds them up.
#[derive(Clone, Copy)]
pub struct Targets {
    columns: [*mut Record; 2],
    masks: [u32; 2],
}

impl Targets {
    /// Loads of the grains from offset `first` on. What belongs to sides that are not `own` goes `nowhere`, a record
    /// nobody reads.
    pub fn new(loads: *mut Record, first: u32, own: [bool; 2], nowhere: *mut Record) -> Self {
        let begin = loads.wrapping_byte_sub(2 * first as usize);
        Self {
            columns: own.map(|own| if own { begin } else { nowhere }),
            masks: own.map(|own| if own { u32::MAX } else { 0 }),
        }
    }

    /// Loads of all grains in turn at the same places, `size` apart: an offset that is a power of two.
    pub fn around(loads: *mut Record, size: u32) -> Self {
        debug_assert!(size.is_power_of_two());
        Self { columns: [loads; 2], masks: [size - 1; 2] }
    }

    /// First and second grains each to records of their own, from offset 0 on.
    pub fn apart(records: [*mut Record; 2]) -> Self {
        Self { columns: records, masks: [u32::MAX; 2] }
    }

    /// The same with the loads of first grains put into records of their own, each at its offset from the first of these.
    pub fn with_firsts_at(self, records: *mut Record) -> Self {
        Self { columns: [records, self.columns[1]], masks: [u32::MAX, self.masks[1]] }
    }

    /// Where the load of a second grain is: for hints.
    #[inline(always)]
    pub fn hint(&self, offset: u32) -> *const f64 {
        self.of(1, offset)
    }

    /// Record of a first or second grain.
    #[inline(always)]
    fn of(&self, side: usize, offset: u32) -> *mut f64 {
        self.columns[side].wrapping_byte_add(2 * (offset & self.masks[side]) as usize).cast()
    }
}

/// How many contacts are evaluated at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// One: any processor.
    #[default]
    Scalar,
    /// Four: AVX2 with FMA.
    Four,
    /// Eight: AVX-512.
    Eight,
}

impl Width {
    /// The widest this processor has.
    pub fn best() -> Self {
        *Self::all().last().expect("scalars are everywhere")
    }

    /// All this processor has, narrowest first.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Width::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                all.push(Width::Four);
                let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
                if wide && is_x86_feature_detected!("avx512dq") {
                    all.push(Width::Eight);
                }
            }
        }
        all
    }

    /// Contacts at once.
    pub fn contacts(self) -> usize {
        match self {
            Width::Scalar => 1,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Width::Scalar => "one at a time",
            Width::Four => "four at once (AVX2)",
            Width::Eight => "eight at once (AVX-512)",
        }
    }
}

/// A vector in space for each contact.
#[derive(Clone, Copy, Debug)]
pub struct Vec3s<L> {
    /// Components along x.
    pub x: L,
    /// Components along y.
    pub y: L,
    /// Components along z.
    pub z: L,
}

impl<L: Lane> Vec3s<L> {
    /// From its components.
    #[inline(always)]
    pub fn new(x: L, y: L, z: L) -> Self {
        Self { x, y, z }
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> L {
        self.x.mul_add(o.x, self.y.mul_add(o.y, self.z * o.z))
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        Self {
            x: self.z.neg_mul_add(o.y, self.y * o.z),
            y: self.x.neg_mul_add(o.z, self.z * o.x),
            z: self.y.neg_mul_add(o.x, self.x * o.y),
        }
    }

    /// self · s + o.
    #[inline(always)]
    pub fn mul_add(self, s: L, o: Self) -> Self {
        Self { x: self.x.mul_add(s, o.x), y: self.y.mul_add(s, o.y), z: self.z.mul_add(s, o.z) }
    }

    /// o − self · s.
    #[inline(always)]
    pub fn neg_mul_add(self, s: L, o: Self) -> Self {
        Self { x: self.x.neg_mul_add(s, o.x), y: self.y.neg_mul_add(s, o.y), z: self.z.neg_mul_add(s, o.z) }
    }

    /// `a` where the mask is set, else `b`.
    #[inline(always)]
    pub fn select(mask: L::Mask, a: Self, b: Self) -> Self {
        Self { x: L::select(mask, a.x, b.x), y: L::select(mask, a.y, b.y), z: L::select(mask, a.z, b.z) }
    }
}

impl<L: Lane> Mul<L> for Vec3s<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: L) -> Self {
        Self { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

impl<L: Lane> Add for Vec3s<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl<L: Lane> Sub for Vec3s<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}
