use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;

const TELLER: Teller<'static> = Teller { service: "openai", server: "http://h", key: None };

fn kind(status: u16, body: &str) -> Kind {
    TELLER.status(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body).kind
}

#[test]
fn a_status_has_its_kind() {
    let cases = [
        (400, r#"{"error":{"message":"tools.0: wrong"}}"#, Kind::BadRequest),
        (401, "", Kind::Authentication),
        (402, "", Kind::Forbidden),
        (403, "", Kind::Forbidden),
        (404, "<html>", Kind::UnknownModel),
        (408, "", Kind::TimedOut),
        (413, "", Kind::ContextTooLong),
        (429, "{}", Kind::RateLimited),
        (429, r#"{"error":{"code":"insufficient_quota","message":"No."}}"#, Kind::Forbidden),
        (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, Kind::Forbidden),
        (
            400,
            r#"{"error":{"status":"INVALID_ARGUMENT","message":"API key not valid."}}"#,
            Kind::Authentication,
        ),
        (400, r#"{"error":{"code":"model_not_found","message":"No."}}"#, Kind::UnknownModel),
        (307, "", Kind::BadRequest),
        (500, "", Kind::Overloaded),
        (501, "", Kind::BadRequest),
        (503, "busy", Kind::Overloaded),
        (529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#, Kind::Overloaded),
    ];
    for (status, body, expected) in cases {
        assert_eq!(kind(status, body), expected, "{status} {body}");
    }
}

#[test]
fn every_providers_wording_of_a_context_too_long_is_known() {
    let wordings = [
        "prompt is too long: 205000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
        "This model's maximum context length is 8192 tokens. However, you asked for 9000.",
        "Your input exceeds the context window of this model. Please adjust it.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "the request exceeds the available context size. try increasing the context size",
        "the input length exceeds the context length",
        "Request too large for gpt-5: limit 30000, requested 42000.",
    ];
    for wording in wordings {
        let body = json!({"error": {"message": wording}});
        assert_eq!(kind(400, &body.to_string()), Kind::ContextTooLong, "{wording}");
        assert_eq!(TELLER.event(&body).kind, Kind::ContextTooLong, "{wording}");
    }
    let llama = json!({"error": {"code": 400, "type": "exceed_context_size_error"}});
    assert_eq!(kind(400, &llama.to_string()), Kind::ContextTooLong);
}

#[test]
fn an_error_inside_a_stream_has_its_kind() {
    let cases = [
        (json!({"type": "error", "error": {"type": "overloaded_error"}}), Kind::Overloaded),
        (json!({"type": "error", "error": {"type": "rate_limit_error"}}), Kind::RateLimited),
        (json!({"message": "The server had an error", "type": "server_error"}), Kind::Overloaded),
        (json!({"type": "error", "code": "rate_limit_exceeded"}), Kind::RateLimited),
        (json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}), Kind::RateLimited),
        (json!({"code": 502, "message": "Upstream"}), Kind::Overloaded),
        (json!({"error": {"type": "invalid_request_error"}}), Kind::BadRequest),
        (json!({"error": {"type": "authentication_error"}}), Kind::Authentication),
        (json!({"error": {"type": "insufficient_quota"}}), Kind::Forbidden),
        (json!("out of words"), Kind::Overloaded),
        (json!(null), Kind::Overloaded),
    ];
    for (body, expected) in cases {
        assert_eq!(TELLER.event(&body).kind, expected, "{body}");
    }
}

#[test]
fn the_providers_own_delay_is_kept() {
    let after = |name: &'static str, value: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        TELLER.status(StatusCode::TOO_MANY_REQUESTS, &headers, "").retry_after
    };
    assert_eq!(after("retry-after", "7"), Some(Duration::from_secs(7)));
    assert_eq!(after("retry-after", "0.25"), Some(Duration::from_millis(250)));
    assert_eq!(after("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
    for nonsense in ["-3", "soon", "1e400", "NaN", "Wed, 21 Oct 2026 07:28:00 GMT"] {
        assert_eq!(after("retry-after", nonsense), None, "{nonsense}");
    }
    let gemini = json!({"error": {"code": 429, "details": [{}, {"retryDelay": "34.5s"}]}});
    assert_eq!(TELLER.event(&gemini).retry_after, Some(Duration::from_millis(34_500)));
}

#[test]
fn a_message_is_one_bounded_sentence_without_the_key() {
    let key = Key::new("made-up-key-0451").unwrap();
    let teller = Teller { key: Some(&key), ..TELLER };
    let body = json!({"error": {"message": "Incorrect API key provided:\n  made-up-key-0451"}});
    let error = teller.status(StatusCode::UNAUTHORIZED, &HeaderMap::new(), &body.to_string());
    assert_eq!(error.message, "`openai` answered 401: it does not accept the key.");
    let body = json!({"error": {"message": "Odd request of\n  made-up-key-0451"}});
    let error = teller.status(StatusCode::BAD_REQUEST, &HeaderMap::new(), &body.to_string());
    assert_eq!(error.message, "`openai` answered 400: Odd request of [redacted: key].");
    let long = teller.tell(Kind::BadRequest, &"é".repeat(10_000));
    assert_eq!(long.message.chars().count(), LENGTH);
    assert_eq!(kind(503, "\u{0}\u{1}"), Kind::Overloaded);
}
