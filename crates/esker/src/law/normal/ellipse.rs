//! The area of contact of bodies curved differently in two directions: an ellipse.

use std::f64::consts::{FRAC_PI_2, PI};

/// Complete elliptic integrals by the minor over the major axis of an ellipse.
struct Integrals {
    /// Of the first kind, K.
    first: f64,
    /// D/K, where D = (K − E)/e² and e² is one less the square of the axes' ratio; then 1 − D/K = (E − K + e²K)/(e²K).
    share: f64,
}

impl Integrals {
    /// By the arithmetic–geometric mean (Abramowitz & Stegun 17.6). Every term is positive, so that nothing cancels for nearly
    /// equal axes.
    fn new(axes: f64) -> Self {
        let (mut a, mut b) = (0.5 * (1.0 + axes), axes.sqrt());
        // c_n²/e² and 2^(n−1), from n = 1 on.
        let (mut c2, mut weight) = (0.25 * (1.0 - axes) / (1.0 + axes), 1.0);
        let (mut share, e2) = (0.5 + c2, (1.0 - axes) * (1.0 + axes));
        while c2 * weight > 1e-17 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
            c2 = c2 * c2 * e2 / (16.0 * a * a);
            weight *= 2.0;
            share += weight * c2;
        }
        Self { first: PI / (a + b), share }
    }
}

/// Ratio up to which a polynomial does.
const NEARLY_ROUND: f64 = 3.0;

/// Of (factor − 1)/ln²λ in powers of ln²λ, interpolated at Chebyshev's points; the first are those of Taylor, 1/24 and 1/3456.
const POLYNOMIAL: [f64; 8] = [
    0.041666666666666644,
    0.00028935185185404724,
    7.233796257976806e-6,
    -2.5236929115190006e-7,
    1.4153693386876527e-8,
    -8.212436421338598e-10,
    4.8601736280110006e-11,
    -2.336017239671798e-12,
];

/// What Hertz's force has to take for $R^*$ where the area of contact is an ellipse, over the mean radius
/// $R_e = \sqrt{R'R''}$. `ratio` is that of the larger to the smaller relative curvature, $\lambda = R'/R''\ge1$.
///
/// $$F = \tfrac43E^*\sqrt{R_e}\Bigl(\frac{\delta}{F_2}\Bigr)^{3/2} = \tfrac43E^*\sqrt{R_eF_2^{-3}}\;\delta^{3/2}$$
///
/// $$\lambda = \frac{E(e)/\kappa^2-K(e)}{K(e)-E(e)},\qquad
/// F_2^{-3} = \frac{\pi^2}{2e^2K(e)^3}\sqrt{\Bigl[\frac{E(e)}{\kappa^2}-K(e)\Bigr]\bigl[K(e)-E(e)\bigr]}$$
///
/// with the axes' ratio $\kappa = b/a$ and $e^2 = 1-\kappa^2$: Johnson, *Contact Mechanics* (1985), §4.2(c), eqs (4.26) to (4.32),
/// with $F_1$ eliminated. Exactly 1 for a circle, 1.007 for $\lambda = 1.5$, 1.23 for $\lambda = 10$. The first equation is
/// solved for $\ln\kappa$ by Newton's method to rounding. Up to $\lambda = 3$, as in tubes wider than 1.5 radii, a polynomial of
/// $\ln^2\lambda$ gives the same to $10^{-16}$ in a tenth of the time.
///
/// The factor is one of stiffness. It does not belong to forces between surfaces that hardly deform (DMT, bridges), which go by
/// $R_e$ itself (Derjaguin's approximation), nor to lengths and areas of the contact. JKR and the laws with yield are
/// theories of round areas: they keep $R_e$, and are as much too soft as Hertz would be without the factor.
pub fn elliptic_factor(ratio: f64) -> f64 {
    if ratio <= 1.0 {
        1.0
    } else if ratio <= NEARLY_ROUND {
        let y = ratio.ln().powi(2);
        1.0 + y * POLYNOMIAL.iter().rev().fold(0.0, |sum, c| sum * y + c)
    } else {
        solved(ratio)
    }
}

/// The factor by solving for the ellipse.
fn solved(ratio: f64) -> f64 {
    let mut log = -2.0 / 3.0 * ratio.ln(); // Johnson's approximation
    let aim = ratio.ln();
    for _ in 0..20 {
        let axes = log.exp();
        let (d, e2, k2) = (Integrals::new(axes).share, (1.0 - axes) * (1.0 + axes), axes * axes);
        let b = 1.0 - d;
        // λ = B/(κ²D) and the slope of ln(κ²D/B) over ln κ.
        let excess = aim + 2.0 * log + (d / b).ln();
        let slope = if e2 < 1e-6 { 1.5 } else { 2.0 + ((k2 * d - b) / d - k2 * (b - d) / b) / e2 };
        let step = excess / slope;
        log -= step;
        if step.abs() < 1e-9 {
            break;
        }
    }
    let axes = log.exp();
    let Integrals { first, share } = Integrals::new(axes);
    let per_first = FRAC_PI_2 / first;
    2.0 * per_first * per_first * (share * (1.0 - share)).sqrt() / axes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_the_solution() {
        for k in 1..=2000 {
            let ratio = 1.0 + (NEARLY_ROUND - 1.0) * f64::from(k) / 2000.0;
            let (fast, slow) = (elliptic_factor(ratio), solved(ratio));
            assert!((fast - slow).abs() < 2e-15, "{ratio}: {fast} for {slow}");
        }
    }
}
