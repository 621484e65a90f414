//! Each error is given where its documentation says, with the name of what is wrong.

use std::io::{self, Cursor, Seek, SeekFrom, Write};

use foreshore_alembic::{
    Archive, ArchiveWriter, AttributeSpec, DataType, Error, MeshFrame, Metadata, Pod, PointsFrame,
    PointsLayout, PointsReader, PointsWriter, PolyMeshLayout, PolyMeshReader, PolyMeshWriter,
    TimeSampling, TimeSamplingId, Topology, XformReader,
};

const STILL: TimeSamplingId = TimeSamplingId::STILL;
const FLOAT: DataType = DataType::new(Pod::F32, 1);

fn writer() -> ArchiveWriter<Cursor<Vec<u8>>> {
    ArchiveWriter::new(Cursor::new(Vec::new())).unwrap()
}

fn sound() -> Vec<u8> {
    let mut a = writer();
    let top = a.properties(a.root()).unwrap();
    let number = a.array(top, "number", &Metadata::new(), FLOAT, STILL).unwrap();
    a.write_sample(number, &[1.0_f32]).unwrap();
    let root = a.root();
    a.object(root, "Collider", &Metadata::new()).unwrap();
    a.finish().unwrap().into_inner()
}

fn open(bytes: &[u8]) -> Error {
    Archive::from_bytes(bytes.to_vec()).unwrap_err()
}

#[test]
fn files_that_are_no_archives_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.abc");
    assert!(matches!(Archive::open(&missing), Err(Error::Open { .. })));
    assert!(matches!(ArchiveWriter::create(folder.path()), Err(Error::Open { .. })));
    #[cfg(target_os = "linux")]
    assert!(matches!(Archive::open(folder.path()), Err(Error::Read { .. })));

    let hdf5 = open(b"\x89HDF\r\n\x1a\n and more bytes");
    assert!(matches!(hdf5, Error::Hdf5) && hdf5.to_string().contains("Ogawa"));
    assert!(matches!(open(b"solid of an STL file"), Error::NotAlembic { .. }));
    assert!(matches!(open(b""), Error::NotAlembic { .. }));

    let mut bytes = sound();
    bytes[5] = 0;
    assert!(matches!(open(&bytes), Error::Unfinished));
    bytes[5] = 0xff;
    bytes[7] = 2;
    assert!(matches!(open(&bytes), Error::UnsupportedVersion { found: 2, .. }));
    bytes[7] = 1;
    bytes.truncate(bytes.len() - 1);
    assert!(matches!(open(&bytes), Error::Corrupt { .. }));
}

#[test]
fn an_unfinished_archive_is_refused() {
    let mut out = Cursor::new(Vec::new());
    drop(ArchiveWriter::new(&mut out).unwrap());
    assert!(matches!(open(out.get_ref()), Error::Unfinished));
}

#[test]
fn wrong_names_types_and_indices_are_named() {
    let archive = Archive::from_bytes(sound()).unwrap();
    let missing = archive.object("/Colider").unwrap_err().to_string();
    assert!(missing.contains("did you mean \"/Collider\"?"), "{missing}");
    let object = archive.object("/Collider").unwrap();
    for error in [
        PolyMeshReader::new(&object).err(),
        PointsReader::new(&object).err(),
        XformReader::new(&object).err(),
    ] {
        assert!(matches!(error, Some(Error::WrongSchema { .. })));
    }
    let top = archive.root().properties().unwrap();
    assert!(matches!(top.property("nimber"), Err(Error::NoProperty { .. })));
    assert!(matches!(top.compound("number"), Err(Error::WrongType { .. })));
    let number = top.property("number").unwrap();
    assert!(matches!(number.read::<f64>(0), Err(Error::WrongType { .. })));
    assert!(matches!(number.read_text(0), Err(Error::WrongType { .. })));
    assert!(matches!(number.read_floats(1), Err(Error::NoSample { index: 1, count: 1, .. })));
}

#[test]
fn instances_of_nothing_of_instances_and_of_ancestors_are_refused() {
    let instance_of = |target: &str| {
        let mut a = writer();
        let root = a.root();
        let outer = a.object(root, "outer", &Metadata::new()).unwrap();
        let mark = Metadata::new().with("isInstance", "1");
        let text = DataType::new(Pod::String, 1);
        a.object(root, "thing", &Metadata::new()).unwrap();
        for (parent, name, target) in [(outer, "inner", target), (root, "other", "/thing")] {
            let object = a.object(parent, name, &mark).unwrap();
            let top = a.properties(object).unwrap();
            let meta = Metadata::new();
            let source = a.scalar(top, ".instanceSource", &meta, text, STILL).unwrap();
            a.write_text(source, &[target]).unwrap();
        }
        open(a.finish().unwrap().get_ref())
    };
    for (target, reason) in [
        ("/nowhere", "not in the archive"),
        ("/outer", "contains it"),
        ("/", "contains it"),
        ("/other", "an instance itself"),
    ] {
        let error = instance_of(target);
        assert!(matches!(&error, Error::BadInstance { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{target}: {error}");
    }
}

#[test]
fn writers_refuse_bad_names_handles_and_sizes() {
    let mut a = writer();
    let (root, meta) = (a.root(), Metadata::new());
    a.object(root, "a", &meta).unwrap();
    assert!(matches!(a.object(root, "a", &meta), Err(Error::DuplicateName { .. })));
    assert!(matches!(a.object(root, "", &meta), Err(Error::IllegalName { .. })));
    assert!(matches!(a.object(root, "a/b", &meta), Err(Error::IllegalName { .. })));
    let mut deep = root;
    let too_deep = (0..1000).find_map(|_| match a.object(deep, "d", &meta) {
        Ok(object) => {
            deep = object;
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(too_deep, Some(Error::IllegalName { .. })));

    let mut other = writer();
    let foreign = a.object(root, "b", &meta).unwrap();
    assert!(matches!(other.object(foreign, "x", &meta), Err(Error::ForeignHandle { .. })));
    let top = a.properties(root).unwrap();
    let vector = a.array(top, "v", &meta, DataType::new(Pod::F32, 3), STILL).unwrap();
    let scalar = a.scalar(top, "s", &meta, FLOAT, STILL).unwrap();
    let text = a.scalar(top, "t", &meta, DataType::new(Pod::String, 1), STILL).unwrap();
    assert!(matches!(a.array(top, "v", &meta, FLOAT, STILL), Err(Error::DuplicateName { .. })));
    assert!(matches!(a.write_sample(vector, &[1.0_f32]), Err(Error::SampleSize { .. })));
    assert!(matches!(a.write_sample(scalar, &[1.0_f32; 2]), Err(Error::SampleSize { .. })));
    assert!(matches!(a.write_sample(text, &[1_u8]), Err(Error::WrongType { .. })));
    assert!(matches!(a.write_text(scalar, &["x"]), Err(Error::WrongType { .. })));
    assert!(matches!(a.write_text(text, &["x", "y"]), Err(Error::SampleSize { .. })));
    assert!(matches!(a.write_text(text, &["x\0y"]), Err(Error::IllegalName { .. })));
    assert!(matches!(a.repeat_sample(vector), Err(Error::NoSample { .. })));
    let backwards = TimeSampling::Acyclic(vec![1.0, 0.0]);
    assert!(matches!(a.time_sampling(&backwards), Err(Error::TimeSampling { .. })));
}

#[test]
fn writers_refuse_arrays_that_do_not_fit_together() {
    let mut a = writer();
    let root = a.root();
    let layout = PointsLayout {
        widths: true,
        attributes: vec![AttributeSpec::new::<f32>("age")],
        ..PointsLayout::default()
    };
    let mut points = PointsWriter::new(&mut a, root, "points", STILL, &layout).unwrap();
    let (positions, widths, age) = ([[0.0; 3]; 2], [1.0; 2], [0.0_f32; 2]);
    let short = [0.0_f32; 1];
    let wrong = [0_i32; 2];
    let attributes = [(&age[..]).into()];
    let good = PointsFrame {
        positions: &positions,
        ids: &[1, 2],
        velocities: &[],
        widths: &widths,
        attributes: &attributes,
    };
    let bad_attributes = [(&short[..]).into()];
    let mismatched = [
        PointsFrame { ids: &[1], ..good },
        PointsFrame { velocities: &positions, ..good },
        PointsFrame { widths: &[], ..good },
        PointsFrame { attributes: &[], ..good },
        PointsFrame { attributes: &bad_attributes, ..good },
    ];
    for frame in &mismatched {
        let error = points.write(&mut a, frame).unwrap_err();
        assert!(matches!(error, Error::CountMismatch { .. }), "{error}");
    }
    let typed = [(&wrong[..]).into()];
    let error = points.write(&mut a, &PointsFrame { attributes: &typed, ..good }).unwrap_err();
    assert!(matches!(error, Error::WrongType { .. }), "{error}");
    points.write(&mut a, &good).unwrap();

    let layout = PolyMeshLayout::default();
    let mut mesh = PolyMeshWriter::new(&mut a, root, "mesh", STILL, &layout).unwrap();
    let topology = Topology::from_triangles(&[[0, 1, 2]]);
    let frame = MeshFrame {
        positions: &positions,
        topology: &topology,
        velocities: &[],
        normals: &[],
        attributes: &[],
    };
    let error = mesh.write(&mut a, &frame).unwrap_err();
    assert!(matches!(error, Error::InvalidMesh { .. }), "{error}");
    assert!(error.to_string().contains("vertex 2 of 2"), "{error}");
}

/// An output that fills up after some bytes.
struct FullDisk {
    inner: Cursor<Vec<u8>>,
    room: usize,
}

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.inner.get_ref().len() + bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for FullDisk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[test]
fn a_full_disk_is_reported_wherever_it_strikes() {
    for room in (0..2000).step_by(7) {
        let write = || -> Result<(), Error> {
            let disk = FullDisk { inner: Cursor::new(Vec::new()), room };
            let mut a = ArchiveWriter::new(disk)?;
            let (root, layout) = (a.root(), PointsLayout::default());
            let mut points = PointsWriter::new(&mut a, root, "points", STILL, &layout)?;
            let (positions, ids) = ([[1.0; 3]; 100], [7; 100]);
            let frame = PointsFrame { positions: &positions, ids: &ids, ..PointsFrame::default() };
            points.write(&mut a, &frame)?;
            a.finish().map(|_| ())
        };
        assert!(matches!(write(), Err(Error::Write { .. })), "{room}");
    }
}
