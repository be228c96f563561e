//! Which parts of a round contact area have slipped, and which way.

use crate::math::Vec3;

/// Partial slip of Mindlin & Deresiewicz (1953) under a load that changes, as a diagram over the load.
///
/// A contact area made by the load $F$ consists of rings, each with the load $x\le F$ at which its rim was that of the
/// area. A ring carries $D(x)$ of its share of the friction, $|D|\le1$:
///
/// $$T = \mu\int_0^F D\,\mathrm dx,\qquad \xi = \mu\int_0^F D\,\frac{\mathrm dx}{k(x)},\qquad k(x) = k\,(x/F)^a$$
///
/// (Jäger 1998; Aleshin & Van Den Abeele 2012). Slip comes in from the rim: a displacement sets $D = \pm1$ from the rim
/// inwards, as far as it takes. A load that grows adds rings, with $D = \pm1$ if the displacement is as large as
/// $\mu\,\mathrm dF/k$ and less if it is smaller, when nothing slips; a load that falls takes them away, and what they had
/// of the displacement is made up for by slip. With $\theta = (x_s/F)^a$ where the sticking core ends this is
/// $\mathrm dT = k\theta\,\mathrm d\xi \pm \mu(1-\theta)\,\mathrm dF$, the increment of Thornton & Yin (1991).
///
/// Remembered are a core without traction, a ring of one sign, a ring of any value, and, through $T$, one of either sign at the
/// rim: first loading, unloading and reloading are exact. Of older or finer history rings are evened out at unchanged $T$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Diagram {
    /// Load up to which there is no traction \[N\].
    core: f64,
    /// Load up to which it has one sign \[N\].
    edge: f64,
    /// That sign.
    sign: f64,
    /// D beyond.
    ring: f64,
}

/// The slipping ring at the rim: its sign and where it begins.
type Rim = (f64, f64);

impl Diagram {
    /// As kept with a contact under a load. Seen from the other body all is negated: the first entry, which is not negative,
    /// tells.
    pub(super) fn read(kept: Vec3, load: f64) -> Self {
        let kept = if kept.x < 0.0 { -kept } else { kept };
        Self { core: (kept.x - load).max(0.0), edge: kept.y.abs(), sign: kept.y.signum(), ring: kept.z }
    }

    /// See [`Self::read`]; `turned` if the force has changed its sign.
    pub(super) fn kept(&self, load: f64, turned: bool) -> Vec3 {
        let way = if turned { -1.0 } else { 1.0 };
        Vec3::new(load + self.core, way * self.sign * self.edge, way * self.ring)
    }

    /// Pieces from the rim inwards: where each begins, and D.
    fn pieces(&self, load: f64) -> [(f64, f64); 3] {
        [(self.edge.min(load), self.ring), (self.core.min(self.edge).min(load), self.sign), (0.0, 0.0)]
    }

    /// Moves a rim of sign `s` inwards from `from`, by an amount that is measured by `of` (load or displacement) and counts
    /// for each piece with the change of D. Returns where it ends.
    fn inwards(
        &self,
        s: f64,
        from: f64,
        load: f64,
        amount: f64,
        of: impl Fn(f64) -> f64,
        back: impl Fn(f64) -> f64,
    ) -> f64 {
        let (mut q, mut left) = (from, amount);
        for (low, value) in self.pieces(load) {
            if low >= q {
                continue;
            }
            let change = 1.0 - s * value;
            let whole = change * (of(q) - of(low));
            if change > 0.0 && left < whole {
                return back(of(q) - left / change).clamp(low, q);
            }
            left -= whole;
            q = low;
        }
        0.0
    }

    /// The integral of D over some measure of the load, between two loads, with a rim over the pieces.
    fn integral(&self, (s, q): Rim, [low, high]: [f64; 2], load: f64, of: impl Fn(f64) -> f64) -> f64 {
        let rim = q.clamp(low, high);
        let mut sum = s * (of(high) - of(rim));
        let mut upper = rim;
        for (from, value) in self.pieces(load) {
            let lower = from.clamp(low, upper);
            sum += value * (of(upper) - of(lower));
            upper = lower;
        }
        sum
    }

    /// The rim at a force over friction \[N\].
    fn rim(&self, t: f64, load: f64) -> Rim {
        let excess = t - self.integral((0.0, load), [0.0, load], load, |x| x);
        let s = excess.signum();
        // What is rounding is no slip.
        let amount = if excess.abs() > 1e-12 * load { excess.abs() } else { 0.0 };
        if amount > 0.0 { (s, self.inwards(s, load, load, amount, |x| x, |x| x)) } else { (s, load) }
    }

    /// Makes the rim one of the pieces.
    fn settle(&mut self, (s, q): Rim, load: f64) {
        if q >= load {
            return;
        }
        let core = self.core.min(self.edge);
        if q <= core {
            *self = Self { core: q, edge: load, sign: s, ring: 0.0 };
        } else if q < self.edge {
            (self.edge, self.ring) = (q, s);
        } else if self.edge <= core && self.ring == 0.0 {
            *self = Self { core: q, edge: load, sign: s, ring: 0.0 };
        } else if self.edge <= core && self.ring.abs() == 1.0 {
            *self = Self { core, edge: q, sign: self.ring, ring: s };
        } else {
            self.ring = (self.ring * (q - self.edge) + s * (load - q)) / (load - self.edge);
        }
    }

    /// Adds a ring in which nothing slips.
    fn grow(&mut self, [from, to]: [f64; 2], value: f64) {
        if self.edge >= from {
            (self.edge, self.ring) = (from, value);
        } else if self.edge <= self.core && self.ring == 0.0 {
            (self.core, self.edge, self.ring) = (from, from, value);
        } else {
            self.ring = (self.ring * (from - self.edge) + value * (to - from)) / (to - self.edge);
        }
    }

    /// Takes the contact from one load to another, above zero, and by a displacement, which is measured in that at which all of
    /// the contact would slide. Returns the force over friction \[N\], given that before.
    pub(super) fn follow(&mut self, t: f64, loads: [f64; 2], displacement: f64, exponent: f64) -> f64 {
        let [before, load] = loads;
        let power = 1.0 - exponent;
        let way = |x: f64| (x / load).powf(power);
        let back = |w: f64| load * w.max(0.0).powf(1.0 / power);
        let (mut s, mut q) = self.rim(t.clamp(-before, before), before);
        let mut push = displacement;

        // The load takes rings away or adds some.
        if load < before {
            push += self.integral((s, q), [load, before], before, way);
            (self.core, self.edge, q) = (self.core.min(load), self.edge.min(load), q.min(load));
        } else if load > before {
            let most = 1.0 - way(before);
            if displacement.abs() >= most {
                let sense = displacement.signum();
                push -= sense * most;
                if q < before && s != sense {
                    self.settle((s, q), before);
                    q = before;
                }
                s = sense;
            } else {
                self.settle((s, q), before);
                self.grow([before, load], displacement / most);
                (q, push) = (load, 0.0);
            }
        }

        // The rest slips from the rim inwards.
        if push != 0.0 {
            let sense = push.signum();
            if q < load && s != sense {
                self.settle((s, q), load);
                q = load;
            }
            s = sense;
            q = self.inwards(s, q, load, push.abs(), way, back);
        }
        let force = self.integral((s, q), [0.0, load], load, |x| x);
        if q <= self.core.min(self.edge) {
            self.settle((s, q), load);
        }
        force
    }
}
