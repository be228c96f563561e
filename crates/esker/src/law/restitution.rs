//! Restitution and damping ratio: closed forms for the spring–dashpot collision.
//!
//! For $m\ddot\delta + c\dot\delta + k\delta = 0$ with damping ratio $\beta = c/(2\sqrt{mk})$ the bodies part
//! - at zero overlap ([`ContactEnd::Geometric`]) with $e = \exp(-\pi\beta/\sqrt{1-\beta^2})$
//!   (Džiugys & Peters 1998, eq. (81)); no rebound for $\beta \ge 1$;
//! - at zero force ([`ContactEnd::NoTension`]) with $e = \exp(-2\beta\arccos\beta/\sqrt{1-\beta^2})$, continued by
//!   arcosh beyond $\beta = 1$ (Schwager & Pöschel 2007, in this shorter form).
//!
//! The power law $F = K\delta^\alpha$ with $c = 2\beta f_\alpha\sqrt{m\,\mathrm dF/\mathrm d\delta}$ is the same
//! oscillator in the variables $y = \delta^{(\alpha+1)/2}$, $\mathrm ds = \delta^{(\alpha-1)/2}\mathrm dt$ when
//! $f_\alpha = \sqrt{(\alpha+1)/(2\alpha)}$; both ends of contact map onto themselves, so the same $\beta(e)$ is exact
//! for Hertz ($f = \sqrt{5/6}$).

use super::ContactEnd;

/// Restitution of a spring–dashpot collision with damping ratio `beta`.
pub fn restitution(beta: f64, end: ContactEnd) -> f64 {
    match end {
        ContactEnd::Geometric if beta >= 1.0 => 0.0,
        ContactEnd::Geometric => (-std::f64::consts::PI * beta / (1.0 - beta * beta).sqrt()).exp(),
        ContactEnd::NoTension => (-2.0 * beta * arccos_over_sine(beta)).exp(),
    }
}

/// arccos β/√(1−β²), continued beyond 1, with its series where both parts vanish.
fn arccos_over_sine(beta: f64) -> f64 {
    let x = beta - 1.0;
    if x.abs() < 1e-5 {
        1.0 - x / 3.0
    } else if beta < 1.0 {
        beta.acos() / (1.0 - beta * beta).sqrt()
    } else {
        beta.acosh() / (beta * beta - 1.0).sqrt()
    }
}

/// Damping ratio β that gives the restitution `e` in (0, 1].
pub fn damping_ratio(e: f64, end: ContactEnd) -> f64 {
    match end {
        ContactEnd::Geometric => {
            let ln = e.ln();
            -ln / (ln * ln + std::f64::consts::PI.powi(2)).sqrt()
        }
        ContactEnd::NoTension => {
            // e(β) falls monotonically from 1; bracket, then bisect to the last bit.
            let (mut low, mut high) = (0.0, 1.0);
            while restitution(high, end) > e {
                high *= 2.0;
            }
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if middle == low || middle == high {
                    break;
                }
                if restitution(middle, end) > e { low = middle } else { high = middle }
            }
            0.5 * (low + high)
        }
    }
}

/// f of the module's formula for a power law of exponent α.
pub fn exponent_factor(alpha: f64) -> f64 {
    ((alpha + 1.0) / (2.0 * alpha)).sqrt()
}

/// Largest overlap of an undamped collision at speed `v` under F = K δ^α \[m\].
///
/// $\tfrac12 m v^2 = K\delta^{\alpha+1}/(\alpha+1)$
pub fn peak_overlap(coefficient: f64, alpha: f64, mass: f64, v: f64) -> f64 {
    ((alpha + 1.0) * mass * v * v / (2.0 * coefficient)).powf(1.0 / (alpha + 1.0))
}

/// Duration of an undamped collision at speed `v` under F = K δ^α \[s\].
///
/// $t_c = 2\int_0^{\delta_m}\mathrm d\delta/\dot\delta = \frac{2\delta_m}{v}\int_0^1\frac{\mathrm du}{\sqrt{1-u^{\alpha+1}}}$;
/// the integral is π/2 for Hooke and 1.4716375 for Hertz (t_c = 2.943275 δ_m/v).
pub fn contact_time(coefficient: f64, alpha: f64, mass: f64, v: f64) -> f64 {
    if alpha == 1.0 {
        return std::f64::consts::PI * (mass / coefficient).sqrt();
    }
    2.0 * peak_overlap(coefficient, alpha, mass, v) / v * quarter_period(alpha)
}

/// ∫₀¹ du/√(1 − u^(α+1)), with u = 1 − s² to remove the end singularity, by the midpoint rule.
fn quarter_period(alpha: f64) -> f64 {
    let n = 4000;
    let h = 1.0 / n as f64;
    (0..n)
        .map(|k| {
            let s = (k as f64 + 0.5) * h;
            let u = 1.0 - s * s;
            2.0 * s / (1.0 - u.powf(alpha + 1.0)).sqrt() * h
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damping_ratio_inverts_restitution_for_both_ends_of_contact() {
        for end in [ContactEnd::Geometric, ContactEnd::NoTension] {
            for e in [0.01, 0.1, 0.1353352832, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0] {
                let back = restitution(damping_ratio(e, end), end);
                assert!((back - e).abs() < 1e-12 * e.max(0.1), "{end:?} {e} {back}");
            }
        }
    }

    #[test]
    fn restitution_agrees_with_the_reference_pairs_of_dziugys_and_peters() {
        // Table of D-04: 30, 40 and 50 mm pairs, eta = 50 1/s.
        for (omega, e_geometric, e_clamped) in [(364.2, 0.6470, 0.672), (273.1, 0.5571, 0.597), (218.5, 0.4778, 0.533)]
        {
            let beta = 50.0 / omega;
            assert!((restitution(beta, ContactEnd::Geometric) - e_geometric).abs() < 1e-4);
            assert!((restitution(beta, ContactEnd::NoTension) - e_clamped).abs() < 5e-4);
        }
    }

    #[test]
    fn hertz_contact_time_and_overlap_match_the_closed_form() {
        // k = m = v = 1: T = 3.21807, h = 1.09336 (D-07).
        assert!((contact_time(1.0, 1.5, 1.0, 1.0) - 3.21807).abs() < 2e-5);
        assert!((peak_overlap(1.0, 1.5, 1.0, 1.0) - 1.09336).abs() < 1e-5);
        assert!((contact_time(7500.0, 1.0, 0.056549, 1.0) - 8.626e-3).abs() < 1e-6);
    }
}
