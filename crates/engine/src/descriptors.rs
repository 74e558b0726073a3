//! The limit on open descriptors: a subagent that waits for its model holds a connection.

use std::fmt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a process needs beside its subagents: files, the store, the runtime.
const SPARE: u64 = 64;

/// This process may not open as many descriptors as it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    pub need: u64,
    /// The hard limit: as far as a process may raise its own.
    pub limit: u64,
}

/// Raises the soft limit on open descriptors so that `subagents` can wait at once, and says what it is then. A limit that
/// is high enough stays.
pub fn raise_descriptors(subagents: u64) -> Result<u64, Shortage> {
    let need = subagents.saturating_add(SPARE);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // None is no limit.
    let (soft, hard) = (current.unwrap_or(u64::MAX), maximum.unwrap_or(u64::MAX));
    if soft >= need {
        return Ok(soft);
    }
    let raised = Rlimit { current: Some(need), maximum };
    if need <= hard && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(need);
    }
    Err(Shortage { need, limit: hard.min(need) })
}

impl Shortage {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        let Self { need, limit } = self;
        let fit = limit.saturating_sub(SPARE);
        format!(
            "Raise the hard limit with `ulimit -Hn {need}` as root or `LimitNOFILE={need}` in the service, or run at most \
             {fit} subagents at once."
        )
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { need, limit } = self;
        write!(
            formatter,
            "The limit on open files (`RLIMIT_NOFILE`, `ulimit -n`) is {limit}, and {need} are needed."
        )
    }
}

impl std::error::Error for Shortage {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_high_enough_stays() {
        let before = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        assert_eq!(raise_descriptors(1), Ok(before));
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), before);
    }

    #[test]
    fn a_limit_that_is_too_low_is_named_with_what_to_do() {
        let shortage = Shortage { need: 10_064, limit: 4_096 };
        assert_eq!(
            shortage.to_string(),
            "The limit on open files (`RLIMIT_NOFILE`, `ulimit -n`) is 4096, and 10064 are needed."
        );
        assert_eq!(
            shortage.hint(),
            "Raise the hard limit with `ulimit -Hn 10064` as root or `LimitNOFILE=10064` in the service, or run at most \
             4032 subagents at once."
        );
    }
}
