//! One self-contained html document: no network, no framework, the same bytes every time.
//!
//! A [`Page`] is filled from top to bottom and turned into text at the end:
//!
//! ```
//! use ptoemu_traces::page::{Cell, Column, Page, Table};
//! use ptoemu_traces::page::plot::{self, Axis, Series};
//!
//! let mut page = Page::new("Barriers on softmax");
//! page.lead("What a barrier costs, by its drain.");
//! page.facts(&[("target", "a3".to_string()), ("points", "13".to_string())]);
//! page.section("curve", "Cycles by drain");
//! let points = vec![(0.0, 700.0), (6.0, 730.0), (12.0, 760.0)];
//! let series = [Series::new("softmax", points)];
//! page.figure(&plot::lines("Cycles by drain", &Axis::new("drain"), &Axis::new("cycles"), &series), "");
//! page.section("table", "All points");
//! let mut table = Table::new("points", [Column::text("kernel"), Column::number("cycles")]);
//! table.row([Cell::text("softmax"), Cell::count(700)]);
//! page.table(&table);
//! page.command("ptoemu whatif softmax.pto -v a3 --set drain=0..12");
//! let html = page.finish();
//! # assert!(html.starts_with("<!doctype html>") && html.contains("<td>softmax</td>"));
//! ```
//!
//! * Text that comes from outside goes through [`Page::text`], [`Page::lead`], [`Cell::text`] and
//!   the like, which escape it; [`Page::html`] and [`Cell::html`] take markup as it is, so escape
//!   what goes into it with [`escape`].
//! * [`Table`] becomes a table whose headings sort it and, from [`Table::FILTERED`] rows on, with a
//!   field that filters it; [`Table::rest`] says what was left out.
//! * [`plot`] draws bars, lines, heat maps and tornados as SVG. [`plot::Plot::standalone`] is the
//!   same picture as a file of its own.
//! * [`Page::switch`] offers alternatives; parts between [`Page::view`] and [`Page::end_view`] show
//!   only while theirs is chosen.
//! * [`Page::data`] embeds JSON for a script added with [`Page::script`]; the script reads it with
//!   `ptoemu.data(id)`, takes colours from `ptoemu.colour("c0")` and redraws when called back
//!   through `ptoemu.redraw`. [`Page::style`] adds style sheets.
//!
//! Colours follow light and dark through the variables `--bg --card --fg --soft --line --link
//! --mark --c0`..`--c7` of `page.css`. Nothing may depend on a script to be read: without one,
//! tables do not sort and all views show.

pub mod plot;
mod table;

pub use table::{Cell, Column, Table, grouped};

use serde::Serialize;
use std::fmt::Write;

const CSS: &str = include_str!("page.css");
const PLOT_CSS: &str = include_str!("plot.css");
const JS: &str = include_str!("page.js");

/// Nothing is loaded from anywhere, whatever the page holds.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Text as html shows it, in content and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters are no part of html.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// JSON that no html reader takes for the end of its script element.
fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A document under construction.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    head: String,
    body: String,
    sections: Vec<(String, String)>,
    styles: Vec<&'static str>,
    data: String,
    scripts: Vec<&'static str>,
}

impl Page {
    /// A page with this title.
    pub fn new(title: &str) -> Page {
        Page {
            title: title.to_string(),
            head: String::new(),
            body: String::new(),
            sections: Vec::new(),
            styles: Vec::new(),
            data: String::new(),
            scripts: Vec::new(),
        }
    }

    /// What the page is about, below its title.
    pub fn lead(&mut self, text: &str) {
        let _ = write!(self.head, "<p class=\"lead\">{}</p>", escape(text));
    }

    /// Starts a section. `id` is its anchor: letters, digits and `-`.
    pub fn section(&mut self, id: &str, title: &str) {
        self.sections.push((id.to_string(), title.to_string()));
        let _ = write!(self.body, "\n<h2 id=\"{}\">{}</h2>\n", escape(id), escape(title));
    }

    /// A heading inside a section.
    pub fn heading(&mut self, title: &str) {
        let _ = write!(self.body, "\n<h3>{}</h3>\n", escape(title));
    }

    /// A paragraph.
    pub fn text(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// A paragraph in small print; none if it is empty.
    pub fn note(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", escape(text));
    }

    /// Markup as it is.
    pub fn html(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    /// A few names with their values, as tiles.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        self.body.push_str("<dl class=\"facts\">");
        for (name, value) in facts {
            let (name, value) = (escape(name), escape(value));
            let _ = write!(self.body, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        self.body.push_str("</dl>\n");
    }

    /// A command to type.
    pub fn command(&mut self, line: &str) {
        let _ = writeln!(self.body, "<pre class=\"command\"><code>{}</code></pre>", escape(line));
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        table.write(&mut self.body);
    }

    /// A picture with a caption; an empty caption is left out.
    pub fn figure(&mut self, plot: &plot::Plot, caption: &str) {
        self.body.push_str("<figure><div class=\"scroll\" tabindex=\"0\" role=\"group\" ");
        let _ = write!(self.body, "aria-label=\"{}\">", escape(plot.title()));
        self.body.push_str(plot.inline());
        self.body.push_str("</div>");
        if !caption.is_empty() {
            let _ = write!(self.body, "<figcaption>{}</figcaption>", escape(caption));
        }
        self.body.push_str("</figure>\n");
    }

    /// Pictures side by side where there is room.
    pub fn gallery<'p>(&mut self, plots: impl IntoIterator<Item = &'p plot::Plot>) {
        self.body.push_str("<div class=\"gallery\">");
        plots.into_iter().for_each(|p| self.figure(p, ""));
        self.body.push_str("</div>\n");
    }

    /// A choice between views: name of the group (lower-case letters), what it chooses, and the
    /// choices as value and label. The first is chosen.
    pub fn switch(&mut self, name: &str, legend: &str, choices: &[(String, String)]) {
        let (name, legend) = (escape(name), escape(legend));
        let _ = write!(
            self.body,
            "<fieldset class=\"switch\" data-name=\"{name}\"><legend>{legend}</legend>"
        );
        for (i, (value, label)) in choices.iter().enumerate() {
            let on = if i == 0 { " checked" } else { "" };
            let (value, label) = (escape(value), escape(label));
            let _ = write!(
                self.body,
                "<label><input type=\"radio\" name=\"{name}\" value=\"{value}\"{on}>{label}</label>"
            );
        }
        self.body.push_str("</fieldset>\n");
    }

    /// Starts a part that shows while `value` is chosen in the switch `name`.
    pub fn view(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.body, "<div data-{}=\"{}\">", escape(name), escape(value));
    }

    /// Ends it.
    pub fn end_view(&mut self) {
        self.body.push_str("</div>\n");
    }

    /// Embeds data under an id for the scripts of the page.
    pub fn data<T: Serialize>(&mut self, id: &str, data: &T) -> Result<(), serde_json::Error> {
        let json = embedded(&serde_json::to_string(data)?);
        let id = escape(id);
        let _ =
            writeln!(self.data, "<script type=\"application/json\" id=\"{id}\">{json}</script>");
        Ok(())
    }

    /// Adds a style sheet of the project.
    pub fn style(&mut self, css: &'static str) {
        self.styles.push(css);
    }

    /// Adds a script of the project; it runs once the page is there.
    pub fn script(&mut self, js: &'static str) {
        self.scripts.push(js);
    }

    /// The document.
    pub fn finish(&self) -> String {
        let title = escape(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <title>{title}</title>\n<style>\n{CSS}{PLOT_CSS}"
        );
        self.styles.iter().for_each(|s| out.push_str(s));
        let _ = write!(out, "</style>\n</head>\n<body>\n<header><h1>{title}</h1>{}", self.head);
        if self.sections.len() > 2 {
            out.push_str("<nav aria-label=\"Sections\"><ul>");
            for (id, title) in &self.sections {
                let _ = write!(out, "<li><a href=\"#{}\">{}</a></li>", escape(id), escape(title));
            }
            out.push_str("</ul></nav>");
        }
        let _ = write!(out, "</header>\n<main>{}</main>\n{}", self.body, self.data);
        let _ = write!(out, "<script>\n{JS}</script>\n");
        for s in &self.scripts {
            let _ = write!(out, "<script>\n{s}</script>\n");
        }
        out.push_str("</body>\n</html>\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let evil = "</script><script>alert('1')</script>\u{0}";
        let mut page = Page::new(evil);
        page.lead(evil);
        page.section("a", evil);
        page.text(evil);
        page.facts(&[("n", evil.to_string())]);
        page.command(evil);
        page.data("d", &[evil]).expect("JSON");
        let html = page.finish();
        assert_eq!(html.matches("<script").count(), 2, "the data and page.js");
        assert!(!html.contains("<script>alert") && !html.contains('\u{0}'));
        let json = html.split("id=\"d\">").nth(1).and_then(|t| t.split("</script>").next());
        let back: Vec<String> = serde_json::from_str(json.expect("data")).expect("JSON");
        assert_eq!(back, [evil]);
    }

    #[test]
    fn the_shell_refers_to_nothing_outside() {
        let html = Page::new("x").finish();
        for part in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!html.contains(part), "{part}");
        }
        assert_eq!(html, Page::new("x").finish());
    }
}
