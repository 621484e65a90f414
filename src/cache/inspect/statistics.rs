//! Least, mean and greatest value of an attribute.

use serde::Serialize;

/// Statistics of the values of an attribute, component by component.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Name of the attribute.
    pub name: String,
    /// Number of values (a vector is one).
    pub count: u64,
    /// Values with a component that is NaN or infinite; they stay out of the rest.
    pub not_finite: u64,
    /// Least value of each component; empty without a finite value.
    pub min: Vec<f64>,
    /// Mean of each component.
    pub mean: Vec<f64>,
    /// Greatest value of each component.
    pub max: Vec<f64>,
}

impl Statistics {
    /// Statistics of values given as slices of as many components.
    pub fn of<const N: usize>(name: &str, values: impl IntoIterator<Item = [f64; N]>) -> Self {
        let (mut count, mut not_finite) = (0, 0);
        let (mut min, mut max) = ([f64::INFINITY; N], [f64::NEG_INFINITY; N]);
        let mut sum = [0.0; N];
        for value in values {
            count += 1;
            if !value.iter().all(|v| v.is_finite()) {
                not_finite += 1;
                continue;
            }
            for (i, v) in value.into_iter().enumerate() {
                min[i] = min[i].min(v);
                max[i] = max[i].max(v);
                sum[i] += v;
            }
        }
        let finite = count - not_finite;
        let kept = |values: [f64; N]| if finite == 0 { Vec::new() } else { values.to_vec() };
        let mean = sum.map(|s| s / finite as f64);
        let name = name.to_owned();
        Self { name, count, not_finite, min: kept(min), mean: kept(mean), max: kept(max) }
    }

    /// Statistics of values whose `components` components lie one after the other. Values of more
    /// than three components are taken component by component.
    pub fn of_components(name: &str, components: usize, values: &[f64]) -> Self {
        match components {
            2 => Self::of(name, values.as_chunks::<2>().0.iter().copied()),
            3 => Self::of(name, values.as_chunks::<3>().0.iter().copied()),
            _ => Self::of(name, values.iter().map(|v| [*v])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_finite_are_counted_and_left_out() {
        let values = [[1.0, -2.0], [f64::NAN, 100.0], [3.0, 4.0], [0.0, f64::INFINITY]];
        let s = Statistics::of("v", values);
        assert_eq!((s.count, s.not_finite), (4, 2));
        assert_eq!((s.min, s.mean, s.max), (vec![1.0, -2.0], vec![2.0, 1.0], vec![3.0, 4.0]));
        let none = Statistics::of("v", [[f64::NAN]]);
        assert_eq!((none.count, none.min.len()), (1, 0));
    }

    #[test]
    fn components_are_grouped() {
        let s = Statistics::of_components("P", 3, &[0.0, 1.0, 2.0, 4.0, 5.0, 6.0]);
        assert_eq!((s.count, s.mean), (2, vec![2.0, 3.0, 4.0]));
        assert_eq!(Statistics::of_components("m", 16, &[1.0; 32]).count, 32);
    }
}
