//! Draws diagnostics: message, caret at every place, facts, the way out.

use annotate_snippets::{AnnotationKind, Group, Level as L, Renderer, Snippet};
use ptoemu_core::diag::{Diagnostic, Label, Level, SourceFile};
use std::sync::Arc;

/// Longest line of a source shown whole; longer ones are cut around the caret by the renderer.
const WIDTH: usize = 140;

/// One diagnostic as text, without colours unless asked for.
pub fn render(d: &Diagnostic, colour: bool) -> String {
    let level = match d.level {
        Level::Error => L::ERROR,
        Level::Warning => L::WARNING,
        Level::Note => L::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(d.message.as_str()).id(d.code));
    let files = by_file(&d.labels);
    for (file, labels) in &files {
        let mut snippet = Snippet::source(file.text.as_str()).path(file.name.as_str()).fold(true);
        for (i, label) in labels {
            let kind = if *i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let span = clamp(&file.text, label);
            let mut a = kind.span(span);
            if !label.text.is_empty() {
                a = a.label(label.text.as_str());
            }
            snippet = snippet.annotation(a);
        }
        group = group.element(snippet);
    }
    for note in &d.notes {
        group = group.element(L::NOTE.message(note.as_str()));
    }
    if let Some(help) = &d.help {
        group = group.element(L::HELP.message(help.as_str()));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let text = renderer.term_width(WIDTH).render(&[group]);
    if d.labels.is_empty() { without_gutter(&text) } else { text }
}

/// Without places there is nothing the empty line beside the source could separate.
fn without_gutter(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| plain(line).trim() != "|").collect();
    lines.join("\n")
}

/// A line without its colours.
fn plain(line: &str) -> String {
    let mut parts = line.split('\x1b');
    let first = parts.next().unwrap_or("").to_string();
    parts.fold(first, |out, p| out + p.split_once('m').map_or("", |(_, rest)| rest))
}

/// The labels of one file, each with its position among all.
type OfFile<'d> = (Arc<SourceFile>, Vec<(usize, &'d Label)>);

/// Labels grouped by file in order of first use.
fn by_file(labels: &[Label]) -> Vec<OfFile<'_>> {
    let mut out: Vec<OfFile<'_>> = Vec::new();
    for (i, l) in labels.iter().enumerate() {
        match out.iter_mut().find(|(f, _)| Arc::ptr_eq(f, &l.file) || **f == *l.file) {
            Some((_, list)) => list.push((i, l)),
            None => out.push((l.file.clone(), vec![(i, l)])),
        }
    }
    out
}

/// A span that lies in the text, on character boundaries, and covers one line at most.
fn clamp(text: &str, label: &Label) -> std::ops::Range<usize> {
    let mut start = (label.span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    let mut end = (label.span.end as usize).clamp(start, line_end);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptoemu_core::diag::Span;

    #[test]
    fn shows_place_fact_and_way_out() {
        let file = SourceFile::new("k.pto", "line one\n%y = pto.tadd %x\n");
        let d = Diagnostic::error("lower.undefined_value", "use of undefined value %x")
            .at(&file, Span::new(23, 25), "")
            .note("a fact")
            .help("define it");
        let text = render(&d, false);
        for part in
            ["error[lower.undefined_value]: use of", "k.pto:2:15", "^^", "a fact", "define it"]
        {
            assert!(text.contains(part), "{part:?} not in\n{text}");
        }
    }

    #[test]
    fn without_places_no_gutter() {
        let d = Diagnostic::error("legality.type", "wrong").note("a fact").help("another type");
        let text = render(&d, false);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.starts_with("error[legality.type]: wrong\n"), "{text}");
        assert_eq!(render(&d, true).lines().count(), 3);
    }

    #[test]
    fn spans_beyond_the_text_are_cut() {
        let file = SourceFile::new("k.pto", "é");
        let d = Diagnostic::error("x", "m").at(&file, Span::new(1, 900), "here");
        assert!(render(&d, false).contains("k.pto"));
    }
}
