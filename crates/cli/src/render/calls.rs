//! What a subagent said and called in one turn, bounded.

use std::fmt::Write as _;

use crate::wire::call_log::{CallRecord, TurnRecord};
use serde_json::Value;

use super::terminal::{cut, fold, plural};

/// Whether the model's own words are shown beside its calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    Shown,
    LeftOut,
}

/// Lines of an argument, a result, an error and the model's words. `--json` has all of them.
const ARGUMENT_LINES: usize = 6;
const RESULT_LINES: usize = 8;
const ERROR_LINES: usize = 20;
const WORD_LINES: usize = 40;
/// Of lines as they stand, where no terminal says how wide it is.
const LINE_CHARS: usize = 200;
/// Of values that are no text.
const VALUE_CHARS: usize = 400;

pub(crate) fn render(turn: &TurnRecord, words: Words, width: usize) -> String {
    let mut out = String::new();
    let said = turn.words.trim();
    if words == Words::Shown && !said.is_empty() {
        out += "    says:\n";
        out += &fold(&head(said, WORD_LINES, 6, usize::MAX), width);
    }
    let most = width.saturating_sub(12).clamp(20, LINE_CHARS);
    for call in &turn.calls {
        let _ = writeln!(out, "    {}", cut(&call.name, most));
        out += &arguments(call, most);
        out += &result(call, most);
    }
    out
}

fn arguments(call: &CallRecord, most: usize) -> String {
    let Value::Object(fields) = &call.arguments else {
        return format!("      {}\n", value(&call.arguments, most));
    };
    let told = fields.iter().map(|(name, field)| {
        let name = cut(name, most);
        match field {
            Value::String(text) if text.trim_end().contains('\n') => {
                format!("      {name}:\n{}", head(text, ARGUMENT_LINES, 8, most))
            }
            Value::String(text) => format!("      {name}: {}\n", cut(text.trim_end(), most)),
            other => format!("      {name}: {}\n", value(other, most)),
        }
    });
    told.collect()
}

fn value(value: &Value, most: usize) -> String {
    cut(&value.to_string(), most.min(VALUE_CHARS))
}

fn result(call: &CallRecord, most: usize) -> String {
    let Some(result) = &call.result else { return String::new() };
    let (word, lines) = if result.failed { ("error", ERROR_LINES) } else { ("gave", RESULT_LINES) };
    match result.text.trim_end() {
        "" => format!("      {word}: nothing\n"),
        text if text.contains('\n') => format!("      {word}:\n{}", head(text, lines, 8, most)),
        text => format!("      {word}: {}\n", cut(text, most)),
    }
}

/// The first lines, indented, and how many more there are.
fn head(text: &str, lines: usize, indent: usize, most: usize) -> String {
    let text = text.trim_end();
    let space = " ".repeat(indent);
    let mut out = String::new();
    for line in text.lines().take(lines) {
        let _ = writeln!(out, "{space}{}", cut(line, most));
    }
    let more = text.lines().count().saturating_sub(lines);
    if more > 0 {
        let _ = writeln!(out, "{space}… {}", plural(more, "more line"));
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::wire::call_log::CallResult;
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_shown_with_bounded_arguments_and_results_and_no_control_characters() {
        let lines: Vec<String> = (1..=9).map(|line| format!("line {line}")).collect();
        let long = lines.join("\n");
        let call = |name: &str, arguments, failed, text: &str| CallRecord {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments,
            result: Some(CallResult { failed, text: text.to_owned() }),
        };
        let turn = TurnRecord {
            words: "I write it.\n".to_owned(),
            calls: vec![
                call("Write", json!({"content": long, "path": "a\u{1b}[2J.txt"}), false, "ok"),
                call("Edit", json!("no object"), true, "There is no `path`."),
            ],
            ..TurnRecord::default()
        };
        let shown = render(&turn, Words::Shown, usize::MAX);
        let wanted = "    says:\n      I write it.\n    Write\n      content:\n        line 1\n        line 2\n        \
            line 3\n        line 4\n        line 5\n        line 6\n        … 3 more lines\n      \
            path: a\u{fffd}[2J.txt\n      gave: ok\n    Edit\n      \"no object\"\n      error: There is no `path`.\n";
        assert_eq!(shown, wanted);
        assert!(!render(&turn, Words::LeftOut, 40).contains("says"));
    }
}
