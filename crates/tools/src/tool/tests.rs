use serde_json::{Map, json};

use super::*;

/// A value that fits a property, and one that does not.
fn samples(property: &Value) -> (Value, Value) {
    match property["type"].as_str().unwrap() {
        "string" => (property["enum"].get(0).cloned().unwrap_or(json!("x")), json!(7)),
        "integer" => (json!(1), json!("1")),
        "boolean" => (json!(true), json!("true")),
        other => panic!("no sample of `{other}`"),
    }
}

fn agree<T: Tool>() {
    let schema = T::parameters();
    assert_eq!(
        (&schema["type"], &schema["additionalProperties"]),
        (&json!("object"), &json!(false))
    );
    let properties = schema["properties"].as_object().unwrap();
    let full: Map<String, Value> =
        properties.iter().map(|(name, property)| (name.clone(), samples(property).0)).collect();
    let fits = |fields: &Map<String, Value>| parse::<T>(&Value::Object(fields.clone())).is_ok();
    assert!(fits(&full), "{}: every property is accepted", T::NAME);
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for (name, property) in properties {
        assert!(property["description"].as_str().unwrap().ends_with('.'), "{} {name}", T::NAME);
        let mut less = full.clone();
        less.remove(name);
        assert_eq!(fits(&less), !required.contains(&name.as_str()), "{} without {name}", T::NAME);
        let mut wrong = full.clone();
        wrong.insert(name.clone(), samples(property).1);
        assert!(!fits(&wrong), "{} with a wrong {name}", T::NAME);
    }
    let mut more = full;
    more.insert("unheard_of".into(), json!(1));
    assert!(!fits(&more), "{} with another field", T::NAME);
}

#[test]
fn schema_and_arguments_agree() {
    agree::<Read>();
    agree::<Write>();
    agree::<Edit>();
    agree::<Grep>();
    agree::<Glob>();
    agree::<Bash>();
    agree::<WebFetch>();
}

#[test]
fn wrong_arguments_are_told_what_was_expected() {
    let told = |arguments| match parse::<Read>(&arguments) {
        Err(Outcome::Failed(told)) => told,
        _ => panic!("it fits"),
    };
    let expected = "Expected: `file_path` (string), `offset` (integer, optional), `limit` (integer, optional).";
    for (arguments, fault) in [
        (json!({}), "missing field `file_path`"),
        (json!({"file_path": 3}), "invalid type: integer `3`, expected a string"),
        (json!("{\"file_path\": \"a"), "they are no JSON"),
        (json!(["a"]), "they are no JSON object"),
        (Value::Null, "they are no JSON object"),
    ] {
        assert_eq!(
            told(arguments),
            format!("The arguments of `Read` do not fit: {fault}. {expected}")
        );
    }
    let huge = told(json!({"file_path": "a", "limit": "9".repeat(1 << 20)}));
    assert!(huge.len() < 1_000, "{}", huge.len());
}
