//! Measures of the contact network: how unevenly the grains are loaded, and how well two kinds of marked grains are mixed.

use crate::contact::visit::{self, Other};
use crate::model::Model;
use crate::state::State;

/// What the contacts of one grain amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GrainContacts {
    /// Number of contacts, walls included.
    pub count: u32,
    /// Sum of the magnitudes of the contact forces \[N\].
    pub load: f64,
}

/// Contacts of every grain, by its index. The loads show force chains where colours show them (Džiugys & Peters 1998,
/// figures 23 to 25).
pub fn of_grains(model: &Model, state: &State) -> Vec<GrainContacts> {
    let mut grains = vec![GrainContacts::default(); state.particles.owned()];
    visit::for_each(model, state, |c| {
        for end in c.ends() {
            grains[end.grain].count += 1;
            grains[end.grain].load += end.force.length();
        }
    });
    grains
}

/// Mean, spread and largest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, dividing by the number of values.
    pub deviation: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of some values; `None` without any.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let n = values.clone().count() as f64;
        if n == 0.0 {
            return None;
        }
        let mean = values.clone().sum::<f64>() / n;
        let variance = values.clone().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        Some(Self { mean, deviation: variance.sqrt(), max: values.fold(f64::NEG_INFINITY, f64::max) })
    }

    /// Coefficient of variation: standard deviation over mean \[-\].
    pub fn variation(&self) -> f64 {
        self.deviation / self.mean
    }
}

/// How far marked and other grains are from being mixed at random: 1 when only like grains touch, 0 on average in a
/// random mixture, below 0 when unlike grains seek each other.
///
/// $$S = 1 - \frac{N_u/N}{2\,n(1-n)}$$
///
/// with $N_u/N$ the share of contacts between a marked and another grain, and $n$ the share of marked ends among all
/// ends. It needs no cells, unlike an index of sampled concentrations. `None` when no contact or one kind only is there.
pub fn segregation(model: &Model, state: &State, is_marked: impl Fn(u64) -> bool) -> Option<f64> {
    let id = &state.particles.id;
    let (mut contacts, mut unlike, mut marked) = (0.0, 0.0, 0.0);
    visit::for_each(model, state, |c| {
        if let Other::Grain(j) = c.other {
            let (a, b) = (is_marked(id[c.i]), is_marked(id[j]));
            contacts += c.share;
            unlike += if a == b { 0.0 } else { c.share };
            marked += c.share * 0.5 * (f64::from(a) + f64::from(b));
        }
    });
    let n = marked / contacts;
    (contacts > 0.0 && n > 0.0 && n < 1.0).then(|| 1.0 - unlike / contacts / (2.0 * n * (1.0 - n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_of_known_values_is_right() {
        let spread = Spread::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter()).unwrap();
        assert_eq!(spread, Spread { mean: 5.0, deviation: 2.0, max: 9.0 });
        assert_eq!(spread.variation(), 0.4);
        assert_eq!(Spread::of(std::iter::empty()), None);
    }
}
