//! Instructions that this program has executed, where the processor counts them and the system tells.

/// A counter for the present thread and those it starts from now on, outside the kernel.
pub struct Instructions {
    #[cfg(target_os = "linux")]
    counter: Option<perf_event::Counter>,
}

impl Instructions {
    /// Counts from now on. Virtual machines often have no counter, and a system may keep it to itself.
    pub fn count() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            counter: counter(perf_event::events::Hardware::INSTRUCTIONS),
        }
    }

    /// How many so far, if somebody counts.
    pub fn so_far(&mut self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return self.counter.as_mut().and_then(|counter| counter.read().ok());
        #[cfg(not(target_os = "linux"))]
        None
    }
}

#[cfg(target_os = "linux")]
fn counter(event: impl Into<perf_event::events::Event>) -> Option<perf_event::Counter> {
    let mut builder = perf_event::Builder::new().kind(event);
    builder.inherit(true);
    let mut counter = builder.build().ok()?;
    counter.enable().ok()?;
    Some(counter)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::hint::black_box;

    #[test]
    fn what_threads_started_later_do_is_counted() {
        // The time of the processor: unlike instructions it is counted on virtual machines too.
        let Some(mut counter) = super::counter(perf_event::events::Software::TASK_CLOCK) else { return };
        let work = || (0..20_000_000_u64).fold(0, |sum, k| black_box(sum + k));
        let before = counter.read().unwrap();
        std::thread::spawn(work).join().unwrap();
        let nanoseconds = counter.read().unwrap() - before;
        assert!(nanoseconds > 1_000_000, "{nanoseconds} ns");
    }
}
