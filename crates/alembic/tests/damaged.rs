//! Damaged files give errors: no panic, no endless loop, no more memory than the file accounts for.

use std::io::Cursor;

use foreshore_alembic::{
    Archive, ArchiveWriter, AttributeSpec, Compound, DataType, Error, MeshFrame, Metadata, Pod,
    PointsFrame, PointsLayout, PointsReader, PointsWriter, PolyMeshLayout, PolyMeshReader,
    PolyMeshWriter, PropertyKind, TimeSampling, Topology, XformReader, XformWriter, matrix,
};

/// A small archive with one of everything.
fn sound_archive() -> Vec<u8> {
    let mut a = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    let frames = a.time_sampling(&TimeSampling::frames(1, 24.0)).unwrap();
    let odd = a.time_sampling(&TimeSampling::Acyclic(vec![0.0, 0.5, 0.6])).unwrap();
    let pairs = TimeSampling::Cyclic { times: vec![0.0, 0.25], period: 1.0 };
    let pairs = a.time_sampling(&pairs).unwrap();
    let root = a.root();
    let mut outer = XformWriter::new(&mut a, root, "outer", frames).unwrap();
    let mut inner = XformWriter::new(&mut a, outer.object(), "inner", pairs).unwrap();
    let mesh_layout = PolyMeshLayout { velocities: true, ..PolyMeshLayout::default() };
    let mut mesh = PolyMeshWriter::new(&mut a, inner.object(), "mesh", odd, &mesh_layout).unwrap();
    let layout = PointsLayout {
        velocities: true,
        widths: true,
        attributes: vec![AttributeSpec::new::<[f32; 3]>("Cd"), AttributeSpec::new::<i32>("kind")],
    };
    let mut points = PointsWriter::new(&mut a, outer.object(), "points", frames, &layout).unwrap();
    for i in 0..3_u8 {
        let mut shift = matrix::IDENTITY;
        shift[3][0] = f64::from(i);
        outer.write(&mut a, &shift, true).unwrap();
        inner.write(&mut a, &shift, i != 2).unwrap();
        let positions: Vec<[f32; 3]> = (0..i + 3).map(|k| [f32::from(k), 1.0, 2.0]).collect();
        let last = u32::from(i) + 2;
        let topology = Topology::from_triangles(&[[0, 1, 2], [0, 1, last]]);
        let frame = MeshFrame {
            positions: &positions,
            topology: &topology,
            velocities: &positions,
            normals: &[],
            attributes: &[],
        };
        mesh.write(&mut a, &frame).unwrap();
        let ids: Vec<u64> = (0..positions.len() as u64).collect();
        let widths = vec![0.5; ids.len()];
        let kinds = vec![1_i32; ids.len()];
        let frame = PointsFrame {
            positions: &positions,
            ids: &ids,
            velocities: &positions,
            widths: &widths,
            attributes: &[(&positions).into(), (&kinds).into()],
        };
        points.write(&mut a, &frame).unwrap();
    }
    let instance = Metadata::new().with("isInstance", "1");
    let again = a.object(root, "again", &instance).unwrap();
    let top = a.properties(again).unwrap();
    let text = DataType::new(Pod::String, 1);
    let source = a.scalar(top, ".instanceSource", &Metadata::new(), text, frames).unwrap();
    a.write_text(source, &["/outer"]).unwrap();
    a.finish().unwrap().into_inner()
}

/// Reads everything that can be read; returns how many numbers and letters that was.
fn read_everything(archive: &Archive) -> Result<usize, Error> {
    let mut total = 0;
    for object in archive.objects() {
        total += read_compound(&object.properties()?)?;
        object.digests()?;
        for time in [0.1, 0.55] {
            object.world_matrix(time)?;
            object.is_visible(time)?;
            if XformReader::matches(&object) {
                XformReader::new(&object)?.sample(0)?;
            } else if PolyMeshReader::matches(&object) {
                let sample = PolyMeshReader::new(&object)?.sample(time)?;
                total += sample.positions.len() + sample.topology.triangles().len();
            } else if PointsReader::matches(&object) {
                let reader = PointsReader::new(&object)?;
                total += reader.sample(time)?.positions.len();
                for param in reader.params()? {
                    total += param.numbers(time)?.len();
                }
            }
        }
    }
    Ok(total)
}

fn read_compound(compound: &Compound) -> Result<usize, Error> {
    let mut total = 0;
    for property in compound.properties()? {
        if property.kind() == PropertyKind::Compound {
            total += read_compound(&property.compound()?)?;
            continue;
        }
        let count = property.sample_count();
        for index in (0..count.min(4)).chain(count.saturating_sub(2)..count) {
            total += property.sample_len(index)? as usize;
            match property.data_type().map(|data_type| data_type.pod) {
                Some(Pod::String) => total += property.read_text(index)?.len(),
                Some(Pod::WString) | None => {}
                Some(_) => total += property.read_numbers(index)?.len(),
            }
        }
    }
    Ok(total)
}

fn survives(bytes: Vec<u8>, what: &str) -> bool {
    let len = bytes.len();
    match Archive::from_bytes(bytes).and_then(|archive| read_everything(&archive)) {
        Ok(total) => {
            assert!(total < 1024 * len, "{what}: {total} values from {len} bytes");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn the_sound_archive_is_read_whole() {
    let archive = Archive::from_bytes(sound_archive()).unwrap();
    assert!(read_everything(&archive).unwrap() > 500);
    assert_eq!(archive.objects().count(), 8);
}

#[test]
fn every_truncation_is_an_error() {
    let sound = sound_archive();
    for len in 0..sound.len() {
        assert!(!survives(sound[..len].to_vec(), "truncated"), "{len} of {} bytes", sound.len());
    }
}

#[test]
fn no_changed_byte_causes_a_panic() {
    let sound = sound_archive();
    let mut refused = 0;
    for position in 0..sound.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = sound.clone();
            bytes[position] ^= flip;
            refused += usize::from(!survives(bytes, "flipped"));
        }
    }
    assert!(refused > sound.len() / 4, "only {refused} of the changes were noticed");
}

#[test]
fn no_pointer_to_anywhere_causes_a_panic_or_a_loop() {
    let sound = sound_archive();
    let interesting = [0, 16, sound.len() as u64 - 8, u64::MAX >> 1];
    for position in (0..sound.len() - 8).step_by(5) {
        for target in interesting {
            for top_bit in [0, 1 << 63] {
                let mut bytes = sound.clone();
                bytes[position..position + 8].copy_from_slice(&(target | top_bit).to_le_bytes());
                survives(bytes, "redirected");
            }
        }
    }
    // Every stored pointer aimed at every group start: objects and compounds that hold each other.
    let groups: Vec<u64> = (16..sound.len() as u64 - 8)
        .filter(|&at| {
            let at = at as usize;
            let count = u64::from_le_bytes(sound[at..at + 8].try_into().unwrap_or_default());
            (1..12).contains(&count)
        })
        .step_by(3)
        .collect();
    for position in (sound.len() / 2..sound.len() - 8).step_by(2) {
        for &target in groups.iter().step_by(23) {
            let mut bytes = sound.clone();
            bytes[position..position + 8].copy_from_slice(&target.to_le_bytes());
            survives(bytes, "looped");
        }
    }
}
