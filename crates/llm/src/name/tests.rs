use std::collections::BTreeMap;

use super::*;

fn with(name: &str, models: &Models, variables: &[(&str, &str)]) -> Result<Named, Error> {
    let map: BTreeMap<&str, &str> = variables.iter().copied().collect();
    let environment = |variable: &str| map.get(variable).map(|value| (*value).to_owned());
    resolve(name, &Sources { models, environment: &environment, command: &|_| None })
}

fn target_of(name: &str, variables: &[(&str, &str)]) -> Target {
    match with(name, &Models::default(), variables).unwrap() {
        Named::Target(target) => target,
        other => panic!("{name} is {other:?}"),
    }
}

fn message_of(name: &str, variables: &[(&str, &str)]) -> (Kind, String) {
    let error = with(name, &Models::default(), variables).unwrap_err();
    (error.kind, error.message)
}

#[test]
fn addresses_follow_the_forms_of_the_official_kits() {
    let cases = [
        ("anthropic/m", "ANTHROPIC_BASE_URL", "http://h:1", "http://h:1/v1/"),
        ("anthropic/m", "ANTHROPIC_BASE_URL", "http://h:1/v1/", "http://h:1/v1/"),
        ("openai/m", "OPENAI_BASE_URL", "http://h:1/v1", "http://h:1/v1/"),
        ("openai-responses/m", "OPENAI_BASE_URL", "http://h:1/v1/", "http://h:1/v1/"),
        ("gemini/m", "GOOGLE_GEMINI_BASE_URL", "http://h:1", "http://h:1/v1beta/"),
        ("ollama/m", "OLLAMA_HOST", "http://h:1", "http://h:1/v1/"),
        ("ollama/m", "OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434/v1/"),
        ("ollama/m", "OLLAMA_HOST", "box:8080", "http://box:8080/v1/"),
        ("ollama/m", "OLLAMA_HOST", ":8080", "http://127.0.0.1:8080/v1/"),
        ("ollama/m", "OLLAMA_HOST", "https://box/models", "https://box/models/v1/"),
        ("ollama/m", "UNSET", "", "http://127.0.0.1:11434/v1/"),
    ];
    for (name, variable, value, expected) in cases {
        assert_eq!(target_of(name, &[(variable, value)]).address, expected, "{variable}={value}");
    }
}

#[test]
fn keys_come_from_the_providers_own_variables() {
    let target = target_of("gemini/gemini-2.5-pro", &[("GOOGLE_API_KEY", "made-up")]);
    assert_eq!(target.key, Key::new("made-up"));
    assert_eq!(target.name(), "gemini/gemini-2.5-pro");
    let nested = target_of("openrouter/a/b", &[("OPENROUTER_API_KEY", "made-up")]);
    assert_eq!((nested.model.as_str(), nested.is_free()), ("a/b", false));
    assert!(target_of("ollama/qwen3", &[]).is_free());
}

#[test]
fn what_cannot_be_had_is_said_in_a_sentence() {
    let (kind, message) = message_of("anthropic/claude-sonnet-5", &[("ANTHROPIC_API_KEY", " ")]);
    assert_eq!(kind, Kind::NoKey);
    assert_eq!(message, "There is no key for `anthropic`: `ANTHROPIC_API_KEY` is not set.");

    let (kind, message) = message_of("antropic/x", &[]);
    assert_eq!(kind, Kind::UnknownModel);
    assert!(message.starts_with("There is no provider `antropic`. Known are anthropic, openai, "));

    assert_eq!(message_of("openai/m", &[("OPENAI_API_KEY", "two words")]).0, Kind::NoKey);
    assert!(message_of("acp:claude", &[]).1.contains("cannot be used yet"));
    for nonsense in ["", "gpt-5", "openai/", "/"] {
        assert_eq!(message_of(nonsense, &[]).0, Kind::UnknownModel, "{nonsense}");
    }
    for address in ["nonsense", "file:///etc", "http://", "http://h/v1?a=b"] {
        let variables = [("OPENAI_BASE_URL", address)];
        let (kind, message) = message_of("openai/m", &variables);
        assert_eq!(kind, Kind::Network, "{address}");
        assert!(message.contains("`OPENAI_BASE_URL`"), "{message}");
    }
}

#[test]
fn aliases_are_what_the_person_made_of_them() {
    let models = Models {
        strong: Some("ollama/big".to_owned()),
        default: Some("strong".to_owned()),
        cheap: None,
    };
    let Ok(Named::Target(strong)) = with("strong", &models, &[]) else { panic!("no target") };
    assert_eq!(strong.name(), "ollama/big");
    assert_eq!(with("default", &models, &[]).unwrap_err().kind, Kind::UnknownModel);
    assert_eq!(with("cheap", &models, &[]), Ok(Named::Auto(Tier::Cheap)));
    assert_eq!(with("auto", &models, &[]), Ok(Named::Auto(Tier::Default)));
    assert_eq!(with("literal", &models, &[]), Ok(Named::Literal));
}

#[test]
fn a_key_command_wins_over_the_variable_and_its_failure_is_said() {
    let models = Models::default();
    let ask = |answer: Option<Result<String, String>>| {
        let environment = |_: &str| Some("from-variable".to_owned());
        let command = move |_: &str| answer.clone();
        let sources = Sources { models: &models, environment: &environment, command: &command };
        key(service::find("groq").unwrap(), &sources)
    };
    assert_eq!(ask(Some(Ok("from-command\n".to_owned()))), Ok(Key::new("from-command")));
    assert_eq!(ask(None), Ok(Key::new("from-variable")));
    assert_eq!(ask(Some(Ok("\n".to_owned()))).unwrap_err().kind, Kind::NoKey);
    let failed = ask(Some(Err("It ended with 1.".to_owned()))).unwrap_err();
    assert_eq!(failed.message, "The key command of `groq` failed: It ended with 1.");
}
