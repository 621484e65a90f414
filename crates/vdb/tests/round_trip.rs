//! What is written is read back, for every codec, precision and kind of content.

mod shapes;

use foreshore_vdb::{
    AnyGrid, Codec, Compression, Grid, GridClass, GridView, Interior, MetaValue, Metadata, Reader,
    Tile, TileSize, Transform, Value, ValueType, WriteError, Writer,
};
use shapes::{ball, ball_distance, ball_grid, patchwork, rounded, sorted};

const COMPRESSIONS: [Compression; 6] = [
    Compression { codec: Codec::None, active_mask: true },
    Compression { codec: Codec::None, active_mask: false },
    Compression { codec: Codec::Zip, active_mask: true },
    Compression { codec: Codec::Zip, active_mask: false },
    Compression { codec: Codec::Blosc, active_mask: true },
    Compression { codec: Codec::Blosc, active_mask: false },
];

fn file<T: Value>(view: &GridView<T>, compression: Compression) -> Vec<u8> {
    let mut writer = Writer::new().compression(compression);
    writer.add(view).unwrap();
    let mut bytes = Vec::new();
    assert_eq!(writer.write_to(&mut bytes).unwrap(), bytes.len() as u64);
    bytes
}

fn read<T: Value>(bytes: &[u8], name: &str) -> Grid<T> {
    Reader::from_bytes(bytes).unwrap().read_as(name).unwrap()
}

/// Writes and reads with every compression, with and without half floats.
fn check_round_trip<T: Value>(grid: &Grid<T>) {
    for compression in COMPRESSIONS {
        for half in [false, true] {
            let bytes = file(&grid.view().half(half), compression);
            let mut reader = Reader::from_bytes(&bytes).unwrap();
            let info = reader.grids()[0].clone();
            let halved = half && T::HALF_BYTES.is_some();
            assert_eq!((info.value_type, info.half), (Some(T::TYPE), halved));
            assert_eq!((info.compression, info.class), (Some(compression), grid.class));
            assert_eq!(info.active_voxels, Some(grid.active_voxels()));
            let back = reader.read_as::<T>(&grid.name).unwrap();
            let mut expected = if halved { rounded(grid.clone()) } else { grid.clone() };
            expected.half = halved;
            assert_eq!(sorted(back), sorted(expected), "{compression:?} half {half}");
        }
    }
}

#[test]
fn every_type_with_leaves_and_tiles_survives() {
    check_round_trip(&patchwork("f", |n| n as f32 * 0.25));
    check_round_trip(&patchwork("d", |n| f64::from(n) * 0.125));
    check_round_trip(&patchwork("i", |n| n));
    check_round_trip(&patchwork("l", |n| i64::from(n) << 33));
    check_round_trip(&patchwork("v", |n| [n as f32, -0.5 * n as f32, 3.0]));
    check_round_trip(&patchwork("w", |n| [f64::from(n), 0.5, -3.0]));
    check_round_trip(&patchwork("u", |n| [n, 1, -n]));
}

#[test]
fn booleans_survive() {
    let mut grid = patchwork("b", |n| n % 2 == 1);
    // A tile of the background's value that is not active is no tile.
    grid.tiles.retain(|t| t.active || t.value);
    check_round_trip(&grid);
}

#[test]
fn empty_grids_survive() {
    check_round_trip(&Grid::empty("f", 0.5_f32));
    check_round_trip(&Grid::empty("v", [1.0_f32, 2.0, 3.0]));
    check_round_trip(&Grid::empty("i", 7));
    check_round_trip(&Grid::empty("b", true));
    let mut level_set = Grid::empty("surface", 3.0_f32);
    level_set.class = GridClass::LevelSet;
    check_round_trip(&level_set);
    let bytes = file(&level_set.view(), Compression::default());
    assert_eq!(Reader::from_bytes(bytes).unwrap().grids()[0].bounding_box, None);
}

#[test]
fn one_voxel_survives() {
    let mut grid = Grid::empty("f", 0.0_f32);
    let mut values = [0.0; 512];
    values[77] = 1.5;
    grid.origins.push([-16, 8, 24]);
    grid.masks.push([0, 1 << 13, 0, 0, 0, 0, 0, 0]);
    grid.values.push(values);
    check_round_trip(&grid);
    let bytes = file(&grid.view(), Compression::default());
    let mut reader = Reader::from_bytes(bytes).unwrap();
    let voxel = [-16 + 1, 8 + 1, 24 + 5];
    assert_eq!(reader.grids()[0].bounding_box, Some((voxel, voxel)));
    assert_eq!(reader.read_as::<f32>("f").unwrap().accessor().get(voxel), (1.5, true));
}

#[test]
fn a_leaf_without_active_voxels_survives() {
    let mut grid = Grid::empty("f", 2.0_f32);
    grid.origins = vec![[0, 0, 0], [8, 0, 0]];
    grid.masks = vec![[0; 8]; 2];
    grid.values = vec![[2.0; 512], [-2.0; 512]];
    check_round_trip(&grid);
}

#[test]
fn many_leaves_of_a_ball_survive() {
    check_round_trip(&ball_grid([0.0; 3], 40.0));
}

#[test]
fn half_backgrounds_are_rounded_and_inactive_values_follow_them() {
    let mut grid = Grid::empty("f", 0.1_f32);
    grid.origins.push([0; 3]);
    grid.masks.push([1, 0, 0, 0, 0, 0, 0, 0]);
    let values = std::array::from_fn(|i| if i % 2 == 0 { 0.1 } else { -0.1 });
    grid.values.push(values);
    let back = read::<f32>(&file(&grid.view().half(true), Compression::default()), "f");
    let rounded = 0.1_f32.rounded_to_half();
    assert_ne!(rounded, 0.1);
    assert_eq!(back.background, rounded);
    assert_eq!(back.values[0], values.map(|v| if v > 0.0 { rounded } else { -rounded }));
}

/// Reads a ball written either way and compares every voxel of a region around it.
fn check_ball(centre: [f64; 3], radius: f64, explicit: bool) {
    let (leaves, interior) = ball(centre, radius, 3.0);
    let mode = if explicit { Interior::Blocks(&interior) } else { Interior::FloodFill };
    let view = GridView::new("s", 3.0, &leaves.origins, &leaves.masks, &leaves.values)
        .class(GridClass::LevelSet)
        .interior(mode);
    let grid = read::<f32>(&file(&view, Compression::default()), "s");
    let voxels = grid.accessor();
    let reach = radius as i32 + 12;
    let step = (radius as usize / 40).max(1);
    let axis = |a: usize| ((centre[a] as i32 - reach)..(centre[a] as i32 + reach)).step_by(step);
    for x in axis(0) {
        for y in axis(1) {
            for z in axis(2) {
                let expected = ball_distance([x, y, z], centre, radius, 3.0);
                let (value, active) = voxels.get([x, y, z]);
                assert_eq!(value, expected, "{:?} of {centre:?} {radius}", [x, y, z]);
                assert_eq!(active, expected.abs() < 3.0);
            }
        }
    }
}

#[test]
fn the_inside_of_level_sets_is_negative_within_and_across_nodes() {
    for explicit in [false, true] {
        // Within a lower node, across eight, and large enough to swallow whole lower nodes.
        check_ball([64.0; 3], 30.0, explicit);
        check_ball([0.0; 3], 50.0, explicit);
        check_ball([4096.0, 130.0, -4096.0], 70.0, explicit);
        check_ball([64.5, 60.0, 64.0], 190.0, explicit);
    }
}

#[test]
fn an_interior_without_any_leaf_is_inside() {
    let blocks: Vec<[i32; 3]> =
        (0..4096).map(|i| [i >> 8, (i >> 4) & 15, i & 15].map(|c| 8 * c)).collect();
    for (blocks, tiles) in [(&blocks[..], 1), (&blocks[..4095], 4095)] {
        let view = GridView::<f32>::new("s", 3.0, &[], &[], &[])
            .class(GridClass::LevelSet)
            .interior(Interior::Blocks(blocks));
        for half in [false, true] {
            let view = view.clone().half(half);
            let grid = read::<f32>(&file(&view, Compression::default()), "s");
            assert_eq!(grid.tiles.len(), tiles);
            assert!(grid.tiles.iter().all(|t| t.value == -3.0 && !t.active));
            let inside = grid.accessor().get([0; 3]);
            assert_eq!(inside, (-3.0, false));
            assert_eq!(grid.accessor().get([-1, 0, 0]), (3.0, false));
            let whole = if tiles == 1 { -3.0 } else { 3.0 };
            assert_eq!(grid.accessor().get([127; 3]), (whole, false));
        }
    }
}

#[test]
fn root_tiles_between_inside_ends_are_inside() {
    // The facing ends of two leaves in one row of root nodes are inside; so is what lies between.
    let (mut low, mut high) = ([3.0_f32; 512], [3.0_f32; 512]);
    low[511] = -3.0;
    high[0] = -3.0;
    let origins = [[0, 0, 4088], [0, 0, 3 * 4096]];
    let masks = [[0; 8]; 2];
    let values = [low, high];
    let view = GridView::new("s", 3.0, &origins, &masks, &values).class(GridClass::LevelSet);
    let grid = read::<f32>(&file(&view, Compression::default()), "s");
    let roots: Vec<_> = grid.tiles.iter().filter(|t| t.size == TileSize::Upper).collect();
    assert!(roots.is_empty(), "the last voxel of the lower node is outside: {roots:?}");

    let tile =
        Tile { origin: [3968, 3968, 3968], size: TileSize::Lower, value: -3.0, active: false };
    let tiles = [tile];
    let grid = read::<f32>(&file(&view.tiles(&tiles), Compression::default()), "s");
    let mut roots: Vec<_> =
        grid.tiles.iter().filter(|t| t.size == TileSize::Upper).map(|t| t.origin).collect();
    roots.sort_unstable();
    assert_eq!(roots, [[0, 0, 4096], [0, 0, 8192]]);
    assert_eq!(grid.accessor().get([5, 5, 5000]), (-3.0, false));
}

#[test]
fn names_metadata_and_transforms_survive() {
    let mut metadata = Metadata::new();
    metadata.insert("frame".into(), 12.into());
    let mut writer = Writer::new().metadata(metadata.clone());
    let transforms = [
        Transform::uniform(0.5, [0.0; 3]),
        Transform::uniform(0.5, [1.0, 2.0, 3.0]),
        Transform::scale_translate([0.5, 1.0, 2.0], [0.0; 3]),
        Transform::from_columns([
            [0.0, 1.0, 0.0, 0.0],
            [-2.0, 0.0, 0.5, 0.0],
            [0.0, 0.0, 3.0, 0.0],
            [7.0, 8.0, 9.0, 1.0],
        ]),
    ];
    for (number, transform) in transforms.into_iter().enumerate() {
        let view = GridView::<f32>::new("same", number as f32, &[], &[], &[])
            .transform(transform)
            .meta("number", number as i32)
            .meta("file_voxel_count", "not yours to say");
        writer.add(&view).unwrap();
    }
    let unnamed = Grid::empty("", 1_i32);
    writer.add(&unnamed.view()).unwrap();
    let mut bytes = Vec::new();
    writer.write_to(&mut bytes).unwrap();

    let mut reader = Reader::from_bytes(&bytes).unwrap();
    assert_eq!(reader.metadata(), &metadata);
    assert_eq!((reader.file_version(), reader.grids().len()), (224, 5));
    for (number, transform) in transforms.into_iter().enumerate() {
        let info = &reader.grids()[number];
        assert_eq!((info.name.as_str(), info.transform), ("same", Some(transform)));
        assert_eq!(info.metadata["number"], MetaValue::Int32(number as i32));
        assert_eq!(info.active_voxels, Some(0));
        let AnyGrid::Float(grid) = reader.read(number).unwrap() else { panic!("not float") };
        assert_eq!(grid.background, number as f32);
    }
    assert_eq!(reader.grids()[4].name, "");
    assert_eq!(reader.read(4).unwrap().value_type(), ValueType::Int32);
}

#[test]
fn bytes_are_the_same_for_any_number_of_threads() {
    let (leaves, _) = ball([0.0; 3], 60.0, 3.0);
    let encode = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let view = GridView::new("s", 3.0, &leaves.origins, &leaves.masks, &leaves.values)
                .class(GridClass::LevelSet)
                .half(true);
            file(&view, Compression::default())
        })
    };
    let one = encode(1);
    for threads in [2, 3, 8] {
        assert!(encode(threads) == one, "{threads} threads");
    }
    // The order of leaves does not matter either.
    let reversed = |v: &[[i32; 3]]| v.iter().rev().copied().collect::<Vec<_>>();
    let masks: Vec<_> = leaves.masks.iter().rev().copied().collect();
    let values: Vec<_> = leaves.values.iter().rev().copied().collect();
    let origins = reversed(&leaves.origins);
    let view = GridView::new("s", 3.0, &origins, &masks, &values).class(GridClass::LevelSet);
    assert!(file(&view.half(true), Compression::default()) == one, "reversed");
}

#[test]
fn identifiers_follow_the_contents_or_are_given() {
    let uuid = |bytes: &[u8]| Reader::from_bytes(bytes).unwrap().uuid().to_owned();
    let bytes = |value: f32| file(&Grid::empty("g", value).view(), Compression::default());
    assert_eq!(uuid(&bytes(1.0)), uuid(&bytes(1.0)));
    assert_ne!(uuid(&bytes(1.0)), uuid(&bytes(2.0)));
    let derived = uuid(&bytes(1.0));
    assert_eq!(derived.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);

    let given = "01234567-89ab-cdef-0123-456789ABCDEF";
    let mut out = Vec::new();
    Writer::new().uuid(given).unwrap().write_to(&mut out).unwrap();
    assert_eq!(uuid(&out), given);
    assert!(matches!(Writer::new().uuid("short"), Err(WriteError::Uuid { .. })));
}

#[test]
fn files_appear_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vdb");
    let mut writer = Writer::new();
    writer.add(&ball_grid([0.0; 3], 20.0).view()).unwrap();
    let bytes = writer.write_file(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no partial file is left");
    let back = Reader::open(&path).unwrap().read_as::<f32>("surface").unwrap();
    assert_eq!(sorted(back), sorted(ball_grid([0.0; 3], 20.0)));

    let error = writer.write_file(folder.path().join("missing/a.vdb")).unwrap_err();
    assert!(matches!(error, WriteError::Io { path: Some(_), .. }), "{error}");
}

#[test]
fn views_that_contradict_themselves_are_refused() {
    let add = |view: GridView<f32>| Writer::new().add(&view).map(|_| ()).unwrap_err();
    let (masks, values) = ([[0; 8]; 2], [[0.0; 512]; 2]);
    let view =
        |origins, count: usize| GridView::new("g", 1.0, origins, &masks[..count], &values[..count]);

    assert!(matches!(add(view(&[[0; 3]], 2)), WriteError::LengthMismatch { .. }));
    assert!(matches!(add(view(&[[4, 0, 0]], 1)), WriteError::Misaligned { edge: 8, .. }));
    let twice = add(view(&[[8, 0, 0], [8, 0, 0]], 2));
    assert!(matches!(twice, WriteError::Overlap { origin: [8, 0, 0], edge: 8, .. }), "{twice}");

    let tile = |origin, size| [Tile { origin, size, value: 0.5, active: true }];
    let above_leaf = tile([0; 3], TileSize::Lower);
    assert!(matches!(
        add(view(&[[8, 0, 0]], 1).tiles(&above_leaf)),
        WriteError::Overlap { edge: 128, .. }
    ));
    let above_all = tile([0; 3], TileSize::Upper);
    assert!(matches!(
        add(view(&[[8, 0, 0]], 1).tiles(&above_all)),
        WriteError::Overlap { edge: 4096, .. }
    ));
    let crooked = tile([8, 0, 0], TileSize::Lower);
    assert!(matches!(add(view(&[], 0).tiles(&crooked)), WriteError::Misaligned { edge: 128, .. }));

    let flat = view(&[], 0).transform(Transform::uniform(0.0, [0.0; 3]));
    assert!(matches!(add(flat), WriteError::Transform { .. }));
    let infinite = view(&[], 0).transform(Transform::uniform(1.0, [f64::INFINITY, 0.0, 0.0]));
    assert!(matches!(add(infinite), WriteError::Transform { .. }));
    for background in [0.0, -1.0, f32::NAN] {
        let empty = GridView::<f32>::new("g", background, &[], &[], &[]);
        assert!(matches!(
            add(empty.class(GridClass::LevelSet)),
            WriteError::LevelSetBackground { .. }
        ));
    }
}
