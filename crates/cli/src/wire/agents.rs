//! Agents and profiles: those that are built in, and those of files on disk.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use sequester_core::agent::{Registry, Role};
use sequester_core::fault::{Code, Fault, FileFault, Place};
use sequester_core::profile::{Profile, Profiles};
use sequester_core::source::{Origin, Source};

use crate::failure::Failure;

/// A prompt that is longer would leave no room for the task.
const BYTES: u64 = 256 << 10;
/// Files of one folder.
const MOST: usize = 200;

/// All that can be asked for by name.
pub(crate) struct Agents {
    pub(crate) registry: Registry,
    pub(crate) profiles: Profiles,
    agent_files: Files,
    profile_files: Files,
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
    pub(crate) fn read(root: &Path, configuration: Option<&Path>) -> Self {
        let mut agent_files = Files::default();
        for folder in [".claude/agents", ".sequester/agents"] {
            agent_files.read(root, folder, &["md"], Origin::Repository);
        }
        let mut profile_files = Files::default();
        if let Some(configuration) = configuration {
            let named = |path: String| Origin::User(configuration.join(path).display().to_string());
            profile_files.read(configuration, "profiles", &["yaml", "yml"], named);
        }
        let extensions = ["yaml", "yml"];
        profile_files.read(root, ".sequester/profiles", &extensions, Origin::Repository);
        let (profiles, profile_faults) = Profiles::read(&profile_files.sources);
        let registry = Registry::read(&agent_files.sources, &profiles);
        Self { registry, profiles, agent_files, profile_files, profile_faults }
    }

    pub(crate) fn find(&self, name: &str) -> Result<&Role, Failure> {
        self.registry.find(name).ok_or_else(|| {
            if let Some(fault) = self.registry.fault_of(name) {
                return Failure::of_file(fault);
            }
            let message = format!("There is no agent `{name}`.");
            Failure::input(Code::UnknownAgent, "", message, self.registry.hint(name))
        })
    }

    /// A profile by its name; where its file cannot be used, what is wrong with that, going by the file's name.
    pub(crate) fn profile(&self, name: &str) -> Result<&Profile, Failure> {
        self.profiles.get(name).map_err(|error| {
            let stem = |file: &str| Path::new(file).file_stem().is_some_and(|stem| stem == name);
            let fault = self.profile_faults().into_iter().find(|fault| stem(&fault.file));
            fault.map_or_else(
                || Failure::input(error.code(), "", error.to_string(), error.hint()),
                Failure::of_file,
            )
        })
    }

    /// What is wrong with the agents' files.
    pub(crate) fn agent_faults(&self) -> Vec<&FileFault> {
        self.agent_files.faults.iter().chain(self.registry.faults()).collect()
    }

    /// What is wrong with the profiles' files.
    pub(crate) fn profile_faults(&self) -> Vec<&FileFault> {
        self.profile_files.faults.iter().chain(&self.profile_faults).collect()
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
        named: impl Fn(String) -> Origin,
    ) {
        let mut path = root.to_path_buf();
        for part in folder.split('/') {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => {}
                Ok(found) if found.is_symlink() => return self.refuse(&named(folder.into()), LINK),
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
            self.refuse(&named(folder.to_owned()), &message);
            names.truncate(MOST);
        }
        for name in names {
            let origin = named(format!("{folder}/{name}"));
            match read_text(&path.join(&name)) {
                Ok(text) => self.sources.push(Source { origin, text }),
                Err(message) => self.refuse(&origin, &message),
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
