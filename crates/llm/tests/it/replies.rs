//! One script gives one reply, whatever the wire.

use sequester_core::message::{Call, Message, Said};
use sequester_core::provider::{Provider, Reply, Stop};
use sequester_core::usage::Usage;
use sequester_llm::Timeouts;
use sequester_testkit::model::{Pace, Script, Setup, Turn, Wire};
use serde_json::{Value, json};

use crate::stage::{KEY, answered, ask, last_body, over, plain, play, prompt, remote};

const USAGE: Usage = Usage { input: 1_200, cache_read: 900, cache_write: 200, output: 75 };

fn call(place: usize, name: &str, arguments: Value) -> Call {
    Call { id: place.to_string(), name: name.to_owned(), arguments }
}

#[tokio::test]
async fn the_same_script_gives_the_same_reply_over_every_wire() {
    let turns = [
        Turn::text("Nothing\nto — say.").costing(USAGE),
        Turn::call("Read", json!({"path": "src/a.rs"}))
            .and_call("Grep", json!({"path": "b", "deep": {"n": [1, 2.5, null]}}))
            .saying("Both at once.")
            .costing(USAGE),
        Turn::call("Read", json!({})).costing(USAGE),
        Turn::default().and_raw_call("Read", "{\"path\": oops").costing(USAGE),
        Turn::refusal("I will not.").costing(USAGE),
        Turn::text("half a sen").stopping(Stop::Length).costing(USAGE),
        Turn::silence().costing(USAGE),
    ];
    let said = |text: &str, calls: Vec<Call>| Said { text: text.to_owned(), calls, carried: None };
    let reply = |said: Said, stop: Stop| Reply { said, usage: USAGE, stop };
    let expected = [
        reply(said("Nothing\nto — say.", vec![]), Stop::End),
        reply(
            said(
                "Both at once.",
                vec![
                    call(0, "Read", json!({"path": "src/a.rs"})),
                    call(1, "Grep", json!({"path": "b", "deep": {"n": [1, 2.5, null]}})),
                ],
            ),
            Stop::End,
        ),
        reply(said("", vec![call(0, "Read", json!({}))]), Stop::End),
        reply(said("", vec![call(0, "Read", json!("{\"path\": oops"))]), Stop::End),
        reply(said("", vec![]), Stop::Refused("I will not.".to_owned())),
        reply(said("half a sen", vec![]), Stop::Length),
        reply(said("", vec![]), Stop::End),
    ];
    for (turn, expected) in turns.into_iter().zip(expected) {
        for wire in Wire::ALL {
            let server = play(vec![turn.clone()]).await;
            let reply = ask(&over(wire, &server), &prompt()).await;
            assert_eq!(reply.map(plain), Ok(expected.clone()), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_the_limit_cut_is_no_call() {
    let turn = Turn::call("Read", json!({"path": "a"})).and_raw_call("Read", "{\"path\": \"b");
    let whole = Turn::call("Read", json!({"path": "a"}));
    for wire in Wire::ALL {
        for turn in [turn.clone(), whole.clone()] {
            let server = play(vec![turn.stopping(Stop::Length)]).await;
            let reply = plain(ask(&over(wire, &server), &prompt()).await.unwrap());
            assert_eq!(reply.stop, Stop::Length, "{wire:?}");
            assert_eq!(reply.said.calls, [call(0, "Read", json!({"path": "a"}))], "{wire:?}");
        }
    }
}

#[tokio::test]
async fn deltas_are_the_text_of_the_reply() {
    for wire in Wire::ALL {
        let server = play(vec![Turn::text("One piece after the other.").thinking("Hm.")]).await;
        let remote = over(wire, &server);
        let heard = crate::stage::Heard::default();
        let messages = prompt();
        let reply = remote.complete(crate::stage::request(&messages, &[]), &heard).await.unwrap();
        assert_eq!(*heard.0.lock().unwrap(), reply.said.text, "{wire:?}");
    }
}

#[tokio::test]
async fn reasoning_goes_back_as_the_api_demands() {
    let turns = vec![
        Turn::call("Read", json!({"path": "a"})).saying("I look.").thinking("Where? In a."),
        Turn::text("Found."),
    ];
    // The server checks signatures and what belongs before what; it would reject anything else.
    for wire in Wire::ALL {
        let server = play(turns.clone()).await;
        let remote = over(wire, &server);
        let said = ask(&remote, &prompt()).await.unwrap().said;
        assert_eq!(said.carried.is_some(), wire != Wire::Chat, "{wire:?}");
        let stored: Said = serde_json::from_value(serde_json::to_value(&said).unwrap()).unwrap();
        let reply = ask(&remote, &answered(prompt(), stored)).await;
        assert_eq!(reply.map(|reply| reply.said.text), Ok("Found.".to_owned()), "{wire:?}");
        let body = last_body(&server);
        match wire {
            Wire::Anthropic => {
                let block = &body["messages"][1]["content"][0];
                assert_eq!(block["type"], "thinking");
                assert_eq!(block["thinking"], "Where? In a.");
            }
            Wire::Responses => {
                let item = &body["input"][1];
                assert_eq!(item["type"], "reasoning");
                assert!(item["encrypted_content"].is_string());
                assert_eq!(body["reasoning"], json!({}), "no summary is asked for");
            }
            Wire::Chat => assert!(!body.to_string().contains("reasoning")),
        }
    }
}

#[tokio::test]
async fn what_another_provider_wanted_back_is_not_sent() {
    let server =
        play(vec![Turn::call("Read", json!({"path": "a"})).thinking("Hm."), Turn::text("Done.")])
            .await;
    let said = ask(&over(Wire::Anthropic, &server), &prompt()).await.unwrap().said;
    ask(&over(Wire::Responses, &server), &answered(prompt(), said)).await.unwrap();
    assert!(!last_body(&server).to_string().contains("Hm."));
    assert_eq!(server.rejected(), [""; 0]);
}

#[tokio::test]
async fn odd_turns_can_be_carried_on_from() {
    // Arguments that are no object, a reply that says nothing, and a word of the runtime after it.
    let turns =
        vec![Turn::default().and_raw_call("Read", "[1"), Turn::silence(), Turn::text("Well.")];
    for wire in Wire::ALL {
        let server = Setup::new(Script::new({
            let turns = turns.clone();
            move |request| turns[request.messages.len() / 2].clone()
        }));
        let server = server.start().await.unwrap();
        let remote = over(wire, &server);
        let said = ask(&remote, &prompt()).await.unwrap().said;
        let mut messages = answered(prompt(), said);
        let silent = ask(&remote, &messages).await.unwrap().said;
        messages.push(Message::Assistant(silent));
        messages.push(Message::User("Say something.".into()));
        let reply = ask(&remote, &messages).await;
        assert_eq!(reply.map(|reply| reply.said.text), Ok("Well.".to_owned()), "{wire:?}");
        assert_eq!(server.rejected(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn ollama_is_asked_without_a_key() {
    let server = play(vec![Turn::text("Here.").costing(USAGE)]).await;
    let address = format!("http://{}", server.address());
    let ollama = remote("ollama/qwen3", &address, KEY, Timeouts::default());
    assert!(ollama.powers().free);
    assert_eq!(ask(&ollama, &prompt()).await.unwrap().said.text, "Here.");
    let recorded = server.requests().pop().unwrap();
    assert_eq!(
        (recorded.path.as_str(), recorded.header("authorization")),
        ("/v1/chat/completions", None)
    );
}

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    for wire in Wire::ALL {
        let pace = Pace { first: std::time::Duration::from_mins(10), ..Pace::default() };
        let setup = Setup::new(Script::replies(vec![Turn::text("Late.")])).pace(pace);
        let server = setup.start().await.unwrap();
        let remote = over(wire, &server);
        let wait = std::time::Duration::from_millis(10);
        let asking = tokio::spawn(async move { ask(&remote, &prompt()).await });
        while server.present() == 0 {
            tokio::time::sleep(wait).await;
        }
        asking.abort();
        while server.present() > 0 {
            tokio::time::sleep(wait).await;
        }
    }
}
