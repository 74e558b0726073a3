//! Processes of the machine's that a jail has no business with.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use super::leg::Leg;

/// One with secrets in it, and where they are.
pub(super) fn start(
    leg: Leg,
    user: Option<u32>,
    base: &Path,
    canary: &str,
) -> (Child, BTreeMap<String, String>) {
    let script = base.join("outside/victim.py");
    fs::write(&script, include_str!("victim.py")).unwrap();
    let mut child = leg
        .command(user, Path::new("/bin/sh"))
        .args(["-c", r#"exec 7<../secret; exec /usr/bin/python3 "$0" "$1" ../secret"#])
        .arg(&script)
        .arg(canary)
        .current_dir(base.join("outside/vault"))
        .env("DEPLOY_TOKEN", canary)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let places = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    (child, places)
}

/// A process to be harmed, and how it is.
pub(super) fn bystander(leg: Leg, user: Option<u32>) -> (Child, String) {
    let child = leg
        .command(user, Path::new("/bin/sleep"))
        .arg("900")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let path = format!("/proc/{}/comm", child.id());
    // It becomes itself only after its user and its machine were chosen.
    while fs::read_to_string(&path).is_ok_and(|name| name.trim() != "sleep") {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let before = state(child.id());
    (child, before)
}

pub(super) fn state(pid: u32) -> String {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let about = read("stat");
    let fields: Vec<&str> =
        about.rsplit_once(") ").map_or("", |(_, fields)| fields).split(' ').collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or_default();
    let alive = if matches!(field(0), "S" | "R" | "D" | "I") { "runs" } else { field(0) };
    let status = read("status");
    let cpus =
        status.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap_or_default();
    let (nice, policy) = (field(16), field(38));
    format!("{alive} {nice} {policy} {cpus} {} {}", read("oom_score_adj"), read("limits"))
}
