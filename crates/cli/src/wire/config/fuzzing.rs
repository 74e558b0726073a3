//! A configuration file for the target `configuration` in `fuzz/`, from a text.

use std::collections::BTreeMap;

use sequester_core::agent::Registry;
use sequester_core::fault::FileFault;
use sequester_core::limits::Limit;
use sequester_core::profile::Profiles;
use sequester_core::source::Origin;

use super::Config;

/// As much of a configuration as a repository may not set as it likes.
#[derive(Debug, PartialEq)]
pub struct Configuration {
    pub hosts: Vec<String>,
    pub limits: BTreeMap<Limit, u64>,
    pub keys: usize,
    pub search: Option<String>,
    pub granted: usize,
    pub faults: Vec<FileFault>,
}

pub fn read_configuration(text: &str, origin: &Origin) -> Configuration {
    let (config, faults) = Config::parse(text, origin, &Registry::read(&[], Profiles::built_in()));
    Configuration {
        granted: config.grants.iter().count(),
        hosts: config.hosts,
        limits: config.limits,
        keys: config.keys.len(),
        search: config.search,
        faults,
    }
}
