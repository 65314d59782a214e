//! A part of a study: cutting it, taking it up again, and joining the parts.

use super::rows::{Format, Rows};
use super::study::{Point, Study};
use super::survey::Outcome;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Part `index` of `count` of a study's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    pub index: u64,
    /// At least 1.
    pub count: u64,
}

impl Shard {
    /// The whole study.
    pub const ALL: Shard = Shard { index: 0, count: 1 };

    /// Its points: neighbours, so that a shard executes only the programs it times.
    pub fn range(self, points: u64) -> Range<u64> {
        let cut = |i: u64| {
            let at = u128::from(points) * u128::from(i) / u128::from(self.count.max(1));
            u64::try_from(at).unwrap_or(points)
        };
        cut(self.index)..cut(self.index + 1)
    }

    /// The shard of `count` that a point belongs to.
    fn holding(point: u64, count: u64, points: u64) -> Shard {
        let (n, all) = (u128::from(count), u128::from(points.max(1)));
        let after = ((u128::from(point) + 1) * n).div_ceil(all);
        Shard { index: u64::try_from(after).unwrap_or(count).saturating_sub(1), count }
    }

    /// What rows of a true part end in.
    pub fn mark(self, points: u64) -> Option<String> {
        (self.count > 1).then(|| format!("{}/{} of {points}", self.index, self.count))
    }

    /// Reads a mark: the shard and the points of the whole.
    fn unmark(mark: &str) -> Option<(Shard, u64)> {
        let (shard, points) = mark.split_once(" of ")?;
        Some((shard.parse().ok()?, points.parse().ok()?))
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let parsed = s
            .split_once('/')
            .and_then(|(i, n)| Some(Shard { index: i.parse().ok()?, count: n.parse().ok()? }));
        match parsed {
            Some(shard) if shard.index < shard.count => Ok(shard),
            Some(shard) => Err(format!(
                "shards of {} are 0/{0} to {1}/{0}",
                shard.count,
                shard.count.max(1) - 1
            )),
            None => Err(format!("`{s}` is no shard, for example 0/3")),
        }
    }
}

/// What a file of rows holds already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// Whole rows, from the start of the shard.
    pub rows: u64,
    /// Bytes up to the end of the last of them.
    pub bytes: u64,
}

/// Reads the rows of an interrupted run back and gives each to `seen`. A last line without end is
/// left out; a row that is not the one this study has at its place is an error.
pub fn present(
    path: &Path,
    study: &Study,
    rows: &Rows,
    range: &Range<u64>,
    seen: &mut dyn FnMut(&Point, Outcome),
) -> Result<Present> {
    let file = match File::open(path) {
        Ok(f) => f,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Present::default()),
        Err(e) => return Err(anyhow!("cannot read {}: {e}", path.display())),
    };
    let mut lines = Lines { reader: BufReader::new(file), path, number: 0 };
    let (mut found, mut line) = (Present::default(), Vec::new());
    let header = rows.header();
    if !header.is_empty() {
        match lines.next(&mut line)? {
            _ if line == header.as_bytes() => found.bytes = line.len() as u64,
            false if header.as_bytes().starts_with(&line) => return Ok(found),
            _ => bail!(
                "{}: its columns are those of another study; without --resume it is written anew",
                path.display()
            ),
        }
    }
    let mut key = String::new();
    while lines.next(&mut line)? {
        let number = range.start + found.rows;
        let text = std::str::from_utf8(&line).unwrap_or("");
        let point = study.point(number);
        key.clear();
        rows.key(&point, &mut key);
        let outcome = rows.outcome(text, &key).filter(|_| number < range.end);
        let Some(outcome) = outcome else {
            let place = format!("{}, line {}", path.display(), lines.number);
            match number < range.end {
                true => bail!("{place}: not the row this study has there; it begins `{key}`"),
                false => bail!("{place}: this study ends on the line before"),
            }
        };
        seen(&point, outcome);
        found.rows += 1;
        found.bytes += line.len() as u64;
    }
    Ok(found)
}

/// Lines of a file with their number.
struct Lines<'p> {
    reader: BufReader<File>,
    path: &'p Path,
    number: u64,
}

/// Longest line accepted.
const LONGEST: u64 = 1 << 20;

impl Lines<'_> {
    /// The next line with its end; false at the end of the file or for a line without one.
    fn next(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        use std::io::Read;
        line.clear();
        self.number += 1;
        let mut limited = self.reader.by_ref().take(LONGEST);
        let read = limited.read_until(b'\n', line);
        read.with_context(|| format!("cannot read {}", self.path.display()))?;
        if line.len() as u64 == LONGEST {
            bail!("{}, line {}: too long for a row", self.path.display(), self.number);
        }
        Ok(line.last() == Some(&b'\n'))
    }
}

/// A part on its way into the whole.
struct Part {
    path: PathBuf,
    format: Format,
    /// Columns of a CSV, the shard's own left out.
    header: String,
    shard: Shard,
    points: u64,
}

/// Joins the parts of a study, given in any order, into what a run without `--shard` writes. How
/// many rows there are.
pub fn merge(paths: &[PathBuf], out: &mut dyn Write) -> Result<u64> {
    let mut parts = Vec::new();
    for path in paths {
        parts.extend(Part::read(path)?);
    }
    parts.sort_by_key(|p| p.shard.index);
    let Some(first) = parts.first() else { bail!("the parts hold no rows") };
    let same = |p: &&Part| {
        (p.shard.count, p.points, p.format, &p.header)
            == (first.shard.count, first.points, first.format, &first.header)
    };
    if let Some(other) = parts.iter().find(|p| !same(p)) {
        bail!("{} and {} are parts of two studies", first.path.display(), other.path.display());
    }
    let (count, points) = (first.shard.count, first.points);
    if let Some(twice) = parts.windows(2).find(|w| w[0].shard == w[1].shard) {
        let (a, b) = (twice[0].path.display(), twice[1].path.display());
        bail!("{a} and {b} are both shard {}/{count}", twice[0].shard.index);
    }
    let covered = parts
        .iter()
        .map(|p| p.shard.range(points))
        .fold(0, |at, r| if r.start == at { r.end } else { at });
    if covered != points {
        bail!("shard {}/{count} is missing", Shard::holding(covered, count, points).index);
    }
    out.write_all(first.header.as_bytes())?;
    for p in &parts {
        p.copy(out)?;
    }
    Ok(points)
}

impl Part {
    /// What the first row of a file says; nothing if it has none.
    fn read(path: &Path) -> Result<Option<Part>> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut lines = Lines { reader: BufReader::new(file), path, number: 0 };
        let mut line = Vec::new();
        let more = lines.next(&mut line)?;
        let mut text = String::from_utf8_lossy(&line).into_owned();
        if text.is_empty() {
            return Ok(None);
        }
        let (mut format, mut header) = (Format::Json, String::new());
        let mut whole = more;
        if !text.starts_with('{') {
            format = Format::Csv;
            let Some(own) = text.strip_suffix(",shard\n").filter(|t| t.starts_with("point,"))
            else {
                bail!("{}: no part of a study: it has no column `shard`", path.display());
            };
            header = format!("{own}\n");
            whole = lines.next(&mut line)?;
            if line.is_empty() {
                return Ok(None);
            }
            text = String::from_utf8_lossy(&line).into_owned();
        }
        if !whole {
            let at = lines.number;
            bail!("{}, line {at}: cut off; --resume completes the shard", path.display());
        }
        let split = split(&text, format).and_then(|(_, mark)| Shard::unmark(mark));
        let Some((shard, points)) = split else {
            bail!("{}, line {}: no row of a shard", path.display(), lines.number);
        };
        Ok(Some(Part { path: path.to_path_buf(), format, header, shard, points }))
    }

    /// Copies the rows without their marks; every row of the shard must be there, in order.
    fn copy(&self, out: &mut dyn Write) -> Result<()> {
        let name = self.path.display();
        let file = File::open(&self.path).with_context(|| format!("cannot read {name}"))?;
        let mut lines = Lines { reader: BufReader::new(file), path: &self.path, number: 0 };
        let (mut line, range) = (Vec::new(), self.shard.range(self.points));
        let mark = self.shard.mark(self.points).unwrap_or_default();
        if self.format == Format::Csv {
            lines.next(&mut line)?;
        }
        let mut at = range.start;
        while lines.next(&mut line)? {
            let text = std::str::from_utf8(&line).unwrap_or("");
            let row = split(text, self.format).filter(|(_, m)| *m == mark);
            let begins = match self.format {
                Format::Csv => format!("{at},"),
                Format::Json => format!("{{\"point\":{at},"),
            };
            match row {
                Some((row, _)) if row.starts_with(&begins) && at < range.end => {
                    let end = if self.format == Format::Csv { "\n" } else { "}\n" };
                    out.write_all(row.as_bytes())?;
                    out.write_all(end.as_bytes())?;
                }
                _ => bail!("{name}, line {}: not point {at} of shard {mark}", lines.number),
            }
            at += 1;
        }
        if at != range.end {
            let want = range.end - range.start;
            let have = at - range.start;
            bail!("{name} has {have} of {want} rows; --resume completes the shard");
        }
        Ok(())
    }
}

/// A row of a shard: what stays, and its mark.
fn split(line: &str, format: Format) -> Option<(&str, &str)> {
    let (before, after) = match format {
        Format::Csv => (",", "\n"),
        Format::Json => (",\"shard\":\"", "\"}\n"),
    };
    let line = line.strip_suffix(after)?;
    let at = line.rfind(before)?;
    Some((line.get(..at)?, line.get(at + before.len()..)?))
}

/// Writes rows to a file, after those that are there.
pub fn append(path: &Path, present: Present) -> Result<BufWriter<File>> {
    use std::io::{Seek, SeekFrom};
    let say = || format!("cannot write {}", path.display());
    let mut options = File::options();
    let mut file = options.create(true).truncate(false).write(true).open(path).with_context(say)?;
    // Devices and pipes have no length.
    if file.metadata().with_context(say)?.is_file() {
        file.set_len(present.bytes).with_context(say)?;
        file.seek(SeekFrom::End(0)).with_context(say)?;
    }
    Ok(BufWriter::with_capacity(1 << 16, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_every_point_once() {
        for (points, count) in [(10, 3), (2, 5), (1, 1), (1 << 40, 7)] {
            let mut at = 0;
            for index in 0..count {
                let r = Shard { index, count }.range(points);
                assert_eq!(r.start, at, "{points} {count}");
                if !r.is_empty() {
                    assert_eq!(Shard::holding(r.start, count, points).index, index);
                    assert_eq!(Shard::holding(r.end - 1, count, points).index, index);
                }
                at = r.end;
            }
            assert_eq!(at, points);
        }
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
        for bad in ["3/3", "1", "a/b", "-1/2", "0/0", "1/2/3"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        assert_eq!(Shard::ALL.mark(9), None);
        let mark = Shard { index: 1, count: 3 }.mark(9).unwrap();
        assert_eq!(Shard::unmark(&mark), Some((Shard { index: 1, count: 3 }, 9)));
    }
}
