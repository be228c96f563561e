//! The grains, one column per property: index `i` is the same grain in every column.
//!
//! Columns are grouped by who reads them. The contact loop reads three records whose sums and differences are all a
//! pair law needs: [`Place`] (32 bytes, all that a candidate check touches), [`Motion`] (one cache line) and it writes
//! [`Load`] (one cache line). Everything else stays out of its way.

use crate::math::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Centre and radius of a grain: all that a candidate check reads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C, align(32))]
pub struct Place {
    /// Centre \[m\].
    pub position: Vec3,
    /// Radius \[m\].
    pub radius: f64,
}

impl Place {
    /// Its four numbers in the order of the fields.
    #[inline(always)]
    pub fn as_quad(&self) -> [f64; 4] {
        [self.position.x, self.position.y, self.position.z, self.radius]
    }

    /// From its four numbers.
    #[inline(always)]
    pub fn from_quad([x, y, z, radius]: [f64; 4]) -> Self {
        Self { position: Vec3::new(x, y, z), radius }
    }
}

/// Velocities and what a law needs of the body, as one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Motion {
    /// Velocity of the centre \[m/s\].
    pub velocity: Vec3,
    /// 1/mass \[1/kg\]; 0 for a fixed grain.
    pub inverse_mass: f64,
    /// Angular velocity \[rad/s\], world axes.
    pub angular_velocity: Vec3,
    /// 1/radius \[1/m\].
    pub inverse_radius: f64,
}

impl Motion {
    /// No motion, of no particular body.
    pub const AT_REST: Self =
        Self { velocity: Vec3::ZERO, inverse_mass: 0.0, angular_velocity: Vec3::ZERO, inverse_radius: 0.0 };

    /// Its eight numbers in the order of the fields.
    #[inline(always)]
    pub fn as_record(&self) -> [f64; 8] {
        let (v, w) = (self.velocity, self.angular_velocity);
        [v.x, v.y, v.z, self.inverse_mass, w.x, w.y, w.z, self.inverse_radius]
    }

    /// From its eight numbers.
    #[inline(always)]
    pub fn from_record([a, b, c, inverse_mass, d, e, f, inverse_radius]: [f64; 8]) -> Self {
        Self { velocity: Vec3::new(a, b, c), inverse_mass, angular_velocity: Vec3::new(d, e, f), inverse_radius }
    }
}

/// Whether a grain has a finite place and velocity.
pub fn is_finite(place: &Place, motion: &Motion) -> bool {
    place.position.is_finite() && motion.velocity.is_finite() && motion.angular_velocity.is_finite()
}

/// Sum of what acts on a grain, as one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Load {
    /// Force \[N\].
    pub force: Vec3,
    /// Energy lost by dashpots over the last step on walls and in pairs whose first grain this is, as far as the fast loops
    /// ([`batch`](crate::contact::batch)) evaluated them \[J\].
    pub damped: f64,
    /// Torque about the centre \[N m\].
    pub torque: Vec3,
    /// Energy lost by sliding, likewise \[J\].
    pub rubbed: f64,
}

impl Load {
    /// That of gravity on a mass.
    #[inline(always)]
    pub fn of_gravity(mass: f64, gravity: Vec3) -> Self {
        Self { force: mass * gravity, ..Self::default() }
    }

    /// Adds another.
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        self.force += other.force;
        self.damped += other.damped;
        self.torque += other.torque;
        self.rubbed += other.rubbed;
    }

    /// Its eight numbers in the order of the fields.
    #[inline(always)]
    pub fn as_record(&self) -> [f64; 8] {
        let (f, t) = (self.force, self.torque);
        [f.x, f.y, f.z, self.damped, t.x, t.y, t.z, self.rubbed]
    }

    /// From its eight numbers.
    #[inline(always)]
    pub fn from_record([a, b, c, damped, d, e, f, rubbed]: [f64; 8]) -> Self {
        Self { force: Vec3::new(a, b, c), damped, torque: Vec3::new(d, e, f), rubbed }
    }
}

/// Scaled higher derivatives of the Gear schemes (see [`crate::integrate::gear`]); the column is empty for other schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Derivatives {
    /// Position: dt^k/k! d^k x/dt^k for k = 2…5.
    pub position: [Vec3; 4],
    /// Angular momentum: dt^k/k! d^k L/dt^k for k = 1…5.
    pub spin: [Vec3; 5],
    /// Orientation: dt^k/k! d^k q/dt^k for k = 1…5, as (x, y, z, w).
    pub orientation: [[f64; 4]; 5],
}

/// What was at the beginning of the last step, for schemes that look back (see [`crate::integrate::rule`]); the column is empty
/// for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Last {
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Acceleration \[m/s²\].
    pub acceleration: Vec3,
    /// Angular momentum \[N m s\], world axes.
    pub momentum: Vec3,
    /// Torque \[N m\].
    pub torque: Vec3,
}

/// Free flight of a grain since it last met something, as one cache line, for the event-driven solver
/// ([`crate::solver::event`]); the column is empty for others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Flight {
    /// Place at the beginning \[m\].
    pub position: Vec3,
    /// Velocity at the beginning; of a flight that is computed in steps, the mean one over the step \[m/s\].
    pub velocity: Vec3,
    /// When it began, on the clock of the flights \[s\].
    pub since: f64,
    /// Radius \[m\].
    pub radius: f64,
}

/// What a flight has besides, where it is computed in steps since forces are not constant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arc {
    /// Velocity at both ends of the step \[m/s\].
    pub velocity: [Vec3; 2],
    /// Power of the fields without a potential then \[W\].
    pub power: [f64; 2],
    /// When the step ends, on the clock of the flights \[s\].
    pub until: f64,
    /// Longest step for this grain \[s\].
    pub step: f64,
}

/// Everything needed to add one grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewGrain {
    /// Index into [`Model::kinds`](crate::model::Model::kinds).
    pub kind: u16,
    /// Centre and radius.
    pub place: Place,
    /// Velocity \[m/s\].
    pub velocity: Vec3,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: Vec3,
    /// Mass \[kg\].
    pub mass: f64,
    /// Principal moments of inertia \[kg m²\].
    pub inertia: Vec3,
    /// Held in place: feels no force.
    pub fixed: bool,
}

macro_rules! columns {
    ($( $(#[$doc:meta])* $name:ident : $type:ty ),* $(,)?) => {
        /// All grains, one column per property. Entries `0..owned()` are real; while a solver runs, periodic images
        /// follow in `place` and `motion`. A tidy-up may reorder: keep `id`, never `i`.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Particles { $( $(#[$doc])* pub $name: Vec<$type>, )* }

        impl Particles {
            /// Keeps the grains whose index satisfies the test, in their order.
            pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
                self.drop_images();
                let keep: Vec<bool> = (0..self.owned()).map(&mut keep).collect();
                $( if !self.$name.is_empty() { let mut k = keep.iter(); self.$name.retain(|_| *k.next().unwrap_or(&true)); } )*
            }

            /// Puts the grain at `order[k]` to place `k`.
            pub fn permute(&mut self, order: &[u32]) {
                self.drop_images();
                $( if !self.$name.is_empty() { self.$name = order.iter().map(|&i| self.$name[i as usize]).collect(); } )*
            }
        }
    };
}

columns! {
    /// Identity, given once and never reused.
    id: u64,
    /// Centre and radius: read by candidate checks.
    place: Place,
    /// Velocities, 1/m and 1/r: read by the laws.
    motion: Motion,
    /// Force and torque: written by the laws.
    load: Load,
    /// Mass \[kg\].
    mass: f64,
    /// Principal moments of inertia in body axes \[kg m²\].
    inertia: Vec3,
    /// Rotation from body axes to world axes.
    orientation: Quat,
    /// Index into [`Model::kinds`](crate::model::Model::kinds).
    kind: u16,
    /// Higher derivatives, only for the Gear schemes.
    derivatives: Derivatives,
    /// Velocities and loads of one step ago, only for schemes that look back.
    last: Last,
    /// Free flights, only for the event-driven solver.
    flight: Flight,
    /// When a grain last met something, on the clock of the flights; only for the event-driven solver \[s\].
    met: f64,
    /// The rest of flights that are computed in steps.
    arc: Arc,
}

impl Particles {
    /// Number of real grains.
    pub fn owned(&self) -> usize {
        self.id.len()
    }

    /// Centre of grain `i` \[m\].
    pub fn position(&self, i: usize) -> Vec3 {
        self.place[i].position
    }

    /// Radius of grain `i` \[m\].
    pub fn radius(&self, i: usize) -> f64 {
        self.place[i].radius
    }

    /// Velocity of grain `i` \[m/s\].
    pub fn velocity(&self, i: usize) -> Vec3 {
        self.motion[i].velocity
    }

    /// Angular velocity of grain `i` \[rad/s\].
    pub fn angular_velocity(&self, i: usize) -> Vec3 {
        self.motion[i].angular_velocity
    }

    /// Whether grain `i` is held in place.
    pub fn is_fixed(&self, i: usize) -> bool {
        self.motion[i].inverse_mass == 0.0
    }

    /// Kinetic energy of translation and of rotation of grain `i` \[J\]. A fixed grain has none.
    pub fn kinetic_energy(&self, i: usize) -> (f64, f64) {
        if self.is_fixed(i) {
            return (0.0, 0.0);
        }
        let omega = self.orientation[i].conjugate() * self.angular_velocity(i);
        (0.5 * self.mass[i] * self.velocity(i).length_squared(), 0.5 * omega.dot(self.inertia[i] * omega))
    }

    /// Appends a grain and returns its index. A scheme that keeps something has to be started for it.
    pub fn push(&mut self, id: u64, grain: NewGrain) -> usize {
        self.drop_images();
        let inverse_mass = if grain.fixed { 0.0 } else { 1.0 / grain.mass };
        self.id.push(id);
        self.place.push(grain.place);
        self.motion.push(Motion {
            velocity: grain.velocity,
            inverse_mass,
            angular_velocity: grain.angular_velocity,
            inverse_radius: 1.0 / grain.place.radius,
        });
        self.load.push(Load::default());
        self.mass.push(grain.mass);
        self.inertia.push(grain.inertia);
        self.orientation.push(Quat::IDENTITY);
        self.kind.push(grain.kind);
        self.id.len() - 1
    }

    /// Forgets what schemes have kept of earlier steps.
    pub fn forget_steps(&mut self) {
        self.derivatives.clear();
        self.last.clear();
        self.forget_flights();
    }

    /// Forgets free flights: they begin anew where the grains are.
    pub fn forget_flights(&mut self) {
        self.flight.clear();
        self.met.clear();
        self.arc.clear();
    }

    /// Cuts periodic images off, so that every column has one entry per real grain.
    pub fn drop_images(&mut self) {
        let n = self.owned();
        self.place.truncate(n);
        self.motion.truncate(n);
    }
}

/// Whether three principal moments of inertia are equal, so that the orientation does not matter to the dynamics.
#[inline]
pub fn is_isotropic(inertia: Vec3) -> bool {
    inertia.x == inertia.y && inertia.y == inertia.z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grain(x: f64) -> NewGrain {
        NewGrain {
            kind: 0,
            place: Place { position: Vec3::new(x, 0.0, 0.0), radius: 1.0 },
            velocity: Vec3::X * x,
            angular_velocity: Vec3::ZERO,
            mass: 1.0,
            inertia: Vec3::splat(0.4),
            fixed: false,
        }
    }

    #[test]
    fn records_fill_whole_cache_lines() {
        assert_eq!((size_of::<Place>(), align_of::<Place>()), (32, 32));
        assert_eq!((size_of::<Motion>(), align_of::<Motion>()), (64, 64));
        assert_eq!((size_of::<Load>(), align_of::<Load>()), (64, 64));
    }

    #[test]
    fn removal_and_reordering_move_every_column_together() {
        let mut p = Particles::default();
        for k in 0..5 {
            p.push(10 + k, grain(k as f64));
        }
        p.retain(|i| i != 1);
        p.permute(&[3, 2, 1, 0]);
        assert_eq!(p.id, [14, 13, 12, 10]);
        for (k, &id) in p.id.iter().enumerate() {
            assert_eq!(p.position(k).x, (id - 10) as f64);
            assert_eq!(p.velocity(k).x, (id - 10) as f64);
        }
        assert_eq!((p.mass.len(), p.load.len(), p.kind.len(), p.derivatives.len()), (4, 4, 4, 0));
    }
}
