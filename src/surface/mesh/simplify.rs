//! Fewer triangles where a surface is flat, within a given distance of the one that was.
//!
//! The work is meshoptimizer's: edges are collapsed onto one of their ends, the cheapest first by
//! quadrics (M. Garland, P. S. Heckbert, *Surface simplification using quadric error metrics*,
//! SIGGRAPH 1997, [doi:10.1145/258734.258849](https://doi.org/10.1145/258734.258849)). It does not ask
//! whether a collapse pinches the surface into a side with four triangles, a few dozen in a million; these
//! are taken apart again here.

use glam::{DVec3, Vec3};
use meshopt::{SimplifyOptions, VertexDataAdapter};
use std::collections::HashSet;

/// Removes triangles of a closed mesh as long as it moves by no more than about `tolerance` \[m\]. Corners
/// that stay stay where they are.
pub(super) fn simplify(positions: &mut Vec<Vec3>, triangles: &mut Vec<[u32; 3]>, tolerance: f32) {
    if tolerance == 0.0 || triangles.is_empty() {
        return;
    }
    let fewer = {
        let bytes = bytemuck::cast_slice::<Vec3, u8>(positions);
        let Ok(corners) = VertexDataAdapter::new(bytes, size_of::<Vec3>(), 0) else { return };
        let indices = bytemuck::cast_slice::<[u32; 3], u32>(triangles);
        let options = SimplifyOptions::ErrorAbsolute;
        meshopt::simplify(indices, &corners, 0, tolerance, options, None)
    };
    let (fewer, _) = fewer.as_chunks::<3>();
    *triangles = separate(&without_flaps(fewer), positions);
    while split_double_sides(triangles, positions) {}
}

/// A side of a triangle, `3 triangle + k` for the one from corner k to the next.
type Side = usize;

fn ends(triangles: &[[u32; 3]], side: Side) -> [u32; 2] {
    let triangle = triangles[side / 3];
    [triangle[side % 3], triangle[(side % 3 + 1) % 3]]
}

/// For each side the one of the neighbouring triangle. Where more than two triangles meet, those are
/// neighbours that have matter between them.
fn twins(triangles: &[[u32; 3]], positions: &[Vec3]) -> Vec<Side> {
    let key = |side: Side| {
        let [from, to] = ends(triangles, side);
        u64::from(from.min(to)) << 32 | u64::from(from.max(to))
    };
    let mut sides: Vec<(u64, Side)> = (0..3 * triangles.len()).map(|s| (key(s), s)).collect();
    sides.sort_unstable();
    let mut twins: Vec<Side> = (0..3 * triangles.len()).collect();
    let mut join = |a: Side, b: Side| {
        twins[a] = b;
        twins[b] = a;
    };
    for meeting in sides.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, a), (_, b)] = meeting {
            join(*a, *b);
            continue;
        }
        let meeting: Vec<Side> = meeting.iter().map(|(_, side)| *side).collect();
        around(triangles, positions, &meeting).into_iter().for_each(|[a, b]| join(a, b));
    }
    twins
}

/// Pairs of sides with matter between their triangles, of several that meet in one edge.
fn around(triangles: &[[u32; 3]], positions: &[Vec3], meeting: &[Side]) -> Vec<[Side; 2]> {
    let at = |corner: u32| positions[corner as usize].as_dvec3();
    let [low, high] = {
        let [from, to] = ends(triangles, meeting[0]);
        [from.min(to), from.max(to)]
    };
    let axis = (at(high) - at(low)).normalize_or_zero();
    let (x, y) = axis.any_orthonormal_pair();
    let angle = |side: Side| {
        let opposite: DVec3 = at(triangles[side / 3][(side % 3 + 2) % 3]) - at(low);
        opposite.dot(y).atan2(opposite.dot(x))
    };
    let mut turning: Vec<(f64, Side)> = meeting.iter().map(|s| (angle(*s), *s)).collect();
    turning.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // Seen along the axis, matter begins at triangles that run down it, and ends at the next that runs
    // up.
    let runs_up = |side: Side| ends(triangles, side)[0] == low;
    let mut open: Vec<Side> = Vec::new();
    let mut pairs = Vec::new();
    for (_, side) in turning.iter().chain(&turning).copied() {
        let is_paired = pairs.iter().flatten().any(|s: &Side| *s == side);
        if is_paired || open.contains(&side) {
            continue;
        }
        match runs_up(side) {
            false => open.push(side),
            true => pairs.extend(open.pop().map(|begin| [begin, side])),
        }
    }
    pairs
}

/// The triangles but for those that lie back to back on another with the same corners.
fn without_flaps(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut faces: Vec<([u32; 3], bool, usize)> = Vec::with_capacity(triangles.len());
    for (n, [a, b, c]) in triangles.iter().copied().enumerate() {
        let mut sorted = [a, b, c];
        sorted.sort_unstable();
        let [low, middle, _] = sorted;
        // Whether the corners rise around the triangle.
        let rises = [(a, b), (b, c), (c, a)].contains(&(low, middle));
        faces.push((sorted, rises, n));
    }
    faces.sort_unstable();
    let mut kept = Vec::with_capacity(triangles.len());
    for same in faces.chunk_by(|a, b| a.0 == b.0) {
        let falling = same.iter().filter(|(_, rises, _)| !rises).count();
        let both = falling.min(same.len() - falling);
        // Those that fall come first.
        kept.extend(same[both..same.len() - both].iter().map(|(.., n)| *n));
    }
    kept.sort_unstable();
    kept.into_iter().map(|n| triangles[n]).collect()
}

/// Gives every fan of triangles a corner of its own, and leaves out corners without triangles.
fn separate(triangles: &[[u32; 3]], positions: &mut Vec<Vec3>) -> Vec<[u32; 3]> {
    let twins = twins(triangles, positions);
    // Which corner of a triangle stands for its fan; corners are numbered like sides.
    let mut fans: Vec<usize> = (0..3 * triangles.len()).collect();
    for (side, twin) in twins.iter().copied().enumerate().filter(|(side, twin)| side < twin) {
        let next = |side: Side| side / 3 * 3 + (side % 3 + 1) % 3;
        unite(&mut fans, side, next(twin));
        unite(&mut fans, next(side), twin);
    }
    let mut numbers = vec![u32::MAX; fans.len()];
    let mut kept = Vec::new();
    let separated = (0..triangles.len()).map(|triangle| {
        [0, 1, 2].map(|k| {
            let fan = find(&mut fans, 3 * triangle + k);
            if numbers[fan] == u32::MAX {
                numbers[fan] = kept.len() as u32;
                kept.push(positions[triangles[triangle][k] as usize]);
            }
            numbers[fan]
        })
    });
    let separated = separated.collect();
    *positions = kept;
    separated
}

/// Where two corners are joined by two edges, around a neck that is two edges long, gives one of these a
/// corner in its middle; true if there were any.
fn split_double_sides(triangles: &mut Vec<[u32; 3]>, positions: &mut Vec<Vec3>) -> bool {
    let mut up: Vec<(u64, Side)> = (0..3 * triangles.len())
        .map(|side| (ends(triangles, side), side))
        .filter(|([from, to], _)| from < to)
        .map(|([from, to], side)| (u64::from(from) << 32 | u64::from(to), side))
        .collect();
    up.sort_unstable();
    let double: Vec<Side> =
        up.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| two[1].1).collect();
    if double.is_empty() {
        return false;
    }
    let twins = twins(triangles, positions);
    // A triangle that is split has other sides then; its turn comes again.
    let mut touched = HashSet::new();
    for side in double {
        let twin = twins[side];
        if touched.contains(&(side / 3)) || touched.contains(&(twin / 3)) {
            continue;
        }
        touched.extend([side / 3, twin / 3]);
        let [from, to] = ends(triangles, side).map(|corner| positions[corner as usize]);
        let middle = positions.len() as u32;
        positions.push(from.midpoint(to));
        for side in [side, twin] {
            let (mut near, mut far) = (triangles[side / 3], triangles[side / 3]);
            near[(side % 3 + 1) % 3] = middle;
            far[side % 3] = middle;
            triangles[side / 3] = near;
            triangles.push(far);
        }
    }
    true
}

fn find(sets: &mut [usize], mut member: usize) -> usize {
    while sets[member] != member {
        sets[member] = sets[sets[member]];
        member = sets[member];
    }
    member
}

fn unite(sets: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(sets, a), find(sets, b));
    sets[a.max(b)] = a.min(b);
}
