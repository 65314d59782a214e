//! The commands the documents show work, and print what the documents say they print.
//!
//! In a fenced `sh` block every line that starts with `ptoemu` or `cargo run --release --` is run
//! in a copy of the examples; it must end with status 0, or with N where the line ends in
//! `# exits N`. A `text` block right after a block of one command is what that command prints;
//! with `PTOEMU_BLESS=1` in the environment such blocks are rewritten instead of compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block: language and lines.
struct Block {
    lang: String,
    lines: Vec<String>,
    /// Lines of prose between the previous block and this one.
    gap: usize,
    /// Line of the document its content starts at.
    at: usize,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn blocks(text: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let (mut open, mut gap) = (false, 0);
    for (i, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open) {
            (Some(lang), false) => {
                out.push(Block { lang: lang.trim().into(), lines: Vec::new(), gap, at: i + 1 });
                open = true;
            }
            (Some(_), true) => (open, gap) = (false, 0),
            (None, true) => out.last_mut().expect("a block is open").lines.push(line.into()),
            (None, false) => gap += usize::from(!line.trim().is_empty()),
        }
    }
    out
}

/// Words of a command of ours with the status it should end with; `None` for other commands.
fn command(line: &str) -> Option<(Vec<String>, i32)> {
    let (line, status) = match line.split_once('#') {
        Some((l, note)) => {
            let n = note.trim().strip_prefix("exits ").map_or(Ok(0), str::parse);
            (l, n.expect("a status after `exits`"))
        }
        None => (line, 0),
    };
    let rest =
        line.strip_prefix("cargo run --release -- ").or_else(|| line.strip_prefix("ptoemu "))?;
    assert!(!rest.contains(['|', '>', '<', ';', '&', '$', '"', '\'']), "a plain command: {line}");
    Some((rest.split_whitespace().map(String::from).collect(), status))
}

/// Commands of a block, continued lines joined.
fn commands(block: &Block) -> Vec<(Vec<String>, i32)> {
    let joined = block.lines.join("\n").replace("\\\n", " ");
    joined.lines().filter_map(command).collect()
}

/// A folder of its own holding what the commands read.
fn sandbox(name: &str) -> PathBuf {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&to);
    let dirs = [
        "examples",
        "examples/data",
        "tests/data",
        "tests/data/measured",
        "targets",
        "docs/studies",
    ];
    for dir in dirs {
        fs::create_dir_all(to.join(dir)).expect("folder");
        for entry in fs::read_dir(root().join(dir)).expect("folder of the project").flatten() {
            if entry.path().is_file() {
                fs::copy(entry.path(), to.join(dir).join(entry.file_name())).expect("copy");
            }
        }
    }
    to
}

/// Runs a command; what it printed: stdout, then stderr.
fn run(words: &[String], status: i32, dir: &Path, whence: &str) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_ptoemu"))
        .current_dir(dir)
        .args(words)
        .output()
        .expect("the command starts");
    let text = [out.stdout, out.stderr].map(|b| String::from_utf8_lossy(&b).into_owned()).concat();
    assert_eq!(out.status.code(), Some(status), "{whence}: {}\n{text}", words.join(" "));
    text
}

fn trimmed(text: &str) -> String {
    text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Runs every command of a document; how many there were.
fn check(file: &Path) -> usize {
    let name = file.file_name().and_then(|n| n.to_str()).expect("a name").to_string();
    let dir = sandbox(&name);
    let text = fs::read_to_string(file).expect("document");
    let all = blocks(&text);
    let (mut count, mut renewed) = (0, Vec::new());
    for (i, block) in all.iter().enumerate().filter(|(_, b)| b.lang == "sh") {
        let list = commands(block);
        count += list.len();
        let printed: Vec<String> =
            list.iter().map(|(words, status)| run(words, *status, &dir, &name)).collect();
        if let (Some(next), [one]) = (all.get(i + 1), &printed[..])
            && next.lang == "text"
            && next.gap == 0
        {
            if std::env::var_os("PTOEMU_BLESS").is_some() {
                renewed.push((next.at, next.lines.len(), trimmed(one)));
            } else {
                assert_eq!(
                    trimmed(one),
                    trimmed(&next.lines.join("\n")),
                    "{name}: {:?}\nPTOEMU_BLESS=1 cargo test --test docs renews what is shown",
                    list[0].0
                );
            }
        }
    }
    bless(file, &text, &renewed);
    if file.parent().is_some_and(|p| p.ends_with("docs/studies")) {
        pictures(file, &text, &dir);
    }
    count
}

/// A picture `DIR-NAME.svg` of a study is the `NAME.svg` a command of it writes into `DIR`.
fn pictures(file: &Path, text: &str, dir: &Path) {
    let links = text.split("](").skip(1).filter_map(|l| l.split(')').next());
    for link in links.filter(|l| l.ends_with(".svg")) {
        let (folder, name) = link.split_once('-').expect("DIR-NAME.svg");
        let made = fs::read(dir.join(folder).join(name)).expect("a picture a command writes");
        let shown = file.with_file_name(link);
        if std::env::var_os("PTOEMU_BLESS").is_some() {
            fs::write(&shown, &made).expect("picture");
        }
        let same = fs::read(&shown).is_ok_and(|s| s == made);
        assert!(same, "{link}: PTOEMU_BLESS=1 cargo test --test docs renews what is shown");
    }
}

/// Rewrites blocks: first line, number of lines, new content.
fn bless(file: &Path, text: &str, renewed: &[(usize, usize, String)]) {
    let mut lines: Vec<&str> = text.lines().collect();
    for (at, n, new) in renewed.iter().rev() {
        lines.splice(*at..at + n, new.lines());
    }
    if !renewed.is_empty() {
        fs::write(file, lines.join("\n") + "\n").expect("document");
    }
}

#[test]
fn commands_in_documents_work() {
    let mut files: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|f| root().join(f)).into();
    for dir in ["docs", "docs/studies"] {
        files.extend(fs::read_dir(root().join(dir)).expect("docs").flatten().map(|e| e.path()));
    }
    files.retain(|p| p.extension().is_some_and(|e| e == "md"));
    files.sort();
    let counts: Vec<usize> = files.iter().map(|f| check(f)).collect();
    assert!(counts.iter().sum::<usize>() >= 5, "commands found: {counts:?}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for file in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(root().join(file)).expect("document");
        for part in text.split("](").skip(1) {
            let target = part.split([')', '#']).next().unwrap_or("");
            let local = !target.is_empty() && !target.contains("://");
            assert!(!local || root().join(target).exists(), "{file} links to {target}");
        }
    }
}
