//! Checks: commands in jails that are thrown away.

use std::process::Command;
use std::time::{Duration, Instant};

use sequester_core::change::Change;
use sequester_core::jail::Jails as _;

use crate::bench::{Bench, wait};

const LONG: Duration = Duration::from_mins(2);

pub(crate) fn ends() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("validate", None).await;
        let ran = jail.run("cat a.txt; echo wrong >&2; echo last", LONG).await.unwrap();
        assert_eq!((ran.code, &*ran.output, ran.limit), (0, "a\nwrong\nlast\n", None));
        assert_eq!(jail.run("exit 3", LONG).await.unwrap().code, 3);
        assert_eq!(jail.run("no-such-program-here", LONG).await.unwrap().code, 127);
        let killed = jail.run("kill -9 $$", LONG).await.unwrap();
        assert_eq!((killed.code, killed.limit), (137, None));
        let began = Instant::now();
        let limit = Duration::from_millis(500);
        let ran = jail.run("echo begun; sleep 60 & sleep 60", limit).await.unwrap();
        assert_eq!((ran.code, &*ran.output), (137, "begun\n"));
        assert!(ran.limit.is_some_and(|limit| limit.contains("longer")));
        assert!(ran.elapsed >= limit && began.elapsed() < Duration::from_secs(20));
    });
    bench.assert_clean();
}

pub(crate) fn leaves_nothing() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("validate", None).await;
        let ran = jail.run("echo x > new; rm a.txt; ls", LONG).await.unwrap();
        assert_eq!((ran.code, &*ran.output), (0, "lib\nnew\n"));
        assert_eq!(jail.look().await.unwrap(), None);
        assert_eq!(jail.harvest().await.unwrap(), Change::default());
        let next = bench.open("validate", None).await;
        assert_eq!(next.run("ls", LONG).await.unwrap().output, "a.txt\nlib\n");
    });
    bench.assert_clean();
}

pub(crate) fn prints() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("validate", None).await;
        let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let ran = jail.run(&format!("echo token {secret}"), LONG).await.unwrap();
        assert!(!ran.output.contains(&secret) && ran.output.starts_with("token "), "{ran:?}");
        let ran = jail.run("seq 1 200000", LONG).await.unwrap();
        assert!(ran.output.starts_with("1\n2\n") && ran.output.ends_with("\n199999\n200000\n"));
        assert!(ran.output.contains(" bytes are left out here]\n"));
        assert!(ran.output.len() < 300 << 10, "{}", ran.output.len());
    });
    bench.assert_clean();
}

pub(crate) fn given_up() {
    let bench = Bench::new();
    wait(async {
        let jail = bench.open("validate", None).await;
        let run = jail.run("sleep 300", Duration::from_mins(10));
        let given_up = tokio::time::timeout(Duration::from_secs(1), run).await;
        assert!(given_up.is_err());
        drop(jail);
        // At once, and not in a moment.
        assert!(bench.left().is_empty());
    });
    bench.assert_clean();
}

/// What this program is called with to tell what it finds lacking.
pub(crate) const LACKING: &str = "lacking";

pub(crate) fn lack() {
    let bench = Bench::new();
    wait(async {
        match bench.cells.open(&Bench::cell("writer", bench.head(), None)).await {
            Ok(_) => println!("nothing"),
            Err(error) => println!("{:?}|{}|{}", error.kind, error.message, error.hint),
        }
    });
    assert!(bench.state("workspaces/bases").is_empty());
    bench.assert_clean();
}

pub(crate) fn lacks() {
    let tell = |lacking: &[&str]| {
        let mut command = Command::new("python3");
        command.args(["-c", include_str!("../it/without.py")]).args(lacking).arg("--");
        command.arg(std::env::current_exe().unwrap()).arg(LACKING);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(tell(&[]), "nothing\n");
    let told = tell(&["namespaces"]);
    assert!(told.starts_with("Guarantee|"), "{told}");
    assert!(told.contains("writer"), "{told}");
}
