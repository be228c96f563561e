//! Restitution of hard collisions: constant, of viscoelastic spheres, or measured from a soft law.

use super::Encounter;
use crate::impact::Impact;
use crate::law::ContactEnd;
use crate::law::cohesion::AnyCohesion;
use crate::law::damping::AnyDamping;
use crate::law::normal::{AnyNormal, NormalLaw};
use serde::{Deserialize, Serialize};

/// Speed of parting over speed of approach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restitution {
    /// The same at all speeds.
    Constant(f64),
    /// Of viscoelastic spheres.
    Viscoelastic(Viscoelastic),
    /// Measured from a soft law.
    Curve(Curve),
}

impl Restitution {
    /// Restitution of a collision, in \[0, 1\].
    #[inline]
    pub fn of(&self, encounter: &Encounter) -> f64 {
        match self {
            Restitution::Constant(e) => *e,
            Restitution::Viscoelastic(law) => law.of(encounter),
            Restitution::Curve(curve) => curve.at(encounter.approach),
        }
    }

    /// What two bodies do that meet head-on under a soft law. A curve, where no closed form is known, is measured for the masses
    /// and radii of these bodies and taken for all of their materials.
    pub fn of_soft(bodies: &Impact) -> Self {
        let law = &bodies.law;
        let viscoelastic = |time, modulus| Restitution::Viscoelastic(Viscoelastic { time, modulus });
        let measured = || Restitution::Curve(Curve::measure(bodies));
        if law.cohesion != AnyCohesion::None {
            return measured();
        }
        use AnyNormal::{Hertz, Hooke, Power, ScaledHooke, WaltonBraun};
        match (law.normal, law.damping, law.end) {
            (normal, AnyDamping::None, _) if !normal.is_lossy() => Restitution::Constant(1.0),
            (WaltonBraun(w), AnyDamping::None, _) if w.growth == 0.0 => {
                Restitution::Constant((w.loading / w.unloading).sqrt())
            }
            (Hooke(_) | ScaledHooke(_) | Hertz(_) | Power(_), AnyDamping::FromRestitution(dashpot), end) => {
                Restitution::Constant(dashpot.restitution(&law.normal, end))
            }
            (Hertz(h), AnyDamping::Viscoelastic(d), ContactEnd::NoTension) => viscoelastic(d.time, h.effective_modulus),
            (Hertz(h), AnyDamping::KuwabaraKono(d), ContactEnd::NoTension) => {
                viscoelastic(d.viscosity / h.effective_modulus, h.effective_modulus)
            }
            _ => measured(),
        }
    }
}

/// Viscous elastic spheres (Kuwabara & Kono 1987; Brilliantov, Spahn, Hertzsch & Pöschel 1996): Hertz beside the dashpot
/// [`Viscoelastic`](crate::law::damping::Viscoelastic), until the force would pull.
///
/// In units of the impact it is $\ddot y + y^{3/2} + x\sqrt y\,\dot y = 0$, $\dot y(0) = 1$, with one parameter
/// $x = \tfrac32A\,(\rho/m^*)^{2/5}\,v^{1/5}$, $\rho = \tfrac43E^*\sqrt{R^*}$. Müller & Pöschel (2011, PRE 84, 021302) give its
/// restitution as a Padé approximant in $\sqrt x$ ($v^*$ there) made of the first terms of the series for small $x$, which is
///
/// $$\frac1\varepsilon = 1 + b_2x + \frac{b_4x^2}{1 + c_1\sqrt x}$$
///
/// and right to 0.001 for $x < 0.35$, to 0.009 at $x = 3$. Here $1 + c_1\sqrt x$ is continued to
///
/// $$\frac{1 + (c_1+q)\sqrt x + p\,x}{1 + q\sqrt x}$$
///
/// which leaves the series as it is; with $p$ and $q$ fitted to the integrated impact over $0.02 \le x \le 35$ (least largest
/// error, $\varepsilon$ from 0.98 to 0.003) it is right to 0.0001 everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Viscoelastic {
    /// Relaxation time $A$ \[s\].
    pub time: f64,
    /// Effective modulus $E^*$ \[Pa\].
    pub modulus: f64,
}

/// Coefficients of the series: $\varepsilon = 1 - b_2x + (b_2^2-b_4)x^2 + b_4c_1x^{5/2} - \dots$
const B2: f64 = 1.153449;
const B4: f64 = 0.532178;
const C1: f64 = 0.501086;
/// Fitted constants of the continuation.
const P: f64 = 0.1375;
const Q: f64 = 0.677;

impl Viscoelastic {
    /// Restitution of a collision.
    pub fn of(&self, encounter: &Encounter) -> f64 {
        let rho = 4.0 / 3.0 * self.modulus * encounter.effective_radius.sqrt();
        let kappa = rho / encounter.effective_mass;
        Self::scaled(1.5 * self.time * (kappa * kappa * encounter.approach).powf(0.2))
    }

    /// Restitution by the parameter x of the impact.
    pub fn scaled(x: f64) -> f64 {
        let s = x.sqrt();
        let bend = (1.0 + Q * s) / (1.0 + (C1 + Q) * s + P * x);
        1.0 / (1.0 + x * (B2 + B4 * x * bend))
    }
}

/// Restitution over the logarithm of the speed, measured; straight between the knots, constant beyond them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Restitution at the knots, from [`Curve::SLOWEST`] to [`Curve::FASTEST`] in equal ratios.
    pub knots: [f64; Curve::KNOTS],
}

impl Curve {
    /// Number of knots.
    pub const KNOTS: usize = 25;
    /// Speed of the first knot \[m/s\].
    pub const SLOWEST: f64 = 1e-4;
    /// Speed of the last knot \[m/s\].
    pub const FASTEST: f64 = 1e2;
    /// Steps of an impact of the undamped duration.
    const STEPS: f64 = 200.0;

    /// Speed of a knot \[m/s\].
    pub fn speed(knot: usize) -> f64 {
        Self::SLOWEST * (Self::FASTEST / Self::SLOWEST).powf(knot as f64 / (Self::KNOTS - 1) as f64)
    }

    /// Lets two bodies meet head-on at the speed of each knot. Bodies that do not part have a restitution of zero.
    pub fn measure(impact: &Impact) -> Self {
        let knots = std::array::from_fn(|k| {
            let impact = Impact { approach: Self::speed(k), slip: 0.0, ..*impact };
            let outcome = impact.run(impact.undamped_time() / Self::STEPS, 0.5);
            outcome.restitution.unwrap_or(0.0).clamp(0.0, 1.0)
        });
        Self { knots }
    }

    /// Restitution at a speed \[m/s\].
    pub fn at(&self, speed: f64) -> f64 {
        let last = (Self::KNOTS - 1) as f64;
        let along = (speed / Self::SLOWEST).ln() * (last / (Self::FASTEST / Self::SLOWEST).ln());
        // Nothing, and what is not a number, is the slowest.
        let along = along.max(0.0).min(last);
        let k = (along as usize).min(Self::KNOTS - 2);
        self.knots[k] + (along - k as f64) * (self.knots[k + 1] - self.knots[k])
    }
}
