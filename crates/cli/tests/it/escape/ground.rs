//! Where attempts are made: a workspace, and around it what a jail must keep from it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use super::attempt::{Attempt, Breach, Place, Profile, Script};
use super::ears::Ears;
use super::fingerprint::{self, Fingerprint};
use super::furniture::{furnish, give, raise, set_mode};
use super::leg::Leg;
use super::victim;
use crate::machine::{self, is_root};

pub(super) struct Ground {
    folder: TempDir,
    leg: Leg,
    user: Option<u32>,
    number: u32,
    /// In everything that is secret.
    canary: String,
    ears: Ears,
    /// A process of the machine's with secrets in it, and what it says about them.
    victim: Child,
    places: BTreeMap<String, String>,
    targets: BTreeMap<String, Fingerprint>,
    harmed: BTreeMap<String, (Child, String)>,
}

/// What was printed, by attempt, and how it ended.
pub(super) struct Printed {
    pub(super) code: Option<i32>,
    pub(super) bytes: usize,
    by_attempt: BTreeMap<String, String>,
    /// For when it did not go to its end.
    pub(super) trouble: Option<String>,
    /// For when there was no jail.
    pub(super) refusal: Option<String>,
}

impl Ground {
    pub(super) fn new(leg: Leg, attempts: &[&Attempt]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let (folder, user) = (scratch(), leg.user());
        let canary = format!("CANARY-{}-{number}", std::process::id());
        let base = folder.path();
        furnish(base, &canary, leg);
        let mut sockets = vec![base.join("outside/docker.sock")];
        sockets.extend(TOOLS.map(|tools| base.join(tools).join("d.sock")));
        let name = name(number);
        // Only root puts something among the system's own files.
        let of_system = is_root().then(|| Path::new(SYSTEM).join(&name));
        sockets.extend(of_system);
        if leg != Leg::Fallback {
            let inside = ["run.sock", ".git/fsmonitor--daemon.ipc", "node_modules/.cache/d.sock"];
            sockets.extend(inside.map(|path| base.join("workspace").join(path)));
        }
        let sockets: Vec<&Path> = sockets.iter().map(PathBuf::as_path).collect();
        let pipes = TOOLS.map(|tools| base.join(tools).join("pipe"));
        let ears = Ears::open((&sockets, &pipes), &base.join("outside/log.sock"), &name);
        if is_root() {
            set_mode(&Path::new(SYSTEM).join(&name), 0o777);
            for (folder, mode) in [(SETTINGS, 0o644), (SHUT, 0o600)] {
                let path = Path::new(folder).join(&name);
                fs::write(&path, &canary).unwrap();
                set_mode(&path, mode);
            }
        }
        for attempt in attempts {
            let target = target(base, attempt);
            fs::create_dir_all(&target).unwrap();
            fs::write(target.join("file"), "before\n").unwrap();
        }
        if let Some(user) = user {
            give(base, user);
            fs::write(base.join("workspace/rootonly"), &canary).unwrap();
            set_mode(&base.join("workspace/rootonly"), 0o600);
            raise(base);
        }
        for shared in SHARED {
            let path = Path::new(shared).join(&name);
            fs::write(&path, &canary).unwrap();
            lchown(&path, user, user).unwrap();
        }
        let (victim, places) = victim::start(leg, user, base, &canary);
        let targets = attempts
            .iter()
            .map(|attempt| (attempt.id.clone(), fingerprint::take(&target(base, attempt))));
        let targets = targets.collect();
        let harmed = attempts.iter().filter(|attempt| attempt.shape.breach == Breach::Harms);
        let harmed =
            harmed.map(|attempt| (attempt.id.clone(), victim::bystander(leg, user))).collect();
        let ground =
            Self { folder, leg, user, number, canary, ears, victim, places, targets, harmed };
        ground.write_suite(attempts);
        ground
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn canary(&self) -> &str {
        &self.canary
    }

    fn mark(&self, attempt: &Attempt) -> String {
        format!("mark-{}-{}", attempt.id, self.number)
    }

    /// The scripts, where a jail can read them.
    fn write_suite(&self, attempts: &[&Attempt]) {
        let suite = self.path("workspace/suite");
        fs::create_dir_all(&suite).unwrap();
        fs::write(suite.join("driver.py"), include_str!("driver.py")).unwrap();
        let listed: Vec<_> = attempts
            .iter()
            .map(|attempt| {
                let (language, script) = match attempt.script {
                    Script::Shell(script) => ("shell", script),
                    Script::Python(script) => ("python", script),
                };
                serde_json::json!({
                    "language": language, "script": script, "words": self.words(attempt),
                })
            })
            .collect();
        fs::write(suite.join("attempts.json"), serde_json::to_vec(&listed).unwrap()).unwrap();
    }

    fn words(&self, attempt: &Attempt) -> BTreeMap<String, String> {
        let mut words = self.places.clone();
        let mut put = |name: &str, value: String| drop(words.insert(name.to_owned(), value));
        let path = |path: &str| self.path(path).display().to_string();
        self.ears.words.iter().for_each(|(name, value)| put(name, value.clone()));
        put("ID", attempt.id.clone());
        put("MARK", self.mark(attempt));
        put("BASE", self.folder.path().display().to_string());
        put("OUT", path("outside"));
        put("WS", path("workspace"));
        put("KEPT", path("home"));
        put("TEMP", name(self.number));
        put("SYSTEM", format!("{SYSTEM}/{}", name(self.number)));
        put("SETTINGS", format!("{SETTINGS}/{}", name(self.number)));
        put("SHUT", format!("{SHUT}/{}", name(self.number)));
        put("T", target(self.folder.path(), attempt).display().to_string());
        if let Breach::Holds(held) = attempt.shape.breach {
            put("P", path(held));
        }
        if let Some((bystander, _)) = self.harmed.get(&attempt.id) {
            put("PID", bystander.id().to_string());
        }
        words
    }

    /// A command as whoever works here, who has secrets in the environment and in two open files.
    pub(super) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = self.leg.command(self.user, Path::new("/bin/sh"));
        command.args(["-c", r#"exec 8<>"$1" 9<"$2"; shift 2; exec "$@""#, "sh"]);
        command.args([self.path("outside/held"), self.path("outside/secret")]);
        command.arg(program).args(arguments).current_dir(self.path("workspace"));
        command.env_clear().envs(self.environment()).stdin(Stdio::null());
        command
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |path: &str| self.path(path).display().to_string();
        vec![
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin".to_owned()),
            ("HOME", path("home")),
            ("TMPDIR", path("tmp")),
            // It lies in this project's own repository.
            ("GIT_CEILING_DIRECTORIES", path("")),
            ("DEPLOY_TOKEN", self.canary.clone()),
            ("AWS_SECRET_ACCESS_KEY", self.canary.clone()),
            ("SSH_AUTH_SOCK", path("outside/docker.sock")),
            ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", path("outside/docker.sock"))),
            ("http_proxy", format!("http://127.0.0.1:{}", self.ears.word("PROXY"))),
            ("NO_PROXY", "127.0.0.1,localhost,::1".to_owned()),
        ]
    }

    /// The command line of a jail here.
    pub(super) fn jailed(&self, profile: Profile, limits: &[&str], words: &[&str]) -> Command {
        let workspace = self.path("workspace").display().to_string();
        let mut arguments = vec!["sandbox", "--profile", profile.name(), "--workspace", &workspace];
        let host = format!("127.0.0.1:{}", self.ears.word("NAMED"));
        if matches!(profile, Profile::Research | Profile::FullAccess) {
            arguments.extend(["--net", &host]);
        }
        for limit in limits {
            arguments.extend(["--limit", limit]);
        }
        arguments.push("--");
        arguments.extend(words);
        self.command(machine::program(), &arguments)
    }

    /// Makes all attempts, in a jail if one is given.
    pub(super) fn run(&mut self, jail: Option<Profile>, alone: Option<&[&str]>) -> Printed {
        let driver = self.path("workspace/suite/driver.py").display().to_string();
        let mut words = vec!["/usr/bin/python3", &driver];
        words.extend(alone.map(|_| "alone"));
        let mut command = match jail {
            Some(profile) => self.jailed(profile, alone.unwrap_or(&["wall=200s"]), &words),
            None => self.command(Path::new(words[0]), &words[1..]),
        };
        let output = command.output().unwrap();
        self.ears.close();
        Printed::of(&output, alone.is_some())
    }

    /// Makes all attempts as a subagent: in its layers, by its tool server.
    pub(super) fn delegate(&mut self) -> Printed {
        for words in
            [&["add", "--force", "suite"][..], &["commit", "--quiet", "--message", "suite"]]
        {
            let done = self.command(Path::new("git"), words).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        }
        let task = "Run: `python3 suite/driver.py > suite/told.jsonl`\n";
        let words = ["task", task, "--agent", "writer", "--model", "literal", "--json"];
        let output = self.command(machine::program(), &words).output().unwrap();
        self.ears.close();
        Printed::of_task(&output)
    }

    /// Whether the attempt got what it wanted.
    pub(super) fn is_breached(&self, attempt: &Attempt, printed: &Printed) -> bool {
        let text = printed.of_attempt(&attempt.id);
        match attempt.shape.breach {
            Breach::Prints => text.contains(&self.canary),
            Breach::Says => text.lines().any(|line| line.trim() == format!("did-{}", attempt.id)),
            Breach::Changes => {
                fingerprint::take(&target(self.folder.path(), attempt)) != self.targets[&attempt.id]
            }
            Breach::Holds(path) => fs::read(self.path(path))
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&self.mark(attempt))),
            Breach::GivesRights => fingerprint::gives_rights(&target(self.folder.path(), attempt)),
            Breach::Arrives => self.ears.have_heard(&self.mark(attempt)),
            Breach::Misleads => self.ears.were_misled(&self.mark(attempt)),
            Breach::Harms => {
                let (bystander, before) = &self.harmed[&attempt.id];
                victim::state(bystander.id()) != *before
            }
            Breach::Floods(most) => printed.bytes > most,
            Breach::Outgrows(most) => {
                let target = target(self.folder.path(), attempt);
                printed.code == Some(0) && fingerprint::bytes(&target) > most
            }
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // Asked, so that it can take away what would outlive it.
        let pid = rustix::process::Pid::from_child(&self.victim);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.victim.wait();
        for (bystander, _) in self.harmed.values_mut() {
            let _ = bystander.kill();
            let _ = bystander.wait();
        }
        for shared in SHARED.into_iter().chain([SYSTEM, SETTINGS, SHUT]) {
            let _ = fs::remove_file(Path::new(shared).join(name(self.number)));
        }
    }
}

impl Printed {
    /// By the file that the change holds.
    fn of_task(output: &std::process::Output) -> Self {
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let patch = report["evidence"]["patch"].as_str().unwrap_or_default();
        let told = patch.split_once("+++ b/suite/told.jsonl\n").map_or("", |(_, told)| told);
        let told: String = told
            .lines()
            .filter_map(|line| line.strip_prefix('+'))
            .fold(String::new(), |all, line| all + line + "\n");
        let stderr = [output.stderr.as_slice(), output.stdout.as_slice()].concat();
        let output = std::process::Output { status: output.status, stdout: told.into(), stderr };
        Self::of(&output, false)
    }

    fn of(output: &std::process::Output, alone: bool) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let mut by_attempt = BTreeMap::new();
        // One that is alone may be ended for what it does, but it must have begun.
        let mut ended = alone && text.lines().next() == Some("\"begun\"");
        for line in text.lines().filter(|_| !alone) {
            match serde_json::from_str(line) {
                Ok(serde_json::Value::Array(pair)) => {
                    let part = |at: usize| pair[at].as_str().unwrap_or_default().to_owned();
                    by_attempt.insert(part(0), part(1));
                }
                Ok(serde_json::Value::String(word)) if word == "end" => ended = true,
                _ => {}
            }
        }
        if alone {
            by_attempt.insert(String::new(), format!("{text}\n{errors}"));
        }
        let trouble = (!ended).then(|| format!("{:?}: {text}\n{errors}", output.status));
        let refusal = errors.contains("error[SQ").then(|| errors.clone().into_owned());
        let bytes = output.stdout.len() + output.stderr.len();
        Self { code: output.status.code(), bytes, by_attempt, trouble, refusal }
    }

    pub(super) fn of_attempt(&self, id: &str) -> &str {
        self.by_attempt.get(id).or_else(|| self.by_attempt.get("")).map_or("", String::as_str)
    }
}

/// Tools and caches of the person's that every jail shows.
const TOOLS: [&str; 3] = ["home/.cargo/bin", "home/.cargo/registry", "home/.npm/_cacache"];
/// Files of the system's that every jail shows.
const SYSTEM: &str = "/usr/local/share";
const SETTINGS: &str = "/usr/local/etc";
const SHUT: &str = "/usr/local/lib";
/// Where a file of this ground's lies for everybody.
const SHARED: [&str; 2] = ["/tmp", "/dev/shm"];

fn name(number: u32) -> String {
    format!("escape-{}-{number}", std::process::id())
}

fn scratch() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let builder = builder.permissions(fs::Permissions::from_mode(0o755)).prefix("ground-");
    builder.tempdir_in(machine::shared_folder()).unwrap()
}

fn target(base: &Path, attempt: &Attempt) -> PathBuf {
    let place = match attempt.shape.place {
        Place::Outside => "outside",
        Place::Workspace => "workspace",
    };
    base.join(place).join("t").join(&attempt.id)
}
