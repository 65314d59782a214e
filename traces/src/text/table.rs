//! Plain-text tables.

/// Appends rows of cells, columns padded to their widest cell; all but the columns in `left` to
/// the right.
pub(crate) fn table(out: &mut String, left: &[usize], rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width: Vec<usize> = (0..columns)
        .map(|c| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(width[c].saturating_sub(cell.chars().count()));
            if c > 0 {
                line.push_str("  ");
            }
            if left.contains(&c) {
                line.push_str(cell);
                line.push_str(&pad);
            } else {
                line.push_str(&pad);
                line.push_str(cell);
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// A share in per cent with one place.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}
