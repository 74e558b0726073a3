//! Where attempts are made: a workspace, and around it what a jail must keep from it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use super::attempt::{Attempt, Breach, Place, Profile, Script};
use super::ears::Ears;
use super::fingerprint::{self, Fingerprint};
use super::leg::{Copy, Leg};

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
        if leg != Leg::Fallback {
            let inside = ["run.sock", ".git/fsmonitor--daemon.ipc"];
            sockets.extend(inside.map(|path| base.join("workspace").join(path)));
        }
        let sockets: Vec<&Path> = sockets.iter().map(PathBuf::as_path).collect();
        let name = name(number);
        let ears = Ears::open(&sockets, &base.join("outside/log.sock"), &name);
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
        let (victim, places) = victim(leg, user, base, &canary);
        let targets = attempts
            .iter()
            .map(|attempt| (attempt.id.clone(), fingerprint::take(&target(base, attempt))));
        let targets = targets.collect();
        let harmed = attempts.iter().filter(|attempt| attempt.shape.breach == Breach::Harms);
        let harmed = harmed.map(|attempt| (attempt.id.clone(), bystander(leg, user))).collect();
        let ground =
            Self { folder, leg, user, number, canary, ears, victim, places, targets, harmed };
        ground.write_suite(attempts);
        ground
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
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
        self.command(&Copy::get().program(), &arguments)
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
                state(bystander.id()) != *before
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
        for shared in SHARED {
            let _ = fs::remove_file(Path::new(shared).join(name(self.number)));
        }
    }
}

impl Printed {
    fn of(output: &std::process::Output, alone: bool) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let mut by_attempt = BTreeMap::new();
        let mut ended = alone;
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

/// Where a file of this ground's lies for everybody.
const SHARED: [&str; 2] = ["/tmp", "/dev/shm"];

fn name(number: u32) -> String {
    format!("escape-{}-{number}", std::process::id())
}

/// On a disk, and where everybody can get to.
fn scratch() -> TempDir {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let open = |folder: &Path| {
        fs::metadata(folder).is_ok_and(|about| about.permissions().mode() & 0o001 != 0)
    };
    let near = target.ancestors().all(open);
    let mut builder = tempfile::Builder::new();
    let builder = builder.permissions(fs::Permissions::from_mode(0o755)).prefix("escape-");
    if near { builder.tempdir_in(target).unwrap() } else { builder.tempdir().unwrap() }
}

fn target(base: &Path, attempt: &Attempt) -> PathBuf {
    let place = match attempt.shape.place {
        Place::Outside => "outside",
        Place::Workspace => "workspace",
    };
    base.join(place).join("t").join(&attempt.id)
}

const SECRETS: [&str; 14] = [
    "outside/secret",
    "outside/vault/key",
    "sibling/notes.md",
    "home/.ssh/id_ed25519",
    "home/.aws/credentials",
    "home/.netrc",
    "home/.config/gh/hosts.yml",
    "home/.docker/config.json",
    "home/.npmrc",
    "home/.bash_history",
    "home/.gnupg/private-keys-v1.d/key",
    "home/.kube/config",
    "home/.password-store/mail.gpg",
    "home/.cache/sequester/runs.db",
];

/// Where secrets lie that the workspace itself holds. Without namespaces such a workspace is refused.
const INSIDE: [&str; 4] =
    ["workspace/.env", "workspace/id_rsa", "workspace/deploy/.env", "workspace/.sequester/plan.md"];

const ORDINARY: [(&str, &str); 14] = [
    ("outside/held", "before\n"),
    ("home/.bashrc", "# mine\n"),
    ("home/.gitconfig", "[user]\n\tname = Tester\n\temail = tester@example.com\n"),
    ("workspace/README.md", "# Shop\n"),
    ("workspace/src/main.c", "int main(void) { return 0; }\n"),
    ("workspace/deploy/run.sh", "#!/bin/sh\n"),
    ("workspace/tool", "#!/bin/sh\necho tool\n"),
    ("workspace/.claude/settings.json", "{}\n"),
    ("workspace/.mcp.json", "{}\n"),
    ("workspace/.github/workflows/ci.yml", "on: push\n"),
    ("workspace/.travis.yml", "before\n"),
    ("workspace/.drone.yml", "before\n"),
    ("workspace/.cirrus.yml", "before\n"),
    ("workspace/appveyor.yml", "before\n"),
];

fn furnish(base: &Path, canary: &str, leg: Leg) {
    let put = |path: &str, text: &str| {
        let path = base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    };
    SECRETS.iter().for_each(|path| put(path, &format!("token={canary}\n")));
    ORDINARY.iter().for_each(|(path, text)| put(path, text));
    set_mode(&base.join("home/.ssh/id_ed25519"), 0o600);
    let flags = rustix::fs::XattrFlags::empty();
    let noted = base.join("outside/secret");
    rustix::fs::setxattr(&noted, "user.note", canary.as_bytes(), flags).unwrap();
    symlink("../outside/secret", base.join("workspace/leak")).unwrap();
    git(base, &["init", "--quiet", "--initial-branch=main"]);
    git(base, &["add", "README.md", "src", "deploy/run.sh"]);
    git(base, &["commit", "--quiet", "--message", "first"]);
    if leg != Leg::Fallback {
        INSIDE.iter().for_each(|path| put(path, &format!("TOKEN={canary}\n")));
        let remote = format!("https://me:{canary}@example.com/shop.git");
        git(base, &["remote", "add", "origin", &remote]);
    }
}

fn git(base: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", base.join("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(arguments)
        .current_dir(base.join("workspace"))
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes everything below somebody's own.
fn give(folder: &Path, user: u32) {
    lchown(folder, Some(user), Some(user)).unwrap();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            give(&entry.path(), user);
        } else {
            lchown(entry.path(), Some(user), Some(user)).unwrap();
        }
    }
}

/// Programs of root's that give rights to whoever runs them: one by its mode, one by its capabilities.
fn raise(base: &Path) {
    let (id, cat) = (base.join("workspace/raise"), base.join("workspace/lift"));
    fs::copy("/usr/bin/id", &id).unwrap();
    set_mode(&id, 0o4755);
    fs::copy("/bin/cat", &cat).unwrap();
    set_mode(&cat, 0o755);
    // Version 2, effective; to read what others may not.
    let rights: [u32; 5] = [0x0200_0001, 0b110, 0, 0, 0];
    let rights: Vec<u8> = rights.iter().flat_map(|word| word.to_le_bytes()).collect();
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(&cat, "security.capability", &rights, flags).unwrap();
}

fn victim(
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
fn bystander(leg: Leg, user: Option<u32>) -> (Child, String) {
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

fn state(pid: u32) -> String {
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
