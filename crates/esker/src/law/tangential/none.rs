//! No tangential force.

use super::{Dissipation, Memory, TangentialLaw, Touch};
use crate::math::Vec3;
use serde::{Deserialize, Serialize};

/// Smooth bodies: no tangential force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoTangential;

impl TangentialLaw for NoTangential {
    fn respond(&self, _: &Touch, _: f64, _: f64, _: f64, _: &mut Memory, _: &mut Dissipation) -> Vec3 {
        Vec3::ZERO
    }
    fn friction(&self) -> f64 {
        0.0
    }
    fn stiffness_ratio(&self, _: f64) -> f64 {
        0.0
    }
    fn dashpot(&self, _: f64, _: f64) -> f64 {
        0.0
    }
}
