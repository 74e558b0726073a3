use std::fs;
use std::os::unix::fs::symlink;
use std::rc::Rc;

use sequester_core::profile::Confinement;
use sequester_core::protected::Grants;
use sequester_core::secret::is_secret_name;

use super::*;
use crate::{Capabilities, Entry, Limits, Policy, Workspace, compile};

/// A home of somebody's, with all that a home has.
#[derive(Clone)]
struct Home {
    _kept: Rc<tempfile::TempDir>,
    path: PathBuf,
    environment: BTreeMap<String, String>,
}

impl Home {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(kept.path()).unwrap().join("dev");
        fs::create_dir(&path).unwrap();
        let environment = [("HOME".to_owned(), path.display().to_string())].into();
        Self { _kept: Rc::new(kept), path, environment }
    }

    fn with(self, paths: &[&str]) -> Self {
        for path in paths {
            self.write(path, "x");
        }
        self
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, at: &str, to: &str) {
        fs::create_dir_all(self.path.join(at).parent().unwrap()).unwrap();
        symlink(self.path.join(to), self.path.join(at)).unwrap();
    }

    /// Values may name the home as `~`.
    fn set(mut self, name: &str, value: &str) -> Self {
        let value = value.replace('~', &self.path.display().to_string());
        self.environment.insert(name.to_owned(), value);
        self
    }

    fn look(&self) -> Surroundings {
        Surroundings::look(&self.environment)
    }

    /// What is shown of the home, by its path in it.
    fn shown(&self) -> Vec<String> {
        let inside = |place: &Place| {
            let name = place.at.strip_prefix(&self.path).ok()?.display().to_string();
            Some(match &place.what {
                What::Read(_) => format!("read {name}"),
                What::System(_) => format!("system {name}"),
                What::Layered(_) => format!("layered {name}"),
                What::Link(_) => format!("link {name}"),
                What::Text(_) => format!("text {name}"),
                What::Hidden => format!("hidden {name}"),
                What::Scratch => format!("scratch {name}"),
            })
        };
        self.look().places.iter().filter_map(inside).collect()
    }
}

const SECRETS: [&str; 24] = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gh/hosts.yml",
    ".gnupg/secring.gpg",
    ".docker/config.json",
    ".kube/config",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    ".bash_history",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".gem/credentials",
    ".hex/hex.config",
    ".cache/huggingface/token",
    ".cache/sequester/a",
    ".local/share/keyrings/login.keyring",
    ".local/share/uv/credentials/a",
    ".claude/.credentials.json",
    ".sequester/store.db",
    "Documents/a.txt",
    "project/.env",
    "project/src/a.rs",
];

#[test]
fn a_home_shows_its_tools_and_caches_and_nothing_else() {
    let home = Home::new().with(&SECRETS).with(&[
        ".cargo/bin/cargo",
        ".cargo/registry/cache/a",
        ".cargo/git/db/a",
        ".rustup/toolchains/stable/bin/rustc",
        ".rustup/settings.toml",
        ".npm/_cacache/a",
        ".npm/_logs/a",
        ".pyenv/bin/pyenv",
        ".cache/pip/a",
        ".cache/go-build/a",
        "go/bin/gopls",
        "go/pkg/mod/a",
        "go/pkg/mod/cache/vcs/a/config",
        "go/src/private/a.go",
        ".m2/repository/a",
        ".gradle/caches/a",
        ".local/share/uv/python/a",
        ".gem/ruby/a",
        ".hex/packages/a",
    ]);
    assert_eq!(
        home.shown(),
        [
            "layered .cache/go-build",
            "layered .cache/pip",
            "read .cargo/bin",
            "layered .cargo/git",
            "layered .cargo/registry",
            "read .gem/ruby",
            "layered .gradle/caches",
            "layered .hex/packages",
            "read .local/share/uv/python",
            "layered .m2/repository",
            "layered .npm/_cacache",
            "read .pyenv",
            "read .rustup/settings.toml",
            "read .rustup/toolchains",
            "read go/bin",
            "layered go/pkg/mod",
            "hidden go/pkg/mod/cache/vcs",
        ]
    );
    assert_eq!(home.look(), home.look());
}

#[test]
fn nothing_that_is_closed_is_opened_by_a_variable() {
    let home = Home::new().with(&SECRETS);
    let plain = home.look().places;
    assert_eq!(home.shown(), [""; 0]);
    for value in [
        "~",
        "/",
        "~/.ssh",
        "~/.config",
        "~/.aws",
        "~/..",
        "~/.sequester",
        "/etc",
        "/root",
        "/run",
        "/var/lib",
        "/proc/self",
        "~/.local",
        "~/.cache",
        "~/.cache/sequester",
        ".",
        "",
        "relative",
    ] {
        for variable in [
            "PYENV_ROOT",
            "NVM_DIR",
            "GOMODCACHE",
            "GOCACHE",
            "VIRTUAL_ENV",
            "JAVA_HOME",
            "PATH",
            "PIP_CACHE_DIR",
            "GOROOT",
        ] {
            let home = home.clone().set(variable, value);
            assert_eq!(home.look().places, plain, "{variable}={value}");
        }
    }
}

#[test]
fn what_a_path_leads_to_is_what_the_kernel_says_whatever_lies_above_it() {
    let home = Home::new().with(&["a/b/file", "c/file"]);
    home.link("to-a", "a");
    home.link("a/to-c", "c");
    home.link("twice", "to-a/to-c");
    home.link("gone", "nowhere");
    home.link("round", "round");
    let mut gathering = Gathering::new(&home.environment, Admission::new(&home.path));
    let paths = [
        "",
        "a",
        "a/",
        "a/b",
        "a/b/file",
        "a/b/none",
        "a/b/none/none",
        "a/b/file/none",
        "to-a",
        "to-a/b/file",
        "to-a/to-c/file",
        "twice/file",
        "twice/../a",
        "to-a/..",
        "gone",
        "gone/x",
        "round",
        "round/x",
        "a/./b",
        "c/../a/b",
    ];
    // Twice: what was asked before is known.
    for path in paths.iter().chain(&paths) {
        let path = home.path.join(path);
        assert_eq!(gathering.real(&path), fs::canonicalize(&path).ok(), "{}", path.display());
    }
    assert_eq!(gathering.real(Path::new("/")), Some("/".into()));
}

#[test]
fn links_are_followed_to_programs_and_never_to_secrets() {
    let home = Home::new()
        .with(&SECRETS)
        .with(&[
            "other/target/release/tool",
            "apps/node/bin/node",
            "apps/node/lib/a.js",
            "envs/black/bin/black",
            "envs/black/pyvenv.cfg",
            "pythons/3.12/bin/python3.12",
            "pythons/3.12/lib/os.py",
            "rust/stage1/bin/rustc",
        ])
        .set("PATH", "~/.local/bin:~/apps/node/bin:~/absent:/usr/bin");
    home.link(".local/bin/tool", "other/target/release/tool");
    home.link(".local/bin/black", "envs/black/bin/black");
    home.link("envs/black/bin/python", "pythons/3.12/bin/python3.12");
    home.link(".local/bin/key", ".ssh/id_ed25519");
    home.link(".local/bin/host", ".config/gh/hosts.yml");
    home.link(".local/bin/env", "project/.env");
    home.link(".cache/pip", ".ssh");
    home.link(".rustup/toolchains/own", "rust/stage1");
    assert_eq!(
        home.shown(),
        [
            "read .local/bin",
            "read .rustup/toolchains",
            "read apps/node/bin",
            "read apps/node/lib",
            "read envs/black/bin",
            "read envs/black/pyvenv.cfg",
            "read other/target/release/tool",
            "read pythons/3.12/bin",
            "read pythons/3.12/lib",
            "read rust/stage1/bin",
        ]
    );
    let path = home.look().path;
    let expected = [".local/bin", "apps/node/bin"].map(|folder| home.path.join(folder));
    assert_eq!(path[..2], expected);
    assert_eq!(path[2..], [PathBuf::from("/usr/bin")]);
}

#[test]
fn a_cache_that_lies_elsewhere_is_shown_at_its_own_path() {
    let home = Home::new().with(&["disk/npm/_cacache/a"]);
    home.link(".npm", "disk/npm");
    let at = home.path.join(".npm/_cacache");
    let what = What::Layered(home.path.join("disk/npm/_cacache"));
    assert!(home.look().places.contains(&Place { at, what }));
}

#[test]
fn tools_can_write_around_what_is_shown_of_their_folder_wherever_it_is() {
    let home = Home::new()
        .with(&["rustup/toolchains/stable/bin/rustc", "rustup/settings.toml", "pyenv/bin/pyenv"])
        .with(&["cargo/bin/cargo", "cargo/registry/a", ".npm/_cacache/a"])
        .set("RUSTUP_HOME", "~/rustup")
        .set("CARGO_HOME", "~/cargo")
        .set("PYENV_ROOT", "~/pyenv");
    // In the home itself everything around it can be written.
    let within = [
        "layered .npm/_cacache",
        "read cargo/bin",
        "layered cargo/registry",
        "read pyenv",
        "read rustup/settings.toml",
        "read rustup/toolchains",
    ];
    assert_eq!(home.shown(), within);
    // By another name of the home nothing of it is in it.
    home.link("../link", "");
    let other = home.path.with_file_name("link").display().to_string();
    let without = home.clone().set("HOME", &other);
    let mut beside = within[1..].to_vec();
    beside.extend(["scratch cargo", "scratch rustup"]);
    beside.sort_by_key(|shown| shown.split_once(' ').map(|(_, name)| name));
    assert_eq!(without.shown(), beside);
}

#[test]
fn credentials_in_a_folder_that_is_shown_whole_are_hidden() {
    let home = Home::new()
        .with(&["tools/bin/a", "tools/lib/a", "tools/lib/deep/er/.npmrc"])
        .with(&["tools/lib/cargo/credentials.toml", "tools/lib/cargo/registry/a"])
        .set("PATH", "~/tools/bin")
        .set("CARGO_HOME", "~/tools/lib/cargo");
    let config = "[registry]\ntoken = \"t\"\n[net]\noffline = true\n";
    home.write("tools/lib/cargo/config.toml", config);
    assert_eq!(
        home.shown(),
        [
            "read tools/bin",
            "read tools/lib",
            "text tools/lib/cargo/config.toml",
            "hidden tools/lib/cargo/credentials.toml",
            "layered tools/lib/cargo/registry",
            "hidden tools/lib/deep/er/.npmrc",
        ]
    );
}

#[test]
fn of_a_project_on_the_search_path_no_more_is_shown_than_its_programs() {
    for mark in [".git/HEAD", "Gemfile", "package.json"] {
        let home = Home::new()
            .with(&[
                "shop/bin/serve",
                "shop/lib/a.rb",
                "shop/app/model.rb",
                "shop/config/master.key",
            ])
            .with(&[&format!("shop/{mark}")])
            .set("PATH", "~/shop/bin");
        assert_eq!(home.shown(), ["read shop/bin"], "{mark}");
    }
    let copied = Home::new()
        .with(&["shop/bin/serve", "shop/lib/a.rb", "shop/app/model.rb", "shop/config/master.key"])
        .set("PATH", "~/shop/bin");
    assert_eq!(copied.shown(), ["read shop/bin", "read shop/lib"]);
    let linked = Home::new().with(&["shop/app/model.rb", "bin/a"]).set("PATH", "~/bin");
    linked.link("bin/shop", "shop");
    assert_eq!(linked.shown(), ["read bin"]);
}

#[test]
fn versions_side_by_side_are_shown_though_they_lie_in_a_checkout() {
    let home = Home::new()
        .with(&["env/.git/HEAD", "env/Makefile", "env/shims/python3", "env/libexec/env"])
        .with(&["env/versions/3.11/bin/python3", "env/bin/env", "env/notes.txt"])
        .set("PATH", "~/env/shims:~/env/bin");
    let shown = ["bin", "libexec", "shims", "versions"].map(|part| format!("read env/{part}"));
    assert_eq!(home.shown(), shown);
}

#[test]
fn a_tool_chain_is_shown_with_what_it_needs() {
    for (files, shown) in [
        (
            &["go/bin/go", "go/src/runtime/a.go", "go/pkg/tool/a", "go/VERSION", "go/lib/time/a"][..],
            &["go/VERSION", "go/bin", "go/lib", "go/pkg", "go/src"][..],
        ),
        (
            &["jdk/bin/java", "jdk/lib/modules", "jdk/conf/a", "jdk/release", "jdk/jmods/a"][..],
            &["jdk/bin", "jdk/conf", "jdk/jmods", "jdk/lib", "jdk/release"][..],
        ),
        (
            &["gcc/bin/ld", "gcc/lib/a", "gcc/arm-linux-gnueabi/bin/as", "gcc/notes"][..],
            &["gcc/arm-linux-gnueabi", "gcc/bin", "gcc/lib"][..],
        ),
    ] {
        let bin = format!("~/apps/{}/bin", files[0].split('/').next().unwrap());
        let files: Vec<String> = files.iter().map(|file| format!("apps/{file}")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let home = Home::new().with(&files).set("PATH", &bin);
        let expected: Vec<String> = shown.iter().map(|path| format!("read apps/{path}")).collect();
        assert_eq!(home.shown(), expected);
    }
}

#[test]
fn configuration_comes_without_its_credentials() {
    let home = Home::new();
    home.write(
        ".npmrc",
        "registry=https://u:p@npm.example.org/\n//npm.example.org/:_authToken=t\n",
    );
    home.write(
        ".config/pip/pip.conf",
        "[global]\nindex-url = https://dev:pw@pip.example.org/simple\n",
    );
    let text = |path: &str| {
        let at = home.path.join(path);
        home.look().places.into_iter().find(|place| place.at == at).map(|place| place.what)
    };
    assert_eq!(text(".npmrc"), Some(What::Text("registry=https://npm.example.org/\n".to_owned())));
    let pip = "[global]\nindex-url = https://pip.example.org/simple\n";
    assert_eq!(text(".config/pip/pip.conf"), Some(What::Text(pip.to_owned())));
    assert_eq!(home.shown(), ["text .config/pip/pip.conf", "text .npmrc"]);
}

#[test]
fn only_known_settings_pass_and_only_without_secrets() {
    let home = Home::new()
        .set("RUSTFLAGS", "-Ctarget-cpu=native")
        .set("GOFLAGS", "-modfile=https://u:p@h.example.org/")
        .set("CFLAGS", "-O2\n")
        .set("OPENAI_API_KEY", "k")
        .set("NODE_OPTIONS", "--require ./a.js");
    let settings = home.look().settings;
    assert_eq!(settings, [("RUSTFLAGS".to_owned(), "-Ctarget-cpu=native".to_owned())].into());
}

#[test]
fn the_system_is_shown_without_its_people() {
    let places = Home::new().look().places;
    let shown = |path: &str| {
        places.iter().any(|place| {
            Path::new(path).starts_with(&place.at) && !matches!(place.what, What::Hidden)
        })
    };
    assert!(shown("/usr") && shown("/bin") && shown("/lib"));
    for path in [
        "/etc",
        "/etc/passwd",
        "/etc/shadow",
        "/etc/ssh",
        "/etc/ssl/private",
        "/etc/machine-id",
        "/run",
        "/var",
        "/root",
        "/home",
        "/proc",
        "/sys",
        "/dev",
        "/tmp",
        "/mnt",
        "/srv",
        "/boot",
    ] {
        assert!(!shown(path), "{path}");
    }
}

#[test]
fn a_home_that_cannot_be_one_is_replaced() {
    for home in ["/", "/usr", "/tmp", "/etc", "/absent/dev", "dev", "", "/usr/../tmp"] {
        let environment = [("HOME".to_owned(), home.to_owned())].into();
        assert_eq!(Surroundings::look(&environment).home, Path::new(NO_HOME), "{home}");
    }
    assert_eq!(Surroundings::look(&BTreeMap::new()).home, Path::new(NO_HOME));
}

#[test]
fn whatever_the_profile_no_source_is_secret() {
    let home = Home::new()
        .with(&SECRETS)
        .with(&[
            ".cargo/bin/cargo",
            ".cargo/registry/a",
            ".npm/_cacache/a",
            "bin/tool",
            "bin/id_rsa",
        ])
        .set("PATH", "~/bin:~/.cargo/bin:/usr/bin");
    let surroundings = home.look();
    let tools = [".cargo/bin", ".cargo/registry", ".npm/_cacache", "bin"];
    let tools = tools.map(|tool| home.path.join(tool));
    for confinement in Confinement::ALL {
        let policy = Policy {
            confinement,
            hosts: Vec::new(),
            workspace: Workspace::None,
            limits: Limits::default(),
            grants: Grants::default(),
            store: PathBuf::from("/store"),
        };
        let compiled = compile(&policy, &surroundings, &Capabilities::all()).unwrap();
        for entry in compiled.blueprint.root {
            let sources = match entry {
                Entry::Bind { from, .. } | Entry::Shown { from, .. } => vec![from],
                Entry::Layered { lower, .. } => lower,
                _ => continue,
            };
            for source in sources {
                assert_eq!(is_secret_name(&source.to_string_lossy()), None, "{source:?}");
                assert!(!source.starts_with(&home.path) || tools.contains(&source), "{source:?}");
            }
        }
        let environment = &compiled.blueprint.environment;
        let path = tools[3].display().to_string() + ":" + &tools[0].display().to_string();
        assert_eq!(environment["PATH"], path + ":/usr/bin");
    }
    assert!(home.shown().contains(&"hidden bin/id_rsa".to_owned()));
}
