//! Attempts: tools, looks, harvests.

use std::time::{Duration, Instant};

use sequester_core::change::{Action, Change};
use sequester_core::jail::Jails as _;
use sequester_core::repository::Repository as _;
use serde_json::json;

use crate::bench::{Bench, call, wait};

fn told(change: &Change) -> Vec<(&str, Action, &[u8])> {
    change.entries.iter().map(|one| (one.path.as_str(), one.action, &*one.content)).collect()
}

const SCRIPT: &str = "echo more >> a.txt && rm lib/b.txt && mkdir new && echo x > new/x && chmod +x lib/c.txt && rm -rf out";

pub(crate) fn looks() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("writer", None).await;
        assert_eq!(jail.look().await.unwrap(), None);
        let tools = jail.tools();
        call(&*tools, "Write", json!({"file_path": "n.txt", "content": "new\n"})).await;
        let look = jail.look().await.unwrap().unwrap();
        assert_eq!(told(&look), [("n.txt", Action::Create, &b"new\n"[..])]);
        assert_eq!(jail.look().await.unwrap(), None);
        call(&*tools, "Bash", json!({"command": SCRIPT})).await;
        let look = jail.look().await.unwrap().unwrap();
        drop(tools);
        let change = jail.harvest().await.unwrap();
        assert_eq!(told(&look), told(&change));
        assert_eq!(look.entries.len(), 5);
        // It is one that a tree can be made from.
        bench.trees.with_change(&bench.head(), &change).unwrap();
    });
    bench.assert_clean();
}

pub(crate) fn goes_on() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("writer", None).await;
        let tools = jail.tools();
        call(&*tools, "Bash", json!({"command": SCRIPT})).await;
        let cut = jail.look().await.unwrap().unwrap();
        drop((tools, jail));

        let idle = bench.open("writer", Some(cut.clone())).await;
        assert_eq!(idle.look().await.unwrap(), None);
        assert_eq!(told(&idle.harvest().await.unwrap()), told(&cut));

        let jail = bench.open("writer", Some(cut.clone())).await;
        let tools = jail.tools();
        let seen =
            call(&*tools, "Bash", json!({"command": "cat a.txt new/x; ls lib; rm new/x"})).await;
        assert!(seen.contains("a\nmore\nx\nc.txt"), "{seen}");
        let look = jail.look().await.unwrap().unwrap();
        drop(tools);
        let change = jail.harvest().await.unwrap();
        assert_eq!(told(&look), told(&change));
        assert_eq!(change.entries.len(), cut.entries.len() - 1);
    });
    bench.assert_clean();
}

/// Under 20 ms for 100 changed files; that it does not depend on how many there are is tried where the look is made.
pub(crate) fn is_quick() {
    let bench = Bench::with(600);
    wait(async {
        let jail = bench.open("writer", None).await;
        let tools = jail.tools();
        let mut took = Vec::new();
        for round in 0..5 {
            let script = format!(
                "for i in $(seq 0 49); do echo {round} >> d1/f$i; echo {round} > d2/new$i; done"
            );
            call(&*tools, "Bash", json!({"command": script})).await;
            let began = Instant::now();
            let look = jail.look().await.unwrap().unwrap();
            took.push(began.elapsed());
            assert_eq!(look.entries.len(), 100);
        }
        took.sort();
        let began = Instant::now();
        assert_eq!(jail.look().await.unwrap(), None);
        println!("look at 100 new changes: {took:?}, at nothing new: {:?}", began.elapsed());
        // The best of some: others use this machine too.
        assert!(took[0] < Duration::from_millis(20), "{took:?}");
        // Only one at a time works in it.
        assert!(jail.run("true", Duration::from_mins(1)).await.is_err());
        drop(tools);
        assert_eq!(jail.run("true", Duration::from_mins(1)).await.unwrap().code, 0);
        assert_eq!(jail.harvest().await.unwrap().entries.len(), 100);
    });
    bench.assert_clean();
}

pub(crate) fn makes_nothing() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("writer", None).await;
        let tools = jail.tools();
        assert!(bench.state("workspaces/attempts").is_empty());
        assert!(bench.state("workspaces/bases").is_empty());
        drop(tools);
        assert_eq!(jail.harvest().await.unwrap(), Change::default());
        let reader = bench.open("read-only", None).await;
        let tools = reader.tools();
        let seen = call(&*tools, "Read", json!({"file_path": "a.txt"})).await;
        assert!(seen.contains('a'), "{seen}");
        assert_eq!(reader.look().await.unwrap(), None);
        drop(tools);
        assert_eq!(reader.harvest().await.unwrap(), Change::default());
    });
    bench.assert_clean();
}

pub(crate) fn shares() {
    let bench = Bench::new();
    wait(async {
        let jails = [bench.open("writer", None).await, bench.open("writer", None).await];
        for jail in &jails {
            let ran = jail.run("cat a.txt; echo more >> a.txt", Duration::from_mins(1));
            assert_eq!(ran.await.unwrap().output, "a\n");
        }
        assert_eq!(bench.state("workspaces/bases").len(), 1);
        let [first, second] = jails;
        let change = first.harvest().await.unwrap();
        assert_eq!(told(&change), [("a.txt", Action::Modify, &b"a\nmore\n"[..])]);
        let tree = bench.trees.with_change(&bench.head(), &change).unwrap();
        let next = bench.cells.open(&Bench::cell("writer", tree, None)).await.unwrap();
        let ran = next.run("cat a.txt", Duration::from_mins(1)).await.unwrap();
        assert_eq!((ran.code, &*ran.output), (0, "a\nmore\n"));
        assert_eq!(next.harvest().await.unwrap(), Change::default());
        assert_eq!(bench.state("workspaces/bases").len(), 2);
        drop(second);
    });
    bench.assert_clean();
}

pub(crate) fn hides() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("validate", None).await;
        let command = "find . -path ./.git -prune -o -type f -print | sort; git status --short";
        let ran = jail.run(command, Duration::from_mins(1)).await.unwrap();
        assert_eq!(ran.output, "./a.txt\n./lib/b.txt\n./lib/c.txt\n");
    });
    bench.assert_clean();
}
