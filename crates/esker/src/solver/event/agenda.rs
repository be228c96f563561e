//! What one grain expects: its few earliest events, and how far its knowledge reaches.
//!
//! All events that are found are entered, not the earliest alone: if the partner of the first is deflected before, the next one
//! is still known (Gavrilov 1999, fig. 3.6). Where there is no room the latest is dropped and the grain looks again at its time, so that
//! memory is bounded and nothing is lost. An event with a partner that has met another in the meantime is void: partners
//! count their meetings, and the event tells at which count it was foreseen.

/// With whom or what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    /// A grain that had met so many others.
    Grain { index: u32, meetings: u32 },
    /// A wall.
    Wall { index: u16 },
    /// A face of its cell: axis, and whether upwards.
    Face { axis: u8, up: bool },
    /// The end of what is known of its flight.
    End,
}

/// An event to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// When \[s\].
    pub time: f64,
    /// With whom or what.
    pub with: With,
}

/// Events kept.
const ROOM: usize = 3;

/// The earliest events of a grain, a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Agenda {
    times: [f64; ROOM],
    /// Nothing is known from here on \[s\].
    horizon: f64,
    whats: [u32; ROOM],
    counts: [u32; ROOM],
    len: u32,
}

const GRAIN: u32 = 0;
const WALL: u32 = 1 << 30;
const FACE: u32 = 2 << 30;
const END: u32 = 3 << 30;
const KIND: u32 = 3 << 30;

/// Grains that can be told from walls and faces.
pub(super) const MOST_GRAINS: usize = WALL as usize;

fn pack(with: With) -> (u32, u32) {
    match with {
        With::Grain { index, meetings } => (GRAIN | index, meetings),
        With::Wall { index } => (WALL | u32::from(index), 0),
        With::Face { axis, up } => (FACE | u32::from(axis) << 1 | u32::from(up), 0),
        With::End => (END, 0),
    }
}

fn unpack(what: u32, meetings: u32) -> With {
    let value = what & !KIND;
    match what & KIND {
        GRAIN => With::Grain { index: value, meetings },
        WALL => With::Wall { index: value as u16 },
        FACE => With::Face { axis: (value >> 1) as u8, up: value & 1 == 1 },
        _ => With::End,
    }
}

impl Default for Agenda {
    fn default() -> Self {
        Self { times: [f64::INFINITY; ROOM], horizon: f64::INFINITY, whats: [0; ROOM], counts: [0; ROOM], len: 0 }
    }
}

impl Agenda {
    /// Forgets all events.
    pub fn clear(&mut self) {
        self.len = 0;
        self.horizon = f64::INFINITY;
    }

    /// Events at or after this time need not be told \[s\].
    #[inline]
    pub fn horizon(&self) -> f64 {
        self.horizon
    }

    /// Enters an event in order of time.
    #[inline]
    pub fn enter(&mut self, event: Event) {
        let mut k = self.len as usize;
        if event.time >= self.horizon {
            return;
        }
        if k == ROOM {
            if event.time >= self.times[ROOM - 1] {
                self.horizon = event.time;
                return;
            }
            self.horizon = self.times[ROOM - 1];
            k -= 1;
        } else {
            self.len += 1;
        }
        let (what, count) = pack(event.with);
        while k > 0 && self.times[k - 1] > event.time {
            self.times[k] = self.times[k - 1];
            self.whats[k] = self.whats[k - 1];
            self.counts[k] = self.counts[k - 1];
            k -= 1;
        }
        (self.times[k], self.whats[k], self.counts[k]) = (event.time, what, count);
    }

    /// The first event; none where the horizon comes before.
    #[inline]
    pub fn first(&self) -> Option<Event> {
        (self.len > 0).then(|| Event { time: self.times[0], with: unpack(self.whats[0], self.counts[0]) })
    }

    /// When it has to be looked at \[s\].
    #[inline]
    pub fn due(&self) -> f64 {
        if self.len > 0 { self.times[0] } else { self.horizon }
    }

    /// Strikes the first event out.
    #[inline]
    pub fn strike(&mut self) {
        for k in 1..ROOM {
            self.times[k - 1] = self.times[k];
            self.whats[k - 1] = self.whats[k];
            self.counts[k - 1] = self.counts[k];
        }
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agenda_is_a_cache_line() {
        assert_eq!((size_of::<Agenda>(), align_of::<Agenda>()), (64, 64));
    }

    #[test]
    fn the_earliest_stay_in_order_and_what_is_dropped_bounds_what_is_known() {
        let mut agenda = Agenda::default();
        let grain = |index| With::Grain { index, meetings: 7 };
        for (time, with) in
            [(3.0, grain(3)), (1.0, With::Wall { index: 9 }), (4.0, With::End), (2.0, With::Face { axis: 2, up: true })]
        {
            agenda.enter(Event { time, with });
        }
        // The event at 4 found no room.
        assert_eq!(agenda.horizon(), 4.0);
        agenda.enter(Event { time: 5.0, with: grain(5) });
        agenda.enter(Event { time: 2.5, with: grain(25) });
        assert_eq!(agenda.horizon(), 3.0);
        let mut met = Vec::new();
        while let Some(event) = agenda.first() {
            met.push((event.time, event.with));
            agenda.strike();
        }
        assert_eq!(met, [(1.0, With::Wall { index: 9 }), (2.0, With::Face { axis: 2, up: true }), (2.5, grain(25))]);
        assert_eq!(agenda.due(), 3.0);
    }
}
