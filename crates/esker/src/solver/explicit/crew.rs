//! Threads of the pool that stay awake between sweeps.
//!
//! A thread of the pool that finds nothing to do falls asleep, and between two sweeps there is nothing to do but for one of them. A
//! [`Crew`] keeps them until it is dismissed: whoever belongs to it waits awake for the next piece of work and falls asleep
//! only if none comes for long. While it stands nobody should ask the pool for anything else; it would be done by one thread.
//!
//! Nobody waits for threads that have not come yet: they may be busy elsewhere. And nobody who has come waits for anything but
//! what a piece of work itself waits for, so crews in the same pool cannot stand still for each other.

use crate::contact::hand_over::wait_for;
use rayon::Scope;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::thread::{Thread, current, panicking, park, yield_now};

/// Work for a crew, given the number of who does it.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// Some threads, and a thread that calls them.
pub struct Crew {
    /// Without the caller, who is number 0.
    members: Vec<Member>,
    /// The present piece of work: whoever is at work may look at it.
    work: UnsafeCell<Option<&'static Work<'static>>>,
    /// Whose turn it is to give work, or to dismiss.
    turn: Mutex<()>,
    stands: AtomicBool,
    has_panicked: AtomicBool,
}

// SAFETY: `work` is written when nobody is at work, by who has the turn, and threads that then are at work are told so by their state.
unsafe impl Sync for Crew {}

/// What one thread does, in a cache line and its neighbour of its own.
#[repr(align(128))]
struct Member {
    state: AtomicU8,
    /// Whether it has to be woken.
    asleep: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

/// Not there yet.
const ABSENT: u8 = 0;
/// Not there yet; will be at work when it comes.
const INVITED: u8 = 1;
/// There, with nothing to do.
const IDLE: u8 = 2;
/// At work.
const AT_WORK: u8 = 3;
/// May go, or need not come.
const DISMISSED: u8 = 4;

/// How often idle threads look for work, at about 40 ns each, before others may have the processor.
const LOOKS: usize = 1000;
/// How often they let others have it before they fall asleep: half a millisecond or more.
const YIELDS: usize = 1000;

impl Crew {
    /// A thread, and so many besides that will be called.
    pub fn of(others: usize) -> Self {
        let member =
            |_| Member { state: AtomicU8::new(DISMISSED), asleep: AtomicBool::new(false), thread: Mutex::new(None) };
        Self {
            members: (0..others).map(member).collect(),
            work: UnsafeCell::new(None),
            turn: Mutex::new(()),
            stands: AtomicBool::new(false),
            has_panicked: AtomicBool::new(false),
        }
    }

    /// Keeps the crew together while somebody gives it work.
    pub fn stand<R>(&self, giving: impl FnOnce() -> R) -> R {
        if self.members.is_empty() || self.stands.swap(true, Ordering::Acquire) {
            return giving();
        }
        let _until_all_are_gone = Stands(&self.stands);
        self.members.iter().for_each(|member| member.state.store(ABSENT, Ordering::Relaxed));
        rayon::in_place_scope(|scope| {
            let _standing = Standing(self);
            self.call(scope, 0);
            giving()
        })
    }

    /// Does a piece of work with all who are there or come in time, each once; the caller does it in any case, as number 0.
    /// The same by the caller alone where somebody else has the turn.
    pub fn all(&self, work: &Work) {
        if self.members.is_empty() {
            return work(0);
        }
        if !self.stands.load(Ordering::Relaxed) {
            return self.stand(|| self.all(work));
        }
        let Ok(_turn) = self.turn.try_lock() else { return work(0) };
        // SAFETY: nobody is at work, and nobody looks at it any more when `Done` is dropped, before the turn ends.
        unsafe { *self.work.get() = Some(std::mem::transmute::<&Work, &'static Work<'static>>(work)) };
        {
            let _done = Done(self);
            self.members.iter().for_each(Member::give);
            fence(Ordering::SeqCst); // who falls asleep has seen the work or is seen to be asleep
            self.members.iter().for_each(Member::wake);
            work(0);
        }
        assert!(!self.has_panicked.load(Ordering::Relaxed), "a thread has panicked at work");
    }

    /// Calls the threads that number `number` calls, who call others: one who wakes all would begin late.
    fn call<'s>(&'s self, scope: &Scope<'s>, number: usize) {
        for called in 2 * number + 1..=2 * number + 2 {
            if called <= self.members.len() {
                scope.spawn(move |scope| {
                    self.call(scope, called);
                    self.serve(called);
                });
            }
        }
    }

    /// What number `number` does until it is dismissed.
    fn serve(&self, number: usize) {
        let member = &self.members[number - 1];
        *member.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(current());
        loop {
            match member.state.load(Ordering::Acquire) {
                ABSENT => member.turns(ABSENT, IDLE),
                INVITED => member.turns(INVITED, AT_WORK),
                IDLE => member.wait(),
                AT_WORK => {
                    let _at_work = AtWork { member, has_panicked: &self.has_panicked };
                    // SAFETY: it was written before this state was, and stays until this has changed.
                    let work = unsafe { *self.work.get() };
                    work.expect("who is at work has some")(number);
                }
                _ => return,
            }
        }
    }
}

impl Member {
    /// Goes from one state to another, unless it has changed.
    fn turns(&self, from: u8, to: u8) {
        // Who has failed looks again.
        let _ = self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Waits for anything to do.
    fn wait(&self) {
        let idle = || self.state.load(Ordering::Relaxed) == IDLE;
        for look in 0..LOOKS + YIELDS {
            if !idle() {
                return;
            }
            if look < LOOKS { spin_loop() } else { yield_now() }
        }
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while idle() {
            park();
        }
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// Gives it work, or invites it.
    fn give(&self) {
        match self.state.load(Ordering::Acquire) {
            ABSENT => {
                self.turns(ABSENT, INVITED);
                if self.state.load(Ordering::Acquire) == IDLE {
                    self.state.store(AT_WORK, Ordering::Release); // it has just come
                }
            }
            IDLE => self.state.store(AT_WORK, Ordering::Release),
            _ => {}
        }
    }

    /// Wakes it if it sleeps.
    fn wake(&self) {
        if self.asleep.load(Ordering::Relaxed)
            && let Some(thread) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner)
        {
            thread.unpark();
        }
    }
}

/// At work, until this is dropped. Who panics does not come back.
struct AtWork<'a> {
    member: &'a Member,
    has_panicked: &'a AtomicBool,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.has_panicked.store(true, Ordering::Relaxed);
        }
        self.member.state.store(if panicking() { DISMISSED } else { IDLE }, Ordering::Release);
    }
}

/// A piece of work. When this is dropped, also by a panic, nobody is at it any more.
struct Done<'a>(&'a Crew);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        for member in &self.0.members {
            if member.state.load(Ordering::Relaxed) == INVITED {
                member.turns(INVITED, ABSENT);
            }
            wait_for(|| (member.state.load(Ordering::Acquire) != AT_WORK).then_some(()));
        }
    }
}

/// A crew that is dismissed when this is dropped, also by a panic.
struct Standing<'a>(&'a Crew);

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        let Self(crew) = self;
        let _turn = crew.turn.lock().unwrap_or_else(PoisonError::into_inner);
        for member in &crew.members {
            member.state.store(DISMISSED, Ordering::Release);
        }
        fence(Ordering::SeqCst);
        crew.members.iter().for_each(Member::wake);
    }
}

/// Stands, until this is dropped, also by a panic.
struct Stands<'a>(&'a AtomicBool);

impl Drop for Stands<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU64, AtomicUsize};
    use std::time::Duration;

    fn in_pool<R: Send>(threads: usize, body: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(body)
    }

    /// Gives work until all have come.
    fn gather(crew: &Crew) {
        let come = AtomicU64::new(0);
        while come.load(Ordering::Relaxed).count_ones() as usize <= crew.members.len() {
            crew.all(&|number| _ = come.fetch_or(1 << number, Ordering::Relaxed));
        }
    }

    #[test]
    fn all_pieces_are_done_once_by_whoever_is_there() {
        for (threads, others) in [(1, 0), (1, 3), (2, 1), (2, 4), (5, 2)] {
            let crew = Crew::of(others);
            let piece_by_piece = || {
                for pieces in 0..300 {
                    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
                    let here: Vec<AtomicUsize> = (0..=others).map(|_| AtomicUsize::new(0)).collect();
                    crew.all(&|number| {
                        here[number].fetch_add(1, Ordering::Relaxed);
                        while next.fetch_add(1, Ordering::Relaxed) < pieces {
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                    let here: Vec<usize> = here.into_iter().map(AtomicUsize::into_inner).collect();
                    assert_eq!((done.into_inner(), here[0]), (pieces, 1));
                    assert!(here.iter().all(|times| *times <= 1), "{here:?}");
                }
            };
            in_pool(threads, piece_by_piece);
            in_pool(threads, || crew.stand(piece_by_piece));
            crew.stand(piece_by_piece); // in the pool of all
        }
    }

    #[test]
    fn who_has_come_stays_and_wakes_up_for_the_next_piece() {
        let crew = Crew::of(3);
        let together = Barrier::new(4);
        in_pool(4, || {
            crew.stand(|| {
                gather(&crew);
                for sleep in [0, 20, 0, 0, 20] {
                    std::thread::sleep(Duration::from_millis(sleep));
                    crew.all(&|_| _ = together.wait()); // for ever, if one were missing
                }
            });
        });
    }

    #[test]
    fn crews_in_the_same_pool_do_not_stand_still_for_each_other() {
        let crews: Vec<Crew> = (0..4).map(|_| Crew::of(1)).collect();
        let done = AtomicUsize::new(0);
        in_pool(2, || {
            rayon::scope(|scope| {
                for crew in &crews {
                    scope.spawn(|_| {
                        for _ in 0..50 {
                            let work =
                                || crew.all(&|number| _ = done.fetch_add(usize::from(number == 0), Ordering::Relaxed));
                            crew.stand(|| (0..20).for_each(|_| work()));
                            rayon::join(work, || ());
                        }
                    });
                }
            });
        });
        assert_eq!(done.into_inner(), 4 * 50 * 21);
    }

    #[test]
    fn a_panic_of_anybody_is_one_of_the_caller_and_nobody_is_waited_for() {
        for who in 0..3 {
            let crew = Crew::of(2);
            let went_on = AtomicBool::new(false);
            let panicked = in_pool(3, || {
                catch_unwind(AssertUnwindSafe(|| {
                    crew.stand(|| {
                        gather(&crew);
                        crew.all(&|number| assert!(number != who, "on purpose"));
                        went_on.store(true, Ordering::Relaxed);
                    })
                }))
            });
            assert!(panicked.is_err() && !went_on.into_inner());
            in_pool(3, || crew.stand(|| ()));
        }
    }

    #[test]
    fn work_given_while_others_have_the_turn_is_done_by_who_gives_it() {
        let crew = Crew::of(1);
        let done = AtomicUsize::new(0);
        crew.all(&|_| crew.all(&|number| _ = done.fetch_add(1 + number, Ordering::Relaxed)));
        assert!((1..=2).contains(&done.into_inner()));
    }
}
