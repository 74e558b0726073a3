//! The shapes that other programs rely on, as JSON Schemas made from the types.

use serde_json::{Value, json};

use crate::handoff::Handoff;
use crate::report;

/// The names that [`find`] knows.
pub const NAMES: [&str; 3] = ["handoff", "question", "report"];

/// The schema of that name.
pub fn find(name: &str) -> Option<Value> {
    match name {
        "handoff" => Some(titled("Handoff", report::schema_of::<Handoff>())),
        "question" => Some(titled("Question", report::schema_of::<report::Question>())),
        "report" => Some(report::published()),
        _ => None,
    }
}

/// All of them, by name.
pub fn all() -> Value {
    NAMES.iter().filter_map(|name| Some(((*name).to_owned(), find(name)?))).collect()
}

fn titled(title: &str, mut schema: Value) -> Value {
    if let Value::Object(map) = &mut schema {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".to_owned(), json!(title));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_can_be_compiled() {
        for name in NAMES {
            let schema = find(name).unwrap();
            assert!(jsonschema::validator_for(&schema).is_ok(), "{name}");
        }
        assert_eq!((find("nothing"), all().as_object().unwrap().len()), (None, NAMES.len()));
    }
}
