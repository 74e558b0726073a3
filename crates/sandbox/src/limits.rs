//! What a jail may use, as `--limit KEY=VALUE` says it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use sequester_core::limits::{JAIL_DISK, JAIL_MEMORY, JAIL_PIDS, Limit};

/// Every one has a value; nothing runs without them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory of all processes together.
    pub memory: u64,
    /// Processes and threads.
    pub pids: u32,
    /// Time on a processor, of all processes together; the wall time bounds it where nobody sets it.
    pub cpu: Option<Duration>,
    pub wall: Duration,
    /// Bytes on standard output and standard error together.
    pub output: u64,
    /// Bytes in all layers and writable folders together.
    pub disk: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: JAIL_MEMORY,
            pids: JAIL_PIDS,
            cpu: None,
            wall: Duration::from_mins(30),
            output: 64 << 20,
            disk: JAIL_DISK,
        }
    }
}

const KEYS: &str = "`memory`, `pids`, `cpu`, `wall`, `output`, `disk`";
const BYTES: &str = "a size such as `512M` or `2G`";
const TIME: &str = "a time such as `10s`, `5m` or `500ms`";
const COUNT: &str = "a number from 4: the jail's own processes count";
const MEMORY: &str = "a size such as `512M` or `2G`, at least `16M`: the jail itself needs some";
/// Less than this and the jail cannot be made.
const LEAST_MEMORY: u64 = 16 << 20;
const LEAST_PIDS: u32 = 4;

impl Limits {
    /// These limits with what configuration or a profile sets; what is no limit of a jail is for others to read.
    #[must_use]
    pub fn with(mut self, set: &BTreeMap<Limit, u64>) -> Self {
        for (limit, value) in set {
            match limit {
                Limit::Memory => self.memory = *value,
                Limit::Pids => self.pids = u32::try_from(*value).unwrap_or(u32::MAX),
                Limit::Disk => self.disk = *value,
                Limit::Cpu => self.cpu = Some(Duration::from_secs(*value)),
                Limit::Wall => self.wall = Duration::from_secs(*value),
                _ => {}
            }
        }
        self
    }

    /// Takes one setting as a person writes it: `memory=512M`, `wall=10s`, `pids=64`.
    pub fn set(&mut self, setting: &str) -> Result<(), Error> {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Error::NoValue(setting.to_owned()));
        };
        let bad = |expected| {
            let (key, value) = (key.to_owned(), value.to_owned());
            Error::BadValue { key, value, expected }
        };
        match key {
            "memory" => {
                let enough = bytes(value).filter(|bytes| *bytes >= LEAST_MEMORY);
                self.memory = enough.ok_or_else(|| bad(MEMORY))?;
            }
            "output" => self.output = bytes(value).ok_or_else(|| bad(BYTES))?,
            "disk" => self.disk = bytes(value).ok_or_else(|| bad(BYTES))?,
            "cpu" => self.cpu = Some(time(value).ok_or_else(|| bad(TIME))?),
            "wall" => self.wall = time(value).ok_or_else(|| bad(TIME))?,
            "pids" => {
                let enough = count(value).filter(|count| *count >= LEAST_PIDS);
                self.pids = enough.ok_or_else(|| bad(COUNT))?;
            }
            _ => return Err(Error::UnknownKey(key.to_owned())),
        }
        Ok(())
    }
}

fn count(text: &str) -> Option<u32> {
    scaled(text, 1).and_then(|number| u32::try_from(number).ok())
}

fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text);
    let shift = match unit {
        "" | "B" => 0,
        "k" | "K" | "KB" | "KiB" => 10,
        "m" | "M" | "MB" | "MiB" => 20,
        "g" | "G" | "GB" | "GiB" => 30,
        "t" | "T" | "TB" | "TiB" => 40,
        _ => return None,
    };
    scaled(number, 1 << shift)
}

fn time(text: &str) -> Option<Duration> {
    let (number, unit) = split(text);
    let milliseconds = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    scaled(number, milliseconds).map(Duration::from_millis)
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

/// A decimal number times `scale`, in whole numbers; nothing for zero and for what does not fit.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !whole.is_empty() && digits(whole) && digits(part) && part.len() <= 6;
    if !fits || (number.contains('.') && part.is_empty()) {
        return None;
    }
    let mut all = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    if !part.is_empty() {
        let tenths = 10_u64.pow(u32::try_from(part.len()).ok()?);
        all = all.checked_add(part.parse::<u64>().ok()?.checked_mul(scale)? / tenths)?;
    }
    (all > 0).then_some(all)
}

/// Why a setting cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    NoValue(String),
    UnknownKey(String),
    BadValue { key: String, value: String, expected: &'static str },
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoValue(_) => "Write `KEY=VALUE`, as in `memory=512M` or `wall=10s`.".to_owned(),
            Self::UnknownKey(_) => format!("Limits are {KEYS}."),
            Self::BadValue { expected, .. } => format!("Write {expected}."),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue(setting) => write!(formatter, "The limit `{setting}` has no value."),
            Self::UnknownKey(key) => write!(formatter, "There is no limit `{key}`."),
            Self::BadValue { key, value, .. } => {
                write!(formatter, "`{value}` cannot be read as the limit `{key}`.")
            }
        }
    }
}

impl std::error::Error for Error {}
