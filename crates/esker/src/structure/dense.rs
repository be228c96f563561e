//! Dense matrices, line by line: for the links of one change, and for slides that push each other.

use crate::lanes::Width;
use rayon::prelude::*;

/// Cholesky factor of a symmetric positive matrix in its lower triangle; `None` where a pivot is not above `least` of the entry of
/// the diagonal it came from.
pub fn cholesky(a: &mut [f64], n: usize, least: f64) -> Option<()> {
    for j in 0..n {
        let before = a[j * n + j];
        let pivot = before - (0..j).map(|k| a[j * n + k] * a[j * n + k]).sum::<f64>();
        let left = pivot / before;
        if left.is_nan() || left <= least || before <= 0.0 {
            return None;
        }
        let root = pivot.sqrt();
        a[j * n + j] = root;
        for i in j + 1..n {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] = (a[i * n + j] - dot) / root;
        }
    }
    Some(())
}

/// Solves L Lᵀ x = b in place.
pub fn solve_cholesky(l: &[f64], n: usize, b: &mut [f64]) {
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| l[i * n + k] * b[k]).sum();
        b[i] = (b[i] - dot) / l[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| l[k * n + i] * b[k]).sum();
        b[i] = (b[i] - dot) / l[i * n + i];
    }
}

/// The inverse by its Cholesky factor.
pub fn inverse_of_cholesky(l: &[f64], n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    for c in 0..n {
        column.fill(0.0);
        column[c] = 1.0;
        solve_cholesky(l, n, &mut column);
        for r in 0..n {
            inverse[r * n + c] = column[r];
        }
    }
    inverse
}

/// The inverse of any matrix by elimination with row pivots; `None` where a pivot is below 1e-12 of the largest entry.
pub fn inverse(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut a = matrix.to_vec();
    let mut inverse = vec![0.0; n * n];
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for p in 0..n {
        let best = (p..n).max_by(|&r, &s| a[r * n + p].abs().total_cmp(&a[s * n + p].abs()))?;
        if a[best * n + p].abs() <= 1e-12 * largest {
            return None;
        }
        for c in 0..n {
            a.swap(p * n + c, best * n + c);
            inverse.swap(p * n + c, best * n + c);
        }
        let pivot = a[p * n + p];
        for c in 0..n {
            a[p * n + c] /= pivot;
            inverse[p * n + c] /= pivot;
        }
        for r in (0..n).filter(|&r| r != p) {
            let factor = a[r * n + p];
            for c in 0..n {
                a[r * n + c] -= factor * a[p * n + c];
                inverse[r * n + c] -= factor * inverse[p * n + c];
            }
        }
    }
    Some(inverse)
}

/// Columns that are eliminated at once.
const BLOCK: usize = 32;

/// Products that are worth several workers.
const WORTH: usize = 1 << 20;

/// Takes off `rows`, of `n` numbers each, the lines of a block of a matrix times the factors that stand in the columns of the block,
/// from column `end` on. The lines begin with that of column `first`.
fn subtract_rows(rows: &mut [f64], lines: &[f64], n: usize, first: usize, end: usize) {
    // The same bits, as products are not fused with sums.
    match Width::best() {
        // SAFETY: the width was found on this processor.
        #[cfg(target_arch = "x86_64")]
        Width::Eight => unsafe { subtract_by_eight(rows, lines, n, first, end) },
        #[cfg(target_arch = "x86_64")]
        Width::Four => unsafe { subtract_by_four(rows, lines, n, first, end) },
        _ => subtract_lines(rows, lines, n, first, end),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
unsafe fn subtract_by_eight(rows: &mut [f64], lines: &[f64], n: usize, first: usize, end: usize) {
    subtract_lines(rows, lines, n, first, end);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn subtract_by_four(rows: &mut [f64], lines: &[f64], n: usize, first: usize, end: usize) {
    subtract_lines(rows, lines, n, first, end);
}

#[inline(always)]
fn subtract_lines(rows: &mut [f64], lines: &[f64], n: usize, first: usize, end: usize) {
    let (count, width) = (lines.len() / n, n - end);
    let line = |k: usize| &lines[k * n + end..][..width];
    for row in rows.chunks_exact_mut(n) {
        let mut factors = [0.0; BLOCK];
        factors[..count].copy_from_slice(&row[first..][..count]);
        let rest = &mut row[end..][..width];
        let mut k = 0;
        while k + 4 <= count {
            let [f0, f1, f2, f3] = std::array::from_fn(|i| factors[k + i]);
            let [l0, l1, l2, l3] = std::array::from_fn(|i| line(k + i));
            for c in 0..width {
                rest[c] = rest[c] - f0 * l0[c] - f1 * l1[c] - f2 * l2[c] - f3 * l3[c];
            }
            k += 4;
        }
        for (k, factor) in factors[..count].iter().enumerate().skip(k) {
            rest.iter_mut().zip(line(k)).for_each(|(x, l)| *x -= factor * l);
        }
    }
}

/// A matrix in triangles, L U = A with its rows exchanged.
#[derive(Clone, Debug)]
pub struct Triangles {
    n: usize,
    /// Both, line by line; the diagonal of L is one.
    entries: Vec<f64>,
    /// Row that came to each place.
    row: Vec<usize>,
}

impl Triangles {
    /// By elimination with row pivots, some columns at a time, so that the rest is read and written as seldom; `None` where a
    /// pivot is below 1e-12 of the largest entry. Each entry has the same subtracted from it in the same order whatever the block
    /// and the number of workers.
    pub fn of(mut a: Vec<f64>, n: usize) -> Option<Self> {
        let least = 1e-12 * a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let mut row: Vec<usize> = (0..n).collect();
        for first in (0..n).step_by(BLOCK) {
            let end = (first + BLOCK).min(n);
            for p in first..end {
                let best = (p..n).max_by(|&r, &s| a[r * n + p].abs().total_cmp(&a[s * n + p].abs()))?;
                if a[best * n + p].abs() <= least {
                    return None;
                }
                if best != p {
                    let (above, below) = a.split_at_mut(best * n);
                    above[p * n..][..n].swap_with_slice(&mut below[..n]);
                    row.swap(p, best);
                }
                // Columns of the block in all rows below.
                let (done, below) = a.split_at_mut((p + 1) * n);
                let (pivot, line) = (done[p * n + p], &done[p * n + p + 1..p * n + end]);
                for other in below.chunks_exact_mut(n) {
                    other[p] /= pivot;
                    let factor = other[p];
                    other[p + 1..end].iter_mut().zip(line).for_each(|(x, l)| *x -= factor * l);
                }
            }
            // The rest of the rows of the block one after another, then that of all others.
            for p in first + 1..end {
                let (done, below) = a.split_at_mut(p * n);
                subtract_rows(&mut below[..n], &done[first * n..], n, first, end);
            }
            let (done, below) = a.split_at_mut(end * n);
            let rows = |rows: &mut [f64]| subtract_rows(rows, &done[first * n..], n, first, end);
            if (n - end) * (n - end) * BLOCK < WORTH {
                rows(below);
            } else {
                below.par_chunks_mut(16 * n).for_each(rows);
            }
        }
        Some(Self { n, entries: a, row })
    }

    /// x of A x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let dot = |a: &[f64], x: &[f64]| a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        let mut x: Vec<f64> = self.row.iter().map(|&row| b[row]).collect();
        for p in 1..n {
            x[p] -= dot(&self.entries[p * n..][..p], &x[..p]);
        }
        for p in (0..n).rev() {
            let line = &self.entries[p * n..][..n];
            x[p] = (x[p] - dot(&line[p + 1..], &x[p + 1..])) / line[p];
        }
        x
    }
}
