//! A point in time, as it is kept and shown. Nothing here looks at a clock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since 1970, in UTC. Written as `2026-11-16T09:05:12.345Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u64);

/// The last one that can be written with four digits for the year.
const LAST: u64 = 253_402_300_799_999;
const DAY: u64 = 86_400_000;

impl Moment {
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
    }

    /// How long it is from an earlier one; nothing if that is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// Reads what [`fmt::Display`] writes, and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |from: usize, to: usize| -> Option<u64> {
            let digits = text.get(from..to)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute) = (number(11, 13)?, number(14, 16)?);
        let (second, thousandth) = (number(17, 19)?, number(20, 23)?);
        let days = days_before(year, month, day)?;
        let moment =
            Self(days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000 + thousandth);
        // What does not come back the same was not written by us: a 30th of February, a 25th hour.
        (moment.to_string() == text).then_some(moment)
    }
}

/// Days from 1970 to a date of the Gregorian calendar.
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    // Years begin in March here: the day that not every year has comes last.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let in_year = (153 * month + 2) / 5 + day.checked_sub(1)?;
    (year * 365 + year / 4 - year / 100 + year / 400 + in_year).checked_sub(719_468)
}

/// The date so many days after 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, in_era) = (days / 146_097, days % 146_097);
    let year = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.0.min(LAST);
        let (year, month, day) = date(at / DAY);
        let (hour, minute) = (at / 3_600_000 % 24, at / 60_000 % 60);
        let (second, thousandth) = (at / 1_000 % 60, at % 1_000);
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{thousandth:03}Z"
        )
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'d> Deserialize<'d> for Moment {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("this is no time in UTC"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_a_date_and_read_back() {
        for (moment, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_819_912_345, "2026-11-16T09:05:12.345Z"),
            (LAST, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Moment(moment).to_string(), text);
            assert_eq!(Moment::parse(text), Some(Moment(moment)));
        }
        for day in (0..3_000_000).step_by(17) {
            let moment = Moment(day * DAY + day);
            assert_eq!(Moment::parse(&moment.to_string()), Some(Moment(moment.0.min(LAST))));
        }
    }

    #[test]
    fn what_is_no_moment_is_not_read_as_one() {
        for text in ["", "2026-02-30T00:00:00.000Z", "2026-11-16T25:00:00.000Z", "2026-11-16"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
