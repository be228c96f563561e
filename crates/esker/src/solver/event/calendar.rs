//! The next of many times, each the property of one grain, in O(1): a calendar of days that are short beside the time between
//! looks, each a list in no order, and a heap for the present day alone (G. Paul, J. Comput. Phys. 221 (2007) 615).
//!
//! The order is that of (time, tie), whatever the length of a day: how the calendar is cut changes nothing but its speed.

const NOBODY: u32 = u32::MAX;

/// Where an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In no list.
    Nowhere,
    /// On a day of the year, by its slot.
    Day(u32),
    /// After the end of the year.
    Later,
    /// In the heap of today, by its position.
    Today(u32),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: f64,
    tie: u32,
    place: Place,
    next: u32,
    last: u32,
}

/// A calendar for a fixed number of owners.
pub(super) struct Calendar {
    entries: Vec<Entry>,
    /// First entry of each day, in a ring; the length is a power of two.
    days: Vec<u32>,
    /// First entry after the end of the year.
    later: u32,
    /// The heap of today.
    today: Vec<u32>,
    /// Number of the present day.
    day: u64,
    start: f64,
    per_second: f64,
    /// Days gone by without an entry, and entries met, since the length of a day was last chosen.
    idle: u64,
    met: u64,
    crowd: u64,
}

/// Entries of a day to aim at.
const CROWD: f64 = 4.0;

impl Calendar {
    /// A calendar for `owners` from the time `start`, without entries. A day is to be chosen by [`Self::cut`].
    pub fn new(owners: usize, start: f64) -> Self {
        let entry = Entry { time: f64::INFINITY, tie: 0, place: Place::Nowhere, next: NOBODY, last: NOBODY };
        let days = owners.next_power_of_two().max(64);
        Self {
            entries: vec![entry; owners],
            days: vec![NOBODY; days],
            later: NOBODY,
            today: Vec::new(),
            day: 0,
            start,
            per_second: 1.0,
            idle: 0,
            met: 0,
            crowd: 0,
        }
    }

    /// Memory held \[byte\].
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + (self.days.capacity() + self.today.capacity()) * 4
    }

    fn number(&self, time: f64) -> u64 {
        // Times before today are today's.
        ((time - self.start) * self.per_second).max(0.0) as u64
    }

    /// Cuts the year anew: days so long that about [`CROWD`] entries fall on each of the first ones.
    pub fn cut(&mut self, now: f64) {
        let waits = self.entries.iter().map(|e| e.time - now).filter(|w| w.is_finite() && *w > 0.0);
        let (count, sum) = waits.fold((0u32, 0.0), |(n, sum), w| (n + 1, sum + w));
        let day = if count == 0 { 1.0 } else { CROWD * sum / (f64::from(count) * f64::from(count)) };
        self.per_second = 1.0 / day.max(1e-300);
        self.start = now;
        self.day = 0;
        (self.idle, self.met, self.crowd) = (0, 0, 0);
        self.days.fill(NOBODY);
        self.later = NOBODY;
        self.today.clear();
        for i in 0..self.entries.len() as u32 {
            self.entries[i as usize].place = Place::Nowhere;
            self.enter(i);
        }
    }

    /// Sets the time of an owner; infinite for never.
    #[inline]
    pub fn set(&mut self, owner: u32, time: f64, tie: u32) {
        debug_assert!(!time.is_nan());
        self.leave(owner);
        let entry = &mut self.entries[owner as usize];
        (entry.time, entry.tie) = (time, tie);
        self.enter(owner);
    }

    fn enter(&mut self, i: u32) {
        let time = self.entries[i as usize].time;
        if time == f64::INFINITY {
            return;
        }
        let day = self.number(time);
        if day <= self.day {
            self.today.push(i);
            self.rise(self.today.len() - 1);
            return;
        }
        let (place, head) = if day < self.day + self.days.len() as u64 {
            let slot = (day as usize) & (self.days.len() - 1);
            (Place::Day(slot as u32), &mut self.days[slot])
        } else {
            (Place::Later, &mut self.later)
        };
        let next = std::mem::replace(head, i);
        if next != NOBODY {
            self.entries[next as usize].last = i;
        }
        let entry = &mut self.entries[i as usize];
        (entry.place, entry.next, entry.last) = (place, next, NOBODY);
    }

    fn leave(&mut self, i: u32) {
        let Entry { place, next, last, .. } = self.entries[i as usize];
        match place {
            Place::Nowhere => return,
            Place::Today(position) => {
                let position = position as usize;
                let moved = self.today.pop().expect("the entry is in the heap");
                if position < self.today.len() {
                    self.today[position] = moved;
                    self.entries[moved as usize].place = Place::Today(position as u32);
                    self.rise(position);
                    self.sink(position);
                }
            }
            Place::Day(_) | Place::Later => {
                if next != NOBODY {
                    self.entries[next as usize].last = last;
                }
                if last != NOBODY {
                    self.entries[last as usize].next = next;
                } else if let Place::Day(slot) = place {
                    self.days[slot as usize] = next;
                } else {
                    self.later = next;
                }
            }
        }
        self.entries[i as usize].place = Place::Nowhere;
    }

    /// Owner and time of the earliest entry.
    #[inline]
    pub fn first(&mut self) -> Option<(u32, f64)> {
        while self.today.is_empty() {
            if !self.next_day() {
                return None;
            }
        }
        let owner = self.today[0];
        Some((owner, self.entries[owner as usize].time))
    }

    /// Goes on to the next day with entries; false if there is none at all.
    fn next_day(&mut self) -> bool {
        let length = self.days.len() as u64;
        let mut looked = 0;
        loop {
            self.day += 1;
            self.idle += 1;
            looked += 1;
            if self.day & (length - 1) == 0 {
                self.new_year();
            }
            let slot = (self.day & (length - 1)) as usize;
            let mut i = std::mem::replace(&mut self.days[slot], NOBODY);
            if i != NOBODY {
                while i != NOBODY {
                    let next = self.entries[i as usize].next;
                    self.today.push(i);
                    self.rise(self.today.len() - 1);
                    i = next;
                }
                self.met += 1;
                self.crowd += self.today.len() as u64;
                return true;
            }
            if looked > length {
                // A whole year without an entry: on to the first of the later ones.
                return self.skip_to_later();
            }
        }
    }

    /// Brings entries that were beyond the end of the year into the days.
    fn new_year(&mut self) {
        let mut i = std::mem::replace(&mut self.later, NOBODY);
        while i != NOBODY {
            let next = self.entries[i as usize].next;
            self.entries[i as usize].place = Place::Nowhere;
            self.enter(i);
            i = next;
        }
    }

    fn skip_to_later(&mut self) -> bool {
        let mut earliest = f64::INFINITY;
        let mut i = self.later;
        while i != NOBODY {
            earliest = earliest.min(self.entries[i as usize].time);
            i = self.entries[i as usize].next;
        }
        if earliest == f64::INFINITY {
            return false;
        }
        self.cut(earliest);
        true
    }

    /// Whether days have become far too long or too short for the entries.
    pub fn is_worn(&self) -> bool {
        let days = self.days.len() as u64;
        self.idle > 4 * days && self.idle > 32 * self.met || self.met > days && self.crowd > 32 * self.met
    }

    fn is_before(&self, a: u32, b: u32) -> bool {
        let (a, b) = (&self.entries[a as usize], &self.entries[b as usize]);
        a.time < b.time || a.time == b.time && a.tie < b.tie
    }

    fn rise(&mut self, mut at: usize) {
        let i = self.today[at];
        while at > 0 {
            let up = (at - 1) / 2;
            let parent = self.today[up];
            if !self.is_before(i, parent) {
                break;
            }
            self.put(parent, at);
            at = up;
        }
        self.put(i, at);
    }

    fn sink(&mut self, mut at: usize) {
        let i = self.today[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.today.len() {
                break;
            }
            if child + 1 < self.today.len() && self.is_before(self.today[child + 1], self.today[child]) {
                child += 1;
            }
            let down = self.today[child];
            if !self.is_before(down, i) {
                break;
            }
            self.put(down, at);
            at = child;
        }
        self.put(i, at);
    }

    #[inline]
    fn put(&mut self, i: u32, at: usize) {
        self.today[at] = i;
        self.entries[i as usize].place = Place::Today(at as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// The slow twin: looks through all times.
    fn earliest(times: &[(f64, u32)]) -> Option<(f64, u32)> {
        times.iter().copied().filter(|t| t.0 < f64::INFINITY).min_by(|a, b| a.partial_cmp(b).expect("numbers"))
    }

    #[test]
    fn the_earliest_of_changing_times_is_that_of_a_search_through_all() {
        let n = 100;
        for scale in [1e-9, 1.0, 1e6] {
            let mut random = Stream::new(1, Purpose::Noise, 0);
            let mut calendar = Calendar::new(n, 0.0);
            let mut times = vec![(f64::INFINITY, 0); n];
            let mut now = 0.0;
            for step in 0..20_000 {
                for _ in 0..1 + random.below(3) {
                    let owner = random.below(n as u64) as usize;
                    // Waits of all lengths, never, at once, and equal ones.
                    let wait = match random.below(8) {
                        0 => f64::INFINITY,
                        1 => 0.0,
                        2 => 1.0,
                        3 => 1000.0 * random.uniform(),
                        _ => -random.uniform().ln(),
                    };
                    let tie = random.below(5) as u32;
                    times[owner] = (now + scale * wait, tie);
                    calendar.set(owner as u32, times[owner].0, tie);
                }
                if step % 1000 == 0 || calendar.is_worn() {
                    calendar.cut(now);
                }
                let expected = earliest(&times);
                let found = calendar.first().map(|(owner, time)| (time, times[owner as usize].1));
                assert_eq!(found, expected, "step {step} scale {scale}");
                if let Some((owner, time)) = calendar.first() {
                    now = time;
                    times[owner as usize].0 = f64::INFINITY;
                    calendar.set(owner, f64::INFINITY, 0);
                }
            }
        }
    }
}
