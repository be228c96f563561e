//! What the machine itself gains by more threads: in arithmetic in registers, as wide as that of contacts, which no memory and no
//! other thread holds up, and in traffic with as much memory as a simulation has. Processors that share a clock, a budget of
//! power or, unseen, a core do less than so many times the work of one, and all of them share the memory.

use super::median;
use esker::lanes::{Lane, Width};
use rayon::ThreadPool;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the threads are at each before anything is counted, and so, at both, before the simulation goes on: they have to wake
/// up, and the clock to rise. On virtual machines that took up to two seconds.
const BEFORE: Duration = Duration::from_secs(1);

/// How long each is measured.
const LASTING: Duration = Duration::from_millis(50);

/// Numbers that change independently, so that a core has always something to do while results are on their way.
const NUMBERS: usize = 12;

/// How often each does between two looks at the time.
const TIMES: usize = 4096;

/// Numbers in memory changed between two looks at the time, at most.
const STRETCH: usize = 1 << 16;

/// What can be measured of the machine with the threads of a pool.
pub struct Machine {
    width: Width,
    /// Memory of each thread.
    parts: Vec<Mutex<Part>>,
}

/// What the threads did in a second, all together.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Multiplications with an addition, in registers.
    pub arithmetic: f64,
    /// Bytes read from memory, and written to it.
    pub traffic: f64,
}

impl Given {
    /// The median of each, if anything was given.
    pub fn median(all: &[Self]) -> Option<Self> {
        let of = |what: fn(&Self) -> f64| median(all.iter().map(what).collect());
        (!all.is_empty()).then(|| Self { arithmetic: of(|given| given.arithmetic), traffic: of(|given| given.traffic) })
    }

    /// How many times what was given there.
    pub fn times(&self, there: &Self) -> Self {
        Self { arithmetic: self.arithmetic / there.arithmetic, traffic: self.traffic / there.traffic }
    }
}

impl Machine {
    /// Gives the threads so many bytes to go through, all together: each makes its own part, and has it near.
    pub fn new(pool: &ThreadPool, width: Width, bytes: usize) -> Self {
        let numbers = bytes / size_of::<f64>() / pool.current_num_threads();
        let part = || Mutex::new(Part { numbers: vec![1.0; numbers.max(1)], next: 0 });
        Self { width, parts: pool.broadcast(|_| part()) }
    }

    /// What the threads do now. They are wide awake then.
    pub fn gives(&self, pool: &ThreadPool) -> Given {
        let part = |thread: usize| self.parts[thread].lock().unwrap_or_else(PoisonError::into_inner);
        Given {
            arithmetic: per_second(pool, |_| multiply(self.width)),
            traffic: per_second(pool, |thread| 2 * size_of::<f64>() * part(thread).change_some()),
        }
    }
}

/// Memory of a thread.
struct Part {
    numbers: Vec<f64>,
    /// Where to go on.
    next: usize,
}

impl Part {
    /// Changes some numbers. Returns how many.
    fn change_some(&mut self) -> usize {
        let end = self.numbers.len().min(self.next + STRETCH);
        let some = &mut self.numbers[self.next..end];
        some.iter_mut().for_each(|x| *x += 1.0);
        let changed = black_box(some).len();
        self.next = end % self.numbers.len();
        changed
    }
}

/// What all threads of a pool do at once, in a second, told by how much each did until it came back. Each comes back with
/// something, however late: one that is kept from work by others has done little, not nothing.
fn per_second(pool: &ThreadPool, work: impl Fn(usize) -> usize + Sync) -> f64 {
    let begin = Instant::now() + BEFORE;
    let end = begin + LASTING;
    let rate = |thread: usize| {
        let mut counted = 0;
        loop {
            let from = Instant::now();
            if from >= end && counted > 0 {
                return counted as f64 / (from - begin).as_secs_f64();
            }
            let done = work(thread);
            counted += if from >= begin { done } else { 0 };
        }
    };
    pool.broadcast(|thread| rate(thread.index())).iter().sum()
}

/// Some multiplications. Returns how many.
fn multiply(width: Width) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_kept_from_work_has_done_little_not_nothing() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let longer = BEFORE + LASTING + Duration::from_millis(100);
        let slow = |_| {
            std::thread::sleep(longer);
            1
        };
        // It first comes back when all is over, and then does one thing that counts.
        let rate = per_second(&pool, slow);
        assert!(rate > 0.0 && rate <= 1.0 / longer.as_secs_f64(), "{rate}");
    }
}
