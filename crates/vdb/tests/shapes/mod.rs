//! Grids with known contents.
#![allow(dead_code)] // Each test file uses its own part.

use foreshore_vdb::{Grid, GridClass, LeafMask, Tile, TileSize, Transform, active_mask};

/// Leaves of a level set, borrowed by views.
pub struct Leaves<T> {
    pub origins: Vec<[i32; 3]>,
    pub masks: Vec<LeafMask>,
    pub values: Vec<[T; 512]>,
}

/// Voxel at a leaf index.
pub fn voxel(origin: [i32; 3], index: usize) -> [i32; 3] {
    let i = index as i32;
    [origin[0] + (i >> 6), origin[1] + ((i >> 3) & 7), origin[2] + (i & 7)]
}

/// Signed distance to a ball [voxels], clamped to the band.
pub fn ball_distance(p: [i32; 3], centre: [f64; 3], radius: f64, band: f64) -> f32 {
    let squares = (0..3).map(|a| (f64::from(p[a]) - centre[a]).powi(2));
    (squares.sum::<f64>().sqrt() - radius).clamp(-band, band) as f32
}

/// The leaves that touch the band of a ball, and the blocks wholly inside, both in order.
pub fn ball(centre: [f64; 3], radius: f64, band: f64) -> (Leaves<f32>, Vec<[i32; 3]>) {
    let mut leaves = Leaves { origins: Vec::new(), masks: Vec::new(), values: Vec::new() };
    let mut interior = Vec::new();
    let low = centre.map(|c| ((c - radius - band) as i32 - 8) & !7);
    let count = ((2.0 * (radius + band)) as i32 + 24) / 8;
    for block in 0..count * count * count {
        let at = [block / (count * count), block / count % count, block % count];
        let origin = std::array::from_fn(|a| low[a] + 8 * at[a]);
        let middle = origin.map(|c| c + 4);
        let distance = f64::from(ball_distance(middle, centre, radius, f64::INFINITY));
        if distance.abs() > band + 8.0 {
            interior.extend((distance < 0.0).then_some(origin));
            continue;
        }
        let values = std::array::from_fn(|i| ball_distance(voxel(origin, i), centre, radius, band));
        let mask = active_mask(&values, |d| f64::from(d.abs()) < band);
        if mask != [0; 8] {
            leaves.origins.push(origin);
            leaves.masks.push(mask);
            leaves.values.push(values);
        } else if values[0] < 0.0 {
            interior.push(origin);
        }
    }
    (leaves, interior)
}

/// A grid of class unknown with leaves, tiles of every size and two inactive values, all made by
/// `value` from a number.
pub fn patchwork<T: foreshore_vdb::Value>(name: &str, value: impl Fn(i32) -> T) -> Grid<T> {
    let mut grid = Grid::empty(name, value(0));
    grid.transform = Transform::uniform(0.25, [1.0, -2.0, 3.0]);
    for (n, origin) in
        [[0, 0, 0], [-8, 8, 120], [4096, -4096, 0], [64, 64, 64]].into_iter().enumerate()
    {
        let n = n as i32;
        let mask: LeafMask =
            std::array::from_fn(|w| 0x0123_4567_89ab_cdef_u64.rotate_left(w as u32 + n as u32));
        let values = std::array::from_fn(|i| {
            let active = (mask[i >> 6] >> (i & 63)) & 1 == 1;
            let i = i as i32;
            if active { value(i * (n + 1) - 300) } else { value((i + n) % (n + 1) * 7) }
        });
        grid.origins.push(origin);
        grid.masks.push(mask);
        grid.values.push(values);
    }
    let tile = |origin, size, number, active| Tile { origin, size, value: value(number), active };
    grid.tiles = vec![
        tile([-4096, 0, 4096], TileSize::Upper, 5, true),
        tile([8192, 0, 0], TileSize::Upper, 6, false),
        tile([256, 128, 0], TileSize::Lower, 7, true),
        tile([384, 128, 0], TileSize::Lower, 8, false),
        tile([8, 0, 0], TileSize::Leaf, 9, true),
        tile([0, 8, 0], TileSize::Leaf, 10, false),
    ];
    grid
}

/// A level set of a ball as a grid: leaves, and inside tiles as the reader gives them.
pub fn ball_grid(centre: [f64; 3], radius: f64) -> Grid<f32> {
    let (leaves, interior) = ball(centre, radius, 3.0);
    let mut grid = Grid::empty("surface", 3.0);
    grid.class = GridClass::LevelSet;
    grid.origins = leaves.origins;
    grid.masks = leaves.masks;
    grid.values = leaves.values;
    grid.tiles = interior
        .into_iter()
        .map(|origin| Tile { origin, size: TileSize::Leaf, value: -3.0, active: false })
        .collect();
    grid
}

/// Puts leaves and tiles in an order that does not depend on how they were written.
pub fn sorted<T: foreshore_vdb::Value>(mut grid: Grid<T>) -> Grid<T> {
    let mut order: Vec<usize> = (0..grid.origins.len()).collect();
    order.sort_by_key(|i| grid.origins[*i]);
    grid.origins = order.iter().map(|i| grid.origins[*i]).collect();
    grid.masks = order.iter().map(|i| grid.masks[*i]).collect();
    grid.values = order.iter().map(|i| grid.values[*i]).collect();
    grid.tiles.sort_by_key(|t| (t.origin, t.size));
    grid.metadata.clear();
    grid
}

/// The grid as half floats bring it back.
pub fn rounded<T: foreshore_vdb::Value>(mut grid: Grid<T>) -> Grid<T> {
    grid.background = grid.background.rounded_to_half();
    for value in grid.values.as_flattened_mut() {
        *value = value.rounded_to_half();
    }
    grid
}
