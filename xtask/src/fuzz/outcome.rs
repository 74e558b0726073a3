//! What libFuzzer says of a run.

use std::collections::VecDeque;

/// Lines of a crash that are shown.
const SHOWN: usize = 40;

#[derive(Default)]
pub(super) struct Outcome {
    pub(super) failed: bool,
    executions: String,
    per_second: String,
    memory: String,
    slowest: String,
    coverage: String,
    /// Where the input lies that broke it, or took long.
    artifact: Option<String>,
    last: VecDeque<String>,
}

impl Outcome {
    /// One line of its output.
    pub(super) fn take(&mut self, line: &str) {
        let fields = [
            ("stat::number_of_executed_units:", &mut self.executions),
            ("stat::average_exec_per_sec:", &mut self.per_second),
            ("stat::peak_rss_mb:", &mut self.memory),
            ("stat::slowest_unit_time_sec:", &mut self.slowest),
        ];
        for (mark, field) in fields {
            if let Some(value) = line.strip_prefix(mark) {
                value.trim().clone_into(field);
            }
        }
        if let Some((_, rest)) = line.split_once(" cov: ") {
            rest.split(' ').next().unwrap_or_default().clone_into(&mut self.coverage);
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            self.artifact = Some(path.trim().to_owned());
        }
        // Progress is not worth a line, nor are thousands of words for a dictionary.
        if !line.starts_with('#') && !line.contains("# Uses:") {
            self.last.push_back(line.to_owned());
        }
        if self.last.len() > SHOWN {
            self.last.pop_front();
        }
    }

    pub(super) fn row(&self, name: &str) -> String {
        let Self { executions, per_second, memory, coverage, slowest, .. } = self;
        format!(
            "| `{name}` | {executions} | {per_second} | {memory} MB | {coverage} | {slowest} s |"
        )
    }

    /// What was found, and how to see it again.
    pub(super) fn fault(&self, name: &str) -> Option<String> {
        let is_slow = self.slowest.parse().is_ok_and(|seconds: u64| seconds > 0);
        if !self.failed && !is_slow {
            return None;
        }
        let kind = if self.failed { "failed" } else { "took more than a second for an input" };
        let lines: Vec<&str> = self.last.iter().map(String::as_str).collect();
        let again = match &self.artifact {
            Some(path) => format!(
                "The input is {path}. See it again: `rustup run nightly .tools/bin/cargo-fuzz run --fuzz-dir fuzz \
                 --sanitizer none --release {name} {path}`; make it smaller with `tmin` in place of `run`."
            ),
            None => "There is no input to see it again.".to_owned(),
        };
        let shown = if self.failed { lines.join("\n    ") } else { String::new() };
        Some(format!("`{name}` {kind}. {again}\n    {shown}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Outcome {
        let mut outcome = Outcome::default();
        for line in lines {
            outcome.take(line);
        }
        outcome
    }

    const STATS: [&str; 5] = [
        "#8192\tpulse  cov: 120 ft: 300 corp: 9/1Kb exec/s: 4096 rss: 30Mb",
        "stat::number_of_executed_units: 10000",
        "stat::average_exec_per_sec:     4096",
        "stat::slowest_unit_time_sec:    0",
        "stat::peak_rss_mb:              33",
    ];

    #[test]
    fn figures_are_read_from_the_output() {
        let outcome = read(&STATS);
        assert_eq!(outcome.row("report"), "| `report` | 10000 | 4096 | 33 MB | 120 | 0 s |");
        assert_eq!(outcome.fault("report"), None);
    }

    #[test]
    fn a_crash_and_a_slow_input_are_faults_with_their_input() {
        let path = "artifact_prefix='x'; Test unit written to /f/artifacts/report/crash-1";
        let mut crash = read(&["thread panicked at a.rs:1:1:", path]);
        crash.failed = true;
        let told = crash.fault("report").unwrap();
        assert!(told.contains("is /f/artifacts/report/crash-1. See"), "{told}");
        assert!(told.contains("panicked at a.rs:1:1"), "{told}");
        let slow = read(&[&STATS[..], &["stat::slowest_unit_time_sec:    3"]].concat());
        assert!(slow.fault("report").unwrap().contains("more than a second"));
    }
}
