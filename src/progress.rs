//! A sign of life on stderr when something takes longer than a second.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Quiet for this long; short runs print nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(250);

/// Shows what is being done until dropped. Only on a terminal, and only after a second.
pub struct Progress {
    done: Arc<AtomicBool>,
    count: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts watching; `unit` names what [`Progress::counter`] counts.
    pub fn start(what: &'static str, unit: &'static str) -> Self {
        Progress::watching(what, unit, 0)
    }

    /// The same for work of `total` units: the time that is left is shown too.
    pub fn of(what: &'static str, unit: &'static str, total: u64) -> Self {
        Progress::watching(what, unit, total)
    }

    fn watching(what: &'static str, unit: &'static str, total: u64) -> Self {
        let (done, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (end, n) = (done.clone(), count.clone());
        let show = std::io::stderr().is_terminal();
        let thread = show.then(|| std::thread::spawn(move || watch(what, unit, total, &end, &n)));
        Progress { done, count, thread }
    }

    /// Counter the work may advance.
    pub fn counter(&self) -> Arc<AtomicU64> {
        self.count.clone()
    }
}

fn watch(what: &str, unit: &str, total: u64, done: &AtomicBool, count: &AtomicU64) {
    let start = Instant::now();
    let mut shown = false;
    while !done.load(Ordering::Relaxed) {
        std::thread::park_timeout(EVERY);
        let spent = start.elapsed();
        if spent < PATIENCE || done.load(Ordering::Relaxed) {
            continue;
        }
        let n = count.load(Ordering::Relaxed);
        let rate = n as f64 / spent.as_secs_f64();
        let text = match n {
            0 => format!("{what}: {:.0} s", spent.as_secs_f64()),
            _ if total == 0 => {
                format!("{what}: {:.0} s, {n} {unit}, {rate:.0} a second", spent.as_secs_f64())
            }
            _ => {
                let left = total.saturating_sub(n) as f64 / rate;
                format!("{what}: {n} of {total} {unit}, {rate:.0} a second, {left:.0} s left")
            }
        };
        let _ = write!(std::io::stderr().lock(), "\r{text}\x1b[K");
        shown = true;
    }
    if shown {
        let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(t) = self.thread.take() {
            t.thread().unpark();
            let _ = t.join();
        }
    }
}
