//! What a misspelt name was probably meant to be.

/// The candidate closest to a misspelt name, if one is close.
pub(super) fn similar<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let near = candidates.map(|c| (distance(name, c), c)).min()?;
    (near.0 <= name.len() / 3).then_some(near.1)
}

/// Letters to insert, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
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
