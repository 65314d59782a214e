//! What a misspelt name was probably meant to be.

/// The candidate closest to a misspelt name, if one is close.
pub fn similar<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = candidates.map(|c| (distance(name, c), c)).min()?;
    (near.0 <= name.len() / 3).then_some(near.1)
}

/// Bytes to insert, drop or change; names beyond 64 bytes are like nothing.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_only() {
        let names = ["repeat", "dst_rep", "src0_rep"];
        assert_eq!(similar("repeats", names.into_iter()), Some("repeat"));
        assert_eq!(similar("src_rep", names.into_iter()), Some("src0_rep"));
        assert_eq!(similar("mode", names.into_iter()), None);
        assert_eq!(similar("", names.into_iter()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
