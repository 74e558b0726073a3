//! One line per subagent, in place; without a terminal one when it starts and one when it ends.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sequester_engine::{Feed, News};

use super::terminal::cut;

pub(crate) struct Progress {
    name: String,
    calls: AtomicU32,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// `[Explore] find auth files`, on standard error.
    pub(crate) fn start(agent: &str, title: &str) -> Self {
        let name = cut(&format!("[{agent}] {title}"), 60);
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(
                ProgressStyle::with_template("{msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        let progress = Self { name, calls: AtomicU32::new(0), start: Instant::now(), bar };
        match &progress.bar {
            Some(_) => progress.draw(),
            None => line(&format!("{} ...", progress.name)),
        }
        progress
    }

    fn draw(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} ... {}", self.name, self.counts()));
        }
    }

    /// `5 tools, 3.2s`
    fn counts(&self) -> String {
        let calls = self.calls.load(Ordering::Relaxed);
        let word = if calls == 1 { "tool" } else { "tools" };
        format!("{calls} {word}, {:.1}s", self.start.elapsed().as_secs_f64())
    }

    fn end(&self, outcome: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        line(&format!("{} - {} ({})", self.name, outcome.replace('_', " "), self.counts()));
    }
}

fn line(text: &str) {
    // Whoever closed standard error does not want to know.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

impl Feed for Progress {
    fn tell(&self, news: News<'_>) {
        match news {
            News::Calling(calls) => {
                self.calls
                    .fetch_add(u32::try_from(calls.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
            }
            News::Ended(ending) => return self.end(ending.outcome.as_str()),
            News::Failed(error) if self.bar.is_none() => {
                line(&format!(
                    "{}: {} ({})",
                    self.name,
                    cut(&error.message, 200),
                    error.kind.as_str()
                ));
            }
            _ => {}
        }
        self.draw();
    }
}
