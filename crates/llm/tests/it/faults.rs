//! Every way to fail has its kind.

use std::time::Duration;

use sequester_core::provider::Kind;
use sequester_llm::Timeouts;
use sequester_testkit::model::{Fault, Faults, Script, Setup, Turn, Wire};
use serde_json::json;
use tokio::task::JoinSet;

use crate::stage::{KEY, ask, prompt, remote, with};

fn kind(fault: &Fault) -> Option<Kind> {
    Some(match fault {
        Fault::TooManyRequests { .. } => Kind::RateLimited,
        Fault::Overloaded | Fault::Unavailable | Fault::ErrorEvent => Kind::Overloaded,
        Fault::CutMidStream | Fault::CutCleanly | Fault::NoStopReason | Fault::EndsEarly => {
            Kind::Cut
        }
        Fault::Malformed | Fault::WrongContentType => Kind::Malformed,
        Fault::Hang | Fault::HangMidStream => Kind::TimedOut,
        Fault::SlowDrip(_) => return None,
        Fault::ContextTooLong => Kind::ContextTooLong,
        Fault::Unauthorized => Kind::Authentication,
        Fault::NoCredit => Kind::Forbidden,
        Fault::UnknownModel => Kind::UnknownModel,
    })
}

fn turns() -> [Turn; 3] {
    let long = "Words and words, so that there is a middle to break in. ".repeat(5);
    let call = Turn::call("Read", json!({"path": long})).saying("I look.");
    [Turn::text(long.clone()), call, Turn::refusal(&long)]
}

fn hangs(fault: &Fault) -> bool {
    kind(fault) == Some(Kind::TimedOut)
}

#[tokio::test]
async fn every_fault_has_its_kind_over_every_wire() {
    let faults = Fault::passing().into_iter().chain(Fault::lasting());
    endure(faults.filter(|fault| !hangs(fault))).await;
}

/// The clock moves on only when nothing else can happen: nobody waits, and nothing is in time or late.
#[tokio::test(start_paused = true)]
async fn a_server_that_falls_silent_is_given_up_in_time() {
    endure(Fault::passing().into_iter().filter(hangs)).await;
}

async fn endure(faults: impl Iterator<Item = Fault>) {
    let mut trials = JoinSet::new();
    for fault in faults {
        for wire in Wire::ALL {
            for turn in turns() {
                trials.spawn(suffer(fault.clone(), wire, turn));
            }
        }
    }
    trials.join_all().await;
}

async fn suffer(fault: Fault, wire: Wire, turn: Turn) {
    let setup = Setup::new(Script::replies(vec![turn.clone()]));
    let server = setup.faults(Faults::at(vec![(0, fault.clone())])).start().await.unwrap();
    let reply = ask(&with(wire, &server, KEY, Timeouts::default()), &prompt()).await;
    let what = format!("{fault:?} over {wire:?}");
    assert_eq!(server.injected().get(fault.name()), Some(&1), "{what}");
    let expected = kind(&fault);
    assert_eq!(reply.as_ref().err().map(|error| error.kind), expected, "{what}: {reply:?}");
    let error = match reply {
        Ok(reply) => return assert_eq!(reply.said.text, turn.text, "{what}"),
        Err(error) => error,
    };
    assert!(error.message.ends_with('.'), "{what}: {error}");
    for secret in [KEY, "sessions expire", "Words and words"] {
        assert!(!error.message.contains(secret), "{what}: {error}");
    }
    let delayed = matches!(fault, Fault::TooManyRequests { .. });
    assert_eq!(error.retry_after, delayed.then_some(Duration::from_millis(5)), "{what}");
}

#[tokio::test]
async fn a_wrong_key_is_told_without_the_key() {
    for wire in Wire::ALL {
        let server = Setup::new(Script::replies(turns().into())).key(KEY).start().await.unwrap();
        let wrong = with(wire, &server, "made-up-wrong-key", Timeouts::default());
        let error = ask(&wrong, &prompt()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Authentication, "{wire:?}");
        assert!(!error.message.contains("made-up-wrong-key"), "{error}");
        let right = with(wire, &server, KEY, Timeouts::default());
        assert!(ask(&right, &prompt()).await.is_ok(), "{wire:?}");
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_named() {
    for wire in Wire::ALL {
        let setup = Setup::new(Script::replies(turns().into())).models(&["another"]);
        let server = setup.start().await.unwrap();
        let remote = with(wire, &server, KEY, Timeouts::default());
        let error = ask(&remote, &prompt()).await.unwrap_err();
        assert_eq!(error.kind, Kind::UnknownModel, "{wire:?}");
        assert!(error.message.contains("claude-sonnet-5") || error.message.contains("gpt-5"));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_matter_of_the_network() {
    // Nothing listens on the lowest port.
    for name in ["anthropic/m", "openai/m", "openai-responses/m", "gemini/m"] {
        let remote = remote(name, "http://127.0.0.1:1", KEY, Timeouts::default());
        let error = ask(&remote, &prompt()).await.unwrap_err();
        assert_eq!(error.kind, Kind::Network, "{name}: {error}");
        assert!(
            error.message.ends_with("could not be reached at `http://127.0.0.1:1`."),
            "{error}"
        );
    }
}
