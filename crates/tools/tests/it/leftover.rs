//! What a command leaves behind ends with its call: in a server that owns its process, however it was started.

use serde_json::json;

use crate::bench::bench;
use crate::serving::{ask, start};

/// Leaves its number in a file and becomes `sleep`.
const LINGER: &str = "sh -c 'echo $$ >pid; exec sleep 1000'";
/// Not before it is what it will be, so that its name is known.
const SETTLED: &str = "until grep -qs sleep /proc/$(cat pid 2>/dev/null)/comm; do :; done; cat pid";

fn ways() -> Vec<String> {
    [
        "LINGER &",
        "LINGER >/dev/null 2>&1 &",
        "nohup LINGER >/dev/null 2>&1 & disown",
        "setsid LINGER &",
        "setsid LINGER >/dev/null 2>&1 &",
        "env -i setsid LINGER >/dev/null 2>&1 &",
        "(LINGER &)",
        "(env -i setsid LINGER >/dev/null 2>&1 &)",
        "setsid bash -c \"(env -i setsid LINGER >/dev/null 2>&1 &)\"",
    ]
    .map(|way| {
        let escaped = LINGER.replace('$', "\\$");
        way.replace("LINGER", if way.contains('"') { &escaped } else { LINGER })
    })
    .into()
}

fn is_there(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}

#[test]
fn processes_left_behind_are_ended_and_named() {
    let bench = bench();
    let (client, server) = start(&bench);
    for way in ways() {
        let text = ask(&client, "Bash", json!({"command": format!("{way}\n{SETTLED}; rm pid")}));
        let (pid, rest) = text.text().split_once('\n').unwrap();
        let told = "[1 process left in the background ended: `sleep`.]\nexit code: 0";
        assert_eq!(rest, told, "{way}");
        assert!(!is_there(pid), "{way}");
        assert_eq!(server.children(), [""; 0], "{way}");
    }
}

#[test]
fn time_up_ends_them_too() {
    let bench = bench();
    let (client, server) = start(&bench);
    for way in ways() {
        let command = format!("{way}\n{SETTLED}; sleep 1000");
        // Time for all to come about, however busy the machine is.
        let limits = [200, 2_000, 20_000, 100_000].into_iter();
        let mut texts = limits.map(|limit| {
            let text = ask(&client, "Bash", json!({"command": command, "timeout": limit}));
            assert!(text.text().ends_with("the time limit.]\nexit code: 124"), "{text:?}");
            assert_eq!(server.children(), [""; 0], "{way}");
            text
        });
        let text = texts.find(|text| !text.text().starts_with('[')).unwrap();
        let (pid, _) = text.text().split_once('\n').unwrap();
        assert!(!is_there(pid), "{way}");
        std::fs::remove_file(bench.path("pid")).unwrap();
    }
}

#[test]
fn the_end_of_the_connection_ends_what_runs() {
    let bench = bench();
    for way in ways() {
        let (client, server) = start(&bench);
        let command = format!("{way}\n{SETTLED} >seen; mv seen started; sleep 1000");
        let call = client.call(crate::bench::invocation("Bash", json!({"command": command})));
        while !bench.path("started").exists() {
            std::thread::yield_now();
        }
        drop(client);
        assert!(server.ended().success());
        let pid = bench.text("started");
        assert!(!is_there(pid.trim()), "{way}");
        let told = crate::serving::wait(call).outcome;
        let ended = "The tool server ended: it closed the connection. ";
        assert!(told.text().starts_with(ended), "{told:?}");
        std::fs::remove_file(bench.path("started")).unwrap();
        std::fs::remove_file(bench.path("pid")).unwrap();
    }
}

#[test]
fn many_at_once_are_ended() {
    let bench = bench();
    let (client, server) = start(&bench);
    let command = "for n in $(seq 100); do (env -i setsid sleep 1000 >/dev/null 2>&1 &); done";
    let text = ask(&client, "Bash", json!({"command": command}));
    assert!(text.text().ends_with("\nexit code: 0"), "{text:?}");
    assert_eq!(server.children(), [""; 0]);
}
