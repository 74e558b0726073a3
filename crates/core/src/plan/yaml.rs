//! YAML with the place of every key and value, so that each fault points at what is wrong.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// A value and where it stands in the YAML text, as a byte offset.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// Strings, and numbers as they are written.
    Text(String),
    List(Vec<Node>),
    Map(Vec<(usize, String, Node)>),
}

/// What is wrong with a YAML text, and at which offset.
pub(crate) struct Error {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Reads a mapping; an empty text is an empty one.
pub(crate) fn read(text: &str) -> Result<Vec<(usize, String, Node)>, Error> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let root: Spanned<Raw> = serde_saphyr::from_str(text).map_err(|error| Error {
        at: error.location().map_or(0, |location| offset(text, location)),
        message: first_sentence(&error.to_string()),
    })?;
    match node(root, text).value {
        Value::Map(entries) => Ok(entries),
        Value::Null => Ok(Vec::new()),
        _ => Err(Error { at: 0, message: "expected `key: value` lines".to_owned() }),
    }
}

/// What is wrong, without the place that the message repeats.
fn first_sentence(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let placed = line.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    placed.map_or(line, |(_, what)| what).trim_end_matches('.').to_owned()
}

/// Locations carry a byte offset, or else count lines and characters from 1.
fn offset(text: &str, location: Location) -> usize {
    if let Some(at) = location.span().byte_offset().and_then(|at| usize::try_from(at).ok()) {
        return text.floor_char_boundary(at);
    }
    let line = usize::try_from(location.line()).unwrap_or(1).max(1);
    let column = usize::try_from(location.column()).unwrap_or(1).max(1);
    let start = if line == 1 {
        0
    } else {
        text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1)
    };
    let within =
        text[start..].char_indices().nth(column - 1).map_or(text.len() - start, |(at, _)| at);
    start + within
}

fn node(raw: Spanned<Raw>, text: &str) -> Node {
    let at = offset(text, raw.referenced);
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Bool(value) => Value::Bool(value),
        Raw::Text(value) => Value::Text(value),
        // As it is written: `1.10` is an id, and not `1.1`.
        Raw::Number => {
            let end = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}');
            Value::Text(text[at..].split(end).next().unwrap_or_default().to_owned())
        }
        Raw::List(values) => {
            Value::List(values.into_iter().map(|value| node(value, text)).collect())
        }
        Raw::Map(entries) => {
            let entries = entries.into_iter();
            Value::Map(
                entries
                    .map(|(key, value)| {
                        (offset(text, key.referenced), key.value, node(value, text))
                    })
                    .collect(),
            )
        }
    };
    Node { at, value }
}

/// What the deserializer gives, before offsets are worked out.
enum Raw {
    Null,
    Bool(bool),
    Number,
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Raw, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = values.next_element()? {
            all.push(value);
        }
        Ok(Raw::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            all.push(entry);
        }
        Ok(Raw::Map(all))
    }
}
