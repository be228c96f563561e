//! What the machine itself gains by more threads: arithmetic in registers, as wide as that of contacts, which no memory and no
//! other thread holds up. Processors that share a clock, a budget of power or, unseen, a core do less than so many times the
//! work of one.

use esker::lanes::{Lane, Width};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long the threads are at it before anything is counted: they have to wake up, and the clock to rise.
const BEFORE: Duration = Duration::from_millis(5);

/// How long it is measured.
const LASTING: Duration = Duration::from_millis(50);

/// Numbers that change independently, so that a core has always something to do while results are on their way.
const NUMBERS: usize = 12;

/// How often each does between two looks at the time.
const TIMES: usize = 4096;

/// Multiplications with an addition per second of all threads of a pool at once, so wide.
pub fn speed(pool: &rayon::ThreadPool, width: Width) -> f64 {
    let begin = Instant::now() + BEFORE;
    let end = begin + LASTING;
    let count = || {
        let mut counted = 0;
        loop {
            let from = Instant::now();
            if from >= end {
                return counted;
            }
            let done = some(width);
            counted += if from >= begin { done } else { 0 };
        }
    };
    pool.broadcast(|_| count()).iter().sum::<usize>() as f64 / LASTING.as_secs_f64()
}

/// Some of them. Returns how many.
fn some(width: Width) -> usize {
    // SAFETY: the width is one of those the processor has.
    let last = unsafe {
        match width {
            #[cfg(target_arch = "x86_64")]
            Width::Eight => eight(),
            #[cfg(target_arch = "x86_64")]
            Width::Four => four(),
            _ => change::<f64>(),
        }
    };
    black_box(last);
    TIMES * NUMBERS * width.contacts()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma,bmi1,bmi2")]
unsafe fn eight() -> f64 {
    // SAFETY: the caller's.
    unsafe { change::<esker::lanes::F64x8>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn four() -> f64 {
    // SAFETY: the caller's.
    unsafe { change::<esker::lanes::F64x4>() }
}

/// Changes all numbers, and returns what the first have come to.
#[inline(always)]
unsafe fn change<L: Lane>() -> f64 {
    let [first, factor, more] = black_box([1.0, 0.75, 0.5]);
    let (factor, more) = (L::splat(factor), L::splat(more));
    let mut numbers: [L; NUMBERS] = std::array::from_fn(|n| L::splat(first + n as f64));
    for _ in 0..TIMES {
        numbers = numbers.map(|x| x.mul_add(factor, more));
    }
    let mut last = [0.0; 8];
    // SAFETY: there are not more lanes.
    unsafe { numbers.into_iter().fold(L::splat(0.0), |sum, x| sum + x).store(last.as_mut_ptr()) };
    last[0]
}
