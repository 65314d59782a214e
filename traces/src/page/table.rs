//! Tables that sort and filter.

use super::escape;
use std::fmt::Write;

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    number: bool,
}

impl Column {
    /// Of text.
    pub fn text(name: &str) -> Column {
        Column { name: name.to_string(), number: false }
    }

    /// Of numbers: to the right, largest first when sorted.
    pub fn number(name: &str) -> Column {
        Column { name: name.to_string(), number: true }
    }
}

/// A cell: markup, and the number it sorts by.
#[derive(Clone, Debug)]
pub struct Cell {
    markup: String,
    value: Option<f64>,
}

impl Cell {
    /// Nothing.
    pub fn empty() -> Cell {
        Cell::text("")
    }

    /// Text.
    pub fn text(text: &str) -> Cell {
        Cell { markup: escape(text), value: None }
    }

    /// Text in the letters of code.
    pub fn code(text: &str) -> Cell {
        Cell { markup: format!("<code>{}</code>", escape(text)), value: None }
    }

    /// A link to an anchor of the page, with its `#`.
    pub fn link(text: &str, to: &str) -> Cell {
        Cell {
            markup: format!("<a href=\"{}\"><code>{}</code></a>", escape(to), escape(text)),
            value: None,
        }
    }

    /// A count.
    pub fn count(n: u64) -> Cell {
        Cell { markup: grouped(n), value: Some(n as f64) }
    }

    /// A change: with its sign.
    pub fn change(n: i64) -> Cell {
        let sign = match n {
            0 => "",
            1.. => "+",
            _ => "\u{2212}",
        };
        Cell { markup: format!("{sign}{}", grouped(n.unsigned_abs())), value: Some(n as f64) }
    }

    /// A number with so many decimals; what is no number stays empty.
    pub fn number(v: f64, decimals: usize) -> Cell {
        if !v.is_finite() {
            return Cell::empty();
        }
        Cell { markup: format!("{v:.decimals$}"), value: Some(v) }
    }

    /// A share of one as a percentage.
    pub fn share(part: f64) -> Cell {
        if !part.is_finite() {
            return Cell::empty();
        }
        Cell { markup: format!("{:.1}%", 100.0 * part), value: Some(part) }
    }

    /// Markup as it is, with the number it sorts by.
    pub fn html(markup: String, value: Option<f64>) -> Cell {
        Cell { markup, value: value.filter(|v| v.is_finite()) }
    }
}

/// Digits in groups of three.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    id: String,
    caption: String,
    columns: Vec<Column>,
    rows: Vec<(Option<String>, Vec<Cell>)>,
    left: String,
}

impl Table {
    /// Rows from which on a table can be filtered.
    pub const FILTERED: usize = 8;
    /// Rows from which on a table scrolls in a window of its own.
    const TALL: usize = 24;

    /// A table; `id` is unique on its page: letters, digits and `-`.
    pub fn new(id: &str, columns: impl IntoIterator<Item = Column>) -> Table {
        Table {
            id: escape(id),
            caption: String::new(),
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            left: String::new(),
        }
    }

    /// The same with a caption.
    pub fn caption(mut self, text: &str) -> Table {
        self.caption = text.to_string();
        self
    }

    /// Adds a row; missing cells stay empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push((None, cells.into_iter().collect()));
    }

    /// Adds a row that links can lead to.
    pub fn anchored(&mut self, anchor: &str, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push((Some(escape(anchor)), cells.into_iter().collect()));
    }

    /// Says what the table leaves out.
    pub fn rest(&mut self, text: &str) {
        self.left = text.to_string();
    }

    /// No rows yet?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn write(&self, out: &mut String) {
        let (id, rows) = (&self.id, self.rows.len());
        if rows >= Table::FILTERED {
            let _ = write!(
                out,
                "<div class=\"tools\"><label>Filter <input type=\"search\" id=\"{id}-filter\" \
                 aria-controls=\"{id}\"></label><span class=\"count\" id=\"{id}-count\" \
                 aria-live=\"polite\">{rows} rows</span></div>"
            );
        }
        let tall = if rows >= Table::TALL { " tall" } else { "" };
        let name = if self.caption.is_empty() { "table" } else { &self.caption };
        let _ = write!(
            out,
            "<div class=\"scroll{tall}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
             <table class=\"sorts\" id=\"{id}\">",
            escape(name)
        );
        if !self.caption.is_empty() {
            let _ = write!(out, "<caption>{}</caption>", escape(&self.caption));
        }
        out.push_str("<thead><tr>");
        for c in &self.columns {
            let class = if c.number { " class=\"number\"" } else { "" };
            let name = escape(&c.name);
            let _ = write!(
                out,
                "<th scope=\"col\"{class}><button type=\"button\">{name}</button></th>"
            );
        }
        out.push_str("</tr></thead><tbody>\n");
        self.rows.iter().for_each(|r| self.write_row(r, out));
        out.push_str("</tbody></table></div>\n");
        if !self.left.is_empty() {
            let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&self.left));
        }
    }

    fn write_row(&self, (anchor, cells): &(Option<String>, Vec<Cell>), out: &mut String) {
        match anchor {
            Some(a) => {
                let _ = write!(out, "<tr id=\"{a}\">");
            }
            None => out.push_str("<tr>"),
        }
        for (i, c) in self.columns.iter().enumerate() {
            out.push_str(if c.number { "<td class=\"number\"" } else { "<td" });
            if let Some(v) = cells.get(i).and_then(|c| c.value) {
                let _ = write!(out, " data-v=\"{v}\"");
            }
            out.push('>');
            out.push_str(cells.get(i).map_or("", |c| &c.markup));
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_groups() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(n), text);
        }
        assert_eq!(Cell::change(-1500).markup, "\u{2212}1,500");
        assert_eq!(Cell::number(f64::NAN, 1).markup, "");
    }

    #[test]
    fn rows_may_be_short_and_long_tables_filter() {
        let mut t = Table::new("t", [Column::text("a"), Column::number("b")]);
        for i in 0..Table::FILTERED as u64 {
            t.row([Cell::count(i)]);
        }
        let mut out = String::new();
        t.write(&mut out);
        assert_eq!(out.matches("<td").count(), 2 * Table::FILTERED);
        assert!(out.contains("t-filter"));
    }
}
