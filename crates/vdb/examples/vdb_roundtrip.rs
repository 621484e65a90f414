//! Writes grids with known contents, tells what files hold, and writes files anew: the counterpart
//! of the tests that have other libraries judge this one.
//!
//! ```text
//! vdb_roundtrip write FOLDER                            files with known contents
//! vdb_roundtrip info FILE                               what a file tells of its grids, as JSON
//! vdb_roundtrip dense FILE GRID OUT X Y Z NX NY NZ      a box of voxels: f64 values, then u8 states
//! vdb_roundtrip rewrite FILE OUT [none|zip|blosc]       reads every grid and writes it again
//! ```

use foreshore_vdb::{
    AnyGrid, Codec, Compression, Grid, GridClass, GridView, Interior, LeafMask, Reader, Tile,
    TileSize, Transform, Value, Writer, active_mask, leaf_origin,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["write", folder] => write(Path::new(folder)),
        ["info", file] => info(file),
        ["dense", file, grid, out, region @ ..] => dense(file, grid, out, region),
        ["rewrite", file, out] => rewrite(file, out, Codec::Blosc),
        ["rewrite", file, out, codec] => rewrite(file, out, codec_named(codec)?),
        _ => Err("usage: vdb_roundtrip write|info|dense|rewrite …".into()),
    }
}

fn codec_named(name: &str) -> Result<Codec, Box<dyn Error>> {
    match name {
        "none" => Ok(Codec::None),
        "zip" => Ok(Codec::Zip),
        "blosc" => Ok(Codec::Blosc),
        _ => Err(format!("no codec \"{name}\"").into()),
    }
}

/// Leaves made voxel by voxel.
struct Leaves<T> {
    origins: Vec<[i32; 3]>,
    masks: Vec<LeafMask>,
    values: Vec<[T; 512]>,
}

impl<T: Value> Leaves<T> {
    /// Leaves at `origins` from a value and a state for every voxel.
    fn of(origins: Vec<[i32; 3]>, voxel: impl Fn([i32; 3]) -> (T, bool)) -> Self {
        let mut leaves = Self { origins: Vec::new(), masks: Vec::new(), values: Vec::new() };
        for origin in origins {
            let voxels: [(T, bool); 512] = std::array::from_fn(|i| {
                let i = i as i32;
                voxel([origin[0] + (i >> 6), origin[1] + (i >> 3 & 7), origin[2] + (i & 7)])
            });
            leaves.origins.push(origin);
            leaves.masks.push(active_mask(&voxels, |v| v.1));
            leaves.values.push(voxels.map(|v| v.0));
        }
        leaves
    }

    fn view<'a>(&'a self, name: &'a str, background: T) -> GridView<'a, T> {
        GridView::new(name, background, &self.origins, &self.masks, &self.values)
    }
}

const BAND: f64 = 3.0;

/// A ball as a level set: the leaves that touch its band, and the blocks wholly inside.
fn ball(centre: [f64; 3], radius: f64) -> (Leaves<f32>, Vec<[i32; 3]>) {
    let distance = |p: [i32; 3]| {
        let squares: f64 = (0..3).map(|a| (f64::from(p[a]) - centre[a]).powi(2)).sum();
        squares.sqrt() - radius
    };
    let axis = |a: usize| {
        let reach = radius + BAND + 8.0;
        let (low, high) = ((centre[a] - reach) as i32 & !7, (centre[a] + reach) as i32);
        (low..=high).step_by(8).collect::<Vec<_>>()
    };
    let (mut crossed, mut interior) = (Vec::new(), Vec::new());
    for x in axis(0) {
        for y in axis(1) {
            for z in axis(2) {
                // Half a block's diagonal is below 7 voxels.
                let middle = distance([x + 4, y + 4, z + 4]);
                if middle.abs() < BAND + 8.0 {
                    crossed.push([x, y, z]);
                } else if middle < 0.0 {
                    interior.push([x, y, z]);
                }
            }
        }
    }
    let leaves = Leaves::of(crossed, |p| {
        let d = distance(p).clamp(-BAND, BAND);
        (d as f32, d.abs() < BAND)
    });
    (leaves, interior)
}

/// A small number that differs from voxel to voxel and that half floats hold exactly.
fn number([x, y, z]: [i32; 3]) -> i32 {
    (7 * x + 5 * y + 3 * z).rem_euclid(64) - 20
}

/// Whether the voxel of a test pattern is active.
fn is_on([x, y, z]: [i32; 3]) -> bool {
    (x + 2 * y + 3 * z).rem_euclid(4) == 0
}

/// A pattern of three leaves, an active tile of 8³ and one of 128³.
fn pattern<T: Value>(value: impl Fn(i32) -> T) -> (Leaves<T>, [Tile<T>; 2]) {
    let origins = vec![[0, 0, 0], [-8, 0, 8], [120, 128, -16]];
    let leaves = Leaves::of(origins, |p| {
        let on = is_on(p);
        (if on { value(number(p)) } else { value(0) }, on)
    });
    let tile = |origin, size, n| Tile { origin, size, value: value(n), active: true };
    (leaves, [tile([16, 8, 0], TileSize::Leaf, 9), tile([128, 0, 0], TileSize::Lower, 11)])
}

fn write(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder)?;
    for codec in ["none", "zip", "blosc"] {
        for (mask, active_mask) in [("all", false), ("active", true)] {
            for (precision, half) in [("float", false), ("half", true)] {
                let compression = Compression { codec: codec_named(codec)?, active_mask };
                let path = folder.join(format!("{codec}_{mask}_{precision}.vdb"));
                every_content(compression, half)?.write_file(path)?;
            }
        }
    }
    let (leaves, interior) = ball([64.0, 63.0, 64.5], 118.0);
    for (name, interior) in
        [("large_flood", Interior::FloodFill), ("large_blocks", Interior::Blocks(&interior))]
    {
        let view = leaves.view("ball", BAND as f32).class(GridClass::LevelSet).half(true);
        let mut writer = Writer::new();
        writer.add(&view.interior(interior))?;
        writer.write_file(folder.join(format!("{name}.vdb")))?;
    }
    Ok(())
}

/// A grid of each kind.
fn every_content(compression: Compression, half: bool) -> Result<Writer, Box<dyn Error>> {
    let mut writer = Writer::new().compression(compression);
    let place = Transform::uniform(0.25, [1.0, -2.0, 3.0]);
    let (leaves, interior) = ball([4.0, -3.0, 2.5], 13.0);
    for (name, interior) in
        [("ball_flood", Interior::FloodFill), ("ball_blocks", Interior::Blocks(&interior))]
    {
        let view = leaves.view(name, BAND as f32).class(GridClass::LevelSet).half(half);
        writer.add(&view.interior(interior).transform(place).meta("frame", 7))?;
    }
    let (leaves, tiles) = pattern(|n| n as f32 * 0.25);
    let fog = leaves.view("fog", 0.0).class(GridClass::FogVolume).half(half);
    writer.add(&fog.tiles(&tiles).transform(place))?;
    let (leaves, tiles) = pattern(|n| [n as f32, -0.5 * n as f32, 0.25 * n as f32]);
    writer.add(&leaves.view("vector", [0.0; 3]).half(half).tiles(&tiles).transform(place))?;
    let (leaves, tiles) = pattern(|n| n);
    writer.add(&leaves.view("int32", 0).tiles(&tiles))?;
    let (leaves, tiles) = pattern(|n| n > 0);
    writer.add(&leaves.view("bool", false).tiles(&tiles))?;

    let one = Leaves::of(vec![leaf_origin([-5, 100, 9])], |p| {
        let on = p == [-5, 100, 9];
        (if on { 2.5_f32 } else { 0.0 }, on)
    });
    writer.add(&one.view("one", 0.0).half(half))?;
    let edge: Vec<i32> = (-16..16).step_by(8).collect();
    let inside: Vec<[i32; 3]> = edge
        .iter()
        .flat_map(|x| edge.iter().flat_map(|y| edge.iter().map(|z| [*x, *y, *z])))
        .collect();
    let none = GridView::<f32>::new("inside", BAND as f32, &[], &[], &[]);
    writer.add(&none.class(GridClass::LevelSet).half(half).interior(Interior::Blocks(&inside)))?;
    writer.add(&Grid::empty("empty_float", 0.5_f32).view().half(half))?;
    writer.add(&Grid::empty("empty_vector", [1.0_f32, 2.0, 3.0]).view().half(half))?;
    Ok(writer)
}

fn info(file: &str) -> Outcome {
    let reader = Reader::open(file)?;
    let grids: Vec<_> = reader
        .grids()
        .iter()
        .map(|grid| {
            json!({
                "name": grid.name,
                "type": grid.type_name,
                "class": grid.class.name(),
                "half": grid.half,
                "bounding_box": grid.bounding_box,
                "active_voxels": grid.active_voxels,
                "instance_of": grid.instance_of,
                "matrix": grid.transform.map(|t| t.columns()),
                "metadata": grid.metadata.keys().collect::<BTreeSet<_>>(),
            })
        })
        .collect();
    let answer = json!({
        "version": reader.file_version(),
        "library": reader.library_version(),
        "uuid": reader.uuid(),
        "grids": grids,
    });
    println!("{answer}");
    Ok(())
}

/// Evaluates an expression with `$grid` bound to the grid of whatever type.
macro_rules! with_grid {
    ($any:expr, $grid:ident => $body:expr) => {
        match $any {
            AnyGrid::Float($grid) => $body,
            AnyGrid::Double($grid) => $body,
            AnyGrid::Int32($grid) => $body,
            AnyGrid::Int64($grid) => $body,
            AnyGrid::Bool($grid) | AnyGrid::Mask($grid) => $body,
            AnyGrid::Vec3s($grid) => $body,
            AnyGrid::Vec3d($grid) => $body,
            AnyGrid::Vec3i($grid) => $body,
            _ => return Err("a type this example does not know".into()),
        }
    };
}

/// A value as numbers.
trait Numbers {
    fn numbers(self) -> Vec<f64>;
}

macro_rules! numbers {
    ($($scalar:ty),*) => {$(
        impl Numbers for $scalar {
            fn numbers(self) -> Vec<f64> {
                vec![self as f64]
            }
        }
    )*};
}
numbers!(f32, f64, i32, i64);

impl Numbers for bool {
    fn numbers(self) -> Vec<f64> {
        vec![f64::from(u8::from(self))]
    }
}

impl<T: Numbers> Numbers for [T; 3] {
    fn numbers(self) -> Vec<f64> {
        self.into_iter().flat_map(Numbers::numbers).collect()
    }
}

fn dense(file: &str, name: &str, out: &str, region: &[&str]) -> Outcome {
    let region: Vec<i32> = region.iter().map(|n| n.parse()).collect::<Result<_, _>>()?;
    let [x, y, z, nx, ny, nz] = region[..] else {
        return Err("a region is X Y Z NX NY NZ".into());
    };
    let mut reader = Reader::open(file)?;
    let index = reader.find(name).ok_or_else(|| format!("no grid \"{name}\""))?;
    let (mut values, mut states) = (Vec::new(), Vec::new());
    with_grid!(reader.read(index)?, grid => {
        let voxels = grid.accessor();
        for i in x..x + nx {
            for j in y..y + ny {
                for k in z..z + nz {
                    let (value, active) = voxels.get([i, j, k]);
                    values.extend(value.numbers().into_iter().flat_map(f64::to_le_bytes));
                    states.push(u8::from(active));
                }
            }
        }
    });
    values.extend(states);
    std::fs::write(out, values)?;
    Ok(())
}

fn rewrite(file: &str, out: &str, codec: Codec) -> Outcome {
    let mut reader = Reader::open(file)?;
    let mut writer =
        Writer::new().compression(Compression::new(codec)).metadata(reader.metadata().clone());
    for index in 0..reader.grids().len() {
        with_grid!(reader.read(index)?, grid => {
            writer.add(&grid.view())?;
        });
    }
    writer.write_file(out)?;
    Ok(())
}
