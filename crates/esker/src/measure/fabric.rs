//! Fabric: how the contacts between grains are turned, how many each grain has, and which grains carry nothing.

use super::cells::Cells;
use super::principal::deviator;
use crate::contact::visit::{self, Other};
use crate::math::{Mat3, Vec3, outer};
use crate::model::Model;
use crate::state::State;

/// Mean of **n** ⊗ **n** over unit normals: Satake's fabric tensor, of trace one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    sum: Mat3,
    count: f64,
}

impl Default for Fabric {
    // The default of a matrix is the identity.
    fn default() -> Self {
        Self { sum: Mat3::ZERO, count: 0.0 }
    }
}

impl Fabric {
    /// Counts a normal; half for one that will come twice.
    pub fn add(&mut self, normal: Vec3, share: f64) {
        self.sum += outer(normal, normal) * share;
        self.count += share;
    }

    /// Number of normals.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// The tensor \[-\]; zero without normals.
    pub fn tensor(&self) -> Mat3 {
        if self.count > 0.0 { self.sum * (1.0 / self.count) } else { Mat3::ZERO }
    }

    /// Anisotropy of the normals: amplitude of the second harmonic of their distribution, over its mean.
    ///
    /// In a plane a of $P(\theta) = \frac1{2\pi}(1+a\cos2(\theta-\theta_0))$, which is twice the difference of the principal values
    /// (Rothenburg & Bathurst, Géotechnique 39 (1989) 601). In space $a = \sqrt{\tfrac32\,\mathbf a:\mathbf a}$ of
    /// $P(\mathbf n) = \frac1{4\pi}(1+\mathbf n\cdot\mathbf a\mathbf n)$, for which $\mathbf a = \frac{15}2\mathbf F'$ with **F**′ the
    /// fabric less its mean (Ouadfel & Rothenburg, Mech. Mater. 33 (2001) 201).
    pub fn anisotropy(&self, planar: bool) -> f64 {
        deviator(self.tensor(), planar) * if planar { 4.0 } else { 7.5 }
    }
}

/// The contact network of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellFabric {
    /// Grains with their centre in it.
    pub grains: usize,
    /// Fabric of the contacts between grains whose point lies in it.
    pub fabric: Fabric,
    /// Contacts of its grains with walls.
    pub wall_contacts: f64,
    /// Contacts of each grain, with walls too \[-\].
    pub coordination: f64,
    /// Grains that carry nothing.
    pub rattlers: usize,
    /// Contacts of each of the other grains, with each other and with walls \[-\].
    pub coordination_without_rattlers: f64,
    /// Mean overlap of all these contacts, over the smaller radius \[-\].
    pub overlap: f64,
}

/// What is left when rattlers are taken out.
#[derive(Clone, Debug, PartialEq)]
pub struct Backbone {
    /// Whether a grain is left, by its index.
    pub carries: Vec<bool>,
    /// Its contacts with others that are left and with walls; none of a rattler.
    pub contacts: Vec<usize>,
}

impl Backbone {
    /// Takes out grains with fewer than so many contacts, then those that have too few without them, and so on. Fixed grains stay.
    pub fn of(model: &Model, state: &State, least: usize) -> Self {
        let n = state.particles.owned();
        let (mut partners, mut contacts) = (vec![Vec::new(); n], vec![0; n]);
        visit::for_each(model, state, |c| {
            for end in c.ends() {
                contacts[end.grain] += 1;
                if let Other::Grain(j) = c.other {
                    partners[end.grain].push(if end.grain == c.i { j } else { c.i });
                }
            }
        });
        let mut carries = vec![true; n];
        let is_loose = |i: usize, contacts: &[usize]| contacts[i] < least && !state.particles.is_fixed(i);
        let mut loose: Vec<usize> = (0..n).filter(|&i| is_loose(i, &contacts)).collect();
        loose.iter().for_each(|&i| carries[i] = false);
        while let Some(i) = loose.pop() {
            contacts[i] = 0;
            for &j in partners[i].iter().filter(|&&j| carries[j]) {
                contacts[j] -= 1;
            }
            for &j in &partners[i] {
                if carries[j] && is_loose(j, &contacts) {
                    carries[j] = false;
                    loose.push(j);
                }
            }
        }
        Self { carries, contacts }
    }

    /// Contacts of each grain that carries \[-\].
    pub fn coordination(&self) -> f64 {
        ratio(self.contacts.iter().sum(), self.carries.iter().filter(|&&carries| carries).count())
    }
}

/// Contacts that a grain needs to be held: two in a plane, three in space, where friction helps.
pub fn least_contacts(model: &Model) -> usize {
    if model.planar { 2 } else { 3 }
}

fn ratio(contacts: usize, grains: usize) -> f64 {
    if grains > 0 { contacts as f64 / grains as f64 } else { 0.0 }
}

/// The contact network of each cell.
pub fn of_cells(model: &Model, state: &State, cells: &Cells) -> Vec<CellFabric> {
    let p = &state.particles;
    let mut found = vec![CellFabric::default(); cells.number()];
    let mut contacts = vec![0; p.owned()];
    visit::for_each(model, state, |c| {
        c.ends().for_each(|end| contacts[end.grain] += 1);
        // The middle of an overlap with a wall lies behind its surface, where a box may end.
        let place = if matches!(c.other, Other::Wall(_)) { c.from } else { c.point };
        let Some(cell) = cells.holding(model, place) else { return };
        let radius = match c.other {
            Other::Grain(j) => {
                found[cell].fabric.add(c.normal(), c.share);
                p.radius(c.i).min(p.radius(j))
            }
            Other::Wall(_) => {
                found[cell].wall_contacts += 1.0;
                p.radius(c.i)
            }
        };
        found[cell].overlap += c.share * c.overlap / radius;
    });
    let backbone = Backbone::of(model, state, least_contacts(model));
    let mut ends = vec![[0; 2]; cells.number()];
    for (i, cell) in cells.of_grains(model, state).into_iter().enumerate() {
        let Some(cell) = cell else { continue };
        found[cell].grains += 1;
        found[cell].rattlers += usize::from(!backbone.carries[i]);
        ends[cell] = [ends[cell][0] + contacts[i], ends[cell][1] + backbone.contacts[i]];
    }
    for (cell, [all, carrying]) in found.iter_mut().zip(ends) {
        cell.coordination = ratio(all, cell.grains);
        cell.coordination_without_rattlers = ratio(carrying, cell.grains - cell.rattlers);
        let contacts = cell.fabric.count() + cell.wall_contacts;
        cell.overlap = if contacts > 0.0 { cell.overlap / contacts } else { 0.0 };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn many_random_normals_are_isotropic_in_a_plane_and_in_space() {
        // The mean square of F − I/d over n random normals is (1 − 1/d)/n: a² is 4/n in a plane on average, 7.5²/n in space.
        for (planar, dimensions, expected) in [(true, 2.0, 4.0), (false, 3.0, 56.25)] {
            let (n, streams) = (10_000, 60);
            let mut squares = 0.0;
            for key in 0..streams {
                let (mut stream, mut fabric) = (Stream::new(1, Purpose::Orientation, key), Fabric::default());
                (0..n).for_each(|_| fabric.add(stream.direction(planar), 1.0));
                // Entries have standard deviations of 0.0035 at most.
                let off = fabric.tensor().x_axis - Vec3::X / dimensions;
                assert!(off.length() < 0.02, "{off}");
                assert_eq!(fabric.count(), f64::from(n));
                squares += fabric.anisotropy(planar).powi(2) * f64::from(n) / expected;
            }
            // χ² of two or five degrees of freedom over their number: standard deviations of 0.13 and 0.08 of the mean.
            let mean = squares / streams as f64;
            assert!((mean - 1.0).abs() < 0.4, "{mean}");
        }
    }

    #[test]
    fn the_amplitude_of_a_harmonic_distribution_is_its_anisotropy() {
        // In a plane: weights 1 + a cos 2θ at equal angles.
        let (a, n) = (0.3, 1000);
        let mut planar = Fabric::default();
        for k in 0..n {
            let angle = std::f64::consts::PI * f64::from(k) / f64::from(n);
            planar.add(Vec3::new(angle.cos(), angle.sin(), 0.0), 1.0 + a * (2.0 * (angle - 0.4)).cos());
        }
        assert!((planar.anisotropy(true) - a).abs() < 1e-12);
        // In space: 1 + n·a n with a = b diag(−1/2, −1/2, 1), so that a = 3/2 b; equal steps of cos θ, midpoints.
        let b = 0.2;
        let mut space = Fabric::default();
        for (k, l) in (0..2000).flat_map(|k| (0..8).map(move |l| (k, l))) {
            let (z, azimuth) = (-1.0 + (f64::from(k) + 0.5) / 1000.0, std::f64::consts::FRAC_PI_4 * f64::from(l));
            let across = (1.0 - z * z).sqrt();
            let weight = 1.0 + b * (z * z - 0.5 * across * across);
            space.add(Vec3::new(across * azimuth.cos(), across * azimuth.sin(), z), weight);
        }
        assert!((space.anisotropy(false) - 1.5 * b).abs() < 1e-5, "{}", space.anisotropy(false));
        assert_eq!(Fabric::default().anisotropy(false), 0.0);
    }
}
