//! How the surface runs through a cell: the triangles for each pattern of signs at its corners.
//!
//! The surface crosses a face of the cell in one segment, or, where signs alternate around the face,
//! in two; which ends these join follows from the bilinear function on the face, as in the
//! asymptotic decider of Nielson & Hamann (*The asymptotic decider: resolving the ambiguity in
//! marching cubes*, 1991, [doi:10.1109/VISUAL.1991.175782](https://doi.org/10.1109/VISUAL.1991.175782)).
//! Both cells at a face decide alike, so that the segments of all faces close into loops, and the
//! loops, filled with triangles, into a mesh without a hole. Every corner of it belongs to one loop
//! in each of the four cells around its edge: the mesh is a manifold. For that, no triangle may have
//! a side across a face other than the face's segments, which the cell beyond could have too; a loop
//! that cannot be filled otherwise gets a corner in its middle.
//!
//! Corner c of a cell has the coordinates (c >> 2, c >> 1 & 1, c & 1). Edge 4 a + n runs along axis
//! a from the n-th of the corners whose coordinate a is 0.

use std::sync::OnceLock;

/// Two corners of each face that lie across, then the other two; faces come as lower x, upper x,
/// lower y and so on.
pub(super) const DIAGONALS: [[usize; 4]; 6] =
    [[0, 3, 1, 2], [4, 7, 5, 6], [0, 5, 1, 4], [2, 7, 3, 6], [0, 6, 2, 4], [1, 7, 3, 5]];

/// Corners of each face, counter-clockwise seen from outside.
const FACES: [[usize; 4]; 6] =
    [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];

/// The first corner of each edge.
pub(super) const EDGE_CORNERS: [usize; 12] = [0, 1, 2, 3, 0, 1, 4, 5, 0, 2, 4, 6];

/// The first number that stands for the middle of a loop in place of an edge.
pub(super) const MIDDLE: u8 = 12;

/// How the surface runs through a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    /// Edges that triangles have their corners on, counter-clockwise seen from the positive side;
    /// [`MIDDLE`] + n is the middle of the n-th loop of `around`.
    pub triangles: Vec<[u8; 3]>,
    /// The edges of each loop that has a corner in its middle.
    pub around: Vec<Vec<u8>>,
}

/// Every case.
pub(super) struct Cases {
    /// By signs and joined faces.
    cases: Vec<Case>,
    /// By signs, the faces around which signs alternate.
    ambiguous: [u8; 256],
}

impl Cases {
    /// The table.
    pub fn get() -> &'static Self {
        static CASES: OnceLock<Cases> = OnceLock::new();
        CASES.get_or_init(Self::build)
    }

    /// The faces around which signs alternate, a bit each; `negative` has a bit for each corner.
    pub fn ambiguous(&self, negative: u8) -> u8 {
        self.ambiguous[negative as usize]
    }

    /// A case; `joined` has a bit for each ambiguous face on which the negative corners are connected.
    pub fn case(&self, negative: u8, joined: u8) -> &Case {
        &self.cases[(negative as usize) << 6 | joined as usize]
    }

    fn build() -> Self {
        let mut cases = Self { cases: vec![Case::default(); 256 << 6], ambiguous: [0; 256] };
        for negative in 0..=255u8 {
            let faces = (0..6).filter(|face| crossings(*face, negative).len() == 4);
            let ambiguous = faces.fold(0, |bits, face| bits | 1 << face);
            cases.ambiguous[negative as usize] = ambiguous;
            for joined in (0..64u8).filter(|joined| joined & !ambiguous == 0) {
                let case = &mut cases.cases[(negative as usize) << 6 | joined as usize];
                loops(negative, joined).into_iter().for_each(|around| fill(around, case));
            }
        }
        cases
    }
}

/// The edge between two corners.
fn edge_between(a: usize, b: usize) -> usize {
    let axis = 2 - (a ^ b).trailing_zeros() as usize;
    let first = a.min(b);
    4 * axis + (0..4).find(|n| EDGE_CORNERS[4 * axis + n] == first).unwrap_or(0)
}

/// The edges of a face that the surface crosses, counter-clockwise, and whether the crossing goes
/// from positive to negative.
fn crossings(face: usize, negative: u8) -> Vec<(usize, bool)> {
    let is_negative = |corner: usize| negative & (1 << corner) != 0;
    (0..4)
        .map(|n| (FACES[face][n], FACES[face][(n + 1) % 4]))
        .filter(|(a, b)| is_negative(*a) != is_negative(*b))
        .map(|(a, b)| (edge_between(a, b), is_negative(b)))
        .collect()
}

/// The loops in which the surface crosses the cell's faces, as edges in turn.
fn loops(negative: u8, joined: u8) -> Vec<Vec<u8>> {
    // A segment leads from where the face turns positive to where it turned negative, so that each
    // edge begins a segment on one of its faces and ends one on the other.
    let mut next = [None; 12];
    for face in 0..6 {
        let crossings = crossings(face, negative);
        for (n, (edge, _)) in crossings.iter().enumerate().filter(|(_, (_, enters))| !enters) {
            let step = if joined & (1 << face) == 0 { crossings.len() - 1 } else { 1 };
            next[*edge] = Some(crossings[(n + step) % crossings.len()].0);
        }
    }
    let mut loops = Vec::new();
    for start in 0..12 {
        let mut around = Vec::new();
        let mut at = start;
        while let Some(to) = next[at].take() {
            around.push(at as u8);
            at = to;
        }
        if !around.is_empty() {
            loops.push(around);
        }
    }
    loops
}

/// Whether two edges lie on one face.
fn share_face(a: u8, b: u8) -> bool {
    let faces = |edge: u8| {
        let (axis, first) = (edge as usize / 4, EDGE_CORNERS[edge as usize]);
        let side = move |other: usize| 2 * other + (first >> (2 - other) & 1);
        (0..3).filter(move |other| *other != axis).map(side)
    };
    faces(a).any(|face| faces(b).any(|other| other == face))
}

/// Fills a loop with triangles, none of whose new sides lies on a face.
fn fill(around: Vec<u8>, case: &mut Case) {
    let mut found = Vec::new();
    if fill_between(&around, 0, around.len() - 1, &mut found) {
        case.triangles.append(&mut found);
        return;
    }
    let middle = MIDDLE + case.around.len() as u8;
    let next = around.iter().cycle().skip(1);
    case.triangles.extend(around.iter().zip(next).map(|(a, b)| [*b, *a, middle]));
    case.around.push(around);
}

/// Fills the part of a loop from `first` to `last`, whose side between these two is settled.
fn fill_between(around: &[u8], first: usize, last: usize, found: &mut Vec<[u8; 3]>) -> bool {
    if last < first + 2 {
        return true;
    }
    let settled = found.len();
    let allowed = |a: usize, b: usize| b == a + 1 || !share_face(around[a], around[b]);
    // From the middle outwards, for rounder triangles.
    let mut tips: Vec<usize> = (first + 1..last).collect();
    tips.sort_by_key(|tip| (2 * tip).abs_diff(first + last));
    for tip in tips {
        if allowed(first, tip)
            && allowed(tip, last)
            && fill_between(around, first, tip, found)
            && fill_between(around, tip, last, found)
        {
            found.push([around[first], around[last], around[tip]]);
            return true;
        }
        found.truncate(settled);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Every case: signs, joined faces and triangles.
    fn all() -> impl Iterator<Item = (u8, u8, &'static [[u8; 3]])> {
        let cases = Cases::get();
        (0..=255u8).flat_map(move |negative| {
            let ambiguous = cases.ambiguous(negative);
            (0..64u8).filter(move |joined| joined & !ambiguous == 0).map(move |joined| {
                (negative, joined, cases.case(negative, joined).triangles.as_slice())
            })
        })
    }

    #[test]
    fn triangles_have_corners_on_all_edges_that_are_crossed_and_no_other() {
        for (negative, joined, triangles) in all() {
            let bit = |corner: usize| negative >> corner & 1;
            for (edge, first) in EDGE_CORNERS.into_iter().enumerate() {
                let crossed = bit(first) != bit(first | 4 >> (edge / 4));
                let used = triangles.iter().flatten().any(|e| *e == edge as u8);
                assert_eq!(used, crossed, "{negative:08b} {joined:06b} edge {edge}");
            }
        }
    }

    /// Sides inside a cell belong to two triangles, in opposite directions; sides on a face to one.
    #[test]
    fn every_side_off_the_faces_has_a_triangle_on_both_sides() {
        for (negative, joined, triangles) in all() {
            let mut sides: HashMap<(u8, u8), i32> = HashMap::new();
            for t in triangles {
                for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                    *sides.entry((a, b)).or_default() += 1;
                }
            }
            for (&(a, b), &count) in &sides {
                assert_eq!(count, 1, "{negative:08b} {joined:06b}");
                let other = sides.contains_key(&(b, a));
                let inside = a.max(b) >= MIDDLE || !share_face(a, b);
                assert_eq!(other, inside, "{negative:08b} {joined:06b} {a}-{b}");
            }
        }
    }

    /// The segments on a face, seen from the cell beyond it, are the same in opposite directions.
    #[test]
    fn neighbouring_cells_agree_on_their_face() {
        let segments = |face: usize, triangles: &[[u8; 3]]| {
            let on_face = |edge: u8| {
                let (axis, first) = (edge as usize / 4, EDGE_CORNERS[edge as usize]);
                axis != face / 2 && first >> (2 - face / 2) & 1 == face & 1
            };
            let mut found: Vec<(u8, u8)> = Vec::new();
            for t in triangles {
                for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                    if a.max(b) < MIDDLE && on_face(a) && on_face(b) {
                        found.push((a, b));
                    }
                }
            }
            found
        };
        // Upper x against lower x: the same pattern on the four corners, edges moved along x.
        for (negative, joined, triangles) in all() {
            let pattern = negative >> 4;
            let flag = joined >> 1 & 1;
            let upper = segments(1, triangles);
            let moved = |edge: u8| match EDGE_CORNERS[edge as usize] & 3 {
                corner if edge / 4 == 1 => 4 + corner,
                corner => 8 + corner / 2,
            };
            let mut there: Vec<(u8, u8)> =
                upper.iter().map(|(a, b)| (moved(*b) as u8, moved(*a) as u8)).collect();
            there.sort_unstable();
            let beyond = all().filter(|(n, j, _)| n & 15 == pattern && j & 1 == flag);
            for (_, _, triangles) in beyond {
                let mut here = segments(0, triangles);
                here.sort_unstable();
                assert_eq!(here, there);
            }
        }
    }

    #[test]
    fn joined_corners_are_connected_and_others_are_not() {
        // Two negative corners across a face: two caps, or one band of four triangles.
        let negative = 0b0000_1001;
        assert_eq!(Cases::get().ambiguous(negative), 0b000001);
        assert_eq!(Cases::get().case(negative, 0).triangles.len(), 2);
        assert_eq!(Cases::get().case(negative, 1).triangles.len(), 4);
    }
}
