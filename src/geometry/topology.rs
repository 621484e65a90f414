//! How a mesh hangs together: holes, and triangles that face the wrong way.

use super::mesh::TriangleMesh;
use glam::Vec3;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// What the edges of a mesh tell. Vertices at the same position count as one, so that formats
/// which repeat vertices (STL, or normals per face) are judged by their shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Edges that belong to one triangle only.
    pub boundary_edges: usize,
    /// Triangles to be turned so that neighbours agree about the outside; sorted. Of each
    /// connected patch the lesser part is turned.
    pub turned: Vec<u32>,
}

/// A triangle's side, keyed by its two welded vertices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    low: u32,
    high: u32,
    triangle: u32,
    /// True if the triangle runs from `low` to `high`.
    forward: bool,
}

impl Topology {
    /// Analyses a valid mesh.
    pub fn of(mesh: &TriangleMesh) -> Self {
        let welded = weld(&mesh.positions);
        let mut edges = Vec::with_capacity(3 * mesh.triangles.len());
        for (t, corners) in mesh.triangles.iter().enumerate() {
            let corner = corners.map(|i| welded[i as usize]);
            if corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0] {
                continue;
            }
            for side in 0..3 {
                let (a, b) = (corner[side], corner[(side + 1) % 3]);
                let triangle = t as u32;
                edges.push(Edge { low: a.min(b), high: a.max(b), triangle, forward: a < b });
            }
        }
        edges.par_sort_unstable();
        let mut boundary_edges = 0;
        let mut shared: Vec<(Edge, Edge)> = Vec::with_capacity(edges.len() / 2);
        for run in edges.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high)) {
            match run {
                [_] => boundary_edges += 1,
                [a, b] => shared.push((*a, *b)),
                _ => {}
            }
        }
        let consistent = shared.iter().all(|(a, b)| a.forward != b.forward);
        let turned = if consistent { Vec::new() } else { disagreeing(mesh, &shared) };
        Self { boundary_edges, turned }
    }

    /// The mesh with the wrong triangles turned.
    pub fn turn(&self, mesh: &mut TriangleMesh) {
        for t in &self.turned {
            mesh.triangles[*t as usize].swap(1, 2);
        }
    }
}

/// Maps each vertex to the first one at the same position.
fn weld(positions: &[Vec3]) -> Vec<u32> {
    let mut first: FxHashMap<[u32; 3], u32> =
        FxHashMap::with_capacity_and_hasher(positions.len(), Default::default());
    let key = |p: &Vec3| (*p + Vec3::ZERO).to_array().map(f32::to_bits);
    positions.iter().enumerate().map(|(i, p)| *first.entry(key(p)).or_insert(i as u32)).collect()
}

/// Spreads an orientation over each patch of triangles joined by two-sided edges, and returns
/// those that disagree with the greater area of their patch.
fn disagreeing(mesh: &TriangleMesh, shared: &[(Edge, Edge)]) -> Vec<u32> {
    let count = mesh.triangles.len();
    let mut neighbours: Vec<[(u32, bool); 3]> = vec![[(u32::MAX, false); 3]; count];
    let mut used = vec![0u8; count];
    for (a, b) in shared {
        let same = a.forward != b.forward;
        for (from, to) in [(a, b), (b, a)] {
            let t = from.triangle as usize;
            neighbours[t][used[t] as usize] = (to.triangle, same);
            used[t] += 1;
        }
    }
    let mut side: Vec<Option<bool>> = vec![None; count];
    let mut turned = Vec::new();
    let mut patch = Vec::new();
    for seed in 0..count {
        if side[seed].is_some() {
            continue;
        }
        side[seed] = Some(false);
        patch.clear();
        patch.push((seed as u32, false));
        let mut next = 0;
        while let Some((t, flipped)) = patch.get(next).copied() {
            next += 1;
            for &(n, same) in &neighbours[t as usize][..used[t as usize] as usize] {
                if side[n as usize].is_none() {
                    let n_flipped = flipped == same;
                    side[n as usize] = Some(n_flipped);
                    patch.push((n, n_flipped));
                }
            }
        }
        let area = |wanted: bool| -> f64 {
            let of_side = patch.iter().filter(|(_, flipped)| *flipped == wanted);
            of_side.map(|(t, _)| mesh.double_area(*t as usize) as f64).sum()
        };
        let lesser = area(true) <= area(false);
        turned.extend(patch.iter().filter(|(_, f)| *f == lesser).map(|(t, _)| *t));
    }
    turned.sort_unstable();
    turned
}
