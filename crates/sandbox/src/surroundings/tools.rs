//! Tool chains and package caches as a table: where each is, which parts are shown, and what in it is secret.

mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::What;
use super::credential;
use super::gathering::Gathering;
use table::{CERTIFICATES, CONFIGURATION, FOLDERS, SETTINGS, TOOLS, Tool};

/// What is done with a part.
#[derive(Clone, Copy)]
enum Use {
    Read,
    /// Tools write to it.
    Layered,
}

/// A virtual environment that a variable names may be one of another.
const DEEPEST: usize = 4;

impl Gathering<'_> {
    pub(super) fn take_tools(&mut self) {
        for tool in TOOLS {
            self.take_tool(tool);
        }
        for variable in FOLDERS {
            let Some(folder) = self.folder(variable) else { continue };
            if self.take_installation(&folder, DEEPEST) {
                self.leads.insert((*variable).to_owned(), folder);
            }
        }
        for variable in CERTIFICATES {
            if let Some(path) = self.folder(variable) {
                self.leads.insert((*variable).to_owned(), path);
            }
        }
    }

    fn take_tool(&mut self, tool: &Tool) {
        let known = (!tool.folder.is_empty()).then(|| self.admission.home().join(tool.folder));
        let Some(folder) = self.folder(tool.variable).or(known) else { return };
        let mut taken = false;
        for (part, access) in tool.parts {
            let part = if part.is_empty() { folder.clone() } else { folder.join(part) };
            let what = match access {
                Use::Read => What::Read,
                Use::Layered => What::Layered,
            };
            if self.take(&part, what) {
                taken = true;
                if tool.linked {
                    self.follow_links(&part);
                }
            }
        }
        for name in tool.credentials {
            self.hide(folder.join(name));
        }
        if !taken {
            return;
        }
        // Tools write beside what is shown of their folder: locks, settings, marks. In the home they can, and so they can elsewhere.
        if !folder.starts_with(self.admission.home()) && !self.shows(&folder) {
            self.put(&folder, What::Scratch);
        }
        if !tool.variable.is_empty() {
            self.leads.insert(tool.variable.to_owned(), folder);
        }
    }

    /// What a variable names, if that is there.
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        let value = self.variable(variable)?.split(':').next()?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute() && path.exists())
    }

    pub(super) fn take_configuration(&mut self) {
        let home = self.admission.home().to_owned();
        let cargo = self.leads.get("CARGO_HOME").cloned().unwrap_or_else(|| home.join(".cargo"));
        let own = CONFIGURATION.iter().map(|file| home.join(file));
        let cargo = ["config.toml", "config"].iter().map(|file| cargo.join(file));
        let files: Vec<PathBuf> = own.chain(cargo).collect();
        for file in files {
            let text = if self.shows(&file) {
                credential::cover(&file)
            } else {
                credential::read_stripped(&file).filter(|text| !text.trim().is_empty())
            };
            if let Some(text) = text {
                self.put(&file, What::Text(text));
            }
        }
    }
}

/// Variables that builds depend on, unless they hold more than a setting.
pub(super) fn settings(environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let known = SETTINGS.iter().filter_map(|name| environment.get_key_value(*name));
    known
        .filter(|(_, value)| {
            let harmless = credential::strip(value) == **value;
            harmless && value.len() <= 4096 && !value.contains(char::is_control)
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
