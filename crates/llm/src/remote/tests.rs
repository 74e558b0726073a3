use sequester_core::message::{Answered, Message};
use sequester_core::protected::Grants;
use sequester_core::provider::Answer;
use sequester_testkit::model::{Script, Server, Turn};

use super::*;
use crate::key::Key;
use crate::pool::Timeouts;
use crate::service::{Service, find, services};

fn remote(service: &'static Service, model: &str, address: String, key: Option<Key>) -> Remote {
    let target = Target { service, model: model.to_owned(), address, key };
    Remote::new(&Pool::new(Timeouts::default()).unwrap(), target)
}

fn request(messages: &[Message]) -> Request<'_> {
    let answer = Answer::Free;
    Request {
        system: "",
        messages,
        tools: &[],
        answer,
        output_limit: 100,
        turns: 80,
        task: "",
        grants: Grants::none(),
    }
}

struct Nobody;

impl Deltas for Nobody {
    fn text(&self, _: &str) {}
}

/// Over Chat Completions only some want their plain reasoning back; others refuse it.
#[tokio::test]
async fn plain_reasoning_goes_back_to_who_wants_it() {
    for (name, wanted) in [("deepseek", true), ("kimi", true), ("groq", false)] {
        let turns = vec![Turn::call("Read", json!({})).thinking("Where?"), Turn::text("There.")];
        let server = Server::start(Script::replies(turns)).await.unwrap();
        let remote = remote(find(name).unwrap(), "m", server.base_url(), None);
        let mut messages = vec![Message::User("Find it.".into())];
        for expected in ["", "There."] {
            let said = remote.complete(request(&messages), &Nobody).await.unwrap().said;
            assert_eq!(said.text, expected, "{name}");
            let answered = |call: &sequester_core::message::Call| Answered {
                call: call.id.clone(),
                name: call.name.clone(),
                text: "Done.".to_owned(),
                failed: false,
            };
            let results = said.calls.iter().map(answered).collect();
            messages.extend([Message::Assistant(said), Message::Results(results)]);
        }
        let second = server.requests()[1].json();
        let reasoning = second["messages"][1].get("reasoning_content");
        assert_eq!(reasoning, wanted.then(|| json!("Where?")).as_ref(), "{name}");
    }
}

/// genai takes the ends of names for efforts to reason, and their beginnings for services.
#[tokio::test]
async fn a_models_name_is_sent_as_it_is_and_stands_for_nothing_else() {
    let messages = [Message::User("Find it.".into())];
    for service in services() {
        for model in ["org/foo-max", "m/foo-7b-none", "m/a-minimal", "m/ns::foo-low"] {
            for key in [None, Key::new("made-up")] {
                let server = Server::start(Script::replies(vec![Turn::text("Hi.")])).await.unwrap();
                let remote = remote(service, model, server.base_url(), key);
                let reply = remote.complete(request(&messages), &Nobody).await;
                let about = format!("{} {model}", service.name);
                let sent = server.requests().pop().unwrap();
                if service.wire == Wire::Gemini {
                    let path = format!("/v1/models/{model}:streamGenerateContent");
                    assert_eq!((sent.path, reply.is_err()), (path, true), "{about}");
                    continue;
                }
                assert!(reply.is_ok(), "{about}: {reply:?}");
                let body = sent.json();
                assert_eq!(body["model"], model, "{about}");
                for field in ["reasoning_effort", "thinking", "output_config"] {
                    assert_eq!(body.get(field), None, "{about}");
                }
                assert_eq!(body.pointer("/reasoning/effort"), None, "{about}");
            }
        }
    }
}
