//! One line per subagent, in place; without a terminal one when it starts and one when it ends.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use sequester_core::agent::count_calls;
use sequester_engine::{Feed, News};

use super::terminal::{cut, note_width};
use crate::output::warn;

pub(crate) struct Progress {
    name: String,
    calls: AtomicU32,
    start: Instant,
    bar: Option<ProgressBar>,
    /// The lines that this one is among.
    bars: Option<MultiProgress>,
}

impl Progress {
    /// `[Explore] find auth files`, on standard error; perhaps as one line of several.
    pub(crate) fn start(bars: Option<&MultiProgress>, agent: &str, title: &str) -> Self {
        // Room for what follows: ` - budget exhausted (12 tools, 123.4s)`.
        let room = note_width().saturating_sub(40).clamp(20, 60);
        let name = cut(&format!("[{agent}] {title}"), room);
        let bar = io::stderr().is_terminal().then(|| {
            let bar = match bars {
                Some(bars) => bars.add(ProgressBar::no_length()),
                None => ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
            };
            bar.set_style(
                ProgressStyle::with_template("{msg}{spent}")
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .with_key("spent", |state: &ProgressState, out: &mut dyn fmt::Write| {
                        let _ = write!(out, ", {:.1}s", state.elapsed().as_secs_f64());
                    }),
            );
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        let progress = Self {
            name,
            calls: AtomicU32::new(0),
            start: Instant::now(),
            bar,
            bars: bars.cloned(),
        };
        match &progress.bar {
            Some(_) => progress.draw(),
            None => warn(&format!("{} ...\n", progress.name)),
        }
        progress
    }

    /// A line that stays; nothing is drawn over it.
    fn say(&self, line: &str) {
        match &self.bars {
            Some(bars) if self.bar.is_some() => drop(bars.println(line)),
            _ => warn(&format!("{line}\n")),
        }
    }

    fn draw(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} ... {}", self.name, self.tools()));
        }
    }

    fn tools(&self) -> String {
        let calls = self.calls.load(Ordering::Relaxed);
        format!("{calls} {}", if calls == 1 { "tool" } else { "tools" })
    }

    fn end(&self, outcome: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let outcome = outcome.replace('_', " ");
        self.say(&format!("{} - {outcome} ({}, {seconds:.1}s)", self.name, self.tools()));
    }
}

/// `4 s`; what is shorter than that is told to a tenth.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..4 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} s", time.as_millis().div_ceil(1_000)),
    }
}

impl Feed for Progress {
    fn tell(&self, news: News<'_>) {
        match news {
            News::Replied(reply) => {
                self.calls.fetch_add(count_calls(&reply.said.calls), Ordering::Relaxed);
            }
            News::Ended(ending) => {
                self.calls.store(ending.spent.calls, Ordering::Relaxed);
                return self.end(ending.outcome.as_str());
            }
            News::Failed(error, again) => {
                let words = cut(&error.message, 200);
                let again = again.map(|wait| format!(", asked again in {}", seconds(wait)));
                let (kind, again) = (error.kind.as_str(), again.unwrap_or_default());
                let text = format!("{}: {words} ({kind}{again})", self.name);
                match &self.bar {
                    Some(bar) => bar.println(text),
                    None => warn(&format!("{text}\n")),
                }
            }
            _ => {}
        }
        self.draw();
    }
}
