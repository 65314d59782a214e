//! Plain-text tables.

/// Rows of cells, columns padded to their widest cell; numbers to the right.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut width: Vec<usize> = head.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (w, cell) in width.iter_mut().zip(row) {
            *w = (*w).max(cell.chars().count());
        }
    }
    let right: Vec<bool> = (0..head.len())
        .map(|c| {
            let cells = rows.iter().filter_map(|r| r.get(c)).filter(|s| !s.is_empty());
            let mut cells = cells.peekable();
            cells.peek().is_some() && cells.all(|s| numeric(s))
        })
        .collect();
    let line = |cells: &[String]| {
        let mut out = String::new();
        for (i, cell) in cells.iter().enumerate() {
            let pad = width.get(i).copied().unwrap_or(0).saturating_sub(cell.chars().count());
            if i > 0 {
                out.push_str("  ");
            }
            if right.get(i) == Some(&true) {
                out.push_str(&" ".repeat(pad));
                out.push_str(cell);
            } else {
                out.push_str(cell);
                out.push_str(&" ".repeat(pad));
            }
        }
        out.trim_end().to_string()
    };
    let head: Vec<String> = head.iter().map(|h| h.to_string()).collect();
    let mut lines = vec![line(&head)];
    lines.extend(rows.iter().map(|r| line(r)));
    lines.join("\n")
}

fn numeric(s: &str) -> bool {
    s.trim_end_matches(['%', 'x']).parse::<f64>().is_ok()
}

/// A share as a percentage.
pub(crate) fn percent(part: f64, whole: f64) -> String {
    if whole == 0.0 { "-".to_string() } else { format!("{:.1}%", 100.0 * part / whole) }
}

/// A number without needless zeros.
pub(crate) fn short(v: f64) -> String {
    let text = format!("{v:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right() {
        let rows = vec![vec!["vmax".into(), "7".into()], vec!["vcmax".into(), "123".into()]];
        assert_eq!(table(&["op", "cycles"], &rows), "op     cycles\nvmax        7\nvcmax     123");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            (short(7.0), short(2.125), percent(1.0, 0.0)),
            ("7".into(), "2.125".into(), "-".into())
        );
    }
}
