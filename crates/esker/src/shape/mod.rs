//! Shapes of grains: a closed enum that knows volume and inertia. A shape knows no material.

use crate::math::Vec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Shape of a grain; its size is the grain's radius.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Solid sphere.
    Sphere,
    /// Disc lying in the x–y plane of a planar scene: a cylinder of the given depth.
    Disc {
        /// Length along z \[m\].
        depth: f64,
    },
}

impl Shape {
    /// Volume for a radius \[m³\].
    pub fn volume(&self, radius: f64) -> f64 {
        match self {
            Shape::Sphere => 4.0 / 3.0 * PI * radius.powi(3),
            Shape::Disc { depth } => PI * radius * radius * depth,
        }
    }

    /// Principal moments over m r² of a homogeneous body. A disc turns about z only, so its one moment stands for all.
    pub fn inertia_factor(&self) -> Vec3 {
        match self {
            Shape::Sphere => Vec3::splat(0.4),
            Shape::Disc { .. } => Vec3::splat(0.5),
        }
    }
}
