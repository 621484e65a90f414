//! Metadata: short `key=value` pairs attached to archives, objects and properties.

use std::collections::BTreeMap;

/// Sorted `key=value` pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata(BTreeMap<String, String>);

impl Metadata {
    /// Empty metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses `key=value;key=value`. Fields without `=` are skipped.
    pub fn parse(text: &str) -> Self {
        let fields = text.split(';').filter_map(|field| field.split_once('='));
        Self(fields.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Sets `key`; `;` and `=` cannot be stored and become `_`.
    pub fn set(&mut self, key: &str, value: &str) -> &mut Self {
        let clean = |text: &str| text.replace([';', '='], "_");
        self.0.insert(clean(key), clean(value));
        self
    }

    /// Same as [`Metadata::set`], for building in one expression.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.set(key, value);
        self
    }

    /// All pairs in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The stored form.
    pub(crate) fn serialize(&self) -> String {
        let fields: Vec<String> =
            self.iter().map(|(key, value)| format!("{key}={value}")).collect();
        fields.join(";")
    }
}

/// The archive's table of metadata strings, which headers name by one byte.
#[derive(Debug, Default)]
pub(crate) struct MetadataTable(Vec<String>);

impl MetadataTable {
    /// Index byte that says "the text follows in place".
    pub(crate) const INLINE: u8 = 255;

    /// Index of `text`; adds it where there is room, or returns [`Self::INLINE`].
    pub(crate) fn index(&mut self, text: &str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        if text.len() > 255 {
            return Self::INLINE;
        }
        if let Some(known) = self.0.iter().position(|entry| entry == text) {
            return known as u8 + 1;
        }
        if self.0.len() >= 254 {
            return Self::INLINE;
        }
        self.0.push(text.to_owned());
        self.0.len() as u8
    }

    /// The stored form: each text behind its length byte.
    pub(crate) fn serialize(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in &self.0 {
            bytes.push(text.len() as u8);
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_survive_serialization_in_key_order() {
        let metadata = Metadata::new().with("schema", "A").with("a", "1;2=3");
        assert_eq!(metadata.serialize(), "a=1_2_3;schema=A");
        assert_eq!(Metadata::parse(&metadata.serialize()), metadata);
        assert_eq!(metadata.get("schema"), Some("A"));
    }

    #[test]
    fn table_gives_each_text_one_index_and_overflows_inline() {
        let mut table = MetadataTable::default();
        assert_eq!(table.index(""), 0);
        for i in 0..254 {
            assert_eq!(table.index(&format!("k={i}")), i as u8 + 1);
        }
        assert_eq!(table.index("k=0"), 1);
        assert_eq!(table.index("one more"), MetadataTable::INLINE);
        assert_eq!(table.index(&"x".repeat(256)), MetadataTable::INLINE);
    }
}
