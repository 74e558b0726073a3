//! A report as people read it.

use std::fmt::Write as _;

use sequester_core::agent::Kept;
use sequester_core::report::{Conclusion, Findings, Judgement, Question, Report};

use super::terminal::{clean, fold, number, plural};
use crate::wire::{Changed, Last};

/// The text of `task TEXT`; `next` is what a person can do now.
pub(crate) fn render(last: &Last, next: &str, width: usize) -> String {
    let Last { ending, evidence, .. } = last;
    let mut out = String::new();
    let more = |count: usize| (count > 0).then(|| format!("{count} more"));
    let refused = evidence.refused.iter().map(|one| format!("{}: {}", one.path, one.why));
    // Before the subagent's own words, which do not know of it.
    let refused = refused.chain(more(evidence.refused_more));
    section(&mut out, "Not taken over, as no change may hold it", refused);
    if !out.is_empty() {
        out.push('\n');
    }
    if let Some(report) = &ending.report {
        body(&mut out, report);
    } else {
        let _ = writeln!(out, "{}", ending.outcome.sentence());
        section(&mut out, "Last words", [ending.last_words.as_str()]);
    }
    kept(&mut out, &ending.kept);
    section(
        &mut out,
        "Changed, as seen by the runtime",
        evidence.files_changed.iter().map(changed),
    );
    let ignored = evidence.ignored.iter().cloned().chain(more(evidence.ignored_more));
    section(&mut out, "Not taken over, as git ignores it", ignored);
    let _ = writeln!(out, "\n{}", footer(last));
    let _ = writeln!(out, "{next}");
    fold(clean(&out).trim_start_matches('\n'), width)
}

fn changed(file: &Changed) -> String {
    let mut text = format!("{} {}", file.action, file.path);
    if let (Some(added), Some(removed)) = (file.added, file.removed) {
        let _ = write!(text, " (+{added} -{removed})");
    }
    if let (Some(old), Some(new)) = (file.old_mode, file.new_mode)
        && old != new
    {
        let _ = write!(text, ", mode {} to {}", old.as_str(), new.as_str());
    }
    if !file.in_patch {
        text += ", too large for the patch";
    }
    text
}

fn body(out: &mut String, report: &Report) {
    let _ = writeln!(out, "{}", report.context_summary.trim());
    if let Conclusion::Stop { reason, resolution, .. } = &report.verdict {
        section(out, "Stopped because", [reason.as_str()]);
        section(out, "What would help", resolution.as_deref());
    }
    if let Conclusion::Clarify { questions, .. } = &report.verdict {
        section(out, "Asks", questions.iter().map(question));
    }
    findings(out, &report.findings);
    section(out, "Issues", &report.issues);
    let reviewed = report.self_review.iter().map(|one| {
        let note = one.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        format!("[{}] {}{note}", if one.ok { "x" } else { " " }, one.item)
    });
    section(out, "Looked over by the subagent itself", reviewed);
}

fn question(question: &Question) -> String {
    let mut text = question.question.clone();
    let labels: Vec<&str> = question.options.iter().map(|one| one.label.as_str()).collect();
    if !labels.is_empty() {
        let _ = write!(text, " ({})", labels.join(" | "));
    }
    if let Some(default) = &question.default {
        let _ = write!(text, " [default: {default}]");
    }
    text
}

fn findings(out: &mut String, findings: &Findings) {
    match findings {
        Findings::Research(found) => {
            section(out, "Already there", &found.existing_implementations);
            section(out, "Conflicts", &found.conflicts);
            section(out, "Patterns", &found.patterns_found);
            section(out, "Recommended", &found.recommendations);
        }
        Findings::Write(change) | Findings::Execute(change) => {
            section(out, "Tests, as the subagent says", &change.tests_written);
        }
        Findings::Validate(validation) => {
            let checks = &validation.checks;
            let word = |passed: bool| if passed { "passed" } else { "failed" };
            section(
                out,
                "Checks, as the subagent says",
                [
                    format!("types {}", word(checks.types.passed)),
                    format!("lint {}", word(checks.lint.passed)),
                    format!("tests {}", word(checks.tests.passed)),
                    format!("security {}", word(checks.security.passed)),
                ],
            );
            section(out, "Type errors", &checks.types.errors);
            section(out, "Lint errors", &checks.lint.errors);
            section(out, "Security issues", &checks.security.issues);
        }
        Findings::Analyze(analysis) => {
            section(out, "Complexity", [format!("{:?}", analysis.complexity).to_lowercase()]);
        }
        Findings::Plan(plan) => numbered(out, "Steps", &plan.steps),
        Findings::Own(_) => {
            for list in findings.lists() {
                section(out, &list.name, &list.items);
            }
        }
        Findings::Draft(draft) => section(out, "Plan", [&draft.plan]),
        Findings::Review(review) => {
            judgement(out, "Specification", &review.spec);
            judgement(out, "Quality", &review.quality);
        }
        Findings::Verify(verification) => {
            let met = verification.requirements.iter().map(|one| {
                format!("[{}] {}: {}", if one.met { "x" } else { " " }, one.text, one.proof)
            });
            section(out, "Requirements", met);
        }
    }
}

fn judgement(out: &mut String, title: &str, judgement: &Judgement) {
    let verdict = format!("{:?}", judgement.verdict).to_lowercase();
    let remarks = judgement.findings.iter().map(|remark| {
        let line = remark.line.map(|line| format!(":{line}")).unwrap_or_default();
        let severity = format!("{:?}", remark.severity).to_lowercase();
        format!("{severity} {}{line}: {}", remark.file, remark.text)
    });
    section(out, title, std::iter::once(verdict).chain(remarks));
}

fn kept(out: &mut String, kept: &Kept) {
    section(
        out,
        "Notes",
        kept.notes.iter().map(|note| format!("{}: {}", note.section, note.content)),
    );
    section(
        out,
        "Artifacts",
        kept.artifacts.iter().map(|left| format!("{}: {}", left.id, left.artifact.content)),
    );
    section(out, "Backpack", kept.backpack.iter().map(|one| one.item.clone()));
}

/// Their order counts.
fn numbered(out: &mut String, title: &str, items: &[String]) {
    if !items.is_empty() {
        let _ = writeln!(out, "\n{title}");
    }
    for (number, item) in (1..).zip(items) {
        let _ = writeln!(out, "  {number}. {}", item.trim().replace('\n', "\n     "));
    }
}

fn section(out: &mut String, title: &str, items: impl IntoIterator<Item = impl AsRef<str>>) {
    let mut first = true;
    for item in items {
        let item = item.as_ref().trim();
        if item.is_empty() {
            continue;
        }
        if std::mem::take(&mut first) {
            let _ = writeln!(out, "\n{title}");
        }
        let _ = writeln!(out, "  - {}", item.replace('\n', "\n    "));
    }
}

fn footer(Last { ending, model, spent, .. }: &Last) -> String {
    let size = |tokens: u64| number(usize::try_from(tokens).unwrap_or(usize::MAX));
    let mut parts = vec![
        ending.outcome.as_str().replace('_', " "),
        model.clone(),
        plural(spent.turns as usize, "turn"),
        plural(spent.calls as usize, "call"),
        format!(
            "{} tokens in ({} from cache), {} out",
            size(spent.usage.input),
            size(spent.usage.cache_read),
            size(spent.usage.output)
        ),
    ];
    match spent.price {
        Some(0) => {}
        Some(price) => parts.push(format!("${:.4}", price as f64 / 1e6)),
        None if spent.turns > 0 => parts.push("price unknown".to_owned()),
        None => {}
    }
    parts.push(format!("{:.1} s", spent.elapsed.as_secs_f64()));
    parts.join(" · ")
}
