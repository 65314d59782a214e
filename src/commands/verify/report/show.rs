//! The report on a screen and as JUnit.

use super::super::{print_line, say};
use super::{Finding, OpReport, Report};
use crate::commands::output::table;
use ptoemu_core::diag::count;
use ptoemu_isa::verify::Tail;
use std::fmt::Write as _;
use std::io::IsTerminal;

impl OpReport {
    /// What was not exercised.
    fn missing(&self) -> String {
        let mut all = Vec::new();
        if !self.tails_missing.is_empty() {
            all.push(format!("not exercised: {}", self.tails_missing.join(", ")));
        }
        if !self.types_missing.is_empty() {
            all.push(format!("not emulated: {}", self.types_missing.join(", ")));
        }
        all.join("; ")
    }
}

impl Report {
    /// The screen.
    pub fn screen(&self) {
        let rows: Vec<Vec<String>> = self
            .ops
            .iter()
            .map(|o| {
                let missing = match o.cases {
                    0 => "not verified: no legal use was found".into(),
                    _ => o.missing(),
                };
                vec![
                    o.op.to_string(),
                    o.family.to_string(),
                    o.types.len().to_string(),
                    o.cases.to_string(),
                    o.refused.to_string(),
                    o.paths.to_string(),
                    format!("{}/{}", o.tails.len(), Tail::ALL.len()),
                    o.findings.to_string(),
                    missing,
                ]
            })
            .collect();
        let head =
            ["operation", "family", "types", "uses", "illegal", "paths", "tails", "findings", ""];
        print_line(&table(&head, &rows));
        if self.ops.len() == 1 {
            print_line("");
            print_line(&self.grid());
        }
        for f in &self.findings {
            print_line("");
            print_line(&f.show());
        }
        print_line("");
        let cut = if self.cut_short { ", cut short by --time" } else { "" };
        print_line(&format!(
            "microcode {}, seed {}: {}, {} different, {}{cut}",
            self.microcode,
            self.seed,
            count(self.cases, "use"),
            self.distinct,
            count(self.findings.len() as u64, "finding")
        ));
        if std::io::stderr().is_terminal() {
            let rate = self.cases as f64 / self.seconds.max(0.1);
            say(&format!("{:.1} s, {rate:.0} uses a second", self.seconds));
        }
    }

    /// Paths and masks against the classes of the columns.
    fn grid(&self) -> String {
        let mut head = vec!["type", "path", "mask"];
        head.extend(Tail::ALL.map(Tail::name));
        let rows: Vec<Vec<String>> = self
            .coverage
            .iter()
            .map(|c| {
                let counts = Tail::ALL
                    .map(|t| c.tails.get(t.name()).map_or("-".to_string(), u64::to_string));
                let names: Vec<&str> = c.path.split(' ').collect();
                let path = match names.len() {
                    0..=6 => c.path.clone(),
                    n => format!("{} ... {} more", names[..5].join(" "), n - 5),
                };
                [c.types.clone(), path, c.mask.clone()].into_iter().chain(counts).collect()
            })
            .collect();
        table(&head, &rows)
    }

    /// A test case per operation and family.
    pub fn junit(&self) -> String {
        let failed = self.ops.iter().filter(|o| o.findings > 0).count();
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ptoemu verify {}\" \
             tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">\n",
            escape(&self.microcode),
            self.ops.len()
        );
        for o in &self.ops {
            let _ = write!(out, "  <testcase classname=\"{}\" name=\"{}\"", o.family, o.op);
            let of = |f: &&Finding| f.op == o.op && f.family == o.family;
            if o.findings == 0 {
                out.push_str("/>\n");
                continue;
            }
            out.push_str(">\n");
            for f in self.findings.iter().filter(of) {
                let first = f.faults.first().map_or("", |x| x.message.as_str());
                let _ = writeln!(
                    out,
                    "    <failure message=\"{}\">{}</failure>",
                    escape(first),
                    escape(&f.show())
                );
            }
            out.push_str("  </testcase>\n");
        }
        out.push_str("</testsuite>\n");
        out
    }
}

impl Finding {
    /// A few lines.
    fn show(&self) -> String {
        let mut out = format!("{}\n", self.title());
        for f in &self.faults {
            let line = f.line.map_or(String::new(), |l| format!(" (line {l})"));
            let _ = writeln!(out, "  {}{line}: {}", f.code, f.message);
            if let Some(help) = &f.help {
                let _ = writeln!(out, "    help: {help}");
            }
        }
        if !self.settings.is_empty() {
            let _ = writeln!(out, "  with {}", self.settings.join(", "));
        }
        if let Some(q) = &self.quirk {
            let _ = writeln!(out, "  {}: {}", q.name, q.about);
            let _ = writeln!(out, "  repair: {}", q.repair);
        }
        let types = self.types.join(" ");
        let _ = write!(out, "  met {} times, types {types}; replay: {}", self.count, self.replay);
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
