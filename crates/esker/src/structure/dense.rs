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

/// line −= Σ w y, where `y` has a line of length `n` for each weight. Four at a time: the line is read and written less often.
#[inline(always)]
pub(super) fn subtract_lines(line: &mut [f64], w: &[f64], y: &[f64], n: usize) {
    let length = line.len();
    let y_of = |i: usize| &y[i * n..][..length];
    let mut i = 0;
    while i < w.len() {
        match w.len() - i {
            1 => {
                let (w0, y0) = (w[i], y_of(i));
                line.iter_mut().zip(y0).for_each(|(z, a)| *z -= w0 * a);
                i += 1;
            }
            2 | 3 => {
                let (w0, w1, y0, y1) = (w[i], w[i + 1], y_of(i), y_of(i + 1));
                line.iter_mut().zip(y0.iter().zip(y1)).for_each(|(z, (a, b))| *z -= w0 * a + w1 * b);
                i += 2;
            }
            _ => {
                let (w, y) = (&w[i..i + 4], [y_of(i), y_of(i + 1), y_of(i + 2), y_of(i + 3)]);
                for c in 0..length {
                    line[c] -= (w[0] * y[0][c] + w[1] * y[1][c]) + (w[2] * y[2][c] + w[3] * y[3][c]);
                }
                i += 4;
            }
        }
    }
}

/// The same by vectors of a width. The same bits, as products are not fused with sums.
pub(super) fn subtract(width: Width, line: &mut [f64], w: &[f64], y: &[f64], n: usize) {
    match width {
        // SAFETY: the width was found on this processor.
        #[cfg(target_arch = "x86_64")]
        Width::Eight => unsafe { subtract_by_eight(line, w, y, n) },
        #[cfg(target_arch = "x86_64")]
        Width::Four => unsafe { subtract_by_four(line, w, y, n) },
        _ => subtract_lines(line, w, y, n),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
unsafe fn subtract_by_eight(line: &mut [f64], w: &[f64], y: &[f64], n: usize) {
    subtract_lines(line, w, y, n);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn subtract_by_four(line: &mut [f64], w: &[f64], y: &[f64], n: usize) {
    subtract_lines(line, w, y, n);
}

/// A block of columns that are eliminated at once, of a matrix with `n` columns.
#[derive(Clone, Copy)]
struct Block {
    width: Width,
    n: usize,
    first: usize,
    end: usize,
}

impl Block {
    /// Takes off rows, behind the block, the lines of the block times the factors that stand in its columns. The lines begin with that of
    /// the first column.
    fn take_off(self, rows: &mut [f64], lines: &[f64]) {
        // The same bits, as products are not fused with sums.
        match self.width {
            // SAFETY: the width was found on this processor.
            #[cfg(target_arch = "x86_64")]
            Width::Eight => unsafe { self.take_off_by_eight(rows, lines) },
            #[cfg(target_arch = "x86_64")]
            Width::Four => unsafe { self.take_off_by_four(rows, lines) },
            _ => self.take_off_lines(rows, lines),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
    unsafe fn take_off_by_eight(self, rows: &mut [f64], lines: &[f64]) {
        self.take_off_lines(rows, lines);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn take_off_by_four(self, rows: &mut [f64], lines: &[f64]) {
        self.take_off_lines(rows, lines);
    }

    #[inline(always)]
    fn take_off_lines(self, rows: &mut [f64], lines: &[f64]) {
        let count = lines.len() / self.n;
        for row in rows.chunks_exact_mut(self.n) {
            let (factors, rest) = row.split_at_mut(self.end);
            subtract_lines(rest, &factors[self.first..][..count], &lines[self.end..], self.n);
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
    /// pivot is below 1e-12 of the largest entry. The same bits for any number of workers: a row is changed by one of them.
    pub fn of(mut a: Vec<f64>, n: usize) -> Option<Self> {
        let width = Width::best();
        let least = 1e-12 * a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let mut row: Vec<usize> = (0..n).collect();
        for first in (0..n).step_by(BLOCK) {
            let end = (first + BLOCK).min(n);
            let block = Block { width, n, first, end };
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
                block.take_off(&mut below[..n], &done[first * n..]);
            }
            let (done, below) = a.split_at_mut(end * n);
            let rows = |rows: &mut [f64]| block.take_off(rows, &done[first * n..]);
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
