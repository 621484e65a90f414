//! Sets of numbers without a number in common, united pair by pair.

/// Disjoint sets of the numbers below a count. The lowest number of each is its root, so that the result
/// does not depend on the order in which sets are united.
#[derive(Clone, Debug, Default)]
pub struct DisjointSets {
    /// A lower number of the same set; itself for roots.
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Makes each number below `count` a set of its own.
    pub fn reset(&mut self, count: usize) {
        self.parent.clear();
        self.parent.extend(0..count as u32);
    }

    /// The lowest number of the set that holds `number`.
    pub fn root(&mut self, mut number: u32) -> u32 {
        while self.parent[number as usize] != number {
            let above = self.parent[self.parent[number as usize] as usize];
            self.parent[number as usize] = above;
            number = above;
        }
        number
    }

    /// Unites the sets of two numbers. Returns their roots, that of the whole first; both are the same
    /// where the sets were one.
    pub fn unite(&mut self, a: u32, b: u32) -> [u32; 2] {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
        [a.min(b), a.max(b)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::hash;

    /// Against labels that are all written anew at each union.
    #[test]
    fn roots_are_the_lowest_numbers_of_what_was_united() {
        const COUNT: u32 = 200;
        let mut sets = DisjointSets::default();
        sets.reset(COUNT as usize);
        let mut labels: Vec<u32> = (0..COUNT).collect();
        for n in 0..150 {
            let [a, b] = [0, 1].map(|k| (hash(7, n, k, 0) % u64::from(COUNT)) as u32);
            let (one, other) = (labels[a as usize], labels[b as usize]);
            assert_eq!(sets.unite(a, b), [one.min(other), one.max(other)]);
            labels.iter_mut().filter(|l| **l == one.max(other)).for_each(|l| *l = one.min(other));
        }
        assert!((0..COUNT).all(|n| sets.root(n) == labels[n as usize]));
    }
}
