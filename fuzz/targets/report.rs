//! A subagent's report: one that is accepted can be kept and read back as it was, and its excerpts are bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sequester_core::id::TaskId;
use sequester_core::report::{self, Phase, Report};
use sequester_core::tokens;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let phase = Phase::ALL[usize::from(*which) % Phase::ALL.len()];
    let task = TaskId::new("A");
    let report = match report::read_text(text, &task, phase) {
        Ok(report) => report,
        Err(faults) => {
            assert!(!faults.is_empty() && faults.iter().all(|fault| !fault.is_empty()));
            return;
        }
    };
    assert_eq!((&report.task_id, report.phase()), (&task, phase));
    assert!(tokens::count(&report.context_summary) <= report::SUMMARY_TOKENS);
    let kept = serde_json::to_string(&report).expect("a report that cannot be kept");
    let back: Report = serde_json::from_str(&kept).expect("a report that cannot be read back");
    assert_eq!(back, report);
    assert_eq!(serde_json::to_string(&back).ok(), Some(kept));
    let shown = report::excerpt(&report);
    // A plan's steps pass whole.
    let most = 2 * report::FINDINGS_TOKENS + 3 * report::SUMMARY_TOKENS;
    assert!(phase == Phase::Plan || tokens::count(&shown) <= most, "{shown}");
    report::objection(&report);
    for one in report.extract_all() {
        assert!(tokens::count(&one.content) <= 200);
    }
});
