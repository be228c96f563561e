//! The laws the fast loop can do, as constants of one formula.

use crate::lanes::Record;
use crate::law::cohesion::AnyCohesion;
use crate::law::damping::AnyDamping;
use crate::law::normal::AnyNormal;
use crate::law::rolling::AnyRolling;
use crate::law::tangential::{AnyTangential, Stiffness, TangentialDamping};
use crate::law::twisting::AnyTwisting;
use crate::law::{ContactEnd, Law};

/// Constants of one law, each for eight contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Constants {
    /// Stiffness of a linear spring, or twice the effective modulus.
    pub normal: Record,
    /// Stiffness of a linear spring over the effective radius.
    pub normal_scaled: Record,
    /// Normal dashpot: a constant, over m\*, over √(m\* S).
    pub dashpot: [Record; 3],
    /// Tangential stiffness: a constant, over S.
    pub tangential: [Record; 2],
    /// Inverse of the tangential stiffness: a constant, and over R\* √(δ/R\*) or the linear stiffness, inverted.
    pub per_tangential: [Record; 2],
    /// Tangential dashpot: a constant, over m\*, over the normal dashpot.
    pub tangential_dashpot: [Record; 3],
    /// Coulomb coefficient.
    pub friction: Record,
    /// Least normal force.
    pub least: Record,
}

impl Constants {
    /// Of a law this loop can do, and whether it is Hertz's.
    pub fn of(law: &Law) -> Option<(Self, bool)> {
        let others = (law.cohesion, law.rolling, law.twisting);
        if !matches!(others, (AnyCohesion::None, AnyRolling::None(_), AnyTwisting::None(_))) {
            return None;
        }
        let (normal, normal_scaled, is_hertz) = match law.normal {
            AnyNormal::Hooke(law) => (law.stiffness, 0.0, false),
            AnyNormal::ScaledHooke(law) => (0.0, law.modulus, false),
            AnyNormal::Hertz(law) => (2.0 * law.effective_modulus, 0.0, true),
            _ => return None,
        };
        let dashpot = match law.damping {
            AnyDamping::None => [0.0; 3],
            AnyDamping::Coefficient(law) => [law.coefficient, 0.0, 0.0],
            AnyDamping::PerMass(law) => [0.0, law.rate, 0.0],
            AnyDamping::FromRestitution(law) => [0.0, 0.0, law.factor],
            _ => return None,
        };
        let (tangential, damping, friction) = match law.tangential {
            AnyTangential::Spring(law) => match law.stiffness {
                Stiffness::Given(k) => ([k, 0.0], law.damping, law.friction),
                Stiffness::Ratio(ratio) => ([0.0, ratio], law.damping, law.friction),
            },
            AnyTangential::Mindlin(law) => ([0.0, law.ratio], law.damping, law.friction),
            _ => return None,
        };
        if tangential == [0.0; 2] {
            return None; // a spring without stiffness: the slider would have nothing to hold
        }
        let tangential_dashpot = match damping {
            TangentialDamping::None => [0.0; 3],
            TangentialDamping::Coefficient(c) => [c, 0.0, 0.0],
            TangentialDamping::PerMass(rate) => [0.0, rate, 0.0],
            TangentialDamping::Ratio(ratio) => [0.0, 0.0, ratio],
        };
        let least = match law.end {
            ContactEnd::NoTension => 0.0,
            ContactEnd::Geometric => f64::NEG_INFINITY,
        };
        let inverse = |x: f64| if x == 0.0 { 0.0 } else { 1.0 / x };
        let per_tangential = [inverse(tangential[0]), inverse(tangential[1] * if is_hertz { normal } else { 1.0 })];
        let eight = |x: f64| [x; 8];
        let constants = Self {
            normal: eight(normal),
            normal_scaled: eight(normal_scaled),
            dashpot: dashpot.map(eight),
            tangential: tangential.map(eight),
            per_tangential: per_tangential.map(eight),
            tangential_dashpot: tangential_dashpot.map(eight),
            friction: eight(friction),
            least: eight(least),
        };
        Some((constants, is_hertz))
    }

    /// The laws of eight different contacts.
    pub fn mixed(laws: &[Self], which: &[u8; 8]) -> Self {
        let mut all = laws[which[0] as usize];
        for (k, &law) in which.iter().enumerate().skip(1) {
            let law = laws[law as usize].columns();
            for (to, from) in all.columns_mut().into_iter().zip(law) {
                to[k] = from[k];
            }
        }
        all
    }

    fn columns(&self) -> [&Record; 14] {
        let Self { normal, normal_scaled, dashpot, tangential, per_tangential, tangential_dashpot, friction, least } =
            self;
        let ([a, b, c], [d, e], [f, g], [h, i, j]) = (dashpot, tangential, per_tangential, tangential_dashpot);
        [normal, normal_scaled, a, b, c, d, e, f, g, h, i, j, friction, least]
    }

    fn columns_mut(&mut self) -> [&mut Record; 14] {
        let Self { normal, normal_scaled, dashpot, tangential, per_tangential, tangential_dashpot, friction, least } =
            self;
        let ([a, b, c], [d, e], [f, g], [h, i, j]) = (dashpot, tangential, per_tangential, tangential_dashpot);
        [normal, normal_scaled, a, b, c, d, e, f, g, h, i, j, friction, least]
    }
}
