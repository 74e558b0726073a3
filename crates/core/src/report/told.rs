//! What a later phase is told of a report.

use std::fmt::Write as _;

use serde_json::Value;

/// The phase, and of what was reported the part that others may build on: never the conversation that led to it.
pub fn told(report: &[u8]) -> (String, String) {
    let value: Value = serde_json::from_slice(report).unwrap_or_default();
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut told = text("context_summary");
    for key in ["reason", "resolution"] {
        let said = text(key);
        if !said.is_empty() {
            let _ = write!(told, "\n\n{key}: {said}");
        }
    }
    if let Some(findings) = value.get("findings") {
        let _ = write!(told, "\n\n{findings:#}");
    }
    (text("phase"), told)
}
