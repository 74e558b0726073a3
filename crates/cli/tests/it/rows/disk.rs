//! Disks and stores that let a run down.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use std::sync::{Arc, Mutex};

use sequester_core::agent::CUT_OFF;
use sequester_testkit::model::{Request, Script, Setup, Turn};

use super::luck::waiting;
use super::{Ran, Row, bash, bench, deliver, one, results, wrote};
use crate::command::Answer;
use crate::ledger::path;

/// Carries a script out where mounts are its own; `$sequester` is the program. What it wrote to each of these files.
fn apart<const N: usize>(row: &Row, script: &str, told: [&str; N]) -> [Ran; N] {
    let program = row.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-eu", "-c", script]).current_dir(row.bench.repo()).env_clear();
    command.envs(program.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.env("sequester", program.get_program()).env("plan", row.plan());
    command.env("out", row.bench.path("")).env("store", path(&row.bench).parent().unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    told.map(|name| {
        let read = |name: String| fs::read_to_string(row.bench.path(&name)).unwrap();
        let code = read(format!("{name}.code")).trim().parse().ok();
        Ran::of(&Answer { code, out: read(name.to_owned()), err: String::new() })
    })
}

#[test]
fn a_disk_that_is_full_loses_nothing_and_the_run_goes_on_once_there_is_room() {
    let play = |request: &Request| {
        // More than there is room for.
        let large = "head -c 3000000 /dev/urandom | base64 > a.txt; echo right >> a.txt";
        if request.turn == 0 || results(request).contains(CUT_OFF) {
            return bash(large);
        }
        Turn::report(wrote(request))
    };
    let row = Row::new(&one("solo"), play);
    let script = r#"
        mkdir "$store"
        mount -t tmpfs -o size=1m,mode=700 tmpfs "$store"
        code=0; "$sequester" run "$plan" --json --yes --model openai/gpt-5 > "$out/full" || code=$?
        echo $code > "$out/full.code"
        mount -o remount,size=64m "$store"
        code=0; "$sequester" resume --json > "$out/more" || code=$?
        echo $code > "$out/more.code"
        code=0; "$sequester" audit --json > "$out/audit" || code=$?
        echo $code > "$out/audit.code"
    "#;
    let [full, more, audit] = apart(&row, script, ["full", "more", "audit"]);
    let told = full.failed(1, "SQ0307", "is full");
    assert!(told["hint"].as_str().unwrap().contains("resume"), "{told}");
    let run = more.ended(0, "done");
    assert_eq!(run, full.run);
    let started =
        |ran: &Ran| ran.events.iter().filter(|event| event["event"] == "attempt_started").count();
    assert_eq!((started(&full), started(&more)), (1, 0), "the attempt itself goes on");
    assert_eq!((audit.code, &audit.events[0]["ok"]), (Some(0), &true.into()), "{audit:?}");
    assert!(row.file(run, "a.txt").ends_with("right\n"));
}

#[test]
fn a_store_that_cannot_be_written_to_is_named_and_the_run_goes_on_once_it_can() {
    let (row, run) = waiting();
    row.answer("Blue");
    let script = r#"
        mount --bind "$store" "$store"
        mount -o remount,ro,bind "$store"
        code=0; "$sequester" resume --json > "$out/read-only" || code=$?
        echo $code > "$out/read-only.code"
    "#;
    let [read_only] = apart(&row, script, ["read-only"]);
    read_only.failed(1, "SQ0303", "cannot be written to");
    row.resume(&run).ended(0, "done");
    row.is_proved(&run);
}

#[test]
fn a_run_that_another_process_carries_out_is_left_to_it_by_name() {
    let told = Arc::new(Mutex::new(None));
    let (bench, heard) = (bench("", &one("solo")), Arc::clone(&told));
    let second = Arc::clone(&bench);
    let play = move |request: &Request| {
        if request.turn == 0 {
            let ran = Ran::of(&second.run(&["resume", "--json"]));
            *heard.lock().unwrap() = Some(ran);
        }
        deliver(request, "a.txt", "right\n")
    };
    let row = Row::set(bench, Setup::new(Script::new(play)));
    let mut command = row.command(&["run", &row.plan(), "--json", "--yes", "--model", super::A]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let owner = format!("Process {} carries run", child.id());
    let ran = Ran::of(&Answer::of(&child.wait_with_output().unwrap()));
    let run = ran.ended(0, "done");
    let refused = told.lock().unwrap().take().unwrap();
    let error = refused.failed(1, "SQ0308", &owner);
    assert!(error["message"].as_str().unwrap().contains(run), "{error}");
    row.is_proved(run);
}

#[test]
fn a_store_that_is_damaged_or_newer_is_named_and_left_as_it_is() {
    let (row, run) = waiting();
    row.answer("Blue");
    let file = path(&row.bench);
    let whole = fs::read(&file).unwrap();
    let mut newer = whole.clone();
    newer[63] = 99;
    let word = b"Which colour?";
    let at = whole.windows(word.len()).position(|window| window == word).unwrap();
    let page = at / 4_096 * 4_096;
    let mut damaged = whole.clone();
    damaged[page..page + 4_096].fill(0xa5);
    for (bytes, code, words) in [(newer, "SQ0305", "version 99"), (damaged, "SQ0304", "damaged")] {
        fs::write(&file, &bytes).unwrap();
        let error = row.resume(&run).failed(1, code, words);
        assert!(error.to_string().contains(".sequester") || error.to_string().contains(&run));
        assert!(fs::read(&file).unwrap() == bytes, "{words}: it was written to");
    }
    fs::write(&file, &whole).unwrap();
    row.resume(&run).ended(0, "done");
    row.is_proved(&run);
}
