use std::path::Path;
use std::time::{Duration, Instant};

use sequester_tools::Settings;
use serde_json::json;

use crate::bench::{Bench, bench, token, with};

fn run(bench: &Bench, command: &str) -> String {
    bench.output("Bash", json!({"command": command}))
}

fn lives(pid: &str) -> bool {
    // One that was killed may wait to be reaped by whoever inherited it.
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("status"));
    status.is_ok_and(|status| !status.contains("\nState:\tZ"))
}

/// Killing is at once, dying takes a moment.
fn is_gone(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while lives(pid) {
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn output_and_error_come_together_and_the_exit_code_last() {
    let bench = bench();
    bench.put("a", "x");
    assert_eq!(
        run(&bench, "echo one; echo two >&2; echo three; ls"),
        "one\ntwo\nthree\na\nexit code: 0"
    );
    assert_eq!(run(&bench, "printf unended; exit 3"), "unended\nexit code: 3");
    assert_eq!(run(&bench, "true"), "exit code: 0");
    assert_eq!(run(&bench, "kill -TERM $$"), "exit code: 143");
    assert!(run(&bench, "no-such-program").ends_with("exit code: 127"));
    assert_eq!(run(&bench, "wc -c"), "0\nexit code: 0", "there is no input");
}

#[test]
fn the_environment_is_what_the_settings_say() {
    let mut settings = Settings::default();
    settings.environment.insert("GIVEN".into(), "yes".into());
    let text = run(&with(settings), "env | cut -d= -f1 | sort | tr '\\n' ' '");
    assert_eq!(text, "GIVEN HOME LANG PATH PWD SEQUESTER_CALL SHLVL TERM _ \nexit code: 0");
}

#[test]
fn the_shell_is_bash() {
    assert_eq!(
        run(&bench(), "[[ abc == a* ]] && echo ${BASH_VERSION:+bash}"),
        "bash\nexit code: 0"
    );
}

#[test]
fn time_up_ends_the_whole_group_and_keeps_what_came() {
    let bench = with(Settings { bash_time: Duration::from_millis(600), ..Settings::default() });
    let started = Instant::now();
    let text = bench.failure("Bash", json!({"command": "sleep 1000 & echo $!; sleep 1000"}));
    assert!(started.elapsed() < Duration::from_mins(1));
    let (pid, rest) = text.split_once('\n').unwrap();
    assert_eq!(
        rest,
        "[Ended after 600 ms, with all that it started: the time limit.]\nexit code: 124"
    );
    assert!(is_gone(pid));
    let text = bench.failure("Bash", json!({"command": "sleep 1000", "timeout": 50}));
    assert!(text.contains("after 50 ms"), "{text}");
    let text = bench.failure("Bash", json!({"command": "yes", "timeout": 9_999_999}));
    assert!(
        text.contains("after 600 ms") && text.starts_with("y\ny\n"),
        "no more than the setting"
    );
}

#[test]
fn processes_left_behind_are_ended_and_named() {
    let bench = bench();
    for command in [
        "sleep 1000 & echo $!",
        "sleep 1000 >/dev/null 2>&1 & echo $!",
        "nohup sleep 1000 >/dev/null 2>&1 & disown; echo $!",
        "setsid sleep 1000 & echo $!",
        "setsid sleep 1000 >/dev/null 2>&1 & echo $!",
    ] {
        let started = Instant::now();
        // Not before it is what it will be, so that its name is known.
        let become_sleep = "until grep -q sleep /proc/$!/comm; do :; done";
        let text = run(&bench, &format!("{command}; {become_sleep}"));
        assert!(started.elapsed() < Duration::from_mins(1), "{command}");
        let (pid, rest) = text.split_once('\n').unwrap();
        assert_eq!(
            rest, "[1 process left in the background ended: `sleep`.]\nexit code: 0",
            "{command}"
        );
        assert!(is_gone(pid), "{command}");
    }
}

#[test]
fn a_writer_behind_the_command_may_finish() {
    let text = run(&bench(), "exec > >(sed 's/^/seen: /'); echo one");
    assert!(text.starts_with("seen: one\n"), "{text}");
}

#[test]
fn a_hundred_megabytes_are_cut_to_head_and_tail_in_little_memory() {
    let bench = bench();
    let before = peak_kilobytes();
    let text =
        run(&bench, "echo first; head -c 104857600 /dev/zero | tr '\\0' 'x'; echo; echo last");
    assert!(text.len() <= 32 << 10);
    assert!(
        text.starts_with("first\nxxx") && text.ends_with("xxx\nlast\nexit code: 0"),
        "{}",
        &text[..80]
    );
    assert!(text.contains("bytes were cut here"));
    let grown = peak_kilobytes() - before;
    assert!(grown < 64 << 10, "{grown} KB more");
}

/// Of this process, with all tests that run beside this one.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let text = run(&bench(), "head -c 300000 /dev/urandom");
    assert!(text.len() <= 32 << 10 && text.ends_with("\nexit code: 0"));
}

#[test]
fn secrets_in_the_output_are_redacted() {
    let bench = bench();
    bench.put("config", format!("token = \"{}\"\n", token()));
    let text = run(&bench, "cat config");
    assert!(!text.contains(&token()) && text.contains("[redacted"), "{text}");
}

#[test]
fn commits_are_left_to_the_runtime() {
    let bench = bench();
    for command in ["git commit -m x", "git add . && git commit -m 'x; y'", "git push"] {
        let told = bench.refusal("Bash", json!({"command": command}));
        assert_eq!(told, "The runtime commits your change when you report.");
    }
    assert!(run(&bench, "echo git commit").starts_with("git commit\n"));
}

#[test]
fn what_cannot_start_fails() {
    let bench = bench();
    assert_eq!(bench.failure("Bash", json!({"command": "a\0b"})), "The command holds a zero byte.");
    let told = bench.failure("Bash", json!({"command": ":".repeat(4 << 20)}));
    assert!(told.starts_with("The command could not be started: "), "{told}");
    bench.workbench.stop();
    let told = bench.failure("Bash", json!({"command": "true"}));
    assert_eq!(told, "The command could not be started: the tool server is ending.");
}
