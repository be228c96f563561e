//! Laws of hard collisions: bodies exchange an impulse in an instant, without overlap.
//!
//! As with the soft laws, one function of one [`Encounter`] that never sees the particle arrays, and the same signs: the
//! normal runs from body i to body j, slip is that of surface i on surface j, and the tangential impulse acts on body i.
//! Bodies are spheres or discs (the normal passes through their centres), or walls, of infinite mass.

mod restitution;

pub use restitution::{Curve, Restitution, Viscoelastic};

use super::Dissipation;
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Two bodies at the instant they touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Encounter {
    /// Closing speed along the normal \[m/s\], not negative.
    pub approach: f64,
    /// Tangential velocity of surface i relative to surface j at the point of contact \[m/s\].
    pub slip: Vec3,
    /// Effective mass m\* \[kg\]: 1/m\* = 1/mi + 1/mj.
    pub effective_mass: f64,
    /// Effective radius R\* \[m\]: 1/R\* = 1/Ri + 1/Rj.
    pub effective_radius: f64,
    /// Mass against slip m_t \[kg\]: 1/m_t = 1/mi + ri²/Ii + 1/mj + rj²/Ij.
    pub tangential_mass: f64,
}

/// What two bodies exchange when they collide.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impulse {
    /// Pushes them apart along the normal \[N s\], not negative.
    pub normal: f64,
    /// Tangential impulse on body i \[N s\]; body j gets the opposite.
    pub tangential: Vec3,
    /// Kinetic energy lost \[J\]: along the normal as `damping`, along the tangent as `friction`. Exact: what free bodies lose,
    /// and beside a wall that moves, what the body loses in the frame of the wall.
    pub lost: Dissipation,
    /// Speed of parting over that of approach.
    pub restitution: f64,
}

/// Hard collision of a pair of materials, by three parameters.
///
/// Along the normal $J_n = (1+\varepsilon)\,m^*v_n$ with a loss of $\tfrac12m^*(1-\varepsilon^2)v_n^2$ (Gavrilov, eqs
/// (3.16), (3.17)). Along the tangent (Walton 1993) surfaces either stick, and part with $-\beta_0$ of their slip, or slide,
/// as far as Coulomb's friction goes:
///
/// $$\mathbf J_t = -\frac{\mathbf s}{s}\,\min\bigl((1+\beta_0)\,m_t s,\ \mu J_n\bigr)$$
///
/// The impulse changes the slip to $\mathbf s + \mathbf J_t/m_t$ and nothing else along the tangent, so the loss is
/// $-\mathbf J_t\cdot\mathbf s - J_t^2/2m_t$, never negative as $\beta_0 \le 1$.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collision {
    /// Along the normal.
    pub restitution: Restitution,
    /// Coefficient of friction μ; 0 of smooth bodies, may be infinite.
    pub friction: f64,
    /// Slip reversed by surfaces that stick, over slip before: β₀ in \[-1, 1\].
    pub tangential_restitution: f64,
}

impl Collision {
    /// Smooth bodies with one restitution at all speeds.
    pub fn smooth(restitution: f64) -> Self {
        Self { restitution: Restitution::Constant(restitution), friction: 0.0, tangential_restitution: 0.0 }
    }

    /// What the bodies exchange.
    #[inline]
    pub fn impulse(&self, encounter: &Encounter) -> Impulse {
        self.with_restitution(self.restitution.of(encounter), encounter)
    }

    /// The same if nothing were lost along the normal, for collisions too slow to count.
    #[inline]
    pub fn elastic(&self, encounter: &Encounter) -> Impulse {
        self.with_restitution(1.0, encounter)
    }

    /// The same if they part with a given speed, which may be more than they met with.
    pub fn parting_with(&self, speed: f64, encounter: &Encounter) -> Impulse {
        let Encounter { approach, effective_mass, .. } = *encounter;
        let damping = 0.5 * effective_mass * (approach * approach - speed * speed);
        self.pushing(effective_mass * (approach + speed), damping, speed / approach, encounter)
    }

    /// Whether it has tangential impulses at all; collisions without them leave rotation as it is.
    pub fn turns(&self) -> bool {
        self.friction > 0.0 && self.tangential_restitution > -1.0
    }

    #[inline]
    fn with_restitution(&self, restitution: f64, encounter: &Encounter) -> Impulse {
        let Encounter { approach, effective_mass, .. } = *encounter;
        let damping = 0.5 * effective_mass * (1.0 - restitution * restitution) * approach * approach;
        self.pushing((1.0 + restitution) * effective_mass * approach, damping, restitution, encounter)
    }

    /// The impulse of which the part along the normal and its loss are known.
    #[inline]
    fn pushing(&self, normal: f64, damping: f64, restitution: f64, encounter: &Encounter) -> Impulse {
        let lost = Dissipation { damping, ..Default::default() };
        let mut impulse = Impulse { normal, tangential: Vec3::ZERO, lost, restitution };
        if self.turns() {
            self.rub(encounter, &mut impulse);
        }
        impulse
    }

    /// Adds what happens along the tangent.
    #[inline]
    fn rub(&self, encounter: &Encounter, impulse: &mut Impulse) {
        let Encounter { slip, tangential_mass, .. } = *encounter;
        let speed = slip.length();
        if speed == 0.0 {
            return;
        }
        let sticking = (1.0 + self.tangential_restitution) * tangential_mass * speed;
        let size = sticking.min(self.friction * impulse.normal);
        impulse.tangential = slip * (-size / speed);
        // Not below zero by rounding where the slip is fully reversed.
        impulse.lost.friction = (size * (speed - 0.5 * size / tangential_mass)).max(0.0);
    }
}

#[cfg(test)]
mod tests;
