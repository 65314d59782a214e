//! Small dense matrices.

/// A square matrix, by rows.
pub type Matrix = Vec<Vec<f64>>;

/// Products of every two columns.
pub fn gram(columns: &[Vec<f64>]) -> Matrix {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum();
    columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect()
}

/// Solves `a x = b` by elimination with pivots; `None` if `a` is singular.
pub fn solve(mut a: Matrix, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        if a[pivot][k].abs() < 1e-300 || !a[pivot][k].is_finite() {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            if f != 0.0 {
                let (above, below) = a.split_at_mut(i);
                for (x, y) in below[0].iter_mut().zip(&above[k]).skip(k) {
                    *x -= f * y;
                }
                b[i] -= f * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b.iter().all(|v| v.is_finite()).then_some(b)
}

/// Inverse, column by column.
pub fn inverse(a: &Matrix) -> Option<Matrix> {
    let n = a.len();
    let column = |k| solve(a.clone(), (0..n).map(|i| f64::from(u8::from(i == k))).collect());
    (0..n).map(column).collect()
}

/// Two-sided 95 % quantile of Student's t: exact for one and two degrees of freedom, Fisher's
/// expansion above (error below 0.5 % at three).
pub fn t95(freedom: usize) -> f64 {
    const Z: f64 = 1.959_963_985;
    let n = freedom as f64;
    match freedom {
        0 => f64::INFINITY,
        1 => 12.706,
        2 => 4.3027,
        3 => 3.1824,
        4 => 2.7764,
        _ => {
            let z = |k: i32| Z.powi(k);
            Z + (z(3) + Z) / (4.0 * n)
                + (5.0 * z(5) + 16.0 * z(3) + 3.0 * Z) / (96.0 * n.powi(2))
                + (3.0 * z(7) + 19.0 * z(5) + 17.0 * z(3) - 15.0 * Z) / (384.0 * n.powi(3))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_and_inverts() {
        let a = vec![vec![4.0, 1.0, 0.0], vec![1.0, 3.0, 1.0], vec![0.0, 1.0, 2.0]];
        let x = solve(a.clone(), vec![6.0, 10.0, 8.0]).unwrap();
        for (got, want) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((got - want).abs() < 1e-12, "{x:?}");
        }
        let inv = inverse(&a).unwrap();
        let one: f64 = (0..3).map(|k| a[1][k] * inv[k][1]).sum();
        assert!((one - 1.0).abs() < 1e-12);
        assert!(
            solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 2.0])
                .is_none_or(|x| !x[0].is_finite())
        );
    }

    #[test]
    fn quantiles_of_t() {
        for (n, want) in
            [(1, 12.706), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)]
        {
            assert!((t95(n) - want).abs() < 0.005 * want, "{n}: {}", t95(n));
        }
    }
}
