//! Opening an archive and walking its objects.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::metadata::{Metadata, MetadataTable};
use crate::read::property::Compound;
use crate::read::source::{Cursor, Group, Source};
use crate::time::{ACYCLIC_PERIOD, TimeSampling};

/// Deepest nesting of objects or compounds that is accepted.
pub(crate) const MAX_DEPTH: u32 = 512;
/// Most objects that instances may add to those in the file; a small file may add fewer.
const MAX_INSTANCED: u64 = 1 << 20;
/// The only layout of properties in Ogawa files there has ever been.
const PROPERTY_LAYOUT_VERSION: i32 = 0;

/// An Alembic archive open for reading.
///
/// Opening reads the file header and the names of all objects; samples are read when asked for.
/// Handles are cheap to clone and may be used from several threads.
#[derive(Clone)]
pub struct Archive {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) source: Source,
    pub(crate) times: Vec<Arc<TimeSampling>>,
    pub(crate) metadata_table: Vec<Arc<Metadata>>,
    max_samples: Vec<u32>,
    metadata: Metadata,
    library_version: i32,
    nodes: Vec<Node>,
}

struct Node {
    name: Arc<str>,
    metadata: Arc<Metadata>,
    parent: Option<u32>,
    children: Vec<u32>,
    group: Group,
    depth: u32,
    /// Full path of the source, for the root of an instance.
    instance_of: Option<Arc<str>>,
}

impl Archive {
    /// Opens the archive at `path`.
    ///
    /// # Errors
    /// [`Error::Open`], [`Error::Hdf5`], [`Error::NotAlembic`], [`Error::Unfinished`],
    /// [`Error::UnsupportedVersion`], [`Error::Corrupt`], [`Error::BadInstance`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_source(Source::open(path.as_ref())?)
    }

    /// Opens an archive held in memory. Errors as [`Archive::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_source(Source::from_memory(bytes))
    }

    fn from_source(source: Source) -> Result<Self> {
        let root = source.root()?;
        let layout = read_i32(&source, &root, 0)?;
        if layout != PROPERTY_LAYOUT_VERSION {
            return Err(Error::UnsupportedVersion {
                what: "property layout",
                found: layout.into(),
            });
        }
        let library_version = read_i32(&source, &root, 1)?;
        let top = root.group(&source, 2)?;
        let metadata = root.block(&source, 3)?.read_all(&source)?;
        let (times, max_samples) = read_times(&source, &root)?;
        let mut inner = Inner {
            metadata_table: read_metadata_table(&source, &root)?,
            metadata: Metadata::parse(&String::from_utf8_lossy(&metadata)),
            source,
            times,
            max_samples,
            library_version,
            nodes: Vec::new(),
        };
        inner.nodes = read_objects(&inner, top)?;
        expand_instances(&mut inner)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The object that holds all others. It has no name; its path is `/`.
    pub fn root(&self) -> Object {
        Object { archive: Arc::clone(&self.inner), index: 0 }
    }

    /// Every object below the root, parents before children.
    pub fn objects(&self) -> impl Iterator<Item = Object> + '_ {
        let mut stack: Vec<Object> = self.root().children().collect();
        stack.reverse();
        std::iter::from_fn(move || {
            let next = stack.pop()?;
            let first = stack.len();
            stack.extend(next.children());
            stack[first..].reverse();
            Some(next)
        })
    }

    /// The object at `path`, such as `/Collider/Mesh`. A leading or trailing `/` may be left out.
    ///
    /// # Errors
    /// [`Error::NoObject`], naming the object with the most similar path.
    pub fn object(&self, path: &str) -> Result<Object> {
        let mut object = self.root();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            object = object.child(name).ok_or_else(|| Error::NoObject {
                path: path.to_owned(),
                nearest: self.nearest(path),
            })?;
        }
        Ok(object)
    }

    fn nearest(&self, path: &str) -> Option<String> {
        let wanted = path.trim_matches('/').to_lowercase();
        let paths = self.objects().take(4096).map(|object| object.path());
        paths
            .map(|path| (edit_distance(&wanted, &path.trim_matches('/').to_lowercase()), path))
            .filter(|(distance, _)| *distance <= wanted.chars().count().max(4) / 2)
            .min()
            .map(|(_, path)| path)
    }

    /// Metadata of the archive: `_ai_Application`, `FramesPerTimeUnit` and the like.
    pub fn metadata(&self) -> &Metadata {
        &self.inner.metadata
    }

    /// Version of the writing library: 10808 for 1.8.8.
    pub fn library_version(&self) -> i32 {
        self.inner.library_version
    }

    /// The time samplings of the archive; properties refer to them.
    pub fn time_samplings(&self) -> impl ExactSizeIterator<Item = &TimeSampling> {
        self.inner.times.iter().map(Arc::as_ref)
    }

    /// First and last time of any animated sample (s); `None` for a static archive.
    pub fn time_range(&self) -> Option<(f64, f64)> {
        let ranges = self.inner.times.iter().zip(&self.inner.max_samples).skip(1);
        ranges
            .filter(|(_, samples)| **samples > 0)
            .filter_map(|(times, samples)| Some((times.time(0)?, times.time(*samples - 1)?)))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("objects", &(self.inner.nodes.len() - 1)).finish()
    }
}

/// An object of an archive: a node of the scene with a schema, properties and children.
#[derive(Clone)]
pub struct Object {
    pub(crate) archive: Arc<Inner>,
    index: u32,
}

impl Object {
    fn node(&self) -> &Node {
        &self.archive.nodes[self.index as usize]
    }

    fn at(&self, index: u32) -> Object {
        Object { archive: Arc::clone(&self.archive), index }
    }

    /// The object's own name; empty for the root.
    pub fn name(&self) -> &str {
        &self.node().name
    }

    /// Full path from the root, such as `/Collider/Mesh`.
    pub fn path(&self) -> String {
        let mut names = vec![self.name()];
        let mut at = self.node().parent;
        while let Some(index) = at {
            let node = &self.archive.nodes[index as usize];
            names.push(&node.name);
            at = node.parent;
        }
        if names.len() == 1 {
            return "/".to_owned();
        }
        names.reverse();
        names.join("/")
    }

    /// The object that holds this one; `None` for the root.
    pub fn parent(&self) -> Option<Object> {
        self.node().parent.map(|index| self.at(index))
    }

    /// The objects directly below.
    pub fn children(&self) -> impl ExactSizeIterator<Item = Object> + '_ {
        self.node().children.iter().map(|&index| self.at(index))
    }

    /// The child called `name`.
    pub fn child(&self, name: &str) -> Option<Object> {
        self.children().find(|child| child.name() == name)
    }

    /// Metadata of the object, with its schema.
    pub fn metadata(&self) -> &Metadata {
        &self.node().metadata
    }

    /// Name of the schema, such as `AbcGeom_PolyMesh_v1`; empty for a plain group.
    pub fn schema(&self) -> &str {
        self.metadata().get("schema").unwrap_or("")
    }

    /// Path of the object whose contents this one repeats, if it is an instance.
    pub fn instance_of(&self) -> Option<&str> {
        self.node().instance_of.as_deref()
    }

    /// Digests of the object's properties and of everything below it, as stored: equal digests
    /// mean equal contents. `None` where the writer left them out.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn digests(&self) -> Result<Option<([u8; 16], [u8; 16])>> {
        let (source, group) = (&self.archive.source, self.node().group);
        let Some(last) = group.len.checked_sub(1) else {
            return Ok(None);
        };
        let block = group.block(source, last)?;
        let Some(before) = block.len.checked_sub(32) else {
            return Ok(None);
        };
        let (mut properties, mut children) = ([0; 16], [0; 16]);
        source.read(block.offset + before, &mut properties)?;
        source.read(block.offset + before + 16, &mut children)?;
        Ok(Some((properties, children)))
    }

    /// The object's top-level properties.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Read`].
    pub fn properties(&self) -> Result<Compound> {
        properties_of(&self.archive, self.node().group)
            .map(|group| Compound::new(Arc::clone(&self.archive), group, self.path(), 0))
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({} {})", self.path(), self.schema())
    }
}

fn properties_of(inner: &Inner, group: Group) -> Result<Group> {
    if group.len == 0 {
        return Ok(Group { offset: 0, len: 0 });
    }
    group.group(&inner.source, 0)
}

fn read_i32(source: &Source, root: &Group, index: u64) -> Result<i32> {
    let block = root.block(source, index)?;
    if block.len != 4 {
        return Err(Error::corrupt(block.offset, "a version number must have 4 bytes"));
    }
    let mut bytes = [0; 4];
    source.read(block.offset, &mut bytes)?;
    Ok(i32::from_le_bytes(bytes))
}

fn read_times(source: &Source, root: &Group) -> Result<(Vec<Arc<TimeSampling>>, Vec<u32>)> {
    let block = root.block(source, 4)?;
    let bytes = block.read_all(source)?;
    let mut cursor = Cursor::new(&bytes, block.offset);
    let (mut times, mut max_samples) = (Vec::new(), Vec::new());
    while !cursor.is_at_end() {
        let at = cursor.offset();
        max_samples.push(cursor.u32("a sample count")?);
        let period = cursor.f64("a sampling period")?;
        let count = cursor.u32("a count of times")? as usize;
        let stored = cursor.take(count.saturating_mul(8), "a list of times")?;
        let stored: Vec<f64> = bytemuck::pod_collect_to_vec::<u8, f64>(stored);
        let sampling = match stored[..] {
            _ if period == ACYCLIC_PERIOD => TimeSampling::Acyclic(stored),
            [start] => TimeSampling::Uniform { start, step: period },
            _ => TimeSampling::Cyclic { times: stored, period },
        };
        sampling.validate().map_err(|error| Error::corrupt(at, error.to_string()))?;
        times.push(Arc::new(sampling));
    }
    if times.is_empty() {
        times.push(Arc::new(TimeSampling::default()));
        max_samples.push(0);
    }
    Ok((times, max_samples))
}

fn read_metadata_table(source: &Source, root: &Group) -> Result<Vec<Arc<Metadata>>> {
    let block = root.block(source, 5)?;
    let bytes = block.read_all(source)?;
    let mut cursor = Cursor::new(&bytes, block.offset);
    let mut table = vec![Arc::new(Metadata::new())];
    while !cursor.is_at_end() && table.len() < usize::from(MetadataTable::INLINE) {
        let len = cursor.u8("a metadata length")?;
        let text = cursor.text(len.into(), "indexed metadata")?;
        table.push(Arc::new(Metadata::parse(&text)));
    }
    Ok(table)
}

impl Inner {
    /// Metadata named by an index byte, or following in place.
    pub(crate) fn metadata_at(
        &self,
        index: u8,
        cursor: &mut Cursor<'_>,
        hint: u32,
    ) -> Result<Arc<Metadata>> {
        if index == MetadataTable::INLINE {
            let len = cursor.hinted(hint, "a metadata length")?;
            let text = cursor.text(len as usize, "metadata")?;
            return Ok(Arc::new(Metadata::parse(&text)));
        }
        let known = self.metadata_table.get(usize::from(index));
        known.cloned().ok_or_else(|| {
            Error::corrupt(cursor.offset(), format!("metadata {index} is not in the table"))
        })
    }
}

/// Reads the names of all objects, breadth first, without recursion.
fn read_objects(inner: &Inner, top: Group) -> Result<Vec<Node>> {
    let limit = inner.source.len() / 8;
    // Headers of different objects never share bytes, so together they fit in the file.
    let mut budget = inner.source.len();
    let mut nodes = vec![Node {
        name: "".into(),
        metadata: Arc::clone(&inner.metadata_table[0]),
        parent: None,
        children: Vec::new(),
        group: top,
        depth: 0,
        instance_of: None,
    }];
    let mut next = 0;
    while next < nodes.len() {
        let children = read_children(inner, &nodes[next], next as u32, &mut budget)?;
        if (nodes.len() + children.len()) as u64 > limit {
            return Err(Error::corrupt(nodes[next].group.offset, "objects contain each other"));
        }
        let first = nodes.len() as u32;
        nodes[next].children = (first..first + children.len() as u32).collect();
        nodes.extend(children);
        next += 1;
    }
    Ok(nodes)
}

fn read_children(inner: &Inner, node: &Node, index: u32, budget: &mut u64) -> Result<Vec<Node>> {
    let Group { offset, len } = node.group;
    if len < 2 {
        return Ok(Vec::new());
    }
    if node.depth >= MAX_DEPTH {
        return Err(Error::corrupt(offset, format!("objects nest deeper than {MAX_DEPTH}")));
    }
    let block = node.group.block(&inner.source, len - 1)?;
    let Some(left) = budget.checked_sub(block.len) else {
        return Err(Error::corrupt(block.offset, "object headers overlap"));
    };
    *budget = left;
    let mut bytes = block.read_all(&inner.source)?;
    // The last 32 bytes are digests of the properties and of the children.
    bytes.truncate(bytes.len().saturating_sub(32));
    let mut cursor = Cursor::new(&bytes, block.offset);
    let mut children = Vec::new();
    while !cursor.is_at_end() {
        let name_len = cursor.u32("the length of an object name")?;
        let name = cursor.text(name_len as usize, "an object name")?;
        if name.is_empty() {
            return Err(Error::corrupt(cursor.offset(), "an object without a name"));
        }
        let metadata_index = cursor.u8("the metadata index of an object")?;
        let metadata = inner.metadata_at(metadata_index, &mut cursor, 2)?;
        let group = node.group.group(&inner.source, children.len() as u64 + 1)?;
        let instance_of = instance_source(inner, &metadata, group)?;
        children.push(Node {
            name: name.into(),
            metadata,
            parent: Some(index),
            children: Vec::new(),
            group,
            depth: node.depth + 1,
            instance_of,
        });
    }
    Ok(children)
}

fn instance_source(inner: &Inner, metadata: &Metadata, group: Group) -> Result<Option<Arc<str>>> {
    if metadata.get("isInstance") != Some("1") {
        return Ok(None);
    }
    let properties = properties_of(inner, group)?;
    crate::read::property::read_first_text(inner, properties, ".instanceSource")
        .map(|text| Some(text.into()))
}

/// Gives every instance the schema, properties and (copied) children of its source.
fn expand_instances(inner: &mut Inner) -> Result<()> {
    let written = inner.nodes.len();
    let mut pending: Vec<usize> =
        (0..written).rev().filter(|&i| inner.nodes[i].instance_of.is_some()).collect();
    while let Some(instance) = pending.pop() {
        let target = inner.nodes[instance].instance_of.clone().unwrap_or_else(|| "".into());
        let result = match find(&inner.nodes, &target).filter(|&source| source < written) {
            None => Err("which is not in the archive"),
            Some(source) if inner.nodes[source].instance_of.is_some() => {
                Err("which is an instance itself")
            }
            Some(source) if is_ancestor(&inner.nodes, source, instance) => Err("which contains it"),
            Some(source) => copy_contents(inner, source, instance, written, &mut pending),
        };
        result.map_err(|reason| Error::BadInstance {
            object: path_of(&inner.nodes, instance),
            target: target.to_string(),
            reason,
        })?;
    }
    Ok(())
}

/// Copies what lies below `source` below `instance`; instances met on the way become `pending`.
fn copy_contents(
    inner: &mut Inner,
    source: usize,
    instance: usize,
    written: usize,
    pending: &mut Vec<usize>,
) -> std::result::Result<(), &'static str> {
    inner.nodes[instance].metadata = Arc::clone(&inner.nodes[source].metadata);
    inner.nodes[instance].group = inner.nodes[source].group;
    let room = MAX_INSTANCED.min(4096 + 4 * inner.source.len()) as usize;
    let mut work = vec![(source, instance)];
    while let Some((from, to)) = work.pop() {
        for child in inner.nodes[from].children.clone() {
            let (child, copy) = (child as usize, inner.nodes.len());
            if copy - written >= room || inner.nodes[to].depth >= MAX_DEPTH {
                return Err("with more contents than can be expanded");
            }
            let original = &inner.nodes[child];
            let node = Node {
                name: Arc::clone(&original.name),
                metadata: Arc::clone(&original.metadata),
                parent: Some(to as u32),
                children: Vec::new(),
                group: original.group,
                depth: inner.nodes[to].depth + 1,
                instance_of: original.instance_of.clone(),
            };
            if node.instance_of.is_some() {
                pending.push(copy)
            } else {
                work.push((child, copy))
            }
            inner.nodes.push(node);
            inner.nodes[to].children.push(copy as u32);
        }
    }
    Ok(())
}

fn find(nodes: &[Node], path: &str) -> Option<usize> {
    path.split('/').filter(|name| !name.is_empty()).try_fold(0, |at, name| {
        let mut children = nodes[at].children.iter().map(|&child| child as usize);
        children.find(|&child| &*nodes[child].name == name)
    })
}

fn is_ancestor(nodes: &[Node], ancestor: usize, of: usize) -> bool {
    let mut at = Some(of as u32);
    while let Some(index) = at {
        if index as usize == ancestor {
            return true;
        }
        at = nodes[index as usize].parent;
    }
    false
}

fn path_of(nodes: &[Node], index: usize) -> String {
    let mut names = Vec::new();
    let mut at = Some(index as u32);
    while let Some(index) = at {
        names.push(&*nodes[index as usize].name);
        at = nodes[index as usize].parent;
    }
    names.reverse();
    names.join("/")
}

/// Levenshtein distance of two short texts.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
