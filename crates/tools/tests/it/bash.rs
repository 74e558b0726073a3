use std::time::Duration;

use sequester_tools::Settings;
use serde_json::json;

use crate::bench::{Bench, bench, token, with};

fn run(bench: &Bench, command: &str) -> String {
    bench.output("Bash", json!({"command": command}))
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
    assert_eq!(text, "GIVEN HOME LANG PATH PWD SHLVL TERM _ \nexit code: 0");
}

#[test]
fn the_shell_is_bash() {
    assert_eq!(
        run(&bench(), "[[ abc == a* ]] && echo ${BASH_VERSION:+bash}"),
        "bash\nexit code: 0"
    );
}

#[test]
fn time_up_keeps_what_came() {
    let bench = bench();
    // Time for the first line to come, however busy the machine is.
    let limits = [50, 500, 5_000, 50_000].into_iter();
    let mut texts = limits.map(|limit| {
        let arguments = json!({"command": "echo came; sleep 1000", "timeout": limit});
        (limit, bench.failure("Bash", arguments))
    });
    let (limit, text) = texts.find(|(_, text)| !text.starts_with('[')).unwrap();
    let told = format!("[Ended after {limit} ms, with all that it started: the time limit.]");
    assert_eq!(text, format!("came\n{told}\nexit code: 124"));
}

#[test]
fn nobody_gets_more_time_than_the_setting_says() {
    let bench = with(Settings { bash_time: Duration::from_millis(50), ..Settings::default() });
    let text = bench.failure("Bash", json!({"command": "yes", "timeout": 9_999_999}));
    assert!(text.contains("after 50 ms"), "{text}");
}

#[test]
fn a_writer_behind_the_command_may_finish() {
    let bench = bench();
    let finishes =
        || run(&bench, "exec > >(sed 's/^/seen: /'); echo one").starts_with("seen: one\n");
    // It has a moment; on a machine that is very busy not each time.
    assert!((0..100).any(|_| finishes()));
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
