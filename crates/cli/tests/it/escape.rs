//! Attempts to get out of a jail. One counts only where the same test first sees it succeed without the jail.
#![allow(
    clippy::needless_raw_string_hashes,
    reason = "scripts look alike, with quotes in them or not"
)]
#![allow(clippy::print_stderr, reason = "what was tried, and what could not be, is told")]

mod attempt;
mod controls;
mod ears;
mod exhaustion;
mod fingerprint;
mod first;
mod furniture;
mod git;
mod ground;
mod kernel;
pub(crate) mod leg;
mod mounted_socket;
mod network;
mod poison;
mod privileges;
mod reads;
mod secrets;
mod sockets;
mod survivors;
mod trial;
mod victim;
mod writes;

use std::collections::BTreeSet;

use attempt::{EVERY, Profile};
use leg::Leg;
use trial::in_parallel;

use crate::machine;

/// Fewer, and something is wrong with the suite or the machine.
const FEWEST: [(Leg, usize); 3] = [(Leg::Root, 250), (Leg::User, 230), (Leg::Fallback, 150)];

/// Without namespaces the others are refused.
fn profiles(leg: Leg) -> &'static [Profile] {
    if leg == Leg::Fallback { &[Profile::ReadOnly] } else { EVERY }
}

/// A leg that cannot be done here is counted, and is a fault where everything must be seen.
fn may_go(leg: Leg) -> bool {
    machine::may_go(&format!("{leg:?}"), leg.obstacle())
}

fn contain(leg: Leg) {
    if !may_go(leg) {
        return;
    }
    let tally = trial::run(leg, profiles(leg));
    let (counted, jailed) = (tally.counted, tally.jailed);
    eprintln!("{leg:?}: {counted} attempts succeed without a jail, tried {jailed} times in one");
    for one in &tally.impossible {
        eprintln!("not counted: {one}");
    }
    assert!(tally.faults.is_empty(), "{}", tally.faults.join("\n"));
    let (_, fewest) = FEWEST.iter().find(|(of, _)| *of == leg).unwrap();
    assert!(counted >= *fewest, "{leg:?}: only {counted} attempts counted");
    // After the others: what some of them look for is one thing for all of a user's processes.
    if leg != Leg::Fallback {
        delegate(leg);
    }
}

/// In a subagent's layers, by its tools.
fn delegate(leg: Leg) {
    let tally = trial::run_delegated(leg);
    eprintln!("{leg:?}: {} attempts made by a subagent's tools", tally.jailed);
    assert!(tally.faults.is_empty(), "{}", tally.faults.join("\n"));
    assert!(tally.jailed >= 60, "{leg:?}: only {} attempts made", tally.jailed);
}

#[test]
fn root_gets_nothing_out_of_a_jail() {
    contain(Leg::Root);
}

#[test]
fn a_user_gets_nothing_out_of_a_jail() {
    contain(Leg::User);
}

#[test]
fn nothing_gets_out_of_a_jail_without_namespaces() {
    contain(Leg::Fallback);
}

#[test]
fn no_process_outlives_its_jail() {
    let mut trials = Vec::new();
    for leg in [Leg::Root, Leg::User, Leg::Fallback].into_iter().filter(|leg| may_go(*leg)) {
        let profile = if leg == Leg::Fallback { Profile::ReadOnly } else { Profile::Writer };
        // Without namespaces it is the supervisor that ends all others; nobody but the person can reach it.
        let endings = survivors::ENDINGS
            .iter()
            .filter(|ending| leg != Leg::Fallback || **ending != survivors::Ending::Supervisor);
        trials.extend(endings.map(|ending| (leg, profile, *ending)));
    }
    let faults = in_parallel(&trials, |(leg, profile, ending)| {
        let found = survivors::outlive(*leg, *profile, *ending);
        found
            .into_iter()
            .map(|one| format!("{leg:?}: outlives the end by {one}"))
            .collect::<Vec<_>>()
    });
    eprintln!("{} kinds of process tried to outlive {} jails", survivors::kinds(), trials.len());
    let faults = faults.concat();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn without_namespaces_what_cannot_be_kept_is_refused() {
    let ground = ground::Ground::new(Leg::Fallback, &[]);
    for profile in [Profile::Validate, Profile::Writer, Profile::FullAccess] {
        let output = ground.jailed(profile, &[], &["/bin/true"]).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{profile:?}: {output:?}");
    }
    std::fs::write(ground.path("workspace/.env"), "TOKEN=1\n").unwrap();
    let output = ground.jailed(Profile::ReadOnly, &[], &["/bin/true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "a secret cannot be hidden: {output:?}");
}

/// Suites of tests do that.
#[test]
fn a_folder_that_a_program_shuts_does_not_end_its_jail() {
    let script =
        "mkdir shut && touch shut/file && chmod 0 shut && sleep 2 && chmod 700 shut && rm -r shut";
    for leg in [Leg::Root, Leg::User].into_iter().filter(|leg| may_go(*leg)) {
        let ground = ground::Ground::new(leg, &[]);
        for profile in [Profile::Validate, Profile::Writer] {
            let output = ground.jailed(profile, &[], &["/bin/sh", "-c", script]).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{leg:?}, {profile:?}: {output:?}");
        }
    }
}

#[test]
fn the_suite_has_no_attempt_twice() {
    let all = trial::all();
    let names: BTreeSet<_> = all.iter().map(|one| (one.class, &one.name)).collect();
    assert_eq!(names.len(), all.len());
}

/// Each is alive for a moment, and comes to the supervisor where there is no namespace.
#[test]
fn many_short_orphans_are_no_more_processes_than_may_be() {
    // A substitution ends with the last that holds its pipe: however slow the machine, few are alive at once.
    let script =
        "for n in $(seq 60); do : $( (true &); (true &); (true &); (true &); (true &) ); done";
    for leg in [Leg::Root, Leg::User, Leg::Fallback].into_iter().filter(|leg| may_go(*leg)) {
        let ground = ground::Ground::new(leg, &[]);
        let words = ["/bin/sh", "-c", script];
        let output = ground.jailed(Profile::ReadOnly, &["pids=32"], &words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{leg:?}: {output:?}");
    }
}

/// Two chains in which each process starts the next and ends; they end by themselves, should the jail not end them.
#[test]
fn who_always_starts_another_and_ends_is_ended_with_the_jail() {
    let script = r#"
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
until = time.time() + 20
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        while time.time() < until:
            if os.fork(): os._exit(0)
        os._exit(0)
time.sleep(20)
"#;
    for leg in [Leg::Root, Leg::User, Leg::Fallback].into_iter().filter(|leg| may_go(*leg)) {
        let ground = ground::Ground::new(leg, &[]);
        let words = ["/usr/bin/env", "python3", "-c", script];
        let output = ground.jailed(Profile::ReadOnly, &["wall=1s"], &words).output().unwrap();
        assert_eq!(output.status.code(), Some(124), "{leg:?}: {output:?}");
    }
}
