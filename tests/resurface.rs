//! `foreshore surface`: surfaces and meshes of a baked cache.

#[path = "common/caches.rs"]
mod caches;
#[path = "common/program.rs"]
mod program;
#[path = "common/rib.rs"]
mod rib;

use caches::{SAND, baked, copy_folder, made_files as files, on_cache, succeeded};
use foreshore::cache::layout::Product;
use foreshore::cache::load;
use foreshore::cache::manifest::{Depth, Manifest};
use foreshore_alembic::{Archive, PolyMeshReader};
use foreshore_vdb::Reader;
use program::{events, foreshore, program};
use serde_json::Value as Json;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Runs `foreshore surface` on a cache.
fn surface(cache: &Path, arguments: &[&str]) -> Output {
    on_cache("surface", cache, arguments)
}

#[test]
fn the_surface_that_a_bake_wrote_is_made_again_bit_for_bit() {
    let water = SAND.replace("kind = \"sand\"", "kind = \"water\"");
    let (_folder, cache) = baked(&water);
    let read = |frame: i32| {
        let path = cache.join(Product::Surface.path("scene", frame));
        fs::read(path).unwrap()
    };
    let before: Vec<Vec<u8>> = (1..=4).map(read).collect();
    succeeded(surface(&cache, &[]));
    let after: Vec<Vec<u8>> = (1..=4).map(read).collect();
    assert!(before == after);
    assert!(Manifest::read(&cache).unwrap().verify(&cache, Depth::Contents).is_empty());
}

#[test]
fn a_mesh_that_a_bake_wrote_is_made_again_bit_for_bit() {
    let water = SAND.replace("kind = \"sand\"", "kind = \"water\"");
    for surface_too in ["true", "false"] {
        let output = format!("[output]\nmesh = true\nsurface = {surface_too}\n");
        let (_folder, cache) = baked(&water.replace("[output]\n", &output));
        let read = |frame: i32| fs::read(cache.join(Product::Mesh.path("scene", frame))).unwrap();
        let before: Vec<Vec<u8>> = (1..=4).map(read).collect();
        assert!(Manifest::read(&cache).unwrap().verify(&cache, Depth::Contents).is_empty());
        succeeded(surface(&cache, &["--formats", "abc"]));
        let after: Vec<Vec<u8>> = (1..=4).map(read).collect();
        assert!(before == after);
        let level_set = cache.join(Product::Surface.path("scene", 1));
        assert_eq!(level_set.exists(), surface_too == "true");
    }
}

#[test]
fn parts_by_several_processes_are_the_whole() {
    let (folder, cache) = baked(SAND);
    let other = folder.path().join("other");
    copy_folder(&cache, &other);
    let all = ["--formats", "vdb,abc,ply,obj", "--attributes", "age,material", "--voxel", "0.5"];
    succeeded(surface(&cache, &all));
    let parts = ["1-2", "3-3", "4-4"].map(|frames| {
        program()
            .args(["surface", other.to_str().unwrap(), "--progress", "none", "--frames", frames])
            .args(all)
            .args(["--threads", "1"])
            .spawn()
            .unwrap()
    });
    for mut part in parts {
        assert!(part.wait().unwrap().success());
    }
    let (one, several) = (files(&cache), files(&other));
    assert_eq!(one.len(), 16);
    assert!(one == several);
    let manifests = [&cache, &other].map(|c| fs::read(c.join("manifest.json")).unwrap());
    assert!(manifests[0] == manifests[1]);
    let info = foreshore(&["info", cache.to_str().unwrap(), "--verify", "--json"]);
    assert_eq!(info.status.code(), Some(0), "{}", String::from_utf8_lossy(&info.stderr));
    let report: Json = serde_json::from_slice(&info.stdout).unwrap();
    let kinds: Vec<&str> =
        report["latest"].as_array().unwrap().iter().filter_map(|f| f["kind"].as_str()).collect();
    assert_eq!(kinds, ["alembic", "openvdb", "alembic"]);
}

#[test]
fn what_is_there_is_left_and_what_is_torn_is_made_again() {
    let (_folder, cache) = baked(SAND);
    let mesh = ["--formats", "abc"];
    succeeded(surface(&cache, &mesh));
    let whole = files(&cache);
    fs::write(cache.join(&whole[1].0), b"torn").unwrap();
    let told = succeeded(surface(&cache, &mesh));
    let unchanged: Vec<&Json> =
        told.iter().filter(|e| e["event"] == "frame").map(|e| &e["unchanged"]).collect();
    assert_eq!(unchanged, [true, false, true, true]);
    assert!(files(&cache) == whole);
    // Other settings are another mesh.
    let told = succeeded(surface(&cache, &["--formats", "abc", "--mesh-smoothing", "0"]));
    let done = told.last().unwrap();
    assert_eq!((&done["event"], &done["frames"]), (&"done".into(), &4.into()));
}

#[test]
fn a_damaged_frame_is_named_and_the_others_go_on() {
    let (_folder, cache) = baked(SAND);
    let path = cache.join(Product::Particles.path("scene", 2));
    let bytes = fs::read(&path).unwrap();
    for damaged in [&bytes[..bytes.len() / 2], &vec![0; bytes.len()][..]] {
        fs::write(&path, damaged).unwrap();
        let output = surface(&cache, &["--formats", "ply"]);
        assert_eq!(output.status.code(), Some(5));
        let told = events(&output);
        let failed: Vec<&Json> = told.iter().filter(|e| e["event"] == "failed").collect();
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["frame"], 2);
        let message = failed[0]["message"].as_str().unwrap();
        assert!(message.contains("scene.0002.abc"), "{message}");
        let made = |frame: i32| cache.join(Product::MeshPly.path("scene", frame)).exists();
        assert_eq!([1, 2, 3, 4].map(made), [true, false, true, true]);
    }
}

#[test]
fn each_material_gets_its_own_grids_and_objects() {
    let (_folder, cache) = baked(SAND);
    succeeded(surface(&cache, &["--by-material", "--formats", "vdb,abc", "--anisotropic"]));
    let path = cache.join(Product::Surface.path("scene", 4));
    let reader = Reader::open(path).unwrap();
    let names: Vec<&str> = reader.grids().iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["surface_grey", "velocity_grey", "surface_red", "velocity_red"]);
    let archive = Archive::open(cache.join(Product::Mesh.path("scene", 1))).unwrap();
    // Before they meet, each lies on its own side.
    for (object, [low, high]) in [("grey", [0.0, 0.5]), ("red", [0.5, 1.0])] {
        let object = archive.object(&format!("/surface_{object}/surface_{object}Shape")).unwrap();
        let mesh = PolyMeshReader::new(&object).unwrap().sample(1.0 / 24.0).unwrap();
        assert!(mesh.positions.len() > 100);
        assert!(mesh.positions.iter().all(|p| p[0] > low && p[0] < high));
    }
}

/// A drop that moves twelve times its width in a frame: half-way between the shutter's ends, the mean
/// of both level sets shows nothing, and the surface of the moved particles the drop.
#[test]
fn renderman_scenes_draw_the_level_sets_of_the_cache() {
    let (_folder, cache) = baked(SAND);
    let root = ["--formats", "rib", "--by-material", "--rib-root", "/job"];
    succeeded(surface(&cache, &[&root[..], &["--shutter", "-0.25,0.25"]].concat()));
    for when in ["", ".m0.250", ".p0.250"] {
        let scene = fs::read(cache.join(format!("rib/scene.surface{when}.0003.rib"))).unwrap();
        let level_set = format!("surface/scene{when}.0003.vdb");
        let reader = Reader::open(cache.join(&level_set)).unwrap();
        let grids: Vec<&str> = reader.grids().iter().map(|g| g.name.as_str()).collect();
        let drawn = rib::check(&scene).unwrap().blobbies;
        for (strings, material) in drawn.iter().zip(["grey", "red"]) {
            let [file, surface, velocity, _] = &strings[..] else { panic!("{strings:?}") };
            assert_eq!(*file, format!("/job/{level_set}"));
            assert_eq!(*surface, format!("surface_{material}:levelset"));
            assert_eq!(*velocity, format!("velocity_{material}:fogvolume"));
            let known = |named: &str| grids.contains(&named.split(':').next().unwrap());
            assert!(known(surface) && known(velocity), "{grids:?}");
        }
        assert_eq!(drawn.len(), 2);
    }
}

#[test]
fn a_fast_drop_is_there_at_every_time_of_the_shutter() {
    let text = r#"
        [scene]
        frames = [1, 1]
        gravity = [0, 0, 0]
        [domain]
        cell_size = 0.05
        [[material]]
        name = "water"
        kind = "water"
        [[emitter]]
        name = "drop"
        material = "water"
        box = { min = [0.0, 0.0, 0.0], max = [0.1, 0.1, 0.1] }
        velocity = [30, 0, 0]
    "#;
    let (_folder, cache) = baked(text);
    let half = 0.5;
    succeeded(surface(&cache, &["--shutter", "-0.5,0.5", "--formats", "vdb,ply"]));
    let read = |name: &str| {
        let path = cache.join("surface").join(name);
        Reader::open(path).unwrap().read_as::<f32>("surface").unwrap()
    };
    let sets = ["scene.m0.500.0001.vdb", "scene.0001.vdb", "scene.p0.500.0001.vdb"].map(read);
    let center = |grid: &foreshore_vdb::Grid<f32>| {
        let origin = |o: &[i32; 3]| f64::from(o[0]);
        let mean = grid.origins.iter().map(origin).sum::<f64>() / grid.origins.len() as f64;
        (mean + 4.0) * grid.transform.voxel_size()[0]
    };
    let places = sets.each_ref().map(center);
    let step = 30.0 * half / 24.0;
    assert!(
        (places[1] - places[0] - step).abs() < 0.2 && (places[2] - places[1] - step).abs() < 0.2
    );
    let inside = |grid: &foreshore_vdb::Grid<f32>| {
        grid.values.iter().flatten().filter(|d| **d < 0.0).count()
    };
    assert!(sets.iter().all(|set| inside(set) > 50));
    let (open, close) = (sets[0].accessor(), sets[2].accessor());
    let blended = sets.iter().flat_map(|set| set.origins.iter().zip(&set.values));
    let mut voxels = blended.flat_map(|(origin, values)| {
        (0..values.len() as i32)
            .map(|i| [origin[0] + (i >> 6), origin[1] + (i >> 3 & 7), origin[2] + (i & 7)])
    });
    assert!(voxels.all(|voxel| 0.5 * (open.get(voxel).0 + close.get(voxel).0) >= 0.0));
}

#[test]
fn a_cache_needs_no_geometry_of_its_scene() {
    let wall = "o wall\nv 0 0 0\nv 0.1 0 0\nv 0 0 0.5\nv 0 0.3 0\n\
                f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let geometry = tempfile::tempdir().unwrap();
    let file = geometry.path().join("wall.obj");
    fs::write(&file, wall).unwrap();
    let file = file.to_str().unwrap();
    let collider = format!("[[collider]]\nname = \"wall\"\ngeometry = {file:?}\n");
    let (_folder, cache) = baked(&format!("{SAND}{collider}"));
    drop(geometry);
    succeeded(surface(&cache, &["--formats", "abc"]));
    fs::write(cache.join("scene.json"), "{}").unwrap();
    let output = surface(&cache, &[]);
    assert_eq!(output.status.code(), Some(5));
    let errors = String::from_utf8(output.stdout).unwrap();
    assert!(errors.contains("scene.json") && errors.contains("field `scene`"), "{errors}");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_change() {
    let (_folder, cache) = baked(SAND);
    for (arguments, code, words) in [
        (vec!["--frames", "3-9"], 2, "1 to 4"),
        (vec!["--voxel", "0.25", "--memory", "0.002"], 5, "could not be made"),
        (vec!["--shutter", "0.5,-0.5"], 2, "two times"),
        (vec!["--formats", "fbx"], 2, "possible values"),
    ] {
        let output = surface(&cache, &arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let all = errors + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {all}");
        assert!(all.contains(words), "{arguments:?}: {all}");
    }
    let output = surface(&cache, &["--voxel", "0.25", "--memory", "0.002", "--frames", "1"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("--voxel") && told.contains("fits"), "{told}");
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(surface(nothing.path(), &[]).status.code(), Some(5));
    assert!(files(&cache).is_empty());
}

/// Options that no frame can be made with are refused before any is read: none is there to be read any more.
#[test]
fn options_out_of_range_are_refused_once() {
    let (_folder, cache) = baked(SAND);
    let particles = cache.join("particles");
    fs::rename(&particles, cache.join("elsewhere")).unwrap();
    for (command, option, value, words) in [
        ("surface", "--voxel", "0.0001", "0.05 … 2 cells"),
        ("surface", "--voxel", "nan", "--voxel NaN"),
        ("surface", "--memory", "0.0001", "0.001 GiB and more"),
        ("surface", "--memory", "nan", "0.001 GiB and more"),
        ("surface", "--smoothing", "9", "`smoothing` is 9"),
        ("surface", "--lowering", "9", "`lowering` is 9"),
        ("surface", "--mesh-smoothing", "1000", "`mesh_smoothing` is 1000"),
        ("surface", "--adaptivity", "9", "`adaptivity` is 9"),
        ("volume", "--voxel", "0.0001", "0.05 … 50 cells"),
        ("volume", "--spread", "99", "`spread` is 99"),
        ("volume", "--thin", "0", "`thin` is 0"),
        ("volume", "--memory", "0", "0.001 GiB and more"),
        ("points", "--per-particle", "0", "`per_particle` is 0"),
        ("points", "--width", "-1", "`width` is -1"),
        ("points", "--width-variation", "3", "`width_variation` is 3"),
        ("points", "--normal-jitter", "99", "`normal_jitter` is 99"),
        ("points", "--color-variation", "3", "`color_variation` is 3"),
        ("points", "--memory", "0", "0.001 GiB and more"),
    ] {
        let argument = format!("{option}={value}");
        let output = on_cache(command, &cache, &[&argument]);
        assert_eq!(output.status.code(), Some(2), "{command} {argument}");
        let told = events(&output);
        assert_eq!(told.len(), 1, "{command} {argument}: {told:?}");
        let message = told[0]["message"].as_str().unwrap();
        assert!(message.contains(words), "{command} {argument}: {message}");
    }
}

/// A cache whose second frame has been in other hands: its first particle has this position.
fn with_a_particle_at(position: [f32; 3]) -> (tempfile::TempDir, std::path::PathBuf) {
    let (folder, cache) = baked(SAND);
    let path = cache.join(Product::Particles.path("scene", 2));
    let first = load::particles(&path).unwrap().position[0];
    let bytes = |at: [f32; 3]| at.map(f32::to_le_bytes).concat();
    let mut file = fs::read(&path).unwrap();
    let found = bytes(first.to_array());
    let at = file.windows(12).position(|window| window == found).unwrap();
    file[at..at + 12].copy_from_slice(&bytes(position));
    fs::write(&path, file).unwrap();
    (folder, cache)
}

#[test]
fn a_particle_that_is_nowhere_is_named_and_the_other_frames_go_on() {
    for (position, words) in [
        ([f32::NAN, 0.0, 0.0], "particle 0 is not finite"),
        ([f32::INFINITY, 0.0, 0.0], "particle 0 is not finite"),
        ([1e30, 0.0, 0.0], "particle 0 at [1"),
    ] {
        let (_folder, cache) = with_a_particle_at(position);
        for command in ["surface", "volume"] {
            let output = on_cache(command, &cache, &[]);
            assert_eq!(output.status.code(), Some(5));
            let told = events(&output);
            let failed: Vec<&Json> = told.iter().filter(|e| e["event"] == "failed").collect();
            assert_eq!((failed.len(), &failed[0]["frame"]), (1, &2.into()));
            let message = failed[0]["message"].as_str().unwrap();
            assert!(message.contains(words), "{command}: {message}");
            assert_eq!(told.iter().filter(|e| e["event"] == "frame").count(), 3);
        }
    }
}

#[test]
fn a_frame_without_particles_has_empty_files() {
    let late = SAND.replace("velocity = [1, 0, 0]", "velocity = [1, 0, 0]\nframes = [3, 3]");
    let right = "box = { min = [0.6, 0.1, 0.1], max = [0.9, 0.5, 0.4] }";
    let late = late.replace(right, &format!("{right}\nframes = [3, 3]"));
    let (_folder, cache) = baked(&late);
    let path = cache.join(Product::Particles.path("scene", 1));
    assert!(load::particles(&path).unwrap().position.is_empty());
    succeeded(surface(&cache, &["--formats", "vdb,abc,ply,obj", "--attributes", "age"]));
    succeeded(on_cache("volume", &cache, &["--thin", "0.3"]));
    let ply = fs::read(cache.join(Product::MeshPly.path("scene", 1))).unwrap();
    assert!(String::from_utf8_lossy(&ply).contains("element face 0\n"));
    for (product, grid) in [(Product::Surface, "surface"), (Product::Volume, "density")] {
        let mut reader = Reader::open(cache.join(product.path("scene", 1))).unwrap();
        assert!(reader.read_as::<f32>(grid).unwrap().values.is_empty());
    }
    let info = foreshore(&["info", cache.to_str().unwrap(), "--verify"]);
    assert_eq!(info.status.code(), Some(0), "{}", String::from_utf8_lossy(&info.stderr));
}

#[test]
fn meshes_of_fewer_triangles_are_written_as_asked() {
    let (_folder, cache) = baked(SAND);
    let triangles = |arguments: &[&str]| {
        let told = succeeded(surface(&cache, &[&["--formats", "ply"], arguments].concat()));
        told.iter().filter_map(|e| e["triangles"].as_u64()).sum::<u64>()
    };
    let (all, fewer) = (triangles(&[]), triangles(&["--adaptivity", "0.3"]));
    assert!(fewer > 0 && fewer * 2 < all, "{fewer} of {all}");
}
