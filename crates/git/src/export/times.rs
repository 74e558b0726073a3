//! The time and size of each file of a written base, in the order of its entries: cheaper to read than the files are to look at.

use std::fs;
use std::path::Path;

use rustix::fs::Timespec;
use sequester_core::repository::Error;

use super::tree::Stored;
use crate::program::broken;

const FILE: &str = "times";
/// Seconds, nanoseconds and the size, eight bytes each.
const RECORD: usize = 24;

pub(super) fn write(stored: &[Stored], to: &Path) -> Result<(), Error> {
    let mut bytes = Vec::with_capacity(stored.len() * RECORD);
    for Stored { modified, size, .. } in stored {
        bytes.extend(modified.tv_sec.to_be_bytes());
        bytes.extend(modified.tv_nsec.to_be_bytes());
        bytes.extend(size.to_be_bytes());
    }
    fs::write(to.join(FILE), bytes)
        .map_err(|error| broken(format!("the times of the base cannot be written: {error}.")))
}

pub(super) fn read(from: &Path, count: usize) -> Result<Vec<(Timespec, u64)>, Error> {
    let bytes = fs::read(from.join(FILE)).unwrap_or_default();
    let (figures, _) = bytes.as_chunks::<8>();
    let noted: Vec<_> = figures
        .chunks_exact(3)
        .map(|record| {
            let [seconds, nanos] = [record[0], record[1]].map(i64::from_be_bytes);
            (Timespec { tv_sec: seconds, tv_nsec: nanos }, u64::from_be_bytes(record[2]))
        })
        .collect();
    if noted.len() == count {
        return Ok(noted);
    }
    Err(broken("the times of the base are damaged or those of another base."))
}
