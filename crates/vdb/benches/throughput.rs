//! Speed of writing and reading, in bytes of raw voxel values per second.
//!
//! The content is that of a simulated surface: the narrow band of a rippled ball, about 130 MB.
#![allow(missing_docs)] // The macros of criterion make undocumented functions.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use foreshore_vdb::{
    Codec, Compression, GridClass, GridView, LeafMask, Reader, Writer, active_mask,
};
use std::hint::black_box;
use std::io;

const BAND: f32 = 3.0;

struct Surface {
    origins: Vec<[i32; 3]>,
    masks: Vec<LeafMask>,
    values: Vec<[f32; 512]>,
}

impl Surface {
    /// A ball with ripples, so that distances are as noisy as those of a liquid.
    fn rippled_ball(radius: f32) -> Self {
        let distance = |p: [i32; 3]| {
            let [x, y, z] = p.map(|c| c as f32);
            let ripple = (0.31 * x).sin() + (0.23 * y).sin() + (0.17 * z).sin();
            ((x * x + y * y + z * z).sqrt() - radius + ripple).clamp(-BAND, BAND)
        };
        let edge = (radius as i32 + 16) & !7;
        let blocks = || (-edge..edge).step_by(8);
        let mut surface = Self { origins: Vec::new(), masks: Vec::new(), values: Vec::new() };
        for origin in
            blocks().flat_map(|x| blocks().flat_map(move |y| blocks().map(move |z| [x, y, z])))
        {
            let centre = origin.map(|c| (c + 4) as f32);
            if (centre.iter().map(|c| c * c).sum::<f32>().sqrt() - radius).abs() > BAND + 11.0 {
                continue;
            }
            let values: [f32; 512] = std::array::from_fn(|i| {
                let i = i as i32;
                distance([origin[0] + (i >> 6), origin[1] + (i >> 3 & 7), origin[2] + (i & 7)])
            });
            let mask = active_mask(&values, |d| d.abs() < BAND);
            if mask != [0; 8] {
                surface.origins.push(origin);
                surface.masks.push(mask);
                surface.values.push(values);
            }
        }
        surface
    }

    fn raw_bytes(&self) -> u64 {
        size_of_val(self.values.as_slice()) as u64
    }

    fn write(&self, codec: Codec, half: bool, stream: impl io::Write) -> u64 {
        let view = GridView::new("surface", BAND, &self.origins, &self.masks, &self.values)
            .class(GridClass::LevelSet)
            .half(half);
        let mut writer = Writer::new().compression(Compression::new(codec));
        writer.add(&view).expect("a valid grid");
        writer.write_to(stream).expect("a stream that takes everything")
    }
}

const KINDS: [(&str, Codec, bool); 4] = [
    ("half_blosc", Codec::Blosc, true),
    ("float_blosc", Codec::Blosc, false),
    ("float_none", Codec::None, false),
    ("half_none", Codec::None, true),
];

fn throughput(criterion: &mut Criterion) {
    let surface = Surface::rippled_ball(390.0);
    let mut group = criterion.benchmark_group("write");
    group.throughput(Throughput::Bytes(surface.raw_bytes()));
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (name, codec, half) in KINDS {
        group.bench_function(name, |b| b.iter(|| surface.write(codec, half, io::sink())));
    }
    group.finish();

    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Bytes(surface.raw_bytes()));
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (name, codec, half) in KINDS {
        let mut file = Vec::new();
        let bytes = surface.write(codec, half, &mut file);
        println!("{name}: {bytes} bytes for {} of values", surface.raw_bytes());
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut reader = Reader::from_bytes(&file).expect("a file just written");
                black_box(reader.read_as::<f32>("surface").expect("a grid just written"))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, throughput);
criterion_main!(benches);
