//! Principal values of symmetric tensors, and what is said of a tensor without them: pressure and deviator.

use crate::math::{Mat3, Vec3};

/// Principal values of a tensor with their directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Principal {
    /// Values, the largest first. In a planar scene those in the plane come first, and the one along z last.
    pub values: [f64; 3],
    /// Unit vectors, each with its largest component positive.
    pub directions: [Vec3; 3],
}

impl Principal {
    /// Of the symmetric part of a tensor, by Jacobi's rotations: each takes out the largest of the entries beside the diagonal.
    pub fn of(tensor: Mat3, planar: bool) -> Self {
        let (mut a, mut axes) = (symmetric(tensor), Mat3::IDENTITY);
        let size: f64 = a.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
        // Each rotation takes away a third of the squares beside the diagonal at least, near the end nearly all of them.
        for _ in 0..100 {
            let pairs = [(0, 1), (0, 2), (1, 2)];
            let (p, q) = pairs.into_iter().max_by(|x, y| entry(a, *x).total_cmp(&entry(a, *y))).unwrap_or((0, 1));
            if entry(a, (p, q)) <= f64::EPSILON * f64::EPSILON * size {
                break;
            }
            let turn = rotation(a, p, q);
            a = turn.transpose() * a * turn;
            axes *= turn;
        }
        let mut order = [0, 1, 2];
        let sorted = if planar { 2 } else { 3 };
        order[..sorted].sort_by(|&i, &j| a.col(j)[j].total_cmp(&a.col(i)[i]));
        Self { values: order.map(|k| a.col(k)[k]), directions: order.map(|k| upright(axes.col(k))) }
    }
}

/// Size of an entry beside the diagonal.
fn entry(a: Mat3, (p, q): (usize, usize)) -> f64 {
    a.col(p)[q].abs()
}

/// The rotation in the plane of two axes after which the entry of both is zero.
fn rotation(a: Mat3, p: usize, q: usize) -> Mat3 {
    let theta = (a.col(q)[q] - a.col(p)[p]) / (2.0 * a.col(p)[q]);
    let tan = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cos = 1.0 / tan.hypot(1.0);
    let mut turn = Mat3::IDENTITY;
    turn.col_mut(p)[p] = cos;
    turn.col_mut(q)[q] = cos;
    turn.col_mut(q)[p] = tan * cos;
    turn.col_mut(p)[q] = -tan * cos;
    turn
}

/// The one of two opposite directions whose largest component is positive.
fn upright(v: Vec3) -> Vec3 {
    let largest = v.to_array().into_iter().fold(0.0, |l: f64, x| if x.abs() > l.abs() { x } else { l });
    if largest < 0.0 { -v } else { v }
}

/// The symmetric part.
pub fn symmetric(tensor: Mat3) -> Mat3 {
    (tensor + tensor.transpose()) * 0.5
}

/// Mean of the principal values: a third of the trace, in a planar scene half of its trace in the plane.
pub fn pressure(tensor: Mat3, planar: bool) -> f64 {
    let in_plane = tensor.x_axis.x + tensor.y_axis.y;
    if planar { 0.5 * in_plane } else { (in_plane + tensor.z_axis.z) / 3.0 }
}

/// How far the principal values are apart: $q = \sqrt{\tfrac32\,\mathbf s:\mathbf s}$ of the part **s** without pressure, which is
/// their difference where two are equal; in a planar scene half their difference, the radius of Mohr's circle.
pub fn deviator(tensor: Mat3, planar: bool) -> f64 {
    let s = symmetric(tensor);
    if planar {
        return (0.5 * (s.x_axis.x - s.y_axis.y)).hypot(s.x_axis.y);
    }
    let s = s - Mat3::IDENTITY * pressure(s, planar);
    (1.5 * s.to_cols_array().iter().map(|x| x * x).sum::<f64>()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, outer};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_turned_diagonal_tensor_has_its_entries_and_axes_as_principal_ones(
            values in prop::array::uniform3(-1e3..1e3f64), axis in prop::array::uniform3(-1.0..1.0f64), angle in 0.0..6.0f64
        ) {
            prop_assume!(Vec3::from_array(axis).length() > 0.1);
            let turn = Mat3::from_quat(Quat::from_axis_angle(Vec3::from_array(axis).normalize(), angle));
            let tensor = turn * Mat3::from_diagonal(Vec3::from_array(values)) * turn.transpose();
            let found = Principal::of(tensor, false);
            let mut sorted = values;
            sorted.sort_by(|a, b| b.total_cmp(a));
            for k in 0..3 {
                prop_assert!((found.values[k] - sorted[k]).abs() < 1e-10);
                prop_assert!((tensor * found.directions[k] - found.directions[k] * sorted[k]).length() < 1e-9);
            }
            let rebuilt: Mat3 = (0..3).fold(Mat3::ZERO, |sum, k| {
                sum + outer(found.directions[k], found.directions[k]) * found.values[k]
            });
            prop_assert!((rebuilt - tensor).to_cols_array().iter().all(|x| x.abs() < 1e-9));
            // Invariants from the principal values.
            let [a, b, c] = sorted;
            let mises = (0.5 * ((a - b).powi(2) + (b - c).powi(2) + (c - a).powi(2))).sqrt();
            prop_assert!((deviator(tensor, false) - mises).abs() < 1e-9);
            prop_assert!((pressure(tensor, false) - (a + b + c) / 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn in_a_plane_the_value_along_z_comes_last() {
        let shear = Mat3::from_cols(Vec3::new(-3.0, 2.0, 0.0), Vec3::new(2.0, -3.0, 0.0), Vec3::ZERO);
        let found = Principal::of(shear, true);
        for (found, expected) in found.values.into_iter().zip([-1.0, -5.0, 0.0]) {
            assert!((found - expected).abs() < 1e-14, "{found}");
        }
        assert!((found.directions[0] - Vec3::new(1.0, 1.0, 0.0).normalize()).length() < 1e-14);
        assert_eq!(found.directions[2], Vec3::Z);
        assert_eq!((pressure(shear, true), deviator(shear, true)), (-3.0, 2.0));
        assert_eq!(Principal::of(Mat3::ZERO, false).values, [0.0; 3]);
    }
}
