//! What the kernel does not limit by itself, looked at again and again.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, fstat, memfd_create};
use rustix::process::{Pid, getpid};

use crate::blueprint::{Caps, Isolation};
use crate::disk::{self, Stored};
use crate::groups::Groups;
use crate::order::Cause;
use crate::tree::{Held, Load, Still, load, times, tree, written};

pub(crate) struct Watch<'a> {
    caps: &'a Caps,
    groups: &'a Groups,
    begun: Instant,
    disk: DiskPace,
    /// What was there before.
    before: Stored,
    /// The disks that count, and how much was free on each.
    room: Vec<(PathBuf, u64)>,
    first: Pid,
    processes: Processes,
    spent: Spent,
    /// There were once as many processes as may be, where no group counts how often more were refused.
    crowded: bool,
    /// File systems of the jail's that are kept in memory.
    memory: Vec<OwnedFd>,
}

/// Where the processes of a jail are found.
#[derive(Clone, Copy)]
enum Processes {
    /// Orphans come to the first.
    Beneath(Pid),
    /// Orphans come to this process.
    BeneathThis,
}

/// What is left of what may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    Left,
    Full,
    Over,
}

/// What was found when the disk was counted.
pub(crate) struct DiskCount {
    pub(crate) room: Room,
    /// Bytes that may still come.
    left: u64,
    /// Pipes that the programs hold.
    pipes: usize,
}

/// The kernel gives a user 1,024 pipes at full size. Beyond that, the pipes of the person's other programs shrink.
const MOST_PIPES: usize = 900;

const OFTEN: Duration = Duration::from_millis(50);

/// When the disk is counted next. That can take long, so it is not done on every look; but the less may still be written, the sooner.
struct DiskPace {
    next: Instant,
    /// Not before: a count that takes long must not be all that is done.
    earliest: Instant,
    /// What could be written when it was last counted.
    left: u64,
    /// How much less the disks had by then than in the beginning.
    taken: u64,
}

/// Bytes that no program writes faster than in a second: memory takes no more.
const FASTEST: u64 = 8 << 30;

impl DiskPace {
    fn new(now: Instant, left: u64) -> Self {
        Self { next: now, earliest: now, left, taken: 0 }
    }

    /// How long the fastest program needs for all that is left.
    fn interval(&self) -> Duration {
        let nanoseconds = u128::from(self.left) * 1_000_000_000 / u128::from(FASTEST);
        let whole = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        whole.clamp(Duration::from_millis(2), OFTEN)
    }

    /// Also when the disks lost half of what was left, whoever wrote it.
    fn is_due(&self, now: Instant, taken: impl FnOnce() -> u64) -> bool {
        let has_grown = || taken().saturating_sub(self.taken) > self.left / 2;
        now >= self.next || now >= self.earliest && has_grown()
    }

    fn counted(&mut self, now: Instant, cost: Duration, (left, taken): (u64, u64)) {
        (self.left, self.taken) = (left, taken);
        self.earliest = now + cost * 2;
        self.next = now + cost * 10 + self.interval();
    }
}

impl<'a> Watch<'a> {
    /// Before anything of the program's runs: what is there then is not its own.
    pub(crate) fn new(
        caps: &'a Caps,
        isolation: Isolation,
        first: Pid,
        groups: &'a Groups,
    ) -> Self {
        let processes = match isolation {
            Isolation::Namespaces(_) => Processes::Beneath(first),
            Isolation::Fallback => Processes::BeneathThis,
        };
        let before = disk::used(&caps.counted, u64::MAX);
        let room = caps.counted.iter().filter_map(|folder| Some((folder.clone(), free(folder)?)));
        let begun = Instant::now();
        Self {
            caps,
            groups,
            begun,
            disk: DiskPace::new(begun, caps.disk),
            before,
            room: room.collect(),
            first,
            processes,
            spent: Spent::default(),
            crowded: false,
            memory: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, kept_in_memory: Option<OwnedFd>) {
        self.memory.extend(kept_in_memory);
    }

    pub(crate) fn begin(&mut self) {
        self.begun = Instant::now();
        self.disk = DiskPace::new(self.begun, self.caps.disk);
    }

    /// How long nothing needs to be looked at.
    pub(crate) fn patience(&self, now: Instant) -> Duration {
        let often = self.disk.interval();
        match self.caps.wall {
            Some(wall) => often.min((self.begun + wall).saturating_duration_since(now)),
            None => often,
        }
    }

    /// The first limit that is exceeded.
    pub(crate) fn look(&mut self, now: Instant) -> Option<Cause> {
        if self.caps.wall.is_some_and(|wall| now >= self.begun + wall) {
            return Some(Cause::Wall);
        }
        let used = self.used();
        self.crowded |= used.pids >= self.caps.pids;
        if self.caps.cpu.is_some_and(|most| used.cpu > most) {
            return Some(Cause::Cpu);
        }
        // The first process is the jail's own.
        if used.pids > self.caps.pids {
            return Some(Cause::Pids);
        }
        if used.memory > self.caps.memory {
            return Some(Cause::Memory);
        }
        if !self.disk.is_due(now, || self.taken()) {
            return None;
        }
        let begun = Instant::now();
        let taken = self.taken();
        let DiskCount { room, left, pipes } = self.disk_room();
        self.disk.counted(now, begun.elapsed(), (left, taken));
        match room {
            Room::Over => Some(Cause::Disk),
            Room::Left | Room::Full => (pipes > MOST_PIPES).then_some(Cause::Pipes),
        }
    }

    /// Limits that were met, though nothing was ended for it: what the program wanted was refused.
    pub(crate) fn met(&self, room: Room) -> Vec<Cause> {
        let pids = self.crowded || self.groups.is_over_pids();
        let memory = self.groups.is_over_memory();
        let disk = room != Room::Left;
        let met = [(pids, Cause::Pids), (memory, Cause::Memory), (disk, Cause::Disk)];
        met.into_iter().filter_map(|(is_met, cause)| is_met.then_some(cause)).collect()
    }

    /// How much is on the disk against what may be; also after all processes have ended.
    pub(crate) fn disk_room(&self) -> DiskCount {
        let counted = self.count();
        match counted.room {
            // The disk lost more than was found. A program learns from the kernel which folder is being looked at, and can move what it has to
            // one that was.
            Room::Left | Room::Full if self.taken() > self.caps.disk => {
                let still = Still::hold(|| self.programs());
                // Who cannot be held is not believed.
                if still.is_whole {
                    self.count()
                } else {
                    DiskCount { room: Room::Over, ..counted }
                }
            }
            _ => counted,
        }
    }

    fn count(&self) -> DiskCount {
        let most = self.before.bytes.saturating_add(self.caps.disk);
        let memory = self.memory.iter().filter_map(|system| fstat(system).ok());
        let memory = memory.map(|about| about.st_dev).chain(shared_memory()).collect();
        let pids = self.programs();
        let held = Held::by(&pids, &memory);
        let named = disk::used(&self.caps.counted, most);
        let is_unseen = held.unseen || named.closed > self.before.closed;
        // What it wrote may be gone by now, and others write to the same disks.
        let at_most = || self.taken().max(written(&pids));
        let used = named.bytes.saturating_add(held.disk());
        let room = match used.cmp(&most) {
            Ordering::Greater => Room::Over,
            _ if is_unseen && at_most() > self.caps.disk => Room::Over,
            // A file that may grow no more has just this size.
            Ordering::Equal => Room::Full,
            Ordering::Less => Room::Left,
        };
        DiskCount { room, left: most.saturating_sub(used), pipes: held.pipes() }
    }

    /// Without the first, which is the jail's own and shows nothing of itself.
    fn programs(&self) -> Vec<i32> {
        let mut pids = self.pids(usize::MAX);
        pids.retain(|pid| *pid != self.first.as_raw_nonzero().get());
        pids
    }

    /// How much less is free than there was, on the disk that lost most.
    fn taken(&self) -> u64 {
        let taken = self
            .room
            .iter()
            .filter_map(|(folder, before)| free(folder).map(|now| before.saturating_sub(now)));
        taken.max().unwrap_or(0)
    }

    fn pids(&self, most: usize) -> Vec<i32> {
        match self.processes {
            Processes::Beneath(first) => tree(first, most),
            Processes::BeneathThis => tree(getpid(), most.saturating_add(1)).split_off(1),
        }
    }

    /// Only what no group counts is counted here.
    fn used(&mut self) -> Used {
        let counted = self.groups.cpu();
        let mut used = Used { cpu: counted.unwrap_or_default(), memory: 0, pids: 0 };
        let (cpu, memory) =
            (self.caps.cpu.is_some() && counted.is_none(), !self.groups.limit_memory());
        // In namespaces the kernel counts the processes of the jail's user.
        let number = matches!(self.processes, Processes::BeneathThis) && !self.groups.limit_pids();
        if cpu || memory || number {
            // One more than may be there is enough to know.
            let pids = self.pids(self.caps.pids as usize + 1);
            let loads: Vec<Load> = pids.iter().map(|pid| load(*pid)).collect();
            used.pids = loads.iter().map(|load| load.threads).sum();
            if memory {
                let resident: u64 = loads.iter().map(|load| load.memory).sum();
                let systems: u64 = self.memory.iter().map(bytes_in).sum();
                used.memory = resident + systems;
            }
            if cpu {
                // Of orphans that came to this process, and ended, it has the time itself.
                let (own, with_children) = times(getpid().as_raw_nonzero().get());
                used.cpu = self.spent.add(&pids, with_children.saturating_sub(own));
            }
        }
        used
    }
}

/// The device of memory that processes share by no file of a file system.
fn shared_memory() -> Option<u64> {
    let file = memfd_create("shared", MemfdFlags::CLOEXEC).ok()?;
    fstat(&file).ok().map(|about| about.st_dev)
}

/// On the disk of a folder, in bytes.
fn free(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder).ok().map(|about| about.f_bfree * about.f_frsize)
}

/// What a file takes in memory beside its bytes.
const INODE: u64 = 1 << 10;

fn bytes_in(system: &OwnedFd) -> u64 {
    rustix::fs::fstatvfs(system).map_or(0, |about| {
        (about.f_blocks - about.f_bfree) * about.f_frsize + (about.f_files - about.f_ffree) * INODE
    })
}

struct Used {
    cpu: Duration,
    memory: u64,
    /// With their threads, as the kernel counts them.
    pids: u32,
}

/// Time on a processor where nobody counts it for a whole tree.
#[derive(Default)]
struct Spent {
    /// Of each process itself, when it was last seen.
    last: BTreeMap<i32, Duration>,
    /// Of those that are gone.
    gone: Duration,
}

impl Spent {
    /// A child that nobody waits for takes its time with it, so what was seen of it is kept; of one that was too short
    /// to be seen, only whoever waited for it knows.
    fn add(&mut self, pids: &[i32], taken_in: Duration) -> Duration {
        let all: Vec<_> = pids.iter().map(|pid| (*pid, times(*pid))).collect();
        let now: BTreeMap<i32, Duration> = all.iter().map(|(pid, (own, _))| (*pid, *own)).collect();
        for (pid, before) in &self.last {
            // The number may have gone to another.
            if now.get(pid).is_none_or(|own| own < before) {
                self.gone += *before;
            }
        }
        let seen = self.gone + now.values().sum::<Duration>();
        self.last = now;
        let waited: Duration = all.iter().map(|(_, (_, with_children))| *with_children).sum();
        seen.max(waited + taken_in)
    }
}
