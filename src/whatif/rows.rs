//! Rows of a study: CSV or JSON lines, written and read back.
//!
//! A row begins with its key (number, subject, target, figures), which says what was timed and is
//! known before it is; what follows is the result. Rows of a shard end in a mark that names the
//! shard and the size of the whole.

use super::shard::Shard;
use super::study::{Point, Study};
use super::survey::{self, Outcome};
use super::timer::Measured;
use ptoemu_core::stream::Pipe;
use std::fmt::Write as _;
use std::path::Path;

/// Pipes with a column of their own.
pub const PIPES: [Pipe; 4] = [Pipe::S, Pipe::V, Pipe::Mte2, Pipe::Mte3];

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One line of names, one line a row.
    Csv,
    /// One object a line.
    Json,
}

impl Format {
    /// By the ending of a file: `.json`, `.jsonl` and `.ndjson` are JSON lines, those of other known
    /// formats are refused, all else is CSV.
    pub fn of(path: &Path) -> anyhow::Result<Format> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref().unwrap_or("") {
            "json" | "jsonl" | "ndjson" => Ok(Format::Json),
            "parquet" | "pq" => anyhow::bail!(
                "{}: rows are written as CSV or JSON lines; write FILE.csv and convert it:\n  \
                 duckdb -c \"COPY 'FILE.csv' TO 'FILE.parquet'\"\n  \
                 python3 -c \"import pandas; pandas.read_csv('FILE.csv').to_parquet('FILE.parquet')\"",
                path.display()
            ),
            other @ ("arrow" | "feather" | "xlsx" | "xls" | "ods" | "db" | "html" | "gz"
            | "zst") => {
                let why = "rows are written as CSV or JSON lines: give a name in .csv or .jsonl";
                anyhow::bail!("{}: no .{other} is written; {why}", path.display())
            }
            _ => Ok(Format::Csv),
        }
    }
}

/// Writes the rows of one study.
pub struct Rows<'s> {
    study: &'s Study,
    format: Format,
    /// Path of every figure as a CSV field or a JSON name.
    figures: Vec<String>,
    mark: Option<String>,
}

impl<'s> Rows<'s> {
    /// Rows of `shard` of a study.
    pub fn new(study: &'s Study, format: Format, shard: Shard) -> Rows<'s> {
        let name = |path: &str| match format {
            Format::Csv => field(path),
            Format::Json => text(path),
        };
        let figures = study.grid.paths().into_iter().map(name).collect();
        Rows { study, format, figures, mark: shard.mark(study.len().unwrap_or(0)) }
    }

    /// What stands before the first row.
    pub fn header(&self) -> String {
        if self.format == Format::Json {
            return String::new();
        }
        let mut out = "point,kernel,shape,target".to_string();
        for f in &self.figures {
            let _ = write!(out, ",{f}");
        }
        out.push_str(",cycles,time_us");
        for p in PIPES {
            let _ = write!(out, ",busy_{}", p.short());
        }
        out.push_str(",bound,fault");
        if self.mark.is_some() {
            out.push_str(",shard");
        }
        out.push('\n');
        out
    }

    /// The key of a row, up to where the result begins.
    pub fn key(&self, point: &Point, out: &mut String) {
        let subject = self.study.subjects.get(point.subject);
        let (kernel, shape) = subject.map_or(("", ""), |s| (&s.name, &s.shape));
        let target = self.study.targets.get(point.target).map_or("", |t| &t.name);
        let figures = self.figures.iter().zip(&point.values);
        match self.format {
            Format::Csv => {
                let _ = write!(out, "{},{}", point.number, field(kernel));
                let _ = write!(out, ",{},{}", field(shape), field(target));
                for (_, v) in figures {
                    let _ = write!(out, ",{v}");
                }
                out.push(',');
            }
            Format::Json => {
                let _ = write!(out, "{{\"point\":{},\"kernel\":{}", point.number, text(kernel));
                let _ = write!(out, ",\"shape\":{},\"target\":{}", text(shape), text(target));
                for (name, v) in figures {
                    let _ = write!(out, ",{name}:{v}");
                }
                out.push_str(",\"cycles\":");
            }
        }
    }

    /// A whole row with its line end.
    pub fn row(&self, point: &Point, m: &Measured, out: &mut String) {
        self.key(point, out);
        match self.format {
            Format::Csv => self.csv(m, out),
            Format::Json => self.json(m, out),
        }
    }

    fn csv(&self, m: &Measured, out: &mut String) {
        match &m.fault {
            None => {
                let _ = write!(out, "{},{}", m.cycles, micros(m.time_us));
                for p in PIPES {
                    let _ = write!(out, ",{}", m.busy[p as usize]);
                }
                let _ = write!(out, ",{},", m.bound);
            }
            Some(why) => {
                let _ = write!(out, ",{}{}", ",".repeat(PIPES.len() + 2), field(why));
            }
        }
        if let Some(mark) = &self.mark {
            let _ = write!(out, ",{mark}");
        }
        out.push('\n');
    }

    fn json(&self, m: &Measured, out: &mut String) {
        match &m.fault {
            None => {
                let _ = write!(out, "{},\"time_us\":{}", m.cycles, micros(m.time_us));
                for p in PIPES {
                    let _ = write!(out, ",\"busy_{}\":{}", p.short(), m.busy[p as usize]);
                }
                let _ = write!(out, ",\"bound\":\"{}\",\"fault\":null", m.bound);
            }
            Some(why) => {
                out.push_str("null,\"time_us\":null");
                for p in PIPES {
                    let _ = write!(out, ",\"busy_{}\":null", p.short());
                }
                let _ = write!(out, ",\"bound\":null,\"fault\":{}", text(why));
            }
        }
        if let Some(mark) = &self.mark {
            let _ = write!(out, ",\"shard\":\"{mark}\"");
        }
        out.push_str("}\n");
    }

    /// Result of a row that begins with `key`: nothing inside where the row has a fault, nothing
    /// outside if it is another row.
    pub fn outcome(&self, line: &str, key: &str) -> Option<Outcome> {
        let rest = line.strip_prefix(key)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let Some(cycles) = rest.get(..digits).and_then(|d| d.parse().ok()) else {
            return Some(None);
        };
        let bound = match self.format {
            Format::Csv => rest.split(',').nth(PIPES.len() + 2),
            Format::Json => rest.split_once("\"bound\":\"").and_then(|r| r.1.split('"').next()),
        };
        Some(Some((cycles, survey::resource(bound.unwrap_or("")))))
    }
}

/// Microseconds to the picosecond.
fn micros(v: f64) -> f64 {
    let scaled = v * 1e6;
    if scaled.abs() < 9e15 { scaled.round() / 1e6 } else { v }
}

/// A CSV field, quoted where it must be.
fn field(s: &str) -> String {
    if s.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", s.replace('"', "\"\""))
    } else {
        s.to_string()
    }
}

/// A JSON string.
fn text(s: &str) -> String {
    serde_json::Value::from(s).to_string()
}
