//! Lasting contacts: their memory, the list of candidates, and the sweeps that evaluate them.
//!
//! - [`Contacts`] is the authoritative store in the state: touching pairs and wall contacts with their memory, sorted.
//! - [`list`] turns candidate pairs into segments, one or more per worker, with the memory carried over.
//! - [`sweep`] evaluates pairs, [`walls`] evaluates walls; both through [`Law`](crate::law::Law).
//! - [`visit`] walks over the stored contacts and tells their forces without changing anything.

pub mod batch;
pub mod column;
pub mod flats;
pub mod hand_over;
pub mod list;
pub mod near_pairs;
pub mod near_walls;
pub mod octets;
pub mod shares;
pub mod spots;
pub mod sums;
pub mod sweep;
pub mod visit;
pub mod walls;
pub mod window;

use crate::law::{ContactVelocity, Memory};
use crate::math::Vec3;
use crate::particles::Motion;
use serde::{Deserialize, Serialize};

/// A touching pair of grains. Without a shift `i < j` and the pair stands once; with one it stands twice, once from
/// each side, `j` being met in its periodic copy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairContact {
    /// Index of the first grain.
    pub i: u32,
    /// Index of the second grain.
    pub j: u32,
    /// Periods added to the position of `j`.
    pub shift: [i32; 3],
    /// What the contact remembers.
    pub memory: Memory,
}

/// A grain touching a wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WallContact {
    /// Index of the grain.
    pub grain: u32,
    /// Index of the wall.
    pub wall: u16,
    /// Face, edge or vertex of the wall.
    pub feature: u32,
    /// Point of the wall that is touched, wall frame \[m\]; any point of a plane, which has but one feature.
    pub point: Vec3,
    /// Normal into the wall, wall frame.
    pub normal: Vec3,
    /// What the contact remembers.
    pub memory: Memory,
}

/// All lasting contacts, sorted by (i, j, shift) and by (grain, wall, feature).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contacts {
    /// Grain–grain.
    pub pairs: Vec<PairContact>,
    /// Grain–wall.
    pub walls: Vec<WallContact>,
    /// A solver has them.
    #[serde(skip)]
    away: bool,
}

impl Memory {
    /// The same contact seen from the other body.
    pub fn swapped(mut self) -> Self {
        self.spring = -self.spring;
        self.reversal = -self.reversal;
        self.rolling = -self.rolling;
        self.last.tangential_dashpot = self.last.tangential_dashpot.map(|f| -f);
        self.last.couple = self.last.couple.map(|f| -f);
        self.rates.slip = -self.rates.slip;
        self.rates.turning = -self.rates.turning;
        self
    }
}

impl Contacts {
    /// Leaves them to a solver.
    pub(crate) fn leave(&mut self) {
        *self = Self { away: true, ..Default::default() };
    }

    /// Whether a solver has them, and nobody can look at them here.
    pub fn are_away(&self) -> bool {
        self.away
    }

    /// Follows a change of indices: `new_index[i]` is where grain `i` went, or `None` if it was taken out; `wrapped[i]`
    /// tells by how many periods its position was lowered.
    pub fn reindex(&mut self, new_index: &[Option<u32>], wrapped: Option<&[[i32; 3]]>) {
        let mut pairs = Vec::with_capacity(self.pairs.len());
        for c in &self.pairs {
            let (Some(i), Some(j)) = (new_index[c.i as usize], new_index[c.j as usize]) else { continue };
            let shift = match wrapped {
                None => c.shift,
                Some(k) => std::array::from_fn(|a| c.shift[a] + k[c.j as usize][a] - k[c.i as usize][a]),
            };
            let was_single = c.shift == [0; 3];
            let is_single = shift == [0; 3];
            let contact = PairContact { i, j, shift, memory: c.memory };
            let mirrored = PairContact { i: j, j: i, shift: shift.map(|s| -s), memory: c.memory.swapped() };
            match (was_single, is_single) {
                // One record stays one record, lower index first.
                (true, true) => pairs.push(if i < j { contact } else { mirrored }),
                // A pair that lost its shift: the two records become one.
                (false, true) if i < j => pairs.push(contact),
                (false, true) => {}
                // A pair that gained a shift: one record becomes two.
                (true, false) => pairs.extend([contact, mirrored]),
                (false, false) => pairs.push(contact),
            }
        }
        pairs.sort_unstable_by_key(|c| (c.i, c.j, c.shift));
        self.pairs = pairs;
        self.walls.retain_mut(|c| match new_index[c.grain as usize] {
            Some(grain) => {
                c.grain = grain;
                true
            }
            None => false,
        });
        self.walls.sort_by_key(|c| (c.grain, c.wall, c.feature));
    }
}

/// Levers of the two bodies of a contact: the contact point lies that far from their centres \[m\].
#[derive(Clone, Copy, Debug)]
pub struct Levers {
    /// Of body i.
    pub i: f64,
    /// Of body j.
    pub j: f64,
}

impl Levers {
    /// Of two grains with centres a distance apart: the contact point is the middle of the overlap (Džiugys & Peters
    /// 1998, eq. (5)).
    #[inline]
    pub fn of_pair(radius_i: f64, radius_j: f64, distance: f64) -> Self {
        let half_overlap = 0.5 * (radius_i + radius_j - distance);
        Self { i: radius_i - half_overlap, j: radius_j - half_overlap }
    }

    /// The same with each of them longer.
    #[inline]
    pub fn longer(self, by: f64) -> Self {
        Self { i: self.i + by, j: self.j + by }
    }

    /// Of a grain on a wall, which is a body with its centre at the contact point.
    #[inline]
    pub fn of_wall(lever: f64) -> Self {
        Self { i: lever, j: 0.0 }
    }
}

/// With what a contact frame turns about its normal.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    /// With the mean of both spins, weighted with the levers: of two grains this far apart \[m\].
    Between(f64),
    /// With the second body, a wall: the limit of a very large grain.
    OnSecond,
}

/// Velocity of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Of the centre \[m/s\].
    pub linear: Vec3,
    /// Spin \[rad/s\].
    pub angular: Vec3,
}

impl From<&Motion> for Velocity {
    #[inline]
    fn from(motion: &Motion) -> Self {
        Self { linear: motion.velocity, angular: motion.angular_velocity }
    }
}

/// Carries a tangent vector from the middle of a step to its end: the frame still turns by half its angle about the
/// normal, and the normal by half its own.
#[inline]
pub(crate) fn from_middle_to_end(v: Vec3, n: Vec3, frame_angle: f64) -> Vec3 {
    let spun = v + (0.5 * frame_angle) * n.cross(v);
    spun - n * spun.dot(n)
}

/// Velocities of a contact over a step of length `dt` that ends with normal `n`, given those half way through it, with
/// the normal and the levers of that time: with those of the end a pair that turns as one body would seem to slip by
/// ½ D dt (ω·n) ω_t.
#[inline]
pub fn mean_contact_velocity(n: Vec3, half_way: ContactVelocity, dt: f64) -> ContactVelocity {
    ContactVelocity { slip: from_middle_to_end(half_way.slip, n, half_way.frame_spin * dt), ..half_way }
}

/// Relative velocity at the contact of two bodies whose centres lie before and behind the contact point along the normal
/// (Džiugys & Peters 1998, eqs (5)–(9)).
#[inline]
pub fn contact_velocity(n: Vec3, levers: Levers, i: Velocity, j: Velocity, frame: Frame) -> ContactVelocity {
    let rims = levers.i * i.angular + levers.j * j.angular;
    let relative = i.linear - j.linear + rims.cross(n);
    let approach = (i.linear - j.linear).dot(n);
    ContactVelocity {
        approach,
        slip: relative - approach * n,
        turning: i.angular - j.angular,
        frame_spin: match frame {
            Frame::Between(distance) => rims.dot(n) / distance,
            Frame::OnSecond => j.angular.dot(n),
        },
    }
}
