use super::*;
use crate::solver::grains::cells::Cells;
use crate::solver::grains::grain::CHUNK;
use crate::solver::grains::pairs::{Pairs, Reach};
use crate::solver::grains::water::neighbours::find;
use std::collections::BTreeSet;

/// Grains at random, across many blocks and chunks, on both sides of the origin.
fn scattered(count: u32) -> Vec<Grain> {
    let at = |n: u32| {
        let [u, v, w] = uniform3(5, n.into(), 0, 0);
        DVec3::new(f64::from(u) - 0.5, f64::from(v) - 0.5, 0.3 * f64::from(w) - 0.1)
    };
    (0..count).map(|n| grain(at(n), Vec3::ZERO, n)).collect()
}

#[test]
fn the_pairs_are_those_of_a_search_through_all() {
    let mut grains = scattered(4000);
    // Two strays, far away and beside each other.
    grains[7].place = [1 << 29, -(1 << 28), 5];
    grains[9].place = [(1 << 29) + 3, -(1 << 28), 5];
    let ruler = Ruler::of_radius(RADIUS);
    let skin = 0.4 * RADIUS;
    let mut cells = Cells::default();
    cells.sort(
        &mut grains,
        &mut Vec::new(),
        ((2.0 * RADIUS + skin) * ruler.per_metre).ceil() as i32,
    );
    let mut pairs = Pairs::default();
    pairs.rebuild(&grains, &cells, Reach { ruler, bridge: 0.0, skin, step: 0 });
    let mut found = Vec::new();
    for (chunk, list) in pairs.lists.iter().enumerate() {
        for n in 0..list.starts.len() - 1 {
            let i = chunk * CHUNK + n;
            for slot in list.of(n) {
                let j = list.partners[slot] as usize;
                // Once inside a chunk, in both lists between two.
                if j / CHUNK != chunk || i < j {
                    found.push((grains[i].row, grains[j].row));
                    if j / CHUNK == chunk {
                        found.push((grains[j].row, grains[i].row));
                    }
                } else {
                    panic!("a pair inside a chunk stands under its second grain");
                }
            }
        }
    }
    let unique: BTreeSet<_> = found.iter().copied().collect();
    assert_eq!(unique.len(), found.len());
    let mut naive = BTreeSet::new();
    for a in &grains {
        for b in &grains {
            let square = ruler.way(a.place, b.place).length_squared();
            if a.row != b.row && square < (2.0 * RADIUS + skin).powi(2) {
                naive.insert((a.row, b.row));
            }
        }
    }
    assert!(naive.len() > 2000);
    assert_eq!(unique, naive);
}

#[test]
fn the_grains_near_drops_are_those_of_a_search_through_all() {
    let mut grains = scattered(1500);
    let mut drops: Vec<Drop> = scattered(3000)[1500..]
        .iter()
        .map(|g| Drop { place: g.place, ..drop_at(DVec3::ZERO, g.row) })
        .collect();
    let (ruler, reach) = (Ruler::of_radius(RADIUS), 2.5 * RADIUS);
    let edge = (reach * ruler.per_metre).ceil() as i32;
    let mut cells = [Cells::default(), Cells::default()];
    cells[0].sort(&mut grains, &mut Vec::new(), edge);
    cells[1].sort(&mut drops, &mut Vec::new(), edge + 77);
    let mut lists = Vec::new();
    find(&mut lists, &drops, (&grains[..], &cells[0]), reach, ruler);
    for (i, drop) in drops.iter().enumerate() {
        let near = |g: &Grain| ruler.way(drop.place, g.place).length_squared() < reach * reach;
        let naive: BTreeSet<u32> =
            (0..grains.len() as u32).filter(|j| near(&grains[*j as usize])).collect();
        let found = lists[i / CHUNK].of(i % CHUNK);
        assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), naive);
        assert_eq!(found.len(), naive.len());
    }
}
