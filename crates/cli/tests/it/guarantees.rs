//! Kernels that lack something, for real: each guarantee that cannot be kept then is refused by name, with exit code 5, for
//! exactly the profiles that need it. Those that no kernel gives (a clean environment, closed descriptors, the limits of
//! memory and disk) are the supervisor's own; with them, every guarantee is taken away in the tests of `wire::jail`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::command::Answer;
use crate::doctor;
use crate::machine::{self, as_user, is_root, may_go, without};

/// A workspace and a home, of root's or of a user who has no account.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) user: Option<u32>,
}

impl Place {
    pub(crate) fn new(user: Option<u32>) -> Self {
        let open = fs::Permissions::from_mode(0o755);
        let mut builder = tempfile::Builder::new();
        let builder = builder.permissions(open).prefix("place-");
        let place = Self { folder: builder.tempdir_in(machine::shared_folder()).unwrap(), user };
        for name in ["home", "workspace"] {
            fs::create_dir(place.path(name)).unwrap();
            lchown(place.path(name), user, user).unwrap();
        }
        place
    }

    /// As a user, also where root runs the tests.
    pub(crate) fn of_user() -> Self {
        Self::new(is_root().then(machine::unused_user))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program after these words, which make the machine what it is.
    pub(crate) fn run(&self, before: &[String], lacking: &[&str], arguments: &[&str]) -> Answer {
        let mut words = before.to_vec();
        words.extend(self.user.map(as_user).unwrap_or_default());
        words.extend(without(lacking));
        words.push(machine::program().display().to_string());
        let output = Command::new(&words[0])
            .args(&words[1..])
            .args(arguments)
            .current_dir(self.path("workspace"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.path("home"))
            // It lies in this project's own.
            .env("GIT_CEILING_DIRECTORIES", self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Answer::of(&output)
    }

    /// Makes the workspace a repository of its own, in none of those above it.
    pub(crate) fn init(&self) {
        let folder = self.path("workspace");
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(&folder).status();
        assert!(made.unwrap().success());
        if let Some(user) = self.user {
            // What a run makes is kept there.
            let owner = format!("{user}:{user}");
            let mut give = Command::new("chown");
            let given = give.args(["-R", &owner, ".git"]).current_dir(folder).status();
            assert!(given.unwrap().success());
        }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path("home/.local/state/sequester/jails")
    }

    /// What is left of jails: in their folder, and of names that were held.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let state = entries(self.state()).map(|entry| entry.path());
        state.chain(entries(self.path("workspace")).map(|entry| entry.path())).collect()
    }
}

/// By profile, in the order of `doctor::OWN`, what is refused.
type Refused = [&'static [&'static str]; 5];

const KEPT: Refused = [&[]; 5];

/// Without a root of its own, rules alone keep what a reader needs.
const RULES_ONLY: Refused = [
    &[],
    &["named_hosts"],
    &["copy_on_write"],
    &["private_workspace", "protected_names"],
    &["named_hosts", "private_workspace", "protected_names"],
];

#[rustfmt::skip]
const LACKING: &[(&[&str], Refused)] = &[
    (&[], KEPT),
    (&["landlock"], KEPT),
    (&["seccomp"], [&["no_new_privileges"]; 5]),
    (&["pidfd"], [&["limits"]; 5]),
    (&["namespaces"], RULES_ONLY),
    (&["mounts"], RULES_ONLY),
    (&["namespaces", "landlock"], [
        &["no_network", "no_write_outlives", "reads_confined", "secrets_hidden"],
        &["named_hosts", "no_write_outlives", "reads_confined", "secrets_hidden"],
        &["copy_on_write", "no_network", "no_write_outlives", "reads_confined", "secrets_hidden"],
        &["no_network", "no_write_outlives", "private_workspace", "protected_names", "reads_confined", "secrets_hidden"],
        &["named_hosts", "no_write_outlives", "private_workspace", "protected_names", "reads_confined", "secrets_hidden"],
    ]),
    (&["namespaces", "pidfd"], [
        &["limits", "tree_kill"],
        &["limits", "named_hosts", "tree_kill"],
        &["copy_on_write", "limits", "tree_kill"],
        &["limits", "private_workspace", "protected_names", "tree_kill"],
        &["limits", "named_hosts", "private_workspace", "protected_names", "tree_kill"],
    ]),
];

fn refuse(place: &Place, before: &[String], lacking: &[&str], refused: Refused) {
    let told = place.run(before, lacking, &["doctor", "--json", "--no-checks"]);
    assert_eq!(told.code, Some(0), "without {lacking:?}: {told:?}");
    for ((profile, _), expected) in doctor::OWN.into_iter().zip(refused) {
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        let row = format!("`{profile}` without {lacking:?}");
        let answer =
            place.run(before, lacking, &["sandbox", "--profile", profile, "--", "/bin/true"]);
        let code = if expected.is_empty() { 0 } else { 5 };
        assert_eq!(answer.code, Some(code), "{row}: {answer:?}");
        let all = doctor::needed();
        let names = all.values().flat_map(|needed| needed.keys().copied());
        let named: BTreeSet<&str> =
            names.filter(|name| answer.err.contains(&format!("`{name}` ("))).collect();
        assert_eq!(named, expected, "{row}: {answer:?}");
        if code == 5 {
            assert!(answer.err.contains("`sequester doctor`"), "{row}: {answer:?}");
        }
        let doctors = &told.json()["guarantees"][profile];
        let lost =
            doctors.as_object().unwrap().iter().filter(|(_, kept)| **kept != Value::Bool(true));
        let lost: BTreeSet<&str> = lost.map(|(name, _)| name.as_str()).collect();
        assert_eq!(lost, expected, "{row}, by the doctor: {told:?}");
    }
    assert_eq!(place.left(), Vec::<PathBuf>::new(), "without {lacking:?}");
}

#[test]
fn limits_that_are_only_watched_are_told_to_whoever_sets_them() {
    let place = Place::of_user();
    let jailed = ["sandbox", "--profile", "read-only", "--", "true"];
    let limits = ["--limit", "memory=512M", "--limit", "pids=64", "--limit", "disk=1G"];
    let limited = [&jailed[..3], &limits, &jailed[3..]].concat();
    for lacking in [&[][..], &["namespaces"]] {
        let doctor = place.run(&[], lacking, &["doctor", "--no-checks", "--json"]).json();
        let is_watched = |limit: &&str| doctor["limits"]["kept_by"][*limit] == "watched";
        let watched: Vec<&str> =
            ["disk", "memory", "pids"].into_iter().filter(is_watched).collect();
        let told = place.run(&[], lacking, &limited);
        let note = format!("watched many times a second: `{}`.", watched.join("`, `"));
        assert!(told.code == Some(0) && told.err.contains(&note), "{lacking:?}: {told:?}");
        let named = doctor["problems"].to_string();
        for limit in ["memory", "pids"] {
            let is_named =
                named.contains("no control group") && named.contains(&format!("`{limit}`"));
            assert_eq!(is_named, watched.contains(&limit), "{lacking:?}: {limit}: {named}");
        }
        let unasked = place.run(&[], lacking, &jailed);
        assert!(unasked.code == Some(0) && !unasked.err.contains("watched"), "{unasked:?}");
    }
}

#[test]
fn what_a_users_kernel_lacks_is_refused_by_name_for_exactly_the_profiles_that_need_it() {
    for (lacking, refused) in LACKING {
        refuse(&Place::of_user(), &[], lacking, *refused);
    }
}

#[test]
fn what_roots_kernel_lacks_is_refused_by_name_for_exactly_the_profiles_that_need_it() {
    if !may_go("root without something", (!is_root()).then_some("it takes root")) {
        return;
    }
    for (lacking, refused) in LACKING {
        refuse(&Place::new(None), &[], lacking, *refused);
    }
}

/// What comes before a command to change mounts for it alone.
pub(crate) fn mounting(script: &str) -> Vec<String> {
    let script = format!("{script} && exec \"$@\"");
    ["unshare", "--mount", "--", "/bin/sh", "-c", &script, "sh"].map(str::to_owned).into()
}

#[test]
fn where_no_layer_can_stand_on_the_state_folder_only_validate_is_refused() {
    if !may_go("a state folder in a layer", (!is_root()).then_some("it takes root")) {
        return;
    }
    let place = Place::of_user();
    let base = place.path("layers").display().to_string();
    let home = place.path("home").display().to_string();
    let script = format!(
        "mkdir -p {base}/lower {base}/upper {base}/work {home}/.local/state && \
         mount -t overlay none -o lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work {home}/.local/state && \
         chown {user}:{user} {home}/.local/state",
        user = place.user.unwrap()
    );
    refuse(&place, &mounting(&script), &[], [&[], &[], &["copy_on_write"], &[], &[]]);
}

#[test]
fn where_a_part_of_proc_is_covered_there_are_rules_only() {
    if !may_go("a covered `/proc`", (!is_root()).then_some("it takes root")) {
        return;
    }
    refuse(&Place::of_user(), &mounting("mount -t tmpfs none /proc/irq"), &[], RULES_ONLY);
}

#[test]
fn without_namespaces_a_secret_in_the_workspace_is_refused_since_rules_cannot_hide_it() {
    let place = Place::of_user();
    fs::write(place.path("workspace/.env"), "TOKEN=1\n").unwrap();
    let words = ["sandbox", "--profile", "read-only", "--", "/bin/true"];
    let answer = place.run(&[], &["namespaces"], &words);
    assert_eq!(answer.code, Some(5), "{answer:?}");
    assert!(answer.err.contains("`secrets_hidden` ("), "{answer:?}");
    assert_eq!(place.run(&[], &[], &words).code, Some(0));
}

#[test]
fn a_subagent_is_refused_like_a_command() {
    let place = Place::of_user();
    place.init();
    fs::write(place.path("workspace/README.md"), "# Shop\n").unwrap();
    let text = "Create `made.txt`:\n\n```text\nmade\n```\n";
    let words = ["task", text, "--agent", "writer", "--model", "literal"];
    for (lacking, named) in [("pidfd", "limits"), ("namespaces", "protected_names")] {
        let answer = place.run(&[], &[lacking], &words);
        assert_eq!((answer.code, answer.out.as_str()), (Some(5), ""), "{answer:?}");
        assert!(answer.err.contains(&format!("`{named}` (")), "{answer:?}");
    }
    assert!(!place.path("workspace/made.txt").exists());
}
