//! The energy account: what the grains hold, what entered, what left, what was lost. It closes or says by how much not.

use crate::contact::visit;
use crate::law::{Dissipation, Stored};
use crate::model::Model;
use crate::particles::Particles;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// The account at one moment \[J\].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyBalance {
    /// Kinetic energy of translation.
    pub translation: f64,
    /// Kinetic energy of rotation.
    pub rotation: f64,
    /// Potential energy of each field that has one.
    pub potential: Vec<(String, f64)>,
    /// Elastic energy of normal springs.
    pub elastic_normal: f64,
    /// Elastic energy of tangential, rolling and twisting springs.
    pub elastic_tangential: f64,
    /// Turned into heat so far.
    pub dissipated: Dissipation,
    /// Work of each wall so far.
    pub wall_work: Vec<(String, f64)>,
    /// Work of fields without a potential so far.
    pub field_work: f64,
    /// Brought in with grains so far.
    pub entered: f64,
    /// Taken out with grains so far.
    pub left: f64,
    /// Changed by stage switches so far.
    pub switched: f64,
    /// Energy at the start.
    pub initial: f64,
}

impl EnergyBalance {
    /// Kinetic energy.
    pub fn kinetic(&self) -> f64 {
        self.translation + self.rotation
    }

    /// Everything the grains hold.
    pub fn mechanical(&self) -> f64 {
        self.kinetic() + self.potential.iter().map(|p| p.1).sum::<f64>() + self.elastic_normal + self.elastic_tangential
    }

    /// Heat so far.
    pub fn lost(&self) -> f64 {
        self.dissipated.total()
    }

    /// Energy that moved or can move: what the residual is to be compared with.
    pub fn turnover(&self) -> f64 {
        let d = &self.dissipated;
        let flows = [d.damping, d.friction, d.rolling, self.field_work, self.entered, self.left, self.switched];
        self.kinetic()
            + self.elastic_normal
            + self.elastic_tangential
            + flows.iter().map(|f| f.abs()).sum::<f64>()
            + self.wall_work.iter().map(|w| w.1.abs()).sum::<f64>()
    }

    /// Whether the account is off by more than a step that is short enough can explain: a hundredth of the turnover.
    pub fn is_off(&self) -> bool {
        let rounding = 1e-12 * (self.initial.abs() + self.potential.iter().map(|p| p.1.abs()).sum::<f64>());
        let residual = self.residual().abs();
        residual.is_nan() || residual > 0.01 * self.turnover() + rounding
    }

    /// What the account is off by: held + lost + left − entered − work − switched − initial.
    pub fn residual(&self) -> f64 {
        let work: f64 = self.wall_work.iter().map(|w| w.1).sum();
        self.mechanical() + self.lost() + self.left
            - self.entered
            - work
            - self.field_work
            - self.switched
            - self.initial
    }
}

/// The account of a state.
pub fn balance(model: &Model, state: &State) -> EnergyBalance {
    let p = &state.particles;
    let mut b = EnergyBalance {
        dissipated: state.ledger.dissipated,
        field_work: state.ledger.field_work,
        entered: state.ledger.entered,
        left: state.ledger.left,
        switched: state.ledger.switched,
        initial: state.ledger.initial,
        wall_work: model.walls.iter().zip(&state.walls).map(|(wall, s)| (wall.name.clone(), s.work)).collect(),
        ..Default::default()
    };
    for i in 0..p.owned() {
        let (translation, rotation) = p.kinetic_energy(i);
        b.translation += translation;
        b.rotation += rotation;
    }
    for field in model.fields.iter().filter(|f| f.has_potential()) {
        let sum = (0..p.owned()).map(|i| field.potential(p, i)).sum();
        b.potential.push((field.name().to_string(), sum));
    }
    let Stored { normal, tangential } = elastic(model, state);
    (b.elastic_normal, b.elastic_tangential) = (normal, tangential);
    b
}

/// Elastic energy of all stored contacts \[J\].
pub fn elastic(model: &Model, state: &State) -> Stored {
    let mut sum = Stored::default();
    visit::for_each(model, state, |c| {
        sum.normal += c.share * c.stored.normal;
        sum.tangential += c.share * c.stored.tangential;
    });
    sum
}

/// Potential energy of all fields that have one \[J\].
pub fn potential(model: &Model, p: &Particles) -> f64 {
    model.fields.iter().map(|f| (0..p.owned()).map(|i| f.potential(p, i)).sum::<f64>()).sum()
}

/// Everything the grains hold: kinetic, potential, elastic \[J\].
pub fn mechanical(model: &Model, state: &State) -> f64 {
    balance(model, state).mechanical()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_off_when_a_hundredth_of_what_moved_is_missing() {
        let falling = |found: f64| EnergyBalance {
            translation: found,
            potential: vec![("gravity".into(), -1.0)],
            ..EnergyBalance::default()
        };
        assert!(!falling(1.0).is_off() && !falling(1.005).is_off() && !falling(0.995).is_off());
        assert!(falling(1.02).is_off() && falling(0.98).is_off() && falling(f64::NAN).is_off());
        // At rest nothing moves, and the potential is known to its last digits only.
        let resting =
            EnergyBalance { potential: vec![("gravity".into(), 700.0 + 1e-13)], initial: 700.0, ..falling(0.0) };
        assert!(!resting.is_off());
    }
}
