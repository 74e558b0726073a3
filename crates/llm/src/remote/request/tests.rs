use sequester_core::protected::Grants;

use super::*;
use crate::service::find;

fn service(name: &str) -> &'static Service {
    find(name).unwrap()
}

fn asking<'a>(system: &'a str, answer: Answer<'a>) -> Request<'a> {
    Request {
        system,
        messages: &[],
        tools: &[],
        answer,
        output_limit: 7,
        turns: 80,
        task: "",
        grants: Grants::none(),
    }
}

#[test]
fn a_schema_is_strict_only_within_the_providers_dialect() {
    let object = |field: Value| json!({"type": "object", "properties": {"field": field}});
    let cases = [
        (object(json!({"type": "string"})), true, true),
        // A property may well be called as a keyword is.
        (json!({"type": "object", "properties": {"not": {"type": "string"}}}), true, true),
        (object(json!({"type": "string", "maxLength": 9})), true, false),
        (object(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})), true, true),
        (object(json!({"oneOf": [{"type": "string"}]})), false, false),
        (json!({"anyOf": [{"type": "object"}]}), false, false),
        (json!({"type": "object", "properties": {}, "allOf": []}), false, false),
        (json!(null), false, false),
    ];
    for (schema, openai, anthropic) in cases {
        let strict = |name| is_strict(&schema, service(name));
        assert_eq!((strict("openai"), strict("anthropic")), (openai, anthropic), "{schema}");
        assert!(!strict("groq"));
    }
}

#[test]
fn only_openai_gets_a_key_of_the_cache_and_it_follows_the_prefix() {
    let key = |name, system| {
        options(&asking(system, Answer::Free), service(name), false, &[]).prompt_cache_key
    };
    let long = "words ".repeat(5_000);
    assert_eq!(key("openai", &long), key("openai-responses", &long));
    assert_ne!(key("openai", &long), key("openai", &long[1..]));
    assert_eq!(key("groq", &long), None);
    // The same in every release: what a provider has cached stays found.
    assert_eq!(key("openai", "You look.").as_deref(), Some("sequester-907dd73901a8d124"));
}

#[test]
fn what_came_back_goes_back_in_its_order_and_only_to_its_provider() {
    let mut carried = Carried::new("gemini");
    carried.take(ContentPart::ThoughtSignature("of the text".to_owned()));
    carried.take(ContentPart::Custom(CustomPart { model_iden: None, data: json!({"a": 1}) }));
    carried.sign(1, vec!["of the second".to_owned()]);
    let call = |id: &str| Call { id: id.to_owned(), name: "Read".to_owned(), arguments: json!([]) };
    let said = Said {
        text: "Two.".to_owned(),
        calls: vec![call("a"), call("b")],
        carried: carried.into_value(),
    };
    let kinds = |name| {
        let message = assistant(&said, service(name)).unwrap();
        let kind = |part: &ContentPart| match part {
            ContentPart::ThoughtSignature(text) => text.clone(),
            ContentPart::Custom(part) => part.data.to_string(),
            ContentPart::ToolCall(call) => {
                format!("{} {:?} {}", call.call_id, call.thought_signatures, call.fn_arguments)
            }
            _ => "text".to_owned(),
        };
        message.content.parts().iter().map(kind).collect::<Vec<_>>()
    };
    let first = r#"a None {"arguments":[]}"#;
    let second = r#"b Some(["of the second"]) {"arguments":[]}"#;
    assert_eq!(kinds("gemini"), ["of the text", r#"{"a":1}"#, "text", first, second]);
    assert_eq!(kinds("anthropic"), ["text", first, r#"b None {"arguments":[]}"#]);
}

#[test]
fn a_schema_keeps_its_bounds_unless_the_service_refuses_them() {
    let schema = json!({
        "type": "object",
        "properties": {"maxLength": {"type": "string", "maxLength": 9}},
        "anyOf": [{"type": "array", "maxItems": 2, "items": {"minLength": 1}}],
    });
    let sent = |name: &str, address: Option<&str>| {
        let service = service(name);
        let refused = refused(service, address.unwrap_or(service.address));
        let options = options(&asking("", Answer::Json(&schema)), service, false, refused);
        match options.response_format {
            Some(ChatResponseFormat::JsonSpec(spec)) => spec.schema,
            _ => Value::Null,
        }
    };
    for near in ["openai", "openai-responses", "ollama"] {
        assert_eq!(sent(near, Some("http://127.0.0.1:8080/v1/")), schema, "{near}");
    }
    let openai = json!({
        "type": "object",
        "properties": {"maxLength": {"type": "string"}},
        "anyOf": [{"type": "array", "maxItems": 2, "items": {}}],
    });
    assert_eq!(sent("openai", None), openai);
    let anthropic = json!({
        "type": "object",
        "properties": {"maxLength": {"type": "string"}},
        "anyOf": [{"type": "array", "items": {}}],
    });
    assert_eq!(sent("anthropic", None), anthropic);
}
