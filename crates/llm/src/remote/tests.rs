use sequester_core::message::{Answered, Message};
use sequester_core::provider::Answer;
use sequester_testkit::model::{Script, Server, Turn};

use super::*;
use crate::pool::Timeouts;
use crate::service::find;

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
        let target = Target {
            service: find(name).unwrap(),
            model: "m".to_owned(),
            address: server.base_url(),
            key: None,
        };
        let remote = Remote::new(&Pool::new(Timeouts::default()).unwrap(), target);
        let mut messages = vec![Message::User("Find it.".into())];
        for expected in ["", "There."] {
            let request = Request {
                system: "",
                messages: &messages,
                tools: &[],
                answer: Answer::Free,
                output_limit: 100,
                turns: 80,
                task: "",
            };
            let said = remote.complete(request, &Nobody).await.unwrap().said;
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
