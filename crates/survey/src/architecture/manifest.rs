//! Manifests and settings of any format as one kind of value. What does not parse is nothing.

use serde_json::Value;

pub(super) use crate::manifest::{at, json, pairs, strings, toml, yaml};

/// Far more than a manifest has, of attributes in one tag, of open elements, and of namespaces in the whole.
const MOST_MARKS: usize = 64;

/// XML, unless it is of a shape on which the parser takes long: it compares each attribute of a tag with all others,
/// and each namespace with all that are in force.
pub(super) fn xml(text: &str) -> Option<roxmltree::Document<'_>> {
    let text = text.trim_start_matches('\u{feff}');
    let modest = text.matches("xmlns").count() <= MOST_MARKS && has_modest_tags(text);
    modest.then(|| roxmltree::Document::parse(text).ok()).flatten()
}

/// Exact up to the first fault, where the parser stops too.
fn has_modest_tags(text: &str) -> bool {
    const APART: [(&str, &str); 4] =
        [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("</", ">")];
    let mut rest = text;
    let mut depth = 0_usize;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        if let Some((open, close)) = APART.iter().find(|(open, _)| rest.starts_with(open)) {
            let Some((_, behind)) = rest[open.len()..].split_once(close) else {
                return true;
            };
            depth = depth.saturating_sub(usize::from(*open == "</"));
            rest = behind;
            continue;
        }
        let (tag, attributes) = start_tag(rest);
        depth += usize::from(!tag.ends_with('/'));
        if attributes > MOST_MARKS || depth > MOST_MARKS {
            return false;
        }
        rest = &rest[tag.len()..];
    }
    true
}

/// The tag up to its `>`, which may also stand in a value, and how many values it has.
fn start_tag(text: &str) -> (&str, usize) {
    let mut quote = None;
    let mut values = 0;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return (&text[..at], values),
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                values += 1;
            }
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    (text, values)
}

/// A plain value as a person writes it.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_read_unless_its_marks_are_beyond_reason() {
        let attributes =
            |count: usize| (0..count).map(|at| format!(" a{at}='>'")).collect::<Vec<_>>().concat();
        let noise = format!("<!-- {0} --><?x {0}?><a><![CDATA[{0}]]>{0}</a>", "x='' ".repeat(100));
        assert!(xml(&noise).is_some());
        assert!(xml(&format!("<a{}/>", attributes(64))).is_some());
        assert!(xml(&format!("<a{}/>", attributes(65))).is_none());
        assert!(xml(&format!("<a>{}</a>", "<b/><c></c>".repeat(100))).is_some());
        assert!(xml(&format!("{}{}", "<a>".repeat(64), "</a>".repeat(64))).is_some());
        assert!(xml(&format!("{}{}", "<a>".repeat(65), "</a>".repeat(65))).is_none());
        assert!(xml(&format!("<a>{}</a>", "<b xmlns='u'/>".repeat(65))).is_none());
    }
}
