//! Dashpots of viscous material, which grow with the contact area.

use super::{DampingLaw, History, Touch};
use serde::{Deserialize, Serialize};

/// Viscous spheres by their viscosities (Kuwabara & Kono 1987; Džiugys & Peters 1998, eqs (62)–(64)).
///
/// $$F_d = 2\,E'^*\sqrt{R^*\delta}\;\dot\delta$$
///
/// $E'^*$ is to bulk and shear viscosity $\xi, \eta$ what $E^*$ is to the elastic moduli: $E' = 9\xi\eta/(3\xi+\eta)$,
/// $\nu' = (3\xi-2\eta)/(2(3\xi+\eta))$ (the print has $3\xi-3\eta$), see [`KuwabaraKono::compliance`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KuwabaraKono {
    /// Effective viscosity $E'^*$ \[Pa s\].
    pub viscosity: f64,
}

impl KuwabaraKono {
    /// $(1-\nu'^2)/E'$ of a material by its bulk and shear viscosity \[1/(Pa s)\]; $E'^*$ is one over the sum of both
    /// bodies'.
    pub fn compliance(bulk: f64, shear: f64) -> f64 {
        let e = 9.0 * bulk * shear / (3.0 * bulk + shear);
        let nu = (3.0 * bulk - 2.0 * shear) / (2.0 * (3.0 * bulk + shear));
        (1.0 - nu * nu) / e
    }
}

impl DampingLaw for KuwabaraKono {
    fn coefficient(&self, touch: &Touch, _: f64, _: f64, _: &History) -> f64 {
        2.0 * self.viscosity * (touch.hertz_radius() * touch.overlap.max(0.0)).sqrt()
    }
}

/// Viscous spheres by one relaxation time (Brilliantov, Spahn, Hertzsch & Pöschel 1996).
///
/// $$F_d = A\,\frac{\mathrm dF_n}{\mathrm d\delta}\,\dot\delta$$
///
/// With Hertz this is $\tfrac32 A\rho\sqrt\delta\,\dot\delta$, $\rho = \tfrac43E^*\sqrt{R^*}$, and the restitution falls
/// with the speed as $1 - 1.15344\,x + 0.79826\,x^2 - \dots$, $x = \tfrac32A\,(\rho/m^*)^{2/5}\,v^{1/5}$.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Viscoelastic {
    /// Relaxation time $A$ \[s\].
    pub time: f64,
}

impl DampingLaw for Viscoelastic {
    fn coefficient(&self, _: &Touch, _: f64, stiffness: f64, _: &History) -> f64 {
        self.time * stiffness
    }
}
