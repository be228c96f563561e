//! Impacts of the balls, and how probably a grain splits in one of them.

use super::{GrindingError, SizeClasses, positive};
use std::f64::consts::PI;

/// Two bodies that powder is ground between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bodies {
    /// Two balls of these radii \[m\].
    Balls([f64; 2]),
    /// A ball of this radius \[m\] and the wall.
    BallAndWall(f64),
}

/// How an impact on the wall counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WallImpacts {
    /// The wall is a plane: $R^\ast = R_1$, twice that of two equal balls.
    #[default]
    Plane,
    /// As one of two equal balls, $R^\ast = R_1/2$: the thesis takes the rate of all impacts, those on the wall among them, with the
    /// probability of two balls.
    AsBalls,
}

impl Bodies {
    /// Effective radius $R^\ast = R_1R_2/(R_1+R_2)$ \[m\].
    pub fn effective_radius(self, wall: WallImpacts) -> f64 {
        match (self, wall) {
            (Bodies::Balls([a, b]), _) => a * b / (a + b),
            (Bodies::BallAndWall(r), WallImpacts::Plane) => r,
            (Bodies::BallAndWall(r), WallImpacts::AsBalls) => 0.5 * r,
        }
    }

    /// Volume \[m³\] between the bodies in which the gap is less than the diameter of a grain of radius r:
    /// $V_\mathrm{gr} = 4\pi R^\ast r^2$ (Gavrilov 1999, 3.20).
    ///
    /// The gap of two touching bodies at a distance $\rho$ from their axis is $\rho^2/2R^\ast$, for $\rho \ll R^\ast$; it is $2r$ at
    /// $\rho_m^2 = 4R^\ast r$, and $\int_0^{\rho_m}2\pi\rho\,\rho^2/2R^\ast\,d\rho = \pi\rho_m^4/4R^\ast$.
    pub fn grinding_volume(self, wall: WallImpacts, r: f64) -> f64 {
        4.0 * PI * self.effective_radius(wall) * r * r
    }
}

/// Impacts of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impacts {
    /// Who meets.
    pub bodies: Bodies,
    /// How often \[1/s\].
    pub rate: f64,
}

/// A mill, as the powder sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mill {
    /// The impacts in it.
    pub impacts: Vec<Impacts>,
    /// How those on the wall count.
    pub wall: WallImpacts,
    /// Volume that the grains are spread over: that of the vessel less that of the balls \[m³\].
    pub free_volume: f64,
}

impl Mill {
    /// Impacts of all kinds \[1/s\].
    pub fn rate(&self) -> f64 {
        self.impacts.iter().map(|i| i.rate).sum()
    }

    /// Probabilities that a grain splits in an impact: $p_i = \sum_c\lambda_cV_\mathrm{gr}^c(r_i)\,/\,\lambda V$ over the kinds of impact c,
    /// $\lambda=\sum_c\lambda_c$ (Gavrilov 1999, 3.21, for one kind).
    ///
    /// An impact is taken as the mean of all kinds. Drawing the kind of each would make grains split a little more together, by
    /// $1/\sqrt n$ after n impacts, and on average not differently.
    pub fn chain(&self, classes: &SizeClasses) -> Result<Chain, GrindingError> {
        positive("the free volume", self.free_volume, "m³")?;
        for impacts in &self.impacts {
            match impacts.bodies {
                Bodies::Balls(radii) => {
                    radii.iter().try_for_each(|&r| positive("the radius of a ball", r, "m").map(|_| ()))?
                }
                Bodies::BallAndWall(r) => positive("the radius of a ball", r, "m").map(|_| ())?,
            }
            if !(impacts.rate >= 0.0 && impacts.rate.is_finite()) {
                return Err(GrindingError::NotPositive { what: "a rate of impacts", value: impacts.rate, unit: "1/s" });
            }
        }
        let rate = self.rate();
        if rate == 0.0 {
            return Err(GrindingError::NoImpacts);
        }
        let ground = |r: f64| -> f64 {
            self.impacts.iter().map(|i| i.rate / rate * i.bodies.grinding_volume(self.wall, r)).sum()
        };
        Chain::new((0..classes.last()).map(|i| ground(classes.radius(i)) / self.free_volume).collect())
    }
}

/// Probabilities $p_0 \ldots p_{k-1}$ that a grain of a class splits in an impact; those of class k stay whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    probabilities: Vec<f64>,
}

impl Chain {
    /// From the probabilities, each from 0 to below 1.
    pub fn new(probabilities: Vec<f64>) -> Result<Self, GrindingError> {
        match probabilities.iter().position(|p| !(0.0..1.0).contains(p)) {
            Some(class) => Err(GrindingError::NotAProbability { class, probability: probabilities[class] }),
            None => Ok(Self { probabilities }),
        }
    }

    /// Index k of the last class.
    pub fn last(&self) -> usize {
        self.probabilities.len()
    }

    /// That a grain of a class splits in an impact; zero from the last class on.
    pub fn probability(&self, class: usize) -> f64 {
        self.probabilities.get(class).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grinding_volume_is_the_integral_of_the_gap() {
        // Thin rings, exact gap of two spheres; the parabola is its limit for small grains.
        let (a, b, r) = (3.2e-3, 2.0e-3, 1e-7);
        let gap = |rho: f64| (a - (a * a - rho * rho).sqrt()) + (b - (b * b - rho * rho).sqrt());
        let rings = 200_000;
        let width = 1e-4 / f64::from(rings);
        let volume: f64 = (0..rings)
            .map(|n| (f64::from(n) + 0.5) * width)
            .take_while(|&rho| gap(rho) <= 2.0 * r)
            .map(|rho| 2.0 * PI * rho * gap(rho) * width)
            .sum();
        let formula = Bodies::Balls([a, b]).grinding_volume(WallImpacts::Plane, r);
        assert!((volume / formula - 1.0).abs() < 1e-3, "{volume:e} {formula:e}");
        // A wall is a ball without end.
        let wall = Bodies::BallAndWall(a).grinding_volume(WallImpacts::Plane, r);
        assert!((Bodies::Balls([a, 1e6]).grinding_volume(WallImpacts::Plane, r) / wall - 1.0).abs() < 1e-8);
        let equal = Bodies::Balls([a, a]).grinding_volume(WallImpacts::Plane, r);
        assert!((wall / equal - 2.0).abs() < 1e-14);
        assert_eq!(Bodies::BallAndWall(a).grinding_volume(WallImpacts::AsBalls, r), equal);
    }

    #[test]
    fn impacts_of_two_kinds_grind_as_the_sum_of_their_rates() {
        let classes = SizeClasses::new(1e-3, 1e-6).unwrap();
        let impacts = vec![
            Impacts { bodies: Bodies::Balls([3.2e-3; 2]), rate: 7e4 },
            Impacts { bodies: Bodies::BallAndWall(3.2e-3), rate: 4e4 },
        ];
        let mill = Mill { impacts, wall: WallImpacts::Plane, free_volume: 303_919e-9 };
        let rate_of_splits = |mill: &Mill, i| mill.rate() * mill.chain(&classes).unwrap().probability(i);
        let one = |n: usize| Mill { impacts: vec![mill.impacts[n]], ..mill.clone() };
        for i in [0, 7, 29] {
            let sum = rate_of_splits(&one(0), i) + rate_of_splits(&one(1), i);
            assert!((rate_of_splits(&mill, i) / sum - 1.0).abs() < 1e-14);
        }
        // The thesis: all of them with the probability of two balls.
        let thesis = Mill { wall: WallImpacts::AsBalls, ..mill.clone() };
        let expected = 4.0 * PI * 1.6e-3 * 1e-6 / 303_919e-9;
        assert!((thesis.chain(&classes).unwrap().probability(0) / expected - 1.0).abs() < 1e-14);
        assert_eq!(thesis.chain(&classes).unwrap().probability(30), 0.0);
    }

    #[test]
    fn what_is_no_mill_is_refused() {
        let classes = SizeClasses::new(1e-3, 1e-6).unwrap();
        let mill = |rate, radius, free_volume| {
            let impacts = vec![Impacts { bodies: Bodies::BallAndWall(radius), rate }];
            Mill { impacts, wall: WallImpacts::Plane, free_volume }.chain(&classes)
        };
        assert!(mill(1e5, 3e-3, 3e-4).is_ok());
        assert_eq!(mill(0.0, 3e-3, 3e-4), Err(GrindingError::NoImpacts));
        assert!(mill(-1.0, 3e-3, 3e-4).is_err() && mill(f64::NAN, 3e-3, 3e-4).is_err());
        assert!(mill(1e5, -3e-3, 3e-4).is_err() && mill(1e5, 3e-3, 0.0).is_err());
        assert!(matches!(mill(1e5, 3e-3, 1e-9), Err(GrindingError::NotAProbability { class: 0, .. })));
    }
}
