//! Spreads the sign of a level set from where it is known into the empty slots of a node.

/// Visits every slot that is not `known` and lies inside. `known`: slots in order, with the signs of
/// their lowest and highest voxel; `log2_edge`: log₂ of the slots along an edge.
///
/// Where the narrow band is closed, slots that touch without a known one between them have one sign.
/// So the sign of a slot is that of the highest voxel of the nearest slot below it along z, or else
/// along y, or else along x; before the first known slot it is that slot's lowest voxel's.
pub(super) fn spread_signs(
    log2_edge: u32,
    known: impl Iterator<Item = (usize, (bool, bool))>,
    mut inside: impl FnMut(usize),
) {
    let edge = 1_usize << log2_edge;
    let mut known = known.peekable();
    let Some(&(_, (first, _))) = known.peek() else {
        return;
    };
    let (mut along_x, mut along_y, mut along_z) = (first, first, first);
    for slot in 0..edge * edge * edge {
        let row_start = slot & (edge - 1) == 0;
        let plane_start = slot & (edge * edge - 1) == 0;
        if plane_start {
            along_y = along_x;
        }
        if row_start {
            along_z = along_y;
        }
        match known.next_if(|(at, _)| *at == slot) {
            Some((_, (_, last))) => along_z = last,
            None if along_z => inside(slot),
            None => {}
        }
        if row_start {
            along_y = along_z;
        }
        if plane_start {
            along_x = along_z;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classifies the 16³ blocks of a node against a ball, in units of blocks, by their corners:
    /// those it crosses are known.
    fn ball(centre: [f64; 3], radius: f64) {
        let corner_inside = |slot: usize, high: f64| {
            let p = [slot >> 8, (slot >> 4) & 15, slot & 15].map(|c| c as f64 + high);
            (0..3).map(|a| (p[a] - centre[a]).powi(2)).sum::<f64>() < radius * radius
        };
        // A band of two blocks around the surface.
        let distance = |slot: usize| {
            let p = [slot >> 8, (slot >> 4) & 15, slot & 15].map(|c| c as f64 + 0.5);
            (0..3).map(|a| (p[a] - centre[a]).powi(2)).sum::<f64>().sqrt() - radius
        };
        let in_band = |slot: &usize| distance(*slot).abs() < 1.5;
        let known = (0..4096)
            .filter(in_band)
            .map(|slot| (slot, (corner_inside(slot, 0.01), corner_inside(slot, 0.99))));
        let mut filled = vec![false; 4096];
        spread_signs(4, known, |slot| filled[slot] = true);
        for slot in (0..4096).filter(|slot| !in_band(slot)) {
            assert_eq!(filled[slot], distance(slot) < 0.0, "slot {slot} of {centre:?} {radius}");
        }
    }

    #[test]
    fn closed_bands_are_filled_wherever_the_node_cuts_them() {
        for centre in [[8.0; 3], [0.0; 3], [16.0; 3], [-3.0, 8.0, 20.0], [8.0, 15.5, 2.0]] {
            for radius in [3.0, 6.5, 12.0] {
                ball(centre, radius);
            }
        }
    }

    #[test]
    fn without_anything_known_nothing_is_inside() {
        spread_signs(4, std::iter::empty(), |slot| panic!("slot {slot}"));
    }
}
