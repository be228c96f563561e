//! Random sequential addition: each grain at a uniform random place where it overlaps nothing, the largest first.
//!
//! Jams near a solid fraction of 0.547 for equal discs and 0.38 for equal spheres (walls lower both), and grows slow well
//! before. For denser beds use [`drop_and_roll`](super::drop_and_roll) or let a [`lattice`](super::lattice) settle.

use super::{Amount, FillError, FillReport, Filling, Grains, Placed, Setting, Sizes, draw_radii, is_clear};
use crate::region::Region;
use crate::rng::{Purpose, Stream, key};
use serde::{Deserialize, Serialize};

/// A random fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RandomAddition {
    /// Where; grains lie wholly inside.
    pub region: Region,
    /// How much.
    pub amount: Amount,
    /// Places tried for one grain before giving up.
    #[serde(default = "default_tries")]
    pub tries: u32,
}

fn default_tries() -> u32 {
    10_000
}

impl RandomAddition {
    /// Lays the grains.
    pub fn fill(&self, sizes: &Sizes, setting: &Setting) -> Result<Filling, FillError> {
        let planar = setting.planar;
        self.region.check(planar)?;
        let radii = draw_radii(sizes, self.amount, &self.region, setting)?;
        let asked = radii.len();

        // The largest first: they find no place once the small ones lie scattered.
        let mut order: Vec<usize> = (0..asked).collect();
        order.sort_by(|&i, &j| radii[j].total_cmp(&radii[i]));

        let mut placed = Grains::new(sizes.r_max(), planar);
        let mut scratch = Vec::new();
        let mut tries = 0;
        for &i in &order {
            let radius = radii[i];
            let mut stream = Stream::new(setting.seed, Purpose::Fill, key(setting.group, i as u64));
            let mut found = None;
            for _ in 0..self.tries {
                tries += 1;
                let centre = self.region.sample(radius, planar, &mut stream)?;
                if placed.is_free(centre, radius) && is_clear(setting.obstacles, centre, radius, &mut scratch) {
                    found = Some(centre);
                    break;
                }
            }
            let Some(centre) = found else {
                return Err(FillError::Full {
                    report: FillReport { asked, placed: placed.as_slice().len(), tries },
                    tries_per_grain: self.tries,
                    advice: "enlarge the region, ask for less (random addition ends near a solid fraction of 0.5 for discs \
                             and 0.35 for spheres), or use drop-and-roll",
                });
            };
            placed.push(Placed { centre, radius });
        }
        let mut grains = vec![Placed { centre: Default::default(), radius: 0.0 }; asked];
        for (&i, &grain) in order.iter().zip(placed.as_slice()) {
            grains[i] = grain;
        }
        Ok(Filling { grains, report: FillReport { asked, placed: asked, tries } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::size::grain_measure;
    use super::super::test_walls::{HalfSpace, largest_overlap};
    use super::super::{By, SizeLaw};
    use super::*;
    use crate::math::{Aabb, Vec3};

    fn cube() -> Region {
        Region::Box(Aabb { min: Vec3::ZERO, max: Vec3::ONE })
    }

    #[test]
    fn grains_overlap_nothing_and_reach_the_solid_fraction() {
        for (planar, fraction) in [(true, 0.45), (false, 0.28)] {
            let law = SizeLaw::LogNormal { median: 0.03, sigma: 0.5, min: 0.01, max: 0.1, by: By::Mass };
            let sizes = law.prepare(planar).unwrap();
            let wall = HalfSpace { point: Vec3::splat(0.1), normal: Vec3::Y };
            let setting = Setting { planar, seed: 3, group: 2, obstacles: &wall };
            let spec = RandomAddition { region: cube(), amount: Amount::SolidFraction(fraction), tries: 10_000 };
            let filling = spec.fill(&sizes, &setting).unwrap();
            assert!(largest_overlap(&filling.grains, &wall) < 1e-9 * 0.01);
            let solid: f64 = filling.grains.iter().map(|g| grain_measure(g.radius, planar)).sum();
            assert!((solid - fraction).abs() <= 0.5 * grain_measure(0.1, planar));
            let box_ = cube().bounds().grown(1e-12);
            let reach = |g: &Placed| if planar { Vec3::new(g.radius, g.radius, 0.0) } else { Vec3::splat(g.radius) };
            assert!(
                filling.grains.iter().all(|g| box_.contains(g.centre - reach(g)) && box_.contains(g.centre + reach(g)))
            );
            assert_eq!(spec.fill(&sizes, &setting).unwrap(), filling);
        }
    }

    #[test]
    fn a_mass_is_met_within_half_a_grain() {
        let sizes = SizeLaw::Single { radius: 0.05 }.prepare(false).unwrap();
        let setting = Setting { planar: false, seed: 1, group: 0, obstacles: &() };
        let amount = Amount::Mass { mass: 100.0, density: 2000.0 };
        let filling = RandomAddition { region: cube(), amount, tries: 1000 }.fill(&sizes, &setting).unwrap();
        let grain = 2000.0 * grain_measure(0.05, false);
        assert!((filling.grains.len() as f64 * grain - 100.0).abs() <= 0.5 * grain);
    }

    #[test]
    fn asking_for_too_much_says_how_many_fitted() {
        let sizes = SizeLaw::Single { radius: 0.1 }.prepare(true).unwrap();
        let setting = Setting { planar: true, seed: 1, group: 0, obstacles: &() };
        let spec = RandomAddition { region: cube(), amount: Amount::Count(40), tries: 2000 };
        let Err(FillError::Full { report, .. }) = spec.fill(&sizes, &setting) else { panic!("40 discs cannot fit") };
        assert!((10..25).contains(&report.placed), "{report:?}");
        let said = spec.fill(&sizes, &setting).unwrap_err().to_string();
        assert!(said.starts_with(&format!("only {} of 40 grains fitted", report.placed)), "{said}");
    }
}
