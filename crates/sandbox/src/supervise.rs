//! The supervisor: one process beside each jail, which makes it, watches it and clears up after it.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::blueprint::{Access, Blueprint, Isolation, Network};
use crate::groups::Groups;
use crate::guard::Guard;
use crate::handover::{Ends, Handover};
use crate::hold::Store;
use crate::inside;
use crate::link::{Link, Word};
use crate::mapping::{Mapping, map};
use crate::order::{Cause, Ending, Order, Program, Said, Trouble, Wish};
use crate::placeholder::{self, Placeholders};
use crate::proxy::host::Host;
use crate::proxy::{Allowance, Decision, NameService, Proxy};
use crate::pump::{Pumps, Running};
use crate::ready::{Begun, Jail, MAP_STEP, OWNERS_STEP, Ready, Waiting};
use crate::sources::{self, Sources};
use crate::sys;
use crate::tree;
use crate::watch::{Room, Watch};
use crate::ways::Ways;

/// How it is told from a start by a person.
pub(crate) const MARK: &CStr = c"sequester-jail";
/// The descriptors that it is started with, beside the three of every program.
pub(crate) const CONTROL: i32 = 3;
pub(crate) const SOCKET: i32 = 4;

/// The first line of `main`: in a process that was started to keep a jail it does that and never returns; in the jail
/// of a server it runs `serve`. Otherwise it does nothing.
pub fn enter_if_jailed(serve: impl FnOnce(UnixStream)) {
    if is_supervisor() {
        supervise(serve);
    }
}

pub(crate) fn is_supervisor() -> bool {
    std::env::args_os().next().is_some_and(|name| name.as_bytes() == MARK.to_bytes())
}

/// Keeps the jail that it is told of. A panic ends here too: beneath it may be what this process was branched from.
pub(crate) fn supervise(serve: impl FnOnce(UnixStream)) -> ! {
    let kept = catch_unwind(AssertUnwindSafe(|| run(serve)));
    sys::leave(i32::from(!matches!(kept, Ok(Ok(())))))
}

fn run(serve: impl FnOnce(UnixStream)) -> io::Result<()> {
    let control = sys::adopt(CONTROL)?;
    // A command has none.
    let socket = sys::adopt(SOCKET).ok();
    let given: Vec<_> = [&control].into_iter().chain(&socket).map(AsFd::as_fd).collect();
    sys::close_others(&given)?;
    let control = Link::from(control);
    // While the jail is still thought out.
    let ready = match Ready::make() {
        Ok(ready) => ready,
        Err(link) => inside::run(&link, serve),
    };
    // Whoever started this may find that there is no jail to keep.
    let Some((Wish::Keep, Some(order))) = control.hear()? else { return Ok(()) };
    let said = match keep(order.into(), ready, socket, &control, serve) {
        Ok(ending) => Said::Ended(ending),
        Err(trouble) => Said::Failed(trouble),
    };
    control.say(&said)
}

fn keep(
    order: fs::File,
    mut ready: Ready,
    socket: Option<OwnedFd>,
    control: &Link,
    serve: impl FnOnce(UnixStream),
) -> Result<Ending, Trouble> {
    let Order { blueprint, program } =
        Order::read(&order).map_err(Trouble::at("read what the jail is"))?;
    let waiting = match ready.begin(blueprint.isolation)? {
        Begun::Inside(link) => inside::run(&link, serve),
        Begun::Outside(waiting) => waiting,
    };
    waiting.tell(&order)?;
    drop(order);
    let made = blueprint.discard.as_deref().map(Store::make).transpose();
    let store = made.map_err(Trouble::at("make the jail's store"))?;
    let mut placeholders = Placeholders::default();
    let are_mounted = placeholder::are_mounted(&blueprint.root);
    if are_mounted {
        placeholders.put(blueprint.state.as_deref(), &blueprint.root)?;
    }
    let groups = Groups::make(blueprint.cgroup.as_ref())?;
    let (ends, pumps) = connect(&program, socket).map_err(Trouble::at("connect the program"))?;
    let (sources, mapping) = prepare(&blueprint, ready.mapping.take())?;
    let handover = Handover { ends, doors: groups.doors()?, sources };
    // It uses all of this from now on, and ends first.
    let first = waiting;
    first.or_its_own(hand_over(&first, handover, blueprint.isolation, &groups))?;
    let Waiting { jail, link: ours, .. } = first;
    let pid = jail.pid;
    // While the jail's root is built.
    drop(mapping);
    if !are_mounted {
        placeholders.put(blueprint.state.as_deref(), &blueprint.root)?;
    }
    let mut watch = Watch::new(&blueprint.caps, blueprint.isolation, pid, &groups);
    // Fails if the jail could not be made, and why is heard next.
    let _ = ours.say(&Word::Held);
    let (listener, guard) = started(&ours, &mut watch)?;
    let proxy =
        listener.map(|listener| offer(listener, &blueprint.network, control)).transpose()?;
    control.say(&Said::Started).map_err(Trouble::at("tell the controller"))?;
    let pumps = pumps.start(blueprint.caps.output);
    let ways = Ways::open(pid, blueprint.isolation);
    let (ending, met) = jail.keep(Watched { watch, guard, pumps: &pumps }, control, &ours, &groups);
    let missed = ways.were_missed();
    drop(proxy);
    // First: whoever reads the output may take as long as they like.
    clear(store.as_ref(), placeholders, jail, groups);
    // Last: what is left of a jail is looked for where a store is left.
    drop(store);
    let (ending, lost_names) = pass_on(ending, pumps, control);
    let no_way = (missed || lost_names).then_some(Said::NoWay);
    for said in met.into_iter().map(Said::Met).chain(no_way) {
        // Nobody is there to hear it where the controller is gone.
        let _ = control.say(&said);
    }
    Ok(ending)
}

/// Lets the first process make the jail.
fn hand_over(
    waiting: &Waiting,
    handover: Handover,
    isolation: Isolation,
    groups: &Groups,
) -> Result<(), Trouble> {
    let Waiting { jail, link, .. } = waiting;
    handover.send(link).map_err(Trouble::at("hand the jail what it is made from"))?;
    drop(handover);
    if let Isolation::Namespaces(identity) = isolation {
        map(jail.pid, identity.inside, identity.outside).map_err(Trouble::at(MAP_STEP))?;
    }
    groups.add(jail.pid)?;
    link.say(&Word::Go).map_err(Trouble::at("start the jail"))
}

/// How long the output of a jail that was ended waits for its reader.
const DRAIN: Duration = Duration::from_secs(2);

/// Waits until what was printed last is read. A program whose output is no longer taken may end before that is noticed.
fn pass_on(ending: Ending, pumps: Running, control: &Link) -> (Ending, bool) {
    let is_killed = matches!(ending, Ending::Killed(_));
    let passed = pumps.finish(control, is_killed.then(|| Instant::now() + DRAIN));
    if let Some((stream, error)) = passed.lost {
        let _ = control.say(&Said::Lost { stream: stream.to_owned(), why: error.to_string() });
    }
    let ending = if passed.over && !is_killed { Ending::Killed(Cause::Output) } else { ending };
    (ending, passed.lost_names)
}

/// Takes away what the jail had, while the kernel takes its mounts away.
fn clear(store: Option<&Store>, placeholders: Placeholders, jail: Jail, groups: Groups) {
    thread::scope(|scope| {
        if let Some(store) = store.filter(|store| !store.is_empty()) {
            // Without another thread it is emptied when it is taken away.
            let _ = thread::Builder::new().spawn_scoped(scope, || store.empty());
        }
        drop(placeholders);
        drop(jail);
        drop(groups);
    });
}

/// The network of a jail that may reach named hosts; it ends with this value.
fn offer(listener: OwnedFd, network: &Network, control: &Link) -> Result<Proxy, Trouble> {
    let hosts = match network {
        Network::None => &[][..],
        Network::Hosts { hosts, .. } => hosts,
    };
    let hosts: Result<Vec<Host>, _> = hosts.iter().map(|host| host.parse()).collect();
    let hosts = hosts.map_err(io::Error::other).map_err(Trouble::at("read the hosts"))?;
    let control = control.share().map_err(Trouble::at("start the proxy"))?;
    let tell = move |decision: Decision| {
        let Decision { host, port, allowed, why } = decision;
        // Nobody is there to hear it once the controller is gone, and then the jail ends.
        let _ = control.say(&Said::Asked { host, port, allowed, why });
    };
    let started = Proxy::start(listener.into(), hosts, Allowance::default(), NameService, tell);
    started.map_err(Trouble::at("start the proxy"))
}

/// Pipes for all that the program reads and prints: it never holds a descriptor of the person's.
fn connect(program: &Program, socket: Option<OwnedFd>) -> io::Result<(Ends, Pumps)> {
    if matches!(program, Program::Server | Program::Harvest(_)) {
        let null = || {
            io::Result::Ok(fs::OpenOptions::new().read(true).write(true).open("/dev/null")?.into())
        };
        let ends = Ends { stdin: null()?, stdout: null()?, stderr: null()?, socket };
        return Ok((ends, Pumps::none()));
    }
    let pipe = || pipe_with(PipeFlags::CLOEXEC);
    let ((stdin, input), (output, stdout)) = (pipe()?, pipe()?);
    // What goes to one place goes there in the order in which it was written.
    let (errors, stderr) = if is_one(&rustix::stdio::stdout(), &rustix::stdio::stderr()) {
        (None, fcntl_dupfd_cloexec(&stdout, 0)?)
    } else {
        let (errors, stderr) = pipe()?;
        (Some(errors), stderr)
    };
    Ok((Ends { stdin, stdout, stderr, socket }, Pumps::new(input, output, errors)?))
}

fn is_one(one: &impl AsFd, other: &impl AsFd) -> bool {
    let about = |file: &BorrowedFd<'_>| fstat(file).ok().map(|found| (found.st_dev, found.st_ino));
    let (one, other) = (about(&one.as_fd()), about(&other.as_fd()));
    one.is_some() && one == other
}

/// Where the person's files must be mapped to the jail's user, only this side of the wall may do so.
fn prepare(
    blueprint: &Blueprint,
    mapping: Option<Mapping>,
) -> Result<(Option<Vec<Sources>>, Option<Mapping>), Trouble> {
    let Isolation::Namespaces(identity) = blueprint.isolation else {
        return make_folders(blueprint).map(|()| (Some(Vec::new()), None));
    };
    if identity.owner == identity.outside {
        sources::prepare_stores(&blueprint.root, None)?;
        return Ok((None, None));
    }
    let outside = (identity.outside.user, identity.outside.group);
    sources::prepare_stores(&blueprint.root, Some(outside))?;
    let mapping = match mapping.filter(|mapping| mapping.is_of(identity.owner, identity.outside)) {
        Some(mapping) => mapping,
        None => {
            Mapping::make(identity.owner, identity.outside).map_err(Trouble::at(OWNERS_STEP))?
        }
    };
    let sources = sources::open(&blueprint.root, Some(mapping.as_fd()))?;
    Ok((Some(sources), Some(mapping)))
}

/// In the machine's own root: the places that may be written, this jail's own, with a home and one for temporary files.
fn make_folders(blueprint: &Blueprint) -> Result<(), Trouble> {
    let written = blueprint.paths.iter().filter(|rule| rule.access == Access::Write);
    let written: Vec<&Path> = written.map(|rule| rule.path.as_path()).collect();
    let named = ["HOME", "TMPDIR"].iter().filter_map(|name| blueprint.environment.get(*name));
    let within =
        named.map(Path::new).filter(|path| written.iter().any(|own| path.starts_with(own)));
    for path in written.iter().copied().chain(within).filter(|path| !path.exists()) {
        fs::create_dir_all(path).map_err(Trouble::at(format!("make `{}`", path.display())))?;
    }
    Ok(())
}

/// Until the program runs.
fn started(link: &Link, watch: &mut Watch<'_>) -> Result<(Option<OwnedFd>, Guard), Trouble> {
    let (mut listener, mut guard) = (None, Guard::default());
    loop {
        match link.hear().map_err(Trouble::at("hear from the jail"))? {
            Some((Word::Running, _)) => return Ok((listener, guard)),
            Some((Word::Listening, given)) => listener = given,
            Some((Word::Memory, given)) => watch.add(given),
            Some((Word::Mounts, given)) => guard = given.map(Guard::from).unwrap_or_default(),
            Some((Word::Failed(trouble), _)) => return Err(trouble),
            // To the jail, or for later.
            Some((
                Word::Order
                | Word::Coming(_)
                | Word::Given
                | Word::Go
                | Word::Held
                | Word::Spawn(_)
                | Word::Ended(_),
                _,
            )) => {}
            None => {
                let why = "it ended while it was made".to_owned();
                return Err(Trouble { step: "make the jail".to_owned(), why, full: false });
            }
        }
    }
}

/// What of a jail is looked at while it runs.
struct Watched<'a> {
    watch: Watch<'a>,
    guard: Guard,
    pumps: &'a Running,
}

impl Jail {
    /// Until no program of the jail's lives; its first process may still be ending.
    fn keep(
        &self,
        watched: Watched<'_>,
        control: &Link,
        link: &Link,
        groups: &Groups,
    ) -> (Ending, Vec<Cause>) {
        let Watched { mut watch, guard, pumps } = watched;
        watch.begin();
        let cause = loop {
            let patience = watch.patience(Instant::now());
            match self.wait(control, link, &guard, patience) {
                Woken::Ended => break None,
                Woken::Asked => break Some(Cause::Asked),
                Woken::Exposed => break Some(Cause::Exposed),
                Woken::Time => {}
            }
            // Elsewhere they come to the first process, which does so.
            if !self.is_apart {
                tree::take_in_orphans(self.pid);
            }
            let over = pumps.is_over().then_some(Cause::Output);
            let cause = over.or_else(|| watch.look(Instant::now()));
            if cause.is_some() {
                break cause;
            }
        };
        self.end();
        let heard = ending(link);
        // What happened since the last look counts too.
        let exposed = || guard.is_broken().then_some(Cause::Exposed);
        let over = || pumps.is_over().then_some(Cause::Output);
        let memory =
            || (heard.is_none_or(is_killed) && groups.is_over_memory()).then_some(Cause::Memory);
        // What was filled faster than anybody looks.
        let room = watch.disk_room().room;
        let disk = || (room == Room::Over).then_some(Cause::Disk);
        let killed = cause.or_else(exposed).or_else(over).or_else(memory).or_else(disk);
        let mut met = watch.met(room);
        met.retain(|met| Some(*met) != killed);
        let ending = killed.map_or(heard.unwrap_or(Ending::KILLED), Ending::Killed);
        (ending, met)
    }

    fn wait(&self, control: &Link, link: &Link, guard: &Guard, patience: Duration) -> Woken {
        let mut descriptors = vec![
            PollFd::new(&self.handle, PollFlags::IN),
            // The only word that comes now is the last.
            PollFd::new(link, PollFlags::IN),
            PollFd::new(control, PollFlags::IN | PollFlags::RDHUP),
        ];
        descriptors.extend(guard.watched());
        let time = Timespec::try_from(patience).ok();
        let woken = poll(&mut descriptors, time.as_ref());
        let is_ready = |one: &PollFd<'_>| !one.revents().is_empty();
        match woken {
            // It is told once.
            Ok(_) if descriptors.get(3).is_some_and(is_ready) => Woken::Exposed,
            Ok(_) if descriptors[..2].iter().any(is_ready) => Woken::Ended,
            Ok(_) if is_ready(&descriptors[2]) => fulfil(control, link),
            Ok(_) | Err(Errno::INTR) => Woken::Time,
            Err(_) => Woken::Asked,
        }
    }

    /// Ends all programs. The kernel takes the mounts of a first process that is alone away before it is waited for: that is left for
    /// later. Killed, it starts no other.
    fn end(&self) {
        self.kill();
        if !self.is_apart || !tree::is_alone(self.pid) {
            self.wait_for_all();
        }
    }
}

/// Also as a shell tells it of a command of its own.
fn is_killed(ending: Ending) -> bool {
    matches!(ending, Ending::KILLED | Ending::Exited(137))
}

/// Does what the controller wishes. The controller that is gone wishes an end.
fn fulfil(control: &Link, link: &Link) -> Woken {
    match control.hear() {
        Ok(Some((Wish::Spawn(words), Some(stream)))) => {
            // Not waited for: somebody in the jail may keep the other side from reading. The stream closes then, and so the
            // controller knows.
            let _ = link.try_say_with(&Word::Spawn(words), Some(stream.as_fd()));
            Woken::Time
        }
        _ => Woken::Asked,
    }
}

enum Woken {
    Ended,
    Exposed,
    Asked,
    Time,
}

fn ending(link: &Link) -> Option<Ending> {
    loop {
        match link.hear() {
            Ok(Some((Word::Ended(ending), _))) => return Some(ending),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}
