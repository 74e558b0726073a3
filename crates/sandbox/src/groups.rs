//! Control groups: the kernel's own limits on all processes of a jail.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, getpid};

use crate::blueprint::{Cgroup, Group};
use crate::order::Trouble;

/// The groups of one jail; gone with this value.
pub(crate) struct Groups {
    folders: Vec<PathBuf>,
    version: Version,
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    First,
    Second,
}

/// Where the jail's first process puts itself into its groups. One that moves itself is moved at once; to move another the
/// kernel waits for every processor, which takes longer than the rest of a start.
pub(crate) struct Doors(Vec<File>);

impl Doors {
    /// As they were opened elsewhere.
    pub(crate) fn take(opened: impl Iterator<Item = OwnedFd>) -> Self {
        Self(opened.map(File::from).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &File> {
        self.0.iter()
    }

    pub(crate) fn enter(mut self) -> Result<(), Trouble> {
        self.0.iter_mut().try_for_each(|door| door.write_all(b"0")).map_err(Trouble::at(JOIN))
    }
}

const JOIN: &str = "put the jail into its group";

impl Groups {
    pub(crate) fn make(wanted: Option<&Cgroup>) -> Result<Self, Trouble> {
        let (wanted, version) = match wanted {
            None => (&[][..], Version::First),
            Some(Cgroup::V1(groups)) => (&groups[..], Version::First),
            Some(Cgroup::V2(group)) => (std::slice::from_ref(group), Version::Second),
        };
        let mut made = Self { folders: Vec::new(), version };
        for group in wanted {
            made.add_group(group)?;
        }
        Ok(made)
    }

    fn add_group(&mut self, group: &Group) -> Result<(), Trouble> {
        // Named for its supervisor, so that a later start knows whether anybody still keeps it.
        let folder = group.parent.join(name(getpid()));
        let told = |error| Trouble::at(format!("make the group `{}`", folder.display()))(error);
        let mut made = fs::create_dir(&folder);
        if matches!(&made, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            // Of a dead one that had the number which this process has now.
            remove(&folder);
            made = fs::create_dir(&folder);
        }
        made.map_err(told)?;
        self.folders.push(folder.clone());
        for (file, value) in &group.settings {
            let told = |error| Trouble::at(format!("set `{file}` of the jail's group"))(error);
            fs::write(folder.join(file), value).map_err(told)?;
        }
        Ok(())
    }

    pub(crate) fn doors(&self) -> Result<Doors, Trouble> {
        let folders = self.folders.iter().filter(|_| self.version == Version::First);
        let open = |folder: &PathBuf| File::options().write(true).open(folder.join("tasks"));
        folders.map(open).collect::<io::Result<_>>().map(Doors).map_err(Trouble::at(JOIN))
    }

    /// Where there are no doors.
    pub(crate) fn add(&self, pid: Pid) -> Result<(), Trouble> {
        let mut folders = self.folders.iter().filter(|_| self.version == Version::Second);
        folders.try_for_each(|folder| {
            let pid = pid.as_raw_nonzero().to_string();
            fs::write(folder.join("cgroup.procs"), pid).map_err(Trouble::at(JOIN))
        })
    }

    /// Whether the kernel ended a process because the tree used too much memory.
    pub(crate) fn is_over_memory(&self) -> bool {
        self.counted(&["memory.oom_control", "memory.events"], "oom_kill ")
    }

    /// Whether the kernel refused a process because the tree has as many as it may.
    pub(crate) fn is_over_pids(&self) -> bool {
        self.counted(&["pids.events"], "max ")
    }

    /// Whether the kernel counted something of this name in one of the files.
    fn counted(&self, files: &[&str], name: &str) -> bool {
        self.folders.iter().any(|folder| {
            files.iter().any(|file| {
                let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
                let mut counts = text.lines().filter_map(|line| line.strip_prefix(name));
                counts.any(|count| count.trim() != "0")
            })
        })
    }

    /// Whether the kernel itself limits the memory.
    pub(crate) fn limit_memory(&self) -> bool {
        self.have(&["memory.limit_in_bytes", "memory.max"])
    }

    /// Whether the kernel itself limits the number of processes.
    pub(crate) fn limit_pids(&self) -> bool {
        self.have(&["pids.max"])
    }

    fn have(&self, files: &[&str]) -> bool {
        self.folders.iter().any(|folder| files.iter().any(|file| folder.join(file).exists()))
    }

    /// The time that all processes had, if a group counts it.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        self.folders.iter().find_map(|folder| {
            let nanoseconds = read_number(&folder.join("cpuacct.usage"));
            nanoseconds.map(Duration::from_nanos).or_else(|| {
                let text = fs::read_to_string(folder.join("cpu.stat")).ok()?;
                let used = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
                used.trim().parse().ok().map(Duration::from_micros)
            })
        })
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.folders.iter().for_each(|folder| remove(folder));
    }
}

/// Right after the last process ended the kernel may still count it.
fn remove(folder: &Path) {
    for _ in 0..100 {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(2));
            }
            _ => break,
        }
    }
}

const PREFIX: &str = "sequester-";

fn name(pid: Pid) -> String {
    format!("{PREFIX}{}", pid.as_raw_nonzero())
}

/// Removes groups in `parent` whose supervisor is gone.
pub(crate) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let Some(pid) = pid.and_then(|pid| pid.parse::<i32>().ok()) else { continue };
        if !Path::new(&format!("/proc/{pid}")).exists() {
            // Fails while something runs in it, and then it is somebody's.
            remove(&entry.path());
        }
    }
}

fn read_number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
