//! Small dense matrices, line by line: enough for the links of one change.

use crate::lanes::Width;

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
    /// By elimination with row pivots; `None` where a pivot is below 1e-12 of the largest entry.
    pub fn of(a: Vec<f64>, n: usize) -> Option<Self> {
        // The same bits, as products are not fused with sums.
        match Width::best() {
            // SAFETY: the width was found on this processor.
            #[cfg(target_arch = "x86_64")]
            Width::Eight => unsafe { Self::by_eight(a, n) },
            #[cfg(target_arch = "x86_64")]
            Width::Four => unsafe { Self::by_four(a, n) },
            _ => Self::eliminated(a, n),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
    unsafe fn by_eight(a: Vec<f64>, n: usize) -> Option<Self> {
        Self::eliminated(a, n)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn by_four(a: Vec<f64>, n: usize) -> Option<Self> {
        Self::eliminated(a, n)
    }

    #[inline(always)]
    fn eliminated(mut a: Vec<f64>, n: usize) -> Option<Self> {
        let largest = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let mut row: Vec<usize> = (0..n).collect();
        for p in 0..n {
            let best = (p..n).max_by(|&r, &s| a[r * n + p].abs().total_cmp(&a[s * n + p].abs()))?;
            if a[best * n + p].abs() <= 1e-12 * largest {
                return None;
            }
            if best != p {
                let (above, below) = a.split_at_mut(best * n);
                above[p * n..][..n].swap_with_slice(&mut below[..n]);
                row.swap(p, best);
            }
            let (done, below) = a.split_at_mut((p + 1) * n);
            let (pivot, line) = (done[p * n + p], &done[p * n + p + 1..]);
            for other in below.chunks_exact_mut(n) {
                let factor = other[p] / pivot;
                other[p] = factor;
                if factor != 0.0 {
                    other[p + 1..].iter_mut().zip(line).for_each(|(x, l)| *x -= factor * l);
                }
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
