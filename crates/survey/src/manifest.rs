//! Manifests and settings of any format as one kind of value. What does not parse is nothing.

use serde_json::Value;

/// JSON; comments and trailing commas are tolerated, as the tools that own such files do.
pub(crate) fn json(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&without_comments(text)).ok())
}

pub(crate) fn yaml(text: &str) -> Option<Value> {
    serde_saphyr::from_str(text).ok()
}

pub(crate) fn toml(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

/// The value at a path of keys.
pub(crate) fn at<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

/// The pairs of an object, sorted by key; of anything else none.
pub(crate) fn pairs(value: Option<&Value>) -> Vec<(&str, &Value)> {
    let object = value.and_then(Value::as_object);
    let mut pairs: Vec<_> =
        object.into_iter().flatten().map(|(key, value)| (key.as_str(), value)).collect();
    pairs.sort_by_key(|(key, _)| *key);
    pairs
}

/// The strings of an array.
pub(crate) fn strings(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut quoted = false;
    while let Some(character) = rest.next() {
        match (character, rest.peek()) {
            ('\\', Some(_)) if quoted => {
                kept.push(character);
                kept.extend(rest.next());
                continue;
            }
            ('"', _) => quoted = !quoted,
            ('/', Some('/')) if !quoted => {
                while rest.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            ('/', Some('*')) if !quoted => {
                let mut before = ' ';
                for next in rest.by_ref() {
                    if before == '*' && next == '/' {
                        break;
                    }
                    before = next;
                }
                continue;
            }
            ('}' | ']', _) if !quoted => {
                let end = kept.trim_end().len();
                if kept[..end].ends_with(',') {
                    kept.truncate(end - 1);
                }
            }
            _ => {}
        }
        kept.push(character);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_comments_and_trailing_commas_is_read() {
        let text = "{ // one\n \"a\": \"x // y, }\", /* two */ \"b\": [1, 2,],\n}";
        assert_eq!(json(text), Some(serde_json::json!({"a": "x // y, }", "b": [1, 2]})));
        assert_eq!(json("{ /* open"), None);
    }
}
