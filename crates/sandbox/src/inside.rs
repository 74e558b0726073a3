//! The jailed side: from a new process with rights over its own namespaces to a program with none.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, Signal, getrlimit, set_dumpable_behavior,
    set_parent_process_death_signal, setrlimit, setsid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_res_gid,
    set_thread_res_uid,
};

use crate::blueprint::{Blueprint, Cgroup, Identity, Isolation, Network};
use crate::guard::Guard;
use crate::handover::{Ends, Handover};
use crate::link::{Link, Word};
use crate::order::{Ending, Order, Program, Trouble};
use crate::seccomp::{self, Apart, Memory};
use crate::sources::{self, Sources};
use crate::trial::deed;
use crate::{first, folder, harvest, root, rules, sys};

/// Runs as the first process of a jail and never returns. What the jail is comes by the line.
pub(crate) fn run(link: &Link, serve: impl FnOnce(UnixStream)) -> ! {
    let (order, ends) = match begin(link) {
        Ok(begun) => begun,
        Err(trouble) => {
            // The supervisor sees the end if it cannot be told.
            let _ = link.say(&Word::Failed(trouble));
            sys::leave(1);
        }
    };
    match sys::fork() {
        Ok(None) => start(order, ends, link, serve),
        Ok(Some(program)) => {
            drop(ends);
            let spawn = |words: &[String], stream| become_spawned(&order.blueprint, words, stream);
            let ending = match order.program {
                Program::Server => first::serve(program, link, spawn),
                _ => first::wait_for(program),
            };
            first::end_others();
            let _ = link.say(&Word::Ended(ending));
            sys::leave(0);
        }
        Err(error) => {
            let _ = link.say(&Word::Failed(Trouble::at("start the program")(error)));
            sys::leave(1);
        }
    }
}

fn begin(link: &Link) -> Result<(Order, Ends), Trouble> {
    die_with_the_supervisor()?;
    sys::close_others(&[link.as_fd()]).map_err(Trouble::at("close what it inherits"))?;
    let told = link.hear().map_err(Trouble::at(WAIT_STEP))?;
    let Some((Word::Order, Some(sheet))) = told else { sys::leave(1) };
    let order = Order::read(&sheet.into()).map_err(Trouble::at("read what the jail is"))?;
    let handed = Handover::receive(link).map_err(Trouble::at("be handed what it is made from"))?;
    let Some(Handover { ends, doors, sources }) = handed else { sys::leave(1) };
    doors.enter()?;
    make(&order.blueprint, sources, link)?;
    Ok((order, ends))
}

const WAIT_STEP: &str = "wait for the supervisor";

fn make(blueprint: &Blueprint, sources: Option<Vec<Sources>>, link: &Link) -> Result<(), Trouble> {
    let Some(Word::Go) = told(link)? else { sys::leave(1) };
    close_memory()?;
    if let Isolation::Namespaces(identity) = blueprint.isolation {
        become_user(identity)?;
        let sources = match sources {
            Some(sources) => sources,
            None => sources::open(&blueprint.root, None)?,
        };
        for scratch in root::build(&blueprint.root, sources, blueprint.caps.memory, || held(link))?
        {
            let told = Trouble::at("hand out what is kept in memory");
            link.say_with(&Word::Memory, Some(scratch.as_fd())).map_err(told)?;
        }
        hand_out_mounts(blueprint, link)?;
        connect(&blueprint.network, link)?;
    } else {
        held(link)?;
    }
    if let Some(searched) = &blueprint.searched {
        folder::check(searched, blueprint.isolation)?;
    }
    limit(blueprint)?;
    confine(blueprint)
}

fn told(link: &Link) -> Result<Option<Word>, Trouble> {
    let heard = link.hear().map_err(Trouble::at(WAIT_STEP))?;
    Ok(heard.map(|(word, _)| word))
}

/// Until the supervisor holds the names that must not be made.
fn held(link: &Link) -> Result<(), Trouble> {
    let Some(Word::Held) = told(link)? else { sys::leave(1) };
    Ok(())
}

/// Before any program runs.
fn hand_out_mounts(blueprint: &Blueprint, link: &Link) -> Result<(), Trouble> {
    let step = "have its mounts watched";
    let mounts = Guard::open(&blueprint.root).map_err(Trouble::at(step))?;
    mounts.map_or(Ok(()), |mounts| {
        link.say_with(&Word::Mounts, Some(mounts.as_fd())).map_err(Trouble::at(step))
    })
}

fn at(step: &str) -> impl FnOnce(Errno) -> Trouble + '_ {
    move |error| Trouble::at(step)(error.into())
}

fn die_with_the_supervisor() -> Result<(), Trouble> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(at("be tied to the supervisor"))
}

/// Nothing of this process is for the eyes of those that it starts. Not before its user is mapped: the kernel then lets
/// only the machine's root do that.
fn close_memory() -> Result<(), Trouble> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(at("close its memory"))
}

fn become_user(identity: Identity) -> Result<(), Trouble> {
    let group = rustix::process::Gid::from_raw(identity.inside.group);
    let user = rustix::process::Uid::from_raw(identity.inside.user);
    set_thread_res_gid(group, group, group).map_err(at("take the jail's group"))?;
    set_thread_res_uid(user, user, user).map_err(at("take the jail's user"))?;
    // The kernel forgets it with a change of user.
    die_with_the_supervisor()?;
    close_memory()?;
    // Where that cannot be said, the jail shares what the person has.
    let _ = std::fs::write("/proc/sys/user/max_inotify_instances", WATCHERS);
    // From inside, the jail's own limits are the top of all.
    sys::leave_groups().map_err(Trouble::at("hide the machine's groups"))?;
    rustix::system::sethostname(b"jail").map_err(at("name the machine"))
}

fn connect(network: &Network, link: &Link) -> Result<(), Trouble> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let told = at("bring the loopback up");
    let handle = socket(AddressFamily::INET, SocketType::DGRAM, None).map_err(told)?;
    sys::loopback_up(handle).map_err(Trouble::at("bring the loopback up"))?;
    let Network::Hosts { port, .. } = network else { return Ok(()) };
    let listen = TcpListener::bind((Ipv4Addr::LOCALHOST, *port));
    let listener = listen.map_err(Trouble::at("listen for the proxy"))?;
    let told = Trouble::at("hand the proxy out");
    link.say_with(&Word::Listening, Some(listener.as_fd())).map_err(told)
}

/// Signals and timers that wait.
const SIGNALS: u64 = 4096;
/// Of what watches files, for the whole jail. The person's other programs share 128 with it on most machines.
const WATCHERS: &str = "32";

fn limit(blueprint: &Blueprint) -> Result<(), Trouble> {
    let caps = &blueprint.caps;
    let whole = |value: u64| Rlimit { current: Some(value), maximum: Some(value) };
    let mut limits = vec![
        // None at all: with nought, a program of the machine's that takes crashes would be started for it.
        (Resource::Core, whole(1)),
        (Resource::Fsize, whole(caps.disk)),
        (Resource::Memlock, whole(8 << 20)),
        // Counted for each user of the machine's: the person's other programs need some too.
        (Resource::Sigpending, whole(SIGNALS)),
        // The kernel makes a queue before it asks whether it may be opened.
        (Resource::Msgqueue, whole(0)),
        // Twice: what is asked for and not used counts here. What is used is watched.
        (Resource::Data, whole(caps.memory.saturating_mul(2))),
    ];
    // Counted for each user, in a user namespace for its own: elsewhere it would count the person's other processes.
    if matches!(blueprint.isolation, Isolation::Namespaces(_)) {
        // A group counts whom it refuses; this one would come before it and count nobody.
        let is_grouped = blueprint.cgroup.as_ref().is_some_and(Cgroup::limit_pids);
        limits.push((Resource::Nproc, whole(u64::from(caps.pids) + u64::from(is_grouped))));
    }
    if let Some(cpu) = caps.cpu {
        limits.push((Resource::Cpu, whole(cpu.as_secs() + 1)));
    }
    limits.into_iter().try_for_each(|(resource, limit)| {
        // What is lower already stays: only the machine's root could raise it.
        let lowest = |one: Option<u64>, other| Some(one.map_or(other, |one| one.min(other)));
        let most = getrlimit(resource).maximum;
        let limit = limit.maximum.and_then(|limit| lowest(most, limit));
        let limit = Rlimit { current: limit, maximum: limit };
        setrlimit(resource, limit).map_err(at("set the limits"))
    })
}

/// The last step: nothing that comes after it could be undone by a program, or by this process.
fn confine(blueprint: &Blueprint) -> Result<(), Trouble> {
    set_no_new_privs(true).map_err(at("give up new privileges"))?;
    rules::restrict(&blueprint.paths).map_err(Trouble::at("restrict the paths"))?;
    drop_capabilities().map_err(at("give up its rights"))?;
    let apart = match blueprint.isolation {
        Isolation::Namespaces(_) => Apart::Yes,
        Isolation::Fallback => Apart::No,
    };
    let memory = match &blueprint.cgroup {
        Some(groups) if groups.limit_memory() => Memory::Grouped,
        _ => Memory::Watched,
    };
    sys::filter(&seccomp::program(apart, memory)).map_err(Trouble::at(FILTER_STEP))
}

/// All that is mounted is there when it is reached.
pub(crate) const FILTER_STEP: &str = "filter the calls";

fn drop_capabilities() -> Result<(), Errno> {
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // Older kernels know fewer; who has none to give up cannot gain any either.
            Ok(()) | Err(Errno::INVAL | Errno::PERM) => {}
            Err(error) => return Err(error),
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Becomes the program.
fn start(order: Order, ends: Ends, link: &Link, serve: impl FnOnce(UnixStream)) -> ! {
    // By nobody else: what it may have to say next would come before it.
    let _ = link.say(&Word::Running);
    // Fails only for the leader of a group, which a new process is not.
    let _ = setsid();
    let connected = dup2_stdin(&ends.stdin)
        .and_then(|()| dup2_stdout(&ends.stdout))
        .and_then(|()| dup2_stderr(&ends.stderr));
    if connected.is_err() {
        sys::leave(126);
    }
    match (order.program, ends.socket) {
        (Program::Server, Some(socket)) => {
            serve(UnixStream::from(socket));
            sys::leave(0);
        }
        (Program::Trial(deed), Some(socket)) => {
            deed::perform(&deed, UnixStream::from(socket));
            sys::leave(0);
        }
        (Program::Command(words), _) => {
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let ending = execute(&order.blueprint, &words);
            let _ = link.say(&Word::Ended(ending));
        }
        (Program::Harvest(rules), Some(socket)) => {
            let sent = harvest::send(&rules, UnixStream::from(socket));
            sys::leave(sent.map_or(1, |()| 0));
        }
        (Program::Server | Program::Harvest(_) | Program::Trial(_), None) => {}
    }
    sys::leave(126)
}

/// A further program beside a server, with a stream of its own.
fn become_spawned(blueprint: &Blueprint, words: &[String], stream: OwnedFd) -> ! {
    // Fails only for the leader of a group, which a new process is not.
    let _ = setsid();
    if dup2_stdin(&stream).and_then(|()| dup2_stdout(&stream)).is_err() {
        sys::leave(126);
    }
    // What it says besides is for nobody: there is no terminal, and standard error leads nowhere.
    drop(stream);
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    match execute(blueprint, &words) {
        Ending::NotFound => sys::leave(127),
        _ => sys::leave(126),
    }
}

/// Comes back only if it fails.
fn execute(blueprint: &Blueprint, words: &[OsString]) -> Ending {
    let Some((program, arguments)) = words.split_first() else { return Ending::NotFound };
    // Not by what starts the program: its failure would not tell which of both failed.
    if rustix::process::chdir(&blueprint.folder).is_err() {
        return Ending::NotEntered;
    }
    let error =
        Command::new(program).args(arguments).env_clear().envs(&blueprint.environment).exec();
    match error.kind() {
        io::ErrorKind::NotFound => Ending::NotFound,
        _ => Ending::NotRunnable,
    }
}
