//! The word that was probably meant.

/// The candidate that is nearest to `word` by edit distance, if it is near enough to be meant.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let word = word.to_lowercase();
    let tolerance = 1 + word.chars().count() / 3;
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_and_refuses_strangers() {
        let keys = ["cell_size", "resolution", "min", "max", "open"];
        assert_eq!(nearest("cellsize", keys).as_deref(), Some("cell_size"));
        assert_eq!(nearest("Resolutoin", keys).as_deref(), Some("resolution"));
        assert_eq!(nearest("viscosity", keys), None);
        assert_eq!(nearest("", []), None);
    }
}
