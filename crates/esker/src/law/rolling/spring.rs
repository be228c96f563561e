//! Elastic–plastic rolling spring (Iwashita & Oda 1998; type C of Ai et al. 2011).

use super::{Memory, RollingLaw, Touch};
use crate::law::turn_with_frame;
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Rolling spring with a plastic limit.
///
/// $$\mathbf M_r = -k_r\,\boldsymbol\theta_r - c_r\,\boldsymbol\omega_r,\qquad |k_r\boldsymbol\theta_r| \le \mu_r R^* F_n$$
///
/// Default stiffness $k_r = 2.25\,k_n(\mu_r R^*)^2$ (Ai et al. 2011, eq. (20)); dashpot
/// $c_r = 2\beta_r\sqrt{I_r k_r}$ with $I_r = \tfrac75 m^* R^{*2}$, acting only below the limit. It rests on a slope
/// while tan θ < μ_r.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElasticPlastic {
    /// Rolling friction coefficient $\mu_r$ \[-\].
    pub friction: f64,
    /// Stiffness $k_r$ \[N m/rad\]; `None`: from the normal stiffness.
    pub stiffness: Option<f64>,
    /// Damping ratio $\beta_r$ \[-\].
    pub damping_ratio: f64,
}

/// Stiffness of a rolling or twisting spring that reaches its limit at the rolling angle of Ai et al. \[N m/rad\].
pub(crate) fn default_stiffness(normal_stiffness: f64, friction: f64, effective_radius: f64) -> f64 {
    2.25 * normal_stiffness * (friction * effective_radius).powi(2)
}

impl RollingLaw for ElasticPlastic {
    fn couple(&self, touch: &Touch, load: f64, normal_stiffness: f64, memory: &mut Memory) -> Vec3 {
        let r = touch.effective_radius;
        let k = self.stiffness.unwrap_or_else(|| default_stiffness(normal_stiffness, self.friction, r));
        let mut angle = turn_with_frame(memory.rolling, touch);
        if memory.touching {
            // As in the tangential slider: a stiffer spring keeps its torque, a softer one its angle.
            if k > memory.couple_stiffness[0] {
                angle *= memory.couple_stiffness[0] / k;
            }
            angle += touch.rolled();
        }
        let limit = self.friction * r * load;
        let torque2 = (k * angle).length_squared();
        let mut dashpot = 2.0 * self.damping_ratio * (1.4 * touch.effective_mass * r * r * k).sqrt();
        if torque2 > limit * limit {
            angle *= limit / torque2.sqrt();
            dashpot = 0.0;
        }
        memory.rolling = angle;
        memory.couple_stiffness[0] = k;
        angle * -k - touch.now.rolling(touch.normal) * dashpot
    }
}
