//! The limits that configuration and profiles may set, by name.

use serde::{Serialize, Serializer};

use super::{HandoverSizes, JAIL_DISK, JAIL_MEMORY, JAIL_PIDS, Limits, OUTPUT_BYTES};
use crate::budget::Budget;
use crate::notes;

/// One limit by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    Context,
    Architecture,
    File,
    Records,
    Notes,
    /// Of the file that the project's notes are kept in.
    NotesFile,
    /// Of one report, and of the summary in it.
    Report,
    Summary,
    Backpack,
    /// Of one plan's file.
    Plan,
    Turns,
    Tokens,
    Price,
    Wall,
    Bash,
    Output,
    Identical,
    /// Of one reply of a model.
    Reply,
    /// How deep subagents may give work to subagents.
    Delegation,
    /// Of all that runs in a jail together, as the others that follow.
    Memory,
    Pids,
    Disk,
    /// Time on a processor.
    Cpu,
}

/// What a limit's number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Tokens,
    Times,
    Seconds,
    Bytes,
    /// Millionths of a dollar.
    Price,
}

impl Limit {
    pub const ALL: [Self; 23] = [
        Self::Context,
        Self::Architecture,
        Self::File,
        Self::Records,
        Self::Notes,
        Self::NotesFile,
        Self::Report,
        Self::Summary,
        Self::Backpack,
        Self::Plan,
        Self::Turns,
        Self::Tokens,
        Self::Price,
        Self::Wall,
        Self::Bash,
        Self::Output,
        Self::Identical,
        Self::Reply,
        Self::Delegation,
        Self::Memory,
        Self::Pids,
        Self::Disk,
        Self::Cpu,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Architecture => "architecture",
            Self::File => "file",
            Self::Records => "records",
            Self::Notes => "notes",
            Self::NotesFile => "notes_file",
            Self::Report => "report",
            Self::Summary => "summary",
            Self::Backpack => "backpack",
            Self::Plan => "plan",
            Self::Turns => "turns",
            Self::Tokens => "tokens",
            Self::Price => "price",
            Self::Wall => "wall",
            Self::Bash => "bash",
            Self::Output => "output",
            Self::Identical => "identical",
            Self::Reply => "reply",
            Self::Delegation => "delegation",
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Disk => "disk",
            Self::Cpu => "cpu",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.as_str() == name)
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Turns | Self::Identical | Self::Delegation | Self::Pids => Unit::Times,
            Self::Wall | Self::Bash | Self::Cpu => Unit::Seconds,
            Self::Output
            | Self::Memory
            | Self::Disk
            | Self::NotesFile
            | Self::Report
            | Self::Plan => Unit::Bytes,
            Self::Price => Unit::Price,
            _ => Unit::Tokens,
        }
    }

    /// What holds where nobody sets it; nothing where there is no limit then.
    pub fn default(self) -> Option<u64> {
        let (limits, budget) = (Limits::default(), Budget::default());
        let handed_over = HandoverSizes::default();
        Some(match self {
            Self::Context => limits.context as u64,
            Self::Architecture => limits.architecture as u64,
            Self::File => limits.file as u64,
            Self::Records => limits.records as u64,
            Self::Notes => limits.notes as u64,
            Self::NotesFile => notes::BYTES as u64,
            Self::Report => handed_over.report_bytes as u64,
            Self::Summary => handed_over.summary_tokens as u64,
            Self::Backpack => handed_over.backpack_tokens as u64,
            Self::Plan => limits.plan_bytes,
            Self::Turns => budget.turns.into(),
            Self::Tokens | Self::Price | Self::Cpu => return None,
            Self::Wall => budget.wall.as_secs(),
            Self::Bash => 2 * 60,
            Self::Output => OUTPUT_BYTES as u64,
            Self::Identical => budget.identical.into(),
            Self::Reply => budget.output.into(),
            Self::Delegation => 1,
            Self::Memory => JAIL_MEMORY,
            Self::Pids => JAIL_PIDS.into(),
            Self::Disk => JAIL_DISK,
        })
    }

    /// With less there is no jail, which needs some itself; and how to write what is enough.
    fn least(self) -> (u64, Option<&'static str>) {
        match self {
            Self::Memory => (16 << 20, Some("a size from `16M` on, such as `512M` or `2G`")),
            Self::Pids => (4, Some("a number from 4")),
            _ => (1, None),
        }
    }

    /// Reads a value as people write it: `60k`, `10m`, `32K`, `5usd`. The error says what was expected.
    pub fn read(self, text: &str) -> Result<u64, &'static str> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (scale, expected) = self.unit().scale(suffix.trim());
        let (least, instead) = self.least();
        let expected = instead.unwrap_or(expected);
        scaled(number, scale.ok_or(expected)?).filter(|value| *value >= least).ok_or(expected)
    }
}

impl Unit {
    /// What a suffix multiplies by, and what may be written.
    fn scale(self, suffix: &str) -> (Option<u64>, &'static str) {
        match self {
            Self::Tokens => (
                match suffix {
                    "" => Some(1),
                    "k" | "K" => Some(1_000),
                    "m" | "M" => Some(1_000_000),
                    _ => None,
                },
                "a number of tokens such as `60000` or `60k`",
            ),
            Self::Times => (suffix.is_empty().then_some(1), "a number from 1"),
            Self::Seconds => (
                match suffix {
                    "" | "s" => Some(1),
                    "m" | "min" => Some(60),
                    "h" => Some(3_600),
                    _ => None,
                },
                "a time such as `90s`, `10m` or `1h`",
            ),
            Self::Bytes => (
                match suffix {
                    "" => Some(1),
                    "k" | "K" | "KB" => Some(1 << 10),
                    "m" | "M" | "MB" => Some(1 << 20),
                    "g" | "G" | "GB" => Some(1 << 30),
                    _ => None,
                },
                "a size such as `32768`, `32K` or `1M`",
            ),
            Self::Price => {
                (matches!(suffix, "" | "usd").then_some(1_000_000), "a price such as `5usd`")
            }
        }
    }
}

/// A decimal number times `scale`, without floats; nothing for what is no whole number then.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let places = u32::try_from(part.len()).ok().filter(|places| (1..=6).contains(places))?;
    let one = 10_u64.pow(places);
    let fraction = part.parse::<u64>().ok()?.checked_mul(scale)?;
    let fraction = fraction.is_multiple_of(one).then_some(fraction / one)?;
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(fraction)
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_people_write_them() {
        for (limit, text, value) in [
            (Limit::Context, "60k", 60_000),
            (Limit::Context, "1.5k", 1_500),
            (Limit::Wall, "10m", 600),
            (Limit::Wall, "90", 90),
            (Limit::Output, "32K", 32_768),
            (Limit::Price, "0.25usd", 250_000),
            (Limit::Turns, "80", 80),
            (Limit::Memory, "2G", 2 << 30),
            (Limit::Cpu, "5m", 300),
        ] {
            assert_eq!(limit.read(text), Ok(value), "{limit:?} {text}");
        }
    }

    #[test]
    fn what_is_no_positive_whole_number_of_the_unit_is_refused() {
        for (limit, text) in [
            (Limit::Turns, "0"),
            (Limit::Turns, "1.5"),
            (Limit::Turns, "-1"),
            (Limit::Turns, ""),
            (Limit::Turns, "."),
            (Limit::Wall, "10 parsecs"),
            (Limit::Context, "99999999999999999999"),
            (Limit::Context, "18446744073709551615k"),
            (Limit::Price, "0.0000001usd"),
            (Limit::Memory, "8M"),
            (Limit::Pids, "3"),
        ] {
            assert!(limit.read(text).is_err(), "{limit:?} {text}");
        }
    }

    #[test]
    fn every_limit_is_found_by_its_name() {
        for limit in Limit::ALL {
            assert_eq!(Limit::parse(limit.as_str()), Some(limit));
        }
    }
}
