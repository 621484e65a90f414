//! Places in a scene file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A stretch of the scene's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes of the text.
    pub span: Range<usize>,
}

/// What a message is about: a file, a key, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The scene file.
    pub file: PathBuf,
    /// Dotted key, for example `emitter[0].box.min`; empty for the file as a whole.
    pub key: String,
    /// Where in the text, if the message is about a part of it.
    pub place: Option<Place>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(place) = &self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        Ok(())
    }
}

/// The text of a scene file and the place of every key that was found in it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    file: PathBuf,
    text: String,
    keys: BTreeMap<String, Range<usize>>,
}

impl Source {
    /// A file of which nothing but the text is known yet.
    pub fn new(file: &Path, text: String) -> Self {
        Self { file: file.to_owned(), text, keys: BTreeMap::new() }
    }

    /// The scene file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Remembers where the value of a dotted key stands.
    pub fn record(&mut self, key: &str, span: Range<usize>) {
        self.keys.insert(key.to_owned(), span);
    }

    /// The location of a dotted key; a key that is absent stands where its section does.
    pub fn locate(&self, key: &str) -> Location {
        let mut known = key;
        let span = loop {
            if let Some(span) = self.keys.get(known) {
                break Some(span.clone());
            }
            match known.rfind(['.', '[']) {
                Some(end) => known = &known[..end],
                None => break None,
            }
        };
        self.location(key, span)
    }

    /// The location of a key whose place is known, or of the whole file.
    pub fn location(&self, key: &str, span: Option<Range<usize>>) -> Location {
        let place = span.map(|span| self.place(span));
        Location { file: self.file.clone(), key: key.to_owned(), place }
    }

    fn place(&self, span: Range<usize>) -> Place {
        let start = floor_to_char(&self.text, span.start);
        let end = floor_to_char(&self.text, span.end).max(start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span: start..end,
        }
    }
}

fn floor_to_char(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_survive_any_span() {
        let source = Source::new(Path::new("a.toml"), "ä = 1\nöß = 2\n".into());
        let place = source.place(9..11);
        assert_eq!((place.line, place.column), (2, 2));
        let beyond = source.place(100..200);
        assert_eq!((beyond.line, beyond.column), (3, 1));
    }

    #[test]
    fn an_absent_key_stands_where_its_section_does() {
        let mut source = Source::new(Path::new("a.toml"), "[domain]\nmin = 1\n".into());
        source.record("domain", 0..8);
        let at = source.locate("domain.cell_size");
        assert_eq!(at.place.as_ref().map(|p| p.line), Some(1));
        assert_eq!(at.to_string(), "a.toml:1:1: domain.cell_size");
    }
}
