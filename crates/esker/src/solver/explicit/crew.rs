//! Threads of the pool that stay awake between sweeps.
//!
//! A thread of the pool that finds nothing to do falls asleep, and between two sweeps there is nothing to do but for one of
//! them. A [`Crew`] keeps them until it is dismissed: whoever belongs to it waits awake for the next piece of work and falls
//! asleep only if none comes for long.
//!
//! A piece of work does not wait for threads that have not come yet: they may be busy elsewhere. It must not wait for anything
//! but what others do who are at it. While a crew stands neither who gives it work nor who is at work may ask the pool or
//! another crew for anything: who waits for the pool may take up a place in the crew and stay there, or find all its threads
//! there. When it is dismissed it ends as soon as all its threads have come and gone, so crews in one pool wait for each
//! other's stretches.

use crate::contact::hand_over::wait_for;
use rayon::Scope;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use std::sync::{Mutex, PoisonError, TryLockError};
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

// SAFETY: `work` is written by who has the turn while nobody is at work, and who then is at work is told so by their state.
unsafe impl Sync for Crew {}

/// What one thread does, in a cache line and its neighbour of its own.
#[repr(align(128))]
struct Member {
    state: AtomicU8,
    /// Whether it has to be woken.
    asleep: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

/// Has nothing to do, if it is there.
const FREE: u8 = 0;
/// May take part in the present piece of work.
const INVITED: u8 = 1;
/// Takes part in it.
const AT_WORK: u8 = 2;
/// May go, or need not come.
const DISMISSED: u8 = 3;

/// How often free threads look for work, at about 40 ns each, before others may have the processor.
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
        self.members.iter().for_each(|member| member.state.store(FREE, Ordering::Relaxed));
        rayon::in_place_scope(|scope| {
            let _dismissal = Dismissal(self);
            self.call(scope, 0);
            giving()
        })
    }

    /// Does a piece of work with all who are free and come in time, each once; the caller does it in any case, as number 0.
    /// The same by the caller alone where somebody else has the turn; but a crew is meant to have one caller at a time.
    pub fn all(&self, work: &Work) {
        if self.members.is_empty() {
            return work(0);
        }
        if !self.stands.load(Ordering::Relaxed) {
            return self.stand(|| self.all(work));
        }
        let _turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(turn)) => turn.into_inner(), // a panic at work, long over
            Err(TryLockError::WouldBlock) => return work(0),
        };
        self.has_panicked.store(false, Ordering::Relaxed);
        // SAFETY: nobody is at work, and nobody looks at it any more once `Done` has been dropped.
        unsafe { *self.work.get() = Some(std::mem::transmute::<&Work, &'static Work<'static>>(work)) };
        {
            let _done = Done(self);
            self.members.iter().for_each(Member::invite);
            fence(Ordering::SeqCst); // who falls asleep has seen this or is seen to be asleep
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
            match member.state.load(Ordering::Relaxed) {
                FREE => member.wait(),
                INVITED if member.accepts() => {
                    let _at_work = AtWork { member, has_panicked: &self.has_panicked };
                    // SAFETY: it was written before the invitation, and stays until this has ended.
                    let work = unsafe { *self.work.get() };
                    work.expect("there is some for who is invited")(number);
                }
                INVITED => {} // too late
                _ => return,
            }
        }
    }
}

impl Member {
    /// Invites it to a piece of work; who has panicked is not there.
    fn invite(&self) {
        if self.state.load(Ordering::Relaxed) == FREE {
            self.state.store(INVITED, Ordering::Release);
        }
    }

    /// Whether the invitation still holds.
    fn accepts(&self) -> bool {
        self.state.compare_exchange(INVITED, AT_WORK, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the invitation back if it has not come.
    fn withdraw(&self) {
        let _ = self.state.compare_exchange(INVITED, FREE, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Waits until its part of the work is done.
    fn ends(&self) {
        wait_for(|| (self.state.load(Ordering::Acquire) != AT_WORK).then_some(()));
    }

    /// Waits for anything to do, for a while awake.
    fn wait(&self) {
        let free = || self.state.load(Ordering::Relaxed) == FREE;
        for look in 0..LOOKS + YIELDS {
            if !free() {
                return;
            }
            if look < LOOKS { spin_loop() } else { yield_now() }
        }
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if free() {
            park();
        }
        self.asleep.store(false, Ordering::Relaxed);
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
        self.member.state.store(if panicking() { DISMISSED } else { FREE }, Ordering::Release);
    }
}

/// A piece of work. When this is dropped, also by a panic, nobody is at it any more.
struct Done<'a>(&'a Crew);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.members.iter().for_each(Member::withdraw);
        self.0.members.iter().for_each(Member::ends);
        // SAFETY: nobody is at work, and no invitation holds.
        unsafe { *self.0.work.get() = None };
    }
}

/// A crew that is dismissed when this is dropped, also by a panic.
struct Dismissal<'a>(&'a Crew);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        let Self(crew) = self;
        let _turn = crew.turn.lock().unwrap_or_else(PoisonError::into_inner);
        crew.members.iter().for_each(|member| member.state.store(DISMISSED, Ordering::Release));
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
    use std::sync::atomic::AtomicUsize;

    fn in_pool<R: Send>(threads: usize, body: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(body)
    }

    /// A piece of work that ends when all are at it.
    fn gather(crew: &Crew) {
        let all = Barrier::new(1 + crew.members.len());
        crew.all(&|_| _ = all.wait());
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
    fn who_has_fallen_asleep_wakes_up_for_the_next_piece() {
        let crew = Crew::of(3);
        in_pool(4, || {
            crew.stand(|| {
                for _ in 0..2 {
                    gather(&crew); // for ever, if one did not wake up
                    while !crew.members.iter().all(|member| member.asleep.load(Ordering::Relaxed)) {
                        yield_now();
                    }
                }
            });
        });
    }

    #[test]
    fn crews_in_the_same_pool_do_not_stand_still_for_each_other() {
        let crews: Vec<Crew> = (0..4).map(|_| Crew::of(1)).collect();
        let done = AtomicUsize::new(0);
        let count = |number| _ = done.fetch_add(usize::from(number == 0), Ordering::Relaxed);
        in_pool(2, || {
            rayon::scope(|scope| {
                for crew in &crews {
                    scope.spawn(move |_| {
                        for _ in 0..50 {
                            crew.stand(|| (0..20).for_each(|_| crew.all(&count)));
                            rayon::join(|| crew.all(&count), || ());
                        }
                    });
                }
            });
        });
        assert_eq!(done.into_inner(), 4 * 50 * 21);
    }

    #[test]
    fn a_panic_of_anybody_is_one_of_the_caller_and_the_crew_can_be_called_again() {
        for who in 0..3 {
            let crew = Crew::of(2);
            let went_on = AtomicBool::new(false);
            in_pool(3, || {
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    crew.stand(|| {
                        let all = Barrier::new(3);
                        crew.all(&|number| {
                            all.wait();
                            assert!(number != who, "on purpose");
                        });
                        went_on.store(true, Ordering::Relaxed);
                    })
                }));
                assert!(panicked.is_err() && !went_on.load(Ordering::Relaxed));
                crew.stand(|| gather(&crew));
            });
        }
    }

    #[test]
    fn work_given_while_others_have_the_turn_is_done_by_who_gives_it() {
        let crew = Crew::of(1);
        let done = AtomicUsize::new(0);
        let both = Barrier::new(2);
        in_pool(2, || {
            crew.all(&|_| {
                both.wait();
                crew.all(&|number| _ = done.fetch_add(1 + 10 * number, Ordering::Relaxed));
            });
        });
        assert_eq!(done.into_inner(), 2);
    }
}
