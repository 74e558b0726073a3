//! The same replies, however many tasks are worked on at once: the same contexts, requests and tree.
#![allow(clippy::print_stdout, reason = "figures that a person asked for")]

use std::collections::BTreeMap;

use sequester_testkit::model::Server;

use crate::command::Answer;
use crate::waves::{self, Place};

const TASKS: usize = 24;

/// All that a run left of which nothing may depend on who came first.
#[derive(PartialEq, Eq)]
struct Left {
    tree: String,
    contexts: BTreeMap<String, String>,
    /// Every request byte for byte, by its place in its conversation.
    requests: BTreeMap<Place, Vec<u8>>,
}

impl Left {
    fn by(jobs: usize) -> Self {
        let (bench, server) = (waves::bench(TASKS), waves::server());
        let mut command = waves::run(&bench, &server, "openai/gpt-5", jobs);
        let answer = Answer::of(&command.output().unwrap());
        assert_eq!(answer.code, Some(0), "with {jobs} at once: {}", waves::tail(&answer.out));
        let first: serde_json::Value =
            serde_json::from_str(answer.out.lines().next().unwrap()).unwrap();
        let run = first["run"].as_str().unwrap();
        let log = waves::export(&bench, &server, run);
        let (tree, contexts) = (waves::tree(&bench, run), waves::contexts(&log));
        Self { tree, contexts, requests: requests(&server) }
    }
}

fn requests(server: &Server) -> BTreeMap<Place, Vec<u8>> {
    let asked = waves::asked(server);
    let count = asked.len();
    let placed: BTreeMap<Place, Vec<u8>> =
        asked.into_iter().map(|one| (Place::of(&one), one.body.to_vec())).collect();
    assert_eq!(placed.len(), count, "every turn is asked for once");
    placed
}

fn compare(times: usize) {
    let wanted = Left::by(1);
    for turn in 0..times * 2 - 1 {
        let jobs = if turn % 2 == 0 { 16 } else { 1 };
        let left = Left::by(jobs);
        let about = format!("run {} with {jobs} at once", turn + 2);
        assert_eq!(left.tree, wanted.tree, "{about}");
        assert_eq!(left.contexts, wanted.contexts, "{about}");
        assert!(left.requests == wanted.requests, "other requests: {about}");
    }
    println!(
        "{times} runs of {TASKS} tasks with 1 at once and {times} with 16: {} contexts and {} requests, each byte the same, and one tree, {}",
        wanted.contexts.len(),
        wanted.requests.len(),
        wanted.tree
    );
}

#[test]
fn contexts_requests_and_tree_are_the_same_with_one_and_with_sixteen_at_once() {
    compare(2);
}

#[test]
#[ignore = "`cargo xtask same`: minutes"]
fn contexts_requests_and_tree_are_the_same_however_often_they_are_made() {
    let times = std::env::var("SAME_TIMES").unwrap();
    compare(times.parse().unwrap());
}
