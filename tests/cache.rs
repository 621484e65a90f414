//! Product files: what was written is what readers find.

use foreshore::cache::atomic::AtomicFile;
use foreshore::cache::inspect::{Contents, inspect};
use foreshore::cache::manifest::Depth;
use foreshore::cache::particles::{ParticleInfo, write as write_particles};
use foreshore::cache::surface::{NamedSurface, SurfaceInfo, write as write_surface};
use foreshore::particles::{DeepWater, Particles};
use foreshore::surface::{BAND_VOXELS, SurfaceOptions, reconstruct};
use foreshore_alembic::{Archive, PointsReader};
use foreshore_vdb::Reader;
use glam::{IVec3, Vec3};
use std::path::{Path, PathBuf};

/// A block of 12 × 10 × 8 particles, half a cell apart, that turns about the y axis.
fn block() -> Particles {
    let mut particles = Particles::default();
    for i in 0..12 * 10 * 8 {
        let place = Vec3::new((i % 12) as f32, (i / 12 % 10) as f32, (i / 120) as f32);
        let position = place * 0.05 + Vec3::new(-0.3, 0.02, -0.2);
        particles.position.push(position);
        particles.velocity.push(Vec3::new(position.z, 0.5, -position.x));
        particles.id.push(1 << 40 | i);
        particles.birth.push(0.01 * i as f32);
        particles.material.push((i % 3) as u8);
    }
    particles
}

fn particle_file(folder: &Path, particles: &Particles) -> PathBuf {
    let path = folder.join("p.abc");
    let info =
        ParticleInfo { time: 7.0 / 24.0, fps: 24.0, diameter: 0.05, grains: None, wet: None };
    let mut file = AtomicFile::create(&path).unwrap();
    write_particles(&mut file, particles, &info).unwrap();
    file.commit().unwrap();
    path
}

fn surface_file(folder: &Path, particles: &Particles, half: bool) -> PathBuf {
    let path = folder.join("s.vdb");
    let info = SurfaceInfo { frame: 7, time: 7.0 / 24.0, fps: 24.0, half };
    let mut file = AtomicFile::create(&path).unwrap();
    let options = SurfaceOptions::new(0.05, 0.05);
    let Particles { position, velocity, .. } = particles;
    let deep = (&DeepWater::default(), 0.1);
    let surface = reconstruct(position, velocity, &options).unwrap();
    let named = NamedSurface { suffix: "", surface: &surface };
    write_surface(&mut file, &[named], deep, &info).unwrap();
    file.commit().unwrap();
    path
}

#[test]
fn particles_come_back_bit_for_bit_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let particles = block();
    let archive = Archive::open(particle_file(folder.path(), &particles)).unwrap();
    let object = archive.object("/particles/particlesShape").unwrap();
    let reader = PointsReader::new(&object).unwrap();
    let time = 7.0 / 24.0;
    assert_eq!(reader.sample_count(), 1);
    assert_eq!(reader.time_sampling().time(0), Some(time));
    let sample = reader.sample(time).unwrap();
    let arrays = |column: &[Vec3]| column.iter().map(Vec3::to_array).collect::<Vec<_>>();
    assert_eq!(sample.positions, arrays(&particles.position));
    assert_eq!(sample.velocities, arrays(&particles.velocity));
    assert_eq!(sample.ids, particles.id);
    assert_eq!(sample.widths, vec![0.05; particles.len()]);

    let floats = |name: &str| reader.param(name).unwrap().unwrap().floats(time).unwrap();
    assert_eq!(floats("id"), particles.id.iter().map(|id| *id as f32).collect::<Vec<_>>());
    assert_eq!(floats("material")[..4], [0.0, 1.0, 2.0, 0.0]);
    assert_eq!(floats("speed"), particles.velocity.iter().map(|v| v.length()).collect::<Vec<_>>());
    let age: Vec<f32> = particles.birth.iter().map(|b| (time as f32 - b).max(0.0)).collect();
    assert_eq!(floats("age"), age);
}

#[test]
fn a_frame_without_particles_is_a_whole_frame() {
    let folder = tempfile::tempdir().unwrap();
    let none = Particles::default();
    let archive = Archive::open(particle_file(folder.path(), &none)).unwrap();
    let object = archive.object("/particles/particlesShape").unwrap();
    assert_eq!(PointsReader::new(&object).unwrap().count(0.0).unwrap(), 0);
    let mut reader = Reader::open(surface_file(folder.path(), &none, true)).unwrap();
    assert_eq!(reader.read_as::<f32>("surface").unwrap().active_voxels(), 0);
    assert_eq!(reader.read_as::<[f32; 3]>("velocity").unwrap().active_voxels(), 0);
    for file in ["p.abc", "s.vdb"] {
        assert!(inspect(&folder.path().join(file), Depth::Contents).unwrap().is_healthy());
    }
}

#[test]
fn surfaces_come_back_voxel_by_voxel() {
    let folder = tempfile::tempdir().unwrap();
    let particles = block();
    let options = SurfaceOptions::new(0.05, 0.05);
    let surface = reconstruct(&particles.position, &particles.velocity, &options).unwrap();
    let level_set = &surface.level_set;
    let band = BAND_VOXELS * 0.05;
    for half in [false, true] {
        let mut reader = Reader::open(surface_file(folder.path(), &particles, half)).unwrap();
        let grid = reader.read_as::<f32>("surface").unwrap();
        let velocity = reader.read_as::<[f32; 3]>("velocity").unwrap();
        assert_eq!(grid.half, half);
        let (grid, velocity) = (grid.accessor(), velocity.accessor());
        let (mut active, mut inside) = (0, 0);
        for block in level_set.grid.dilated().blocks() {
            for local in 0..512 {
                let cell = *block * 8 + IVec3::new(local >> 6, (local >> 3) & 7, local & 7);
                let expected = level_set.at_cell(cell);
                let (found, is_active) = grid.get(cell.to_array());
                assert_eq!(is_active, expected.abs() < band);
                inside += u32::from(expected < 0.0);
                if is_active {
                    active += 1;
                    // A half float keeps 11 binary digits.
                    let tolerance = if half { expected.abs() / 2048.0 + 1e-7 } else { 0.0 };
                    assert!((found - expected).abs() <= tolerance, "{found} {expected}");
                    let (v, is_active) = velocity.get(cell.to_array());
                    let expected = surface.velocity.get(&level_set.grid, cell).unwrap();
                    assert!(is_active);
                    assert!(
                        (Vec3::from(v) - expected).abs().max_element()
                            <= tolerance.max(if half {
                                expected.abs().max_element() / 2048.0 + 1e-7
                            } else {
                                0.0
                            })
                    );
                } else {
                    assert_eq!(found < 0.0, expected < 0.0, "sign at {cell}");
                }
            }
        }
        assert!(active > 1000 && inside > 900, "{active} active, {inside} inside");
    }
}

#[test]
fn voxels_lie_where_the_particles_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = surface_file(folder.path(), &block(), false);
    let mut reader = Reader::open(&path).unwrap();
    let grid = reader.read_as::<f32>("surface").unwrap();
    // The cell (i, j, k) has its centre at (i + ½, j + ½, k + ½) cells.
    let center = grid.transform.index_to_world([0.0; 3]);
    assert!(center.iter().all(|c| (c - 0.025).abs() < 1e-7), "{center:?}");
    let inside = grid.accessor();
    let index = grid.transform.world_to_index([-0.025, 0.225, -0.025]).unwrap();
    assert!(inside.get(index.map(|i| i.round() as i32)).0 < 0.0);
    let names = ["frame", "fps", "time", "units", "up_axis", "creator"];
    assert!(names.iter().all(|name| reader.metadata().contains_key(*name)));
}

#[test]
fn inspecting_tells_counts_bounds_and_bad_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut particles = block();
    particles.velocity[5].y = f32::NAN;
    let found = inspect(&particle_file(folder.path(), &particles), Depth::Contents).unwrap();
    assert!(!found.is_healthy());
    let Contents::Alembic(archive) = &found.contents else { panic!("{found:?}") };
    let points = &archive.objects[0];
    assert_eq!((points.path.as_str(), points.count), ("/particles/particlesShape", 960));
    let [low, high] = points.bounds.as_ref().unwrap();
    assert_eq!(low, &particles.position[0].to_array().map(f64::from));
    assert_eq!(high, &particles.position[959].to_array().map(f64::from));
    let names: Vec<_> = points.attributes.iter().map(|a| a.name.as_str()).collect();
    let expected = ["P", ".velocities", ".pointIds", ".widths", "id", "material", "age", "speed"];
    assert_eq!(names, expected);
    assert_eq!(points.attributes.iter().map(|a| a.not_finite).collect::<Vec<_>>()[..2], [0, 1]);
    let material = points.attributes.iter().find(|a| a.name == "material").unwrap();
    assert_eq!((material.min[0], material.mean[0], material.max[0]), (0.0, 1.0, 2.0));
    let text = found.to_string();
    assert!(text.contains("960 points") && text.contains("NOT FINITE: 1 of 960"), "{text}");
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["kind"], "alembic");
    assert_eq!(json["objects"][0]["count"], 960);

    let found = inspect(&surface_file(folder.path(), &block(), true), Depth::Contents).unwrap();
    assert!(found.is_healthy());
    let Contents::Openvdb(volume) = &found.contents else { panic!("{found:?}") };
    assert_eq!(
        volume.grids.iter().map(|g| g.name.as_str()).collect::<Vec<_>>(),
        ["surface", "velocity"]
    );
    let distance = volume.grids[0].values.as_ref().unwrap();
    assert_eq!(distance.count, volume.grids[0].active_voxels);
    assert!(distance.min[0] < -0.04 && distance.max[0] > 0.1);
    assert!(found.to_string().contains("surface: level set"));
}

#[test]
fn files_that_are_no_caches_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a.abc", "a.vdb", "a.txt"] {
        std::fs::write(path(name), b"not a cache at all").unwrap();
        let error = inspect(&path(name), Depth::Contents).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    let error = inspect(&path("missing.abc"), Depth::Contents).unwrap_err().to_string();
    assert!(error.contains("missing.abc"), "{error}");
    let error = inspect(folder.path(), Depth::Contents).unwrap_err().to_string();
    assert!(error.contains("holds no cache"), "{error}");
}
