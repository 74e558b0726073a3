use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sequester_testkit::model::{Fault, Faults, Pace, Script, Server, Setup, Turn, Wire};
use serde_json::{Value, json};

use crate::asking::{Came, ask, ask_in_vain, first, open, wait_for};

fn turn() -> Turn {
    Turn::text("I write it.")
        .and_call("Write", json!({"path": "a.txt", "text": "some words to be cut"}))
}

fn with(faults: Faults) -> Server {
    Setup::new(Script::replies(vec![turn()])).faults(faults).start_blocking().unwrap()
}

/// What a fault does to the first request.
fn spoilt(fault: &Fault, wire: Wire, stream: bool) -> Came {
    let server = with(Faults::at(vec![(0, fault.clone())]));
    if matches!(fault, Fault::Hang | Fault::HangMidStream) {
        return ask_in_vain(server, wire, &first(wire, stream));
    }
    let came = ask(&server, wire, &first(wire, stream));
    assert_eq!(server.injected(), BTreeMap::from([(fault.name(), 1)]));
    came
}

fn unspoilt(wire: Wire, stream: bool) -> Came {
    ask(&with(Faults::none()), wire, &first(wire, stream))
}

#[test]
fn statuses_and_bodies_are_the_providers_own() {
    let retry_after = Duration::from_millis(1_500);
    for wire in Wire::ALL {
        let limited = spoilt(&Fault::TooManyRequests { retry_after }, wire, true);
        assert_eq!(limited.status, 429);
        assert!(
            limited.head.contains("retry-after: 2\r\nretry-after-ms: 1500"),
            "{}",
            limited.head
        );
        let anthropic = wire == Wire::Anthropic;
        let status = |fault| spoilt(&fault, wire, true).status;
        assert_eq!(status(Fault::Overloaded), if anthropic { 529 } else { 503 });
        assert_eq!(status(Fault::Unavailable), 503);
        assert_eq!(status(Fault::Unauthorized), 401);
        assert_eq!(status(Fault::NoCredit), if anthropic { 400 } else { 429 });
        assert_eq!(status(Fault::UnknownModel), 404);
        let long = spoilt(&Fault::ContextTooLong, wire, true);
        assert_eq!(long.status, 400);
        let error = &long.json()["error"];
        if anthropic {
            assert!(error["message"].as_str().unwrap().starts_with("prompt is too long"));
        } else {
            assert_eq!(error["code"], "context_length_exceeded");
        }
        let page = spoilt(&Fault::WrongContentType, wire, true);
        assert_eq!(page.status, 200);
        assert!(page.head.contains("content-type: text/html"), "{}", page.head);
    }
}

#[test]
fn a_cut_stream_breaks_off_within_the_arguments() {
    for wire in Wire::ALL {
        let whole = unspoilt(wire, true).body;
        let cut = spoilt(&Fault::CutMidStream, wire, true);
        assert_eq!((cut.status, cut.proper, cut.hung), (200, false, false), "{cut:?}");
        assert!(whole.starts_with(&cut.body) && cut.body.len() < whole.len());
        assert!(!cut.body.ends_with("\n\n") && !cut.body.contains("to be cut"), "{}", cut.body);
        let early = spoilt(&Fault::EndsEarly, wire, true);
        assert!(early.proper && early.body.ends_with("\n\n") && !early.body.contains("to be cut"));
        assert!(whole.starts_with(&early.body) && early.body.contains("Write"));
        let hung = spoilt(&Fault::HangMidStream, wire, true);
        assert!(hung.hung && !hung.proper);
        assert_eq!(hung.body, early.body);
    }
}

#[test]
fn a_stream_cut_cleanly_lacks_only_its_end() {
    let last = |came: &Came| came.events().last().unwrap().clone();
    for wire in Wire::ALL {
        let whole = unspoilt(wire, true);
        let cut = spoilt(&Fault::CutCleanly, wire, true);
        assert!(cut.proper);
        assert_eq!(cut.events(), whole.events()[..whole.events().len() - 1]);
        assert!(matches!(
            (last(&whole).0.as_str(), last(&whole).1.as_str()),
            ("message_stop" | "response.completed", _) | ("", "[DONE]")
        ));
    }
}

#[test]
fn a_stream_without_a_stop_reason_is_otherwise_whole() {
    for wire in Wire::ALL {
        for stream in [true, false] {
            let whole = unspoilt(wire, stream);
            let came = spoilt(&Fault::NoStopReason, wire, stream);
            assert!(came.proper && came.events().len() == whole.events().len());
            let said = if stream { came.data() } else { vec![came.json()] };
            for place in ["stop_reason", "finish_reason", "status"] {
                let places = ["", "/delta", "/choices/0", "/response"];
                let at = places.map(|before| format!("{before}/{place}"));
                let mut reasons =
                    said.iter().flat_map(|one| at.each_ref().map(|at| one.pointer(at)));
                let none = |reason: &Value| reason.is_null() || reason == "in_progress";
                assert!(reasons.all(|reason| reason.is_none_or(none)), "{}", came.body);
            }
            assert!(came.body.contains("to be cut"), "{}", came.body);
        }
    }
}

#[test]
fn a_malformed_frame_stands_among_good_ones() {
    for wire in Wire::ALL {
        let is_json = |data: &str| serde_json::from_str::<Value>(data).is_ok();
        let broken = |came: &Came| {
            let texts = came.events().into_iter().map(|(_, data)| data);
            texts.filter(|data| !data.is_empty() && data != "[DONE]" && !is_json(data)).count()
        };
        let came = spoilt(&Fault::Malformed, wire, true);
        assert_eq!((broken(&came), came.proper), (1, true));
        assert_eq!(came.events().len(), unspoilt(wire, true).events().len());
        assert_eq!(broken(&unspoilt(wire, true)), 0);
    }
}

#[test]
fn an_error_event_ends_a_stream_that_began_well() {
    for wire in Wire::ALL {
        let came = spoilt(&Fault::ErrorEvent, wire, true);
        assert_eq!((came.status, came.proper), (200, true));
        let data = came.data();
        let last = data.last().unwrap();
        match wire {
            Wire::Anthropic => assert_eq!(last["error"]["type"], "overloaded_error"),
            Wire::Chat => assert_eq!(last["error"]["type"], "server_error"),
            Wire::Responses => {
                assert_eq!(last["response"]["error"]["code"], "server_error");
                assert_eq!(data[data.len() - 2]["type"], "error");
                let numbers = data.iter().map(|event| event["sequence_number"].as_u64().unwrap());
                assert!(numbers.eq(0..data.len() as u64));
            }
        }
        assert!(data.len() > 3);
    }
}

#[test]
fn a_slow_drip_is_the_same_reply() {
    for wire in Wire::ALL {
        for stream in [true, false] {
            let slow = spoilt(&Fault::SlowDrip(Duration::from_millis(1)), wire, stream);
            assert_eq!((slow.proper, slow.body), (true, unspoilt(wire, stream).body));
        }
    }
}

#[test]
fn a_hanging_server_says_nothing_and_lets_go_of_who_leaves() {
    let came = spoilt(&Fault::Hang, Wire::Chat, true);
    assert!(came.hung && came.status == 0, "{came:?}");
    let server = with(Faults::at(vec![(0, Fault::Hang)]));
    let stream = open(&server, Wire::Chat, &first(Wire::Chat, true));
    wait_for("silence", || server.silent() == 1);
    assert_eq!((server.present(), server.peak()), (1, 1));
    drop(stream);
    wait_for("the end of the request", || server.present() == 0);
}

#[test]
fn replies_in_one_piece_are_spoilt_too() {
    for wire in Wire::ALL {
        let whole = unspoilt(wire, false).body;
        let half = |fault| {
            let came = spoilt(&fault, wire, false);
            assert_eq!(came.body, whole[..whole.len() / 2]);
            (came.proper, came.hung)
        };
        assert_eq!(half(Fault::CutMidStream), (false, false));
        assert_eq!(half(Fault::HangMidStream), (false, true));
        assert_eq!(half(Fault::CutCleanly), (true, false));
        assert_eq!(half(Fault::EndsEarly), (true, false));
        let bad = spoilt(&Fault::Malformed, wire, false);
        assert!(bad.proper && serde_json::from_str::<Value>(&bad.body).is_err());
        let failed = spoilt(&Fault::ErrorEvent, wire, false);
        match wire {
            Wire::Anthropic => assert_eq!(failed.status, 529),
            Wire::Chat => assert_eq!(failed.status, 500),
            Wire::Responses => assert_eq!(failed.json()["status"], "failed"),
        }
    }
}

/// The statuses of three attempts at each of some conversations, asked in this order.
fn statuses(seed: u64, order: impl Iterator<Item = usize>) -> BTreeMap<(usize, usize), u16> {
    let kinds = vec![Fault::Overloaded, Fault::Unauthorized, Fault::UnknownModel];
    let faults = Faults::seeded(seed, 0.5, kinds).keyed(|request| request.prompt().to_owned());
    let server = with(faults);
    let mut attempts = [0; 40];
    let mut seen = BTreeMap::new();
    for conversation in order {
        let mut request = first(Wire::Chat, false);
        request["messages"][0]["content"] = format!("Task {conversation}.").into();
        let status = ask(&server, Wire::Chat, &request).status;
        seen.insert((conversation, attempts[conversation]), status);
        attempts[conversation] += 1;
    }
    let failed = seen.values().filter(|status| **status != 200).count();
    assert_eq!(server.injected().values().sum::<usize>(), failed);
    seen
}

#[test]
fn seeded_faults_depend_on_the_seed_and_not_on_the_order() {
    let forward = statuses(7, (0..120).map(|index| index % 40));
    let backward = statuses(7, (0..120).rev().map(|index| index / 3));
    assert_eq!(forward, backward);
    assert_ne!(forward, statuses(8, (0..120).map(|index| index % 40)));
    let failed = forward.values().filter(|status| **status != 200).count();
    assert!((40..80).contains(&failed), "{failed} of 120");
    let kinds: BTreeMap<u16, usize> =
        forward.values().fold(BTreeMap::new(), |mut kinds, status| {
            *kinds.entry(*status).or_default() += 1;
            kinds
        });
    assert!(kinds.values().all(|count| *count >= 8) && kinds.len() == 4, "{kinds:?}");
}

#[test]
fn attempts_at_one_request_are_told_apart() {
    let server = with(Faults::when(|_, attempt| (attempt < 2).then_some(Fault::Overloaded)));
    let status = || ask(&server, Wire::Anthropic, &first(Wire::Anthropic, true)).status;
    assert_eq!([status(), status(), status()], [529, 529, 200]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is about how long the reply takes")]
fn a_slow_model_waits_before_its_first_byte_and_between_frames() {
    let pace = Pace { first: Duration::from_millis(50), between: Duration::from_millis(2) };
    let server = Setup::new(Script::replies(vec![turn()])).pace(pace).start_blocking().unwrap();
    let start = Instant::now();
    let came = ask(&server, Wire::Responses, &first(Wire::Responses, true));
    let frames = came.events().len() as u32;
    assert!(came.proper && start.elapsed() >= pace.first + pace.between * (frames - 1));
}
