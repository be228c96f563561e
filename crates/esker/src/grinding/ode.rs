//! Expected masses of the size classes by a plain integrator: the slow, obvious twin of [`analytical`](super::analytical).
//!
//! Runge–Kutta of fourth order on $\dot X_i = p_{i-1}X_{i-1} - p_iX_i$. The step is a 64th of the shortest life among the classes that
//! still have mass: errors are about 1e-9. A class is empty when $10^{-30}$ of the mass is left in it; that goes on to the next
//! class, so that the fast classes of the beginning do not hold up the slow ones of the end.

use super::Chain;

/// Steps in the mean life of the fastest class that has mass.
const STEPS: f64 = 64.0;

/// Share of the mass below which a class is empty.
const EMPTY: f64 = 1e-30;

/// Shares of the mass in the size classes after a number of impacts: all of it begins in class 0.
pub fn masses(chain: &Chain, impacts: f64) -> Vec<f64> {
    let k = chain.last();
    let mut x = vec![0.0; k + 1];
    x[0] = 1.0;
    let (mut n, mut first) = (0.0, 0);
    while n < impacts {
        while first < k && x[first] < EMPTY {
            x[first + 1] += std::mem::take(&mut x[first]);
            first += 1;
        }
        let fastest = (first..k).map(|i| chain.probability(i)).fold(0.0, f64::max);
        // Nothing changes any more.
        if fastest == 0.0 {
            break;
        }
        let step = (1.0 / (STEPS * fastest)).min(impacts - n);
        runge_kutta(chain, &mut x, step);
        n += step;
    }
    x
}

fn change(chain: &Chain, x: &[f64]) -> Vec<f64> {
    let leaving = |i: usize| chain.probability(i) * x[i];
    (0..x.len()).map(|i| if i == 0 { -leaving(0) } else { leaving(i - 1) - leaving(i) }).collect()
}

fn runge_kutta(chain: &Chain, x: &mut [f64], step: f64) {
    let moved =
        |x: &[f64], by: &[f64], step: f64| -> Vec<f64> { x.iter().zip(by).map(|(x, d)| x + step * d).collect() };
    let first = change(chain, x);
    let second = change(chain, &moved(x, &first, 0.5 * step));
    let third = change(chain, &moved(x, &second, 0.5 * step));
    let fourth = change(chain, &moved(x, &third, step));
    for i in 0..x.len() {
        x[i] += step / 6.0 * (first[i] + 2.0 * (second[i] + third[i]) + fourth[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::analytical;
    use super::*;

    #[test]
    fn the_integrator_and_the_closed_form_tell_the_same_masses() {
        let geometric: Vec<f64> = (0..30).map(|i| 6.615e-5 * (-2.0 * f64::from(i) / 3.0).exp2()).collect();
        for (probabilities, impacts) in [
            (geometric.clone(), 0.0),
            (geometric.clone(), 1e5),
            (geometric.clone(), 8.64e9),
            (geometric, 1e12),
            (vec![0.2, 0.1], 12.0),
            (vec![0.1; 7], 80.0),
            (vec![1e-3, 0.9, 1e-3, 0.9, 0.0, 0.1], 1500.0),
        ] {
            let chain = Chain::new(probabilities).unwrap();
            let (found, expected) = (masses(&chain, impacts), analytical::masses(&chain, impacts));
            for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() < 1e-8, "class {i} after {impacts} impacts: {a:e} for {b:e}");
            }
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
