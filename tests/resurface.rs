//! `foreshore surface`: surfaces and meshes of a baked cache.

#[path = "common/caches.rs"]
mod caches;
#[path = "common/program.rs"]
mod program;

use caches::{SAND, baked, copy_folder, made_files as files, on_cache, succeeded};
use foreshore::cache::layout::Product;
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
    assert!(errors.contains("scene.json") && errors.contains("output"), "{errors}");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_change() {
    let (_folder, cache) = baked(SAND);
    for (arguments, code, words) in [
        (vec!["--frames", "3-9"], 2, "1 to 4"),
        (vec!["--voxel", "0.0001"], 5, "could not be made"),
        (vec!["--memory", "0.0001"], 5, "could not be made"),
        (vec!["--smoothing", "9"], 5, "could not be made"),
        (vec!["--shutter", "0.5,-0.5"], 2, "two times"),
        (vec!["--formats", "fbx"], 2, "possible values"),
    ] {
        let output = surface(&cache, &arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let all = errors + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {all}");
        assert!(all.contains(words), "{arguments:?}: {all}");
    }
    let output = surface(&cache, &["--memory", "0.0001", "--frames", "1"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("voxel_size") && told.contains("fits"), "{told}");
    let nothing = tempfile::tempdir().unwrap();
    assert_eq!(surface(nothing.path(), &[]).status.code(), Some(5));
    assert!(files(&cache).is_empty());
}
