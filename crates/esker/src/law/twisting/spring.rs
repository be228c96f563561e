//! Elastic–plastic twisting spring.

use super::{Memory, Touch, TwistingLaw};
use crate::law::rolling::default_stiffness;
use serde::{Deserialize, Serialize};

/// Spring about the normal with a plastic limit: the rolling spring of Ai et al. (2011) turned to the normal axis.
///
/// $$M_t = -k_t\,\theta_t - c_t\,\omega_t,\qquad |k_t\theta_t| \le \mu_t R^* F_n$$
///
/// Default stiffness $2.25\,k_n(\mu_t R^*)^2$; dashpot $2\beta_t\sqrt{I k_t}$ with $I = \tfrac25 m^*R^{*2}$, below the
/// limit only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwistSpring {
    /// Twisting friction coefficient $\mu_t$ \[-\].
    pub friction: f64,
    /// Stiffness $k_t$ \[N m/rad\]; `None`: from the normal stiffness.
    pub stiffness: Option<f64>,
    /// Damping ratio $\beta_t$ \[-\].
    pub damping_ratio: f64,
}

impl TwistingLaw for TwistSpring {
    fn couple(&self, touch: &Touch, load: f64, normal_stiffness: f64, memory: &mut Memory) -> f64 {
        let r = touch.effective_radius;
        let k = self.stiffness.unwrap_or_else(|| default_stiffness(normal_stiffness, self.friction, r));
        angular_spring(k, self.friction * r * load, self.damping_ratio, touch, memory)
    }
}

/// Spring about the normal of stiffness `k` \[N m/rad\] with a plastic limit \[N m\] and a dashpot below it.
pub(super) fn angular_spring(k: f64, limit: f64, damping_ratio: f64, touch: &Touch, memory: &mut Memory) -> f64 {
    let r = touch.effective_radius;
    let mut angle = memory.twisting;
    if memory.touching {
        if k > memory.couple_stiffness[1] {
            angle *= memory.couple_stiffness[1] / k;
        }
        angle += touch.twisted();
    }
    let mut dashpot = 2.0 * damping_ratio * (0.4 * touch.effective_mass * r * r * k).sqrt();
    if (k * angle).abs() > limit {
        angle = angle.signum() * limit / k;
        dashpot = 0.0;
    }
    memory.twisting = angle;
    memory.couple_stiffness[1] = k;
    -k * angle - touch.now.turning.dot(touch.normal) * dashpot
}
