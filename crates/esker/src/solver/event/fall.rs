//! The first time at which a gap closes, never stepping over an earlier one.
//!
//! A gap y(t) with rate y' whose second derivative is at least m over the next h seconds cannot close before the first root of
//! y + y' δ + m δ²/2, nor before y over the largest rate. Stepping from bound to bound approaches the first root from the
//! safe side, quadratically, since what the bound lacks of the true second derivative is an error of second order. Where the second derivative is constant and known
//! (bodies thrown in the same field, a wall that moves on a parabola) the first step lands on the root: the closed form.
//! So one method does quadratics, quartics and walls that shake or turn, and a root can neither be missed nor taken twice.

/// A gap as a function of time.
pub(super) trait Gap {
    /// What is known at time `t` of the next `h` seconds.
    fn look(&self, t: f64, h: f64) -> Look;

    /// Longest time to look ahead \[s\].
    fn longest(&self) -> f64;

    /// Time to look ahead at first \[s\]: a step over which the limits are about as tight as they get.
    fn first_look(&self, t: f64) -> f64;
}

/// A gap at one time, and its limits over some time from then on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The gap.
    pub gap: f64,
    /// Its rate.
    pub rate: f64,
    /// The second derivative lies between these.
    pub bend: [f64; 2],
    /// The rate does not become larger than this, whatever its sign.
    pub fastest: f64,
}

/// First root δ > 0 of y + rate δ + bend δ²/2 for y ≥ 0, without cancellation; infinite if there is none.
#[inline]
pub(super) fn first_root(y: f64, rate: f64, bend: f64) -> f64 {
    let square = rate * rate - 2.0 * bend * y;
    if square < 0.0 || (bend >= 0.0 && rate >= 0.0) {
        return f64::INFINITY;
    }
    if rate < 0.0 { 2.0 * y / (square.sqrt() - rate) } else { (rate + square.sqrt()) / -bend }
}

/// Never looked at farther ahead in one step than this \[s\].
const FARTHEST: f64 = 1e12;

/// First time in [from, to] at which the gap falls to zero. A gap that is closed at the start and closing falls at once; one that
/// is closed and opening has to open first.
pub(super) fn first_fall(gap: &impl Gap, from: f64, to: f64) -> Option<f64> {
    let mut t = from;
    // Nothing here may depend on `to`: the root must be the same, to the last bit, however far somebody looks.
    let mut h = gap.first_look(t).min(FARTHEST);
    let mut looks = 0u32;
    loop {
        let look = gap.look(t, h);
        let Look { gap: y, rate, bend: [bend, _], fastest } = look;
        looks += 1;
        debug_assert!(looks < 1_000_000, "no end at {t} in {from} to {to}: h {h:e}, {look:?}");
        if y <= 0.0 && rate < 0.0 {
            return Some(t);
        }
        let safe = if y > 0.0 {
            first_root(y, rate, bend).max(y / fastest)
        } else if bend < 0.0 {
            // Closed and opening: nothing falls before the rate has turned.
            rate / -bend
        } else {
            f64::INFINITY
        };
        let step = safe.min(h);
        let next = t + step;
        if next >= to {
            return None;
        }
        if next <= t {
            return Some(t);
        }
        h = if safe >= h { 2.0 * h } else { 4.0 * safe }.min(gap.longest()).min(FARTHEST);
        t = next;
    }
}

/// First time in [from, to] at which a closed gap may be open again: the fall of its opposite.
pub(super) fn first_rise(gap: &impl Gap, from: f64, to: f64) -> Option<f64> {
    struct Opposite<'a, G>(&'a G);
    impl<G: Gap> Gap for Opposite<'_, G> {
        fn look(&self, t: f64, h: f64) -> Look {
            let Look { gap, rate, bend: [low, high], fastest } = self.0.look(t, h);
            Look { gap: -gap, rate: -rate, bend: [-high, -low], fastest }
        }
        fn longest(&self) -> f64 {
            self.0.longest()
        }
        fn first_look(&self, t: f64) -> f64 {
            self.0.first_look(t)
        }
    }
    first_fall(&Opposite(gap), from, to)
}
