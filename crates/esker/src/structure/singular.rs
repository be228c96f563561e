//! Structures that are not held, or not everywhere: elimination with diagonal pivots, which finds how much is loose
//! (Wierzba 1990, section 7.3.5, with pivots on the diagonal, without which the recipe is wrong).
//!
//! O(n³): for small structures, and as the obvious twin of the other ways. Displacements belong to supports that the
//! elimination chooses; relative ones, and so the forces in links, do not depend on them.

use super::Frame;

/// A solution of a structure that may be loose.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Displacements.
    pub u: Vec<f64>,
    /// Degrees of freedom that nothing holds; displacements there are zero.
    pub loose: usize,
    /// What is left of the loads over the largest of them: not small when they move what is loose.
    pub residual: f64,
}

/// A pivot below this part of the largest entry of the diagonal is none.
const NONE: f64 = 1e-10;

/// Solves K u = f.
pub fn solve(frame: &Frame, f: &[f64]) -> Solution {
    let n = frame.size();
    let mut a = frame.matrix();
    let mut b = f.to_vec();
    let largest = (0..n).map(|i| a[i * n + i]).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < n {
        // The largest entry left on the diagonal.
        let best = (rank..n).max_by(|&i, &j| {
            let at = |k: usize| a[order[k] * n + order[k]];
            at(i).total_cmp(&at(j)).then(j.cmp(&i))
        });
        let Some(best) = best.filter(|&k| a[order[k] * n + order[k]] > NONE * largest) else { break };
        order.swap(rank, best);
        let p = order[rank];
        for &r in &order[rank + 1..] {
            let factor = a[r * n + p] / a[p * n + p];
            if factor != 0.0 {
                for &c in &order[rank..] {
                    a[r * n + c] -= factor * a[p * n + c];
                }
                b[r] -= factor * b[p];
            }
        }
        rank += 1;
    }
    let mut u = vec![0.0; n];
    for k in (0..rank).rev() {
        let p = order[k];
        let dot: f64 = order[k + 1..rank].iter().map(|&c| a[p * n + c] * u[c]).sum();
        u[p] = (b[p] - dot) / a[p * n + p];
    }
    let scale = f.iter().fold(f64::MIN_POSITIVE, |m, f| m.max(f.abs()));
    let off = frame.times(&u).iter().zip(f).fold(0.0, |m: f64, (k, f)| m.max((k - f).abs()));
    Solution { u, loose: n - rank, residual: off / scale }
}
