//! A reply has a size that it may not pass.

use sequester_core::provider::Kind;
use sequester_testkit::model::{Turn, Wire};
use serde_json::json;

use crate::stage::{ask, over, play, prompt};

#[tokio::test]
async fn ten_megabytes_are_too_much_of_anything() {
    let endless = "All work and no play. ".repeat(500_000);
    let turns = [
        Turn::text(endless.clone()),
        Turn::text("Hm.").thinking(endless.clone()),
        Turn::refusal(&endless),
        Turn::call("Read", json!({"path": endless})),
    ];
    for turn in turns {
        for wire in Wire::ALL {
            let server = play(vec![turn.clone()]).await;
            let reply = ask(&over(wire, &server), &prompt()).await;
            // Responses sends no reasoning that nobody asked for.
            if wire == Wire::Responses && !turn.reasoning.is_empty() {
                assert_eq!(reply.unwrap().said.text, turn.text);
                continue;
            }
            let error = reply.unwrap_err();
            assert_eq!(error.kind, Kind::TooLarge, "{wire:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_megabyte_is_not() {
    let long = "All work and no play. ".repeat(50_000);
    for wire in Wire::ALL {
        let server = play(vec![Turn::text(long.clone())]).await;
        let reply = ask(&over(wire, &server), &prompt()).await.unwrap();
        assert_eq!(reply.said.text, long, "{wire:?}");
    }
}
