//! The index at the end of an archive: headers of objects and properties, with their digests.

use std::io::{Seek, Write};

use crate::error::Result;
use crate::metadata::{Metadata, MetadataTable};
use crate::time::{ACYCLIC_PERIOD, TimeSampling};
use crate::write::archive::{Leaf, WrittenKind, WrittenObject, WrittenProperty};
use crate::write::digest::{self, Digest};
use crate::write::sink::Sink;

/// Layout version of properties in Ogawa files.
const PROPERTY_LAYOUT_VERSION: i32 = 0;
/// Version of the C++ library whose files these are alike, 1.8.8.
const LIBRARY_VERSION: i32 = 10808;

struct Index<'a, W> {
    sink: &'a mut Sink<W>,
    objects: &'a [WrittenObject],
    properties: &'a [WrittenProperty],
    times: &'a [TimeSampling],
    /// Most samples of any property, per time sampling.
    max_samples: Vec<u32>,
    table: MetadataTable,
}

/// Writes everything that follows the samples; returns the pointer to the root group.
pub(crate) fn write_index<W: Write + Seek>(
    sink: &mut Sink<W>,
    objects: &[WrittenObject],
    properties: &[WrittenProperty],
    times: &[TimeSampling],
    metadata: &Metadata,
) -> Result<u64> {
    let versions = [
        sink.block(&[&PROPERTY_LAYOUT_VERSION.to_le_bytes()])?,
        sink.block(&[&LIBRARY_VERSION.to_le_bytes()])?,
    ];
    let max_samples = vec![0; times.len()];
    let table = MetadataTable::default();
    let mut index = Index { sink, objects, properties, times, max_samples, table };
    let (top, _) = index.object(0)?;
    let times = index.time_samplings();
    let table = index.table.serialize();
    let metadata = sink.block(&[metadata.serialize().as_bytes()])?;
    let times = sink.block(&[&times])?;
    let table = sink.block(&[&table])?;
    sink.group(&[versions[0], versions[1], top, metadata, times, table])
}

impl<W: Write + Seek> Index<'_, W> {
    /// Writes an object and all below; returns its pointer and digest.
    fn object(&mut self, index: u32) -> Result<(u64, Digest)> {
        let object = &self.objects[index as usize];
        let (properties, digests) = self.compound(object.properties)?;
        let mut pointers = vec![properties];
        let (mut headers, mut child_digests) = (Vec::new(), Vec::new());
        for &child in &object.children {
            let (pointer, digest) = self.object(child)?;
            pointers.push(pointer);
            child_digests.extend_from_slice(&digest::bytes_of(digest));
            self.object_header(child, &mut headers);
        }
        let children_digest =
            if child_digests.is_empty() { [0; 2] } else { digest::spooky(&child_digests) };
        let property_digest = digest::bytes_of(digest::spooky(&digests));
        headers.extend_from_slice(&property_digest);
        headers.extend_from_slice(&digest::bytes_of(children_digest));
        pointers.push(self.sink.block(&[&headers])?);

        let mut message = child_digests;
        message.extend_from_slice(&property_digest);
        message.extend_from_slice(object.metadata.as_bytes());
        message.extend_from_slice(object.name.as_bytes());
        Ok((self.sink.group(&pointers)?, digest::spooky(&message)))
    }

    fn object_header(&mut self, index: u32, headers: &mut Vec<u8>) {
        let object = &self.objects[index as usize];
        put(headers, object.name.len() as u32, 2);
        headers.extend_from_slice(object.name.as_bytes());
        let metadata = self.table.index(&object.metadata);
        headers.push(metadata);
        if metadata == MetadataTable::INLINE {
            put(headers, object.metadata.len() as u32, 2);
            headers.extend_from_slice(object.metadata.as_bytes());
        }
    }

    /// Writes a compound and all below; returns its pointer and its children's digests.
    fn compound(&mut self, index: u32) -> Result<(u64, Vec<u8>)> {
        let WrittenKind::Compound(children) = &self.properties[index as usize].kind else {
            return Ok((0, Vec::new()));
        };
        let mut pointers = Vec::with_capacity(children.len() + 1);
        let (mut headers, mut digests) = (Vec::new(), Vec::new());
        for &child in children {
            let (pointer, digest) = self.property(child)?;
            pointers.push(pointer);
            digests.extend_from_slice(&digest::bytes_of(digest));
            self.property_header(child, &mut headers);
        }
        if !headers.is_empty() {
            pointers.push(self.sink.block(&[&headers])?);
        }
        Ok((self.sink.group(&pointers)?, digests))
    }

    /// Writes a property; returns its pointer and digest.
    fn property(&mut self, index: u32) -> Result<(u64, Digest)> {
        let property = &self.properties[index as usize];
        let (pointer, mut message) = match &property.kind {
            WrittenKind::Compound(_) => self.compound(index)?,
            WrittenKind::Leaf(leaf) => {
                let (times, samples) = (leaf.times as usize, leaf.distinct_samples());
                self.max_samples[times] = self.max_samples[times].max(samples);
                (self.sink.group(&leaf.pointers)?, Vec::new())
            }
        };
        message.extend_from_slice(property.name.as_bytes());
        message.extend_from_slice(property.metadata.as_bytes());
        if let WrittenKind::Leaf(leaf) = &property.kind {
            self.leaf_message(leaf, &mut message);
        }
        Ok((pointer, digest::spooky(&message)))
    }

    /// What the digest of a leaf covers beside its name and metadata.
    fn leaf_message(&self, leaf: &Leaf, message: &mut Vec<u8>) {
        message.extend_from_slice(&[leaf.data_type.pod as u8, leaf.data_type.extent]);
        if !leaf.is_array {
            message.push(0);
        }
        put_times(message, &self.times[leaf.times as usize]);
        if leaf.samples > 0 {
            message.extend_from_slice(&digest::bytes_of(leaf.digest));
        }
    }

    /// One property header: 32 bits of flags, integers of the narrowest common width, the name,
    /// and the metadata where the table has no room for it.
    fn property_header(&mut self, index: u32, headers: &mut Vec<u8>) {
        let property = &self.properties[index as usize];
        let (name, metadata) = (property.name.as_bytes(), property.metadata.as_bytes());
        let metadata_index = self.table.index(&property.metadata);
        let mut largest = name.len().max(metadata.len()) as u32;
        if let WrittenKind::Leaf(leaf) = &property.kind {
            largest = largest.max(leaf.samples).max(leaf.times);
        }
        let hint = match largest {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            _ => 2,
        };
        let flags = hint << 2 | u32::from(metadata_index) << 20;
        match &property.kind {
            WrittenKind::Compound(_) => put(headers, flags, 2),
            WrittenKind::Leaf(leaf) => put_leaf(headers, leaf, flags, hint),
        }
        put(headers, name.len() as u32, hint);
        headers.extend_from_slice(name);
        if metadata_index == MetadataTable::INLINE {
            put(headers, metadata.len() as u32, hint);
            headers.extend_from_slice(metadata);
        }
    }

    fn time_samplings(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (sampling, samples) in self.times.iter().zip(&self.max_samples) {
            put(&mut bytes, *samples, 2);
            put_times(&mut bytes, sampling);
        }
        bytes
    }
}

impl Leaf {
    /// Samples that need a time: a property that never changes counts as one.
    fn distinct_samples(&self) -> u32 {
        if self.last_changed == 0 { self.samples.min(1) } else { self.samples }
    }
}

fn put_leaf(headers: &mut Vec<u8>, leaf: &Leaf, flags: u32, hint: u32) {
    let kind = if leaf.is_array { 2 | u32::from(leaf.scalar_like) } else { 1 };
    let constant = leaf.last_changed == 0;
    // Left out where every sample differs from the one before.
    let states_changes =
        !constant && (leaf.first_changed != 1 || leaf.last_changed != leaf.samples - 1);
    let flags = flags
        | kind
        | (leaf.data_type.pod as u32) << 4
        | u32::from(leaf.times != 0) << 8
        | u32::from(states_changes) << 9
        | u32::from(leaf.homogeneous) << 10
        | u32::from(constant) << 11
        | u32::from(leaf.data_type.extent) << 12;
    put(headers, flags, 2);
    put(headers, leaf.samples, hint);
    if states_changes {
        put(headers, leaf.first_changed, hint);
        put(headers, leaf.last_changed, hint);
    }
    if leaf.times != 0 {
        put(headers, leaf.times, hint);
    }
}

fn put_times(bytes: &mut Vec<u8>, sampling: &TimeSampling) {
    let (period, times): (f64, &[f64]) = match sampling {
        TimeSampling::Uniform { start, step } => (*step, std::slice::from_ref(start)),
        TimeSampling::Cyclic { times, period } => (*period, times),
        TimeSampling::Acyclic(times) => (ACYCLIC_PERIOD, times),
    };
    bytes.extend_from_slice(&period.to_le_bytes());
    put(bytes, times.len() as u32, 2);
    for time in times {
        bytes.extend_from_slice(&time.to_le_bytes());
    }
}

/// Appends `value` in 1, 2 or 4 bytes as `hint` (0, 1 or 2) says.
fn put(bytes: &mut Vec<u8>, value: u32, hint: u32) {
    bytes.extend_from_slice(&value.to_le_bytes()[..1 << hint]);
}
