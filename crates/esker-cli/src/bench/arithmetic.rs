//! What the machine itself gains by more threads: arithmetic in registers, which no memory and no other thread holds up. Cores
//! that share a clock, a budget of power or, unseen, a core with others do less than so many times the work of one.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long it is measured at a time.
const LASTING: Duration = Duration::from_millis(20);

/// Operations between two looks at the clock.
const LOOPS: usize = 4096;

/// Operations per second of all threads of a pool at once.
pub fn speed(pool: &rayon::ThreadPool) -> f64 {
    let end = Instant::now() + LASTING;
    let done = pool.broadcast(|_| operations_until(end));
    done.iter().sum::<usize>() as f64 / LASTING.as_secs_f64()
}

/// Multiplies and adds, enough of both at a time to keep a core busy. Returns how often.
fn operations_until(end: Instant) -> usize {
    let (mut numbers, factor, more) = black_box(([1.0; 16], 0.75, 0.5));
    let mut done = 0;
    while Instant::now() < end {
        for _ in 0..LOOPS {
            numbers.iter_mut().for_each(|x| *x = *x * factor + more);
        }
        done += 2 * LOOPS * numbers.len();
    }
    black_box(numbers);
    done
}
