//! Agents and profiles: those that are built in, and those of files on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

use sequester_core::agent::{Registry, Role};
use sequester_core::fault::{Code, Fault, FileFault, Place};
use sequester_core::path::RepoPath;
use sequester_core::profile::{self, Profile, Profiles, TASK};
use sequester_core::repository::Snapshot;
use sequester_core::run::{Step, Workflow, Workflows};
use sequester_core::source::{Origin, Source};

use super::crew::refuse_profile;
use super::trust::{Asking, Grants, Trust, Untrusted};
use crate::failure::Failure;
use crate::render::profiles::told;

/// A prompt that is longer would leave no room for the task.
const BYTES: u64 = 256 << 10;
/// Files of one folder.
const MOST: usize = 200;

/// All that can be asked for by name. Agents and workflows are made of their files with the first question: a jail alone has none.
pub(crate) struct Agents {
    pub(crate) profiles: Profiles,
    registry: OnceLock<Registry>,
    workflows: OnceLock<Workflows>,
    agent_files: Files,
    profile_files: Files,
    workflow_files: Files,
    profile_faults: Vec<FileFault>,
}

/// Files that were read, and those that could not be.
#[derive(Default)]
struct Files {
    sources: Vec<Source>,
    faults: Vec<FileFault>,
}

impl Agents {
    /// From the repository's folder and, for profiles, the user's own configuration folder.
    pub(crate) fn read(root: &Path, configuration: Option<&Path>, trust: &Trust) -> Self {
        let named = |path: String, text: &str| {
            trust.origin(&Untrusted { root, path: &path }, text.as_bytes())
        };
        let mut agent_files = Files::default();
        for folder in [".claude/agents", ".sequester/agents"] {
            agent_files.read(root, folder, &["md"], named);
        }
        let mut profile_files = Files::default();
        if let Some(configuration) = configuration {
            let own = |path: String, _: &str| {
                Origin::User(configuration.join(path).display().to_string())
            };
            profile_files.read(configuration, "profiles", &["yaml", "yml"], own);
        }
        let extensions = ["yaml", "yml"];
        profile_files.read(root, ".sequester/profiles", &extensions, named);
        let mut workflow_files = Files::default();
        if let Some(configuration) = configuration {
            let own = |path: String, _: &str| {
                Origin::User(configuration.join(path).display().to_string())
            };
            workflow_files.read(configuration, "workflows", &extensions, own);
        }
        workflow_files.read(root, ".sequester/workflows", &extensions, named);
        let (profiles, profile_faults) = Profiles::read(&profile_files.sources);
        let (registry, workflows) = (OnceLock::new(), OnceLock::new());
        Self {
            profiles,
            registry,
            workflows,
            agent_files,
            profile_files,
            workflow_files,
            profile_faults,
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        let read = || Registry::read(&self.agent_files.sources, &self.profiles);
        self.registry.get_or_init(read)
    }

    /// See [`Registry::limit_functions`].
    pub(crate) fn limit_functions(&mut self, lines: u64) {
        self.registry();
        if let Some(registry) = self.registry.get_mut() {
            registry.limit_functions(lines);
        }
    }

    pub(crate) fn workflows(&self) -> &Workflows {
        self.workflows.get_or_init(|| Workflows::read(&self.workflow_files.sources))
    }

    /// Files of the repository that ask for more than it may have. Agents are read beside the profiles as if those were
    /// accepted: else what an agent asks for would not be there.
    pub(crate) fn asked(&self) -> Vec<Asking> {
        let all = |files: &Files, origin: fn(String) -> Origin| -> Vec<Source> {
            files.sources.iter().map(|source| source.clone_as(origin)).collect()
        };
        let doubted = (
            all(&self.profile_files, Origin::Repository),
            all(&self.agent_files, Origin::Repository),
        );
        let accepted =
            (all(&self.profile_files, Origin::Accepted), all(&self.agent_files, Origin::Accepted));
        let (wide, mut refused) = Profiles::read(&accepted.0);
        let roles = Registry::read(&accepted.1, &wide);
        refused.extend(roles.faults().iter().cloned());
        let mut asks = Profiles::read(&doubted.0).1;
        asks.extend(Registry::read(&doubted.1, &wide).faults().iter().cloned());
        asks.extend(self.inherited(&wide, &roles, &asks));
        let workflows = all(&self.workflow_files, Origin::Repository);
        asks.extend(Workflows::read(&workflows).faults().iter().cloned());
        let known = Workflows::read(&all(&self.workflow_files, Origin::Accepted));
        refused.extend(known.faults().iter().cloned());
        let of = |faults: &[FileFault], file: &str| -> Vec<Fault> {
            let own = faults.iter().filter(|one| one.file == file);
            own.map(|one| one.fault.clone()).collect()
        };
        let files = doubted.0.into_iter().chain(doubted.1).chain(workflows);
        let files = files.filter(|source| source.origin.in_repository().is_some());
        files
            .filter_map(|source| {
                let name = source.origin.to_string();
                let grants = grants_of(&name, &wide, &roles);
                Asking::of(source, of(&asks, &name), of(&refused, &name), grants)
            })
            .collect()
    }

    /// Profiles of the repository that something else is made from which is trusted, or asks to be: they count there.
    fn inherited(&self, wide: &Profiles, roles: &Registry, asks: &[FileFault]) -> Vec<FileFault> {
        let asking: BTreeSet<&str> = asks
            .iter()
            .filter(|one| one.fault.code.is_trust())
            .map(|one| one.file.as_str())
            .collect();
        let asks = |origin: &Origin| asking.contains(origin.to_string().as_str());
        let counts = |origin: &Origin| matches!(origin, Origin::User(_)) || asks(origin);
        let profiles = wide.iter().filter(|one| counts(&one.origin));
        let profiles = profiles.filter_map(|one| Some((&one.name, one.extends.as_ref()?)));
        let agents = roles.roles().iter().filter(|role| counts(&role.origin));
        let heirs = profiles.chain(agents.map(|role| (&role.name, &role.profile)));
        let mut found: BTreeMap<&str, FileFault> = BTreeMap::new();
        for (heir, mut name) in heirs {
            while let Ok(profile) = wide.get(name) {
                if profile.origin.in_repository().is_some() && !asks(&profile.origin) {
                    let fault = || self.inheritance(profile, heir);
                    found.entry(&profile.name).or_insert_with(fault);
                }
                let Some(next) = &profile.extends else { break };
                name = next;
            }
        }
        found.into_values().collect()
    }

    fn inheritance(&self, profile: &Profile, heir: &str) -> FileFault {
        let file = profile.origin.to_string();
        let mut lines = self.text_of(&file).lines();
        let line = lines.position(|line| gives(line, &profile.name)).unwrap_or(0);
        let place = Place { line: line as u32 + 1, column: 1 };
        let message = format!("`{heir}` is made from it, so what it says counts there too.");
        let hint = "Accept it as it stands with `sequester trust`.";
        FileFault { file, fault: Fault::new(Code::WidenedProfile, place, message, hint) }
    }

    pub(crate) fn find(&self, name: &str) -> Result<&Role, Failure> {
        let registry = self.registry();
        registry.find(name).ok_or_else(|| {
            if let Some(fault) = registry.fault_of(name) {
                return Failure::of_file(fault);
            }
            let message = format!("There is no agent `{name}`.");
            Failure::input(Code::UnknownAgent, "", message, registry.hint(name))
        })
    }

    /// A profile by its name; where its file cannot be used, what is wrong with that: the file that gives the name, or is
    /// called so.
    pub(crate) fn profile(&self, name: &str) -> Result<&Profile, Failure> {
        self.profiles.get(name).map_err(|error| {
            let stem = |file: &str| Path::new(file).file_stem().is_some_and(|stem| stem == name);
            let sources = self.profile_files.sources.iter();
            let mut named =
                sources.filter(|source| source.text.lines().any(|line| gives(line, name)));
            let faults = self.profile_faults();
            let of = |file: &str| faults.iter().find(|fault| fault.file == file).copied();
            let fault = named.find_map(|source| of(&source.origin.to_string()));
            let fault = fault.or_else(|| faults.iter().find(|fault| stem(&fault.file)).copied());
            fault.map_or_else(
                || Failure::input(error.code(), "", error.to_string(), error.hint()),
                Failure::of_file,
            )
        })
    }

    /// What a role may do, with its own profile or another.
    pub(crate) fn granted(&self, role: &Role, profile: Option<&str>) -> Result<Profile, Failure> {
        let granted = match profile {
            Some(name) => role.granted_of(self.profile(name)?),
            None => role.granted(&self.profiles),
        };
        granted.map_err(|error| refuse_profile(&error))
    }

    /// A workflow by its name; where the file that is called so cannot be used, what is wrong with that.
    pub(crate) fn workflow(&self, name: &str) -> Result<&Workflow, Failure> {
        let known = self.workflows();
        known.find(name).ok_or_else(|| {
            let is_called =
                |file: &str| Path::new(file).file_stem().is_some_and(|stem| stem == name);
            if let Some(fault) = self.workflow_faults().find(|fault| is_called(&fault.file)) {
                return Failure::of_file(fault);
            }
            let message = format!("There is no workflow `{name}`.");
            let mut hint = known.hint(name);
            // A name inside a file that cannot be read is nobody's.
            if let Some(FileFault { file, fault }) = self.workflow_faults().next() {
                let place = fault.place.line;
                let _ = write!(hint, " One file is left out: {file}:{place}: {}", fault.message);
            }
            Failure::input(Code::UnknownWorkflow, "", message, hint)
        })
    }

    /// The first step whose agent has a profile that a file of this origin may not ask for.
    pub(crate) fn refused_step<'w>(
        &self,
        workflow: &'w Workflow,
        origin: &Origin,
    ) -> Option<(&'w Step, profile::Error)> {
        let mut steps = workflow.steps.iter().filter(|_| !origin.is_trusted());
        steps.find_map(|step| {
            let role = self.find(step.agent.as_deref()?).ok()?;
            let error = self.profiles.get_for(&role.profile, origin).err()?;
            Some((step, error))
        })
    }

    /// Where a workflow comes from.
    pub(crate) fn workflow_origin(&self, name: &str) -> Origin {
        self.workflows().origin(name).cloned().unwrap_or(Origin::BuiltIn)
    }

    pub(crate) fn workflow_faults(&self) -> impl Iterator<Item = &FileFault> {
        self.workflow_files.faults.iter().chain(self.workflows().faults())
    }

    /// Files of the repository that would replace something built in, and do not as long as nobody accepted them.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &FileFault> {
        let all = self.agent_faults().into_iter().chain(self.workflow_faults());
        all.filter(|one| one.fault.code == Code::UntrustedSetting)
    }

    /// What is wrong with any of the files.
    pub(crate) fn faults(&self) -> Vec<&FileFault> {
        let named = self.agent_faults().into_iter().chain(self.profile_faults());
        named.chain(self.workflow_faults()).collect()
    }

    /// Whether an agent's file is another one in a base, or not there.
    pub(crate) fn differs(&self, role: &Role, base: &dyn Snapshot) -> bool {
        let Some(path) = role.origin.in_repository() else { return false };
        let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let here = self.agent_files.sources.iter().find(|source| source.origin == role.origin);
        let there = RepoPath::parse(path).ok().and_then(|path| base.read(&path, BYTES).ok());
        here.map(|source| plain(source.text.as_bytes())) != there.map(|bytes| plain(&bytes))
    }

    /// What is wrong with the agents' files.
    pub(crate) fn agent_faults(&self) -> Vec<&FileFault> {
        self.agent_files.faults.iter().chain(self.registry().faults()).collect()
    }

    /// What is wrong with the profiles' files.
    pub(crate) fn profile_faults(&self) -> Vec<&FileFault> {
        self.profile_files.faults.iter().chain(&self.profile_faults).collect()
    }

    /// Files that could not be read, so that nobody knows what they ask for.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &FileFault> {
        self.agent_files.faults.iter().chain(&self.profile_files.faults)
    }

    /// The text that a fault points into.
    pub(crate) fn text_of(&self, file: &str) -> &str {
        let mut sources = self.agent_files.sources.iter().chain(&self.profile_files.sources);
        let found = sources.find(|source| source.origin.to_string() == file);
        let text = found.map_or("", |source| source.text.as_str());
        text.strip_prefix('\u{feff}').unwrap_or(text)
    }
}

impl Files {
    /// The files of one folder below `root` in the order of their names. Links are not followed, since whoever wrote
    /// the repository must not choose what is read outside it.
    fn read(
        &mut self,
        root: &Path,
        folder: &str,
        extensions: &[&str],
        named: impl Fn(String, &str) -> Origin,
    ) {
        let mut path = root.to_path_buf();
        for part in folder.split('/') {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => {}
                Ok(found) if found.is_symlink() => {
                    return self.refuse(&named(folder.into(), ""), LINK);
                }
                _ => return,
            }
        }
        let mut names: Vec<String> = fs::read_dir(&path)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end)))
            .collect();
        names.sort();
        if names.len() > MOST {
            let message = format!("There are more than {MOST} files; the rest is not read.");
            self.refuse(&named(folder.to_owned(), ""), &message);
            names.truncate(MOST);
        }
        for name in names {
            let file = format!("{folder}/{name}");
            match read_text(&path.join(&name)) {
                Ok(text) => self.sources.push(Source { origin: named(file, &text), text }),
                Err(message) => self.refuse(&named(file, ""), &message),
            }
        }
    }

    fn refuse(&mut self, origin: &Origin, message: &str) {
        let place = Place { line: 1, column: 1 };
        let hint = "Put text files there, each no larger than 256 KB.";
        let fault = Fault::new(Code::Unreadable, place, message, hint);
        self.faults.push(FileFault { file: origin.to_string(), fault });
    }
}

/// What the profile or agent of a file may do, with all that it inherits.
fn grants_of(file: &str, profiles: &Profiles, roles: &Registry) -> Grants {
    let is = |origin: &Origin| origin.in_repository() == Some(file);
    let role = roles.roles().iter().find(|role| is(&role.origin));
    let granted = match role {
        Some(role) => role.granted(profiles).ok(),
        None => profiles.iter().find(|profile| is(&profile.origin)).cloned(),
    };
    let Some(profile) = granted else { return Grants::new() };
    let limits = profile.limits.iter().map(|(limit, value)| told(*limit, *value)).collect();
    let delegates = profile.grants(TASK).then(|| DELEGATES.to_owned());
    let mut grants = Grants::from([
        ("jail", vec![profile.confinement.as_str().to_owned()]),
        ("tools", profile.tools.iter().map(ToString::to_string).collect()),
        ("delegates", delegates.into_iter().collect()),
        ("hosts", profile.hosts),
        ("limits", limits),
    ]);
    grants.extend(role.map(|role| ("profile", vec![role.profile.clone()])));
    grants.retain(|_, values| !values.is_empty());
    grants
}

/// What `Task` comes to.
const DELEGATES: &str = "work to any agent, with no more than this and no more than that agent may";

/// Whether a line of a file that cannot be used gives its profile this name.
fn gives(line: &str, name: &str) -> bool {
    line.strip_prefix("name:").is_some_and(|given| given.trim().trim_matches(['"', '\'']) == name)
}

const LINK: &str = "This is a link, and links are not followed.";

fn read_text(path: &Path) -> Result<String, String> {
    let told = |error: std::io::Error| format!("The file cannot be read: {error}.");
    let kind = fs::symlink_metadata(path).map_err(told)?.file_type();
    if kind.is_symlink() {
        return Err(LINK.to_owned());
    }
    if !kind.is_file() {
        return Err("This is not a file.".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(BYTES + 1).read_to_end(&mut bytes)).map_err(told)?;
    if bytes.len() as u64 > BYTES {
        return Err("The file is larger than 256 KB.".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "The file is not UTF-8 text.".to_owned())
}
