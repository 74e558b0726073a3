//! Attempts made without a jail, to see that they can succeed, and then in one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::attempt::{Attempt, EVERY, Profile};
use super::ground::{Ground, Printed};
use super::leg::Leg;
use super::{
    exhaustion, git, kernel, network, poison, privileges, reads, secrets, sockets, writes,
};

/// Jails at once.
const WORKERS: usize = 4;

/// All attempts, each with an id.
pub(super) fn all() -> Vec<Attempt> {
    let mut all = [
        reads::attempts(),
        secrets::attempts(),
        writes::attempts(),
        git::attempts(),
        poison::attempts(),
        kernel::attempts(),
        sockets::attempts(),
        network::attempts(),
        privileges::attempts(),
        exhaustion::attempts(),
    ]
    .concat();
    for (number, attempt) in all.iter_mut().enumerate() {
        attempt.id = format!("n{number:03}");
    }
    all
}

/// What came of a leg.
#[derive(Default)]
pub(super) struct Tally {
    /// Attempts that succeed without the jail.
    pub(super) counted: usize,
    /// In how many jails they were made.
    pub(super) jailed: usize,
    /// They prove nothing on this machine.
    pub(super) impossible: Vec<String>,
    pub(super) faults: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.counted += other.counted;
        self.jailed += other.jailed;
        self.impossible.extend(other.impossible);
        self.faults.extend(other.faults);
    }
}

fn describe(attempt: &Attempt) -> String {
    format!("{}: {} ({})", attempt.class, attempt.name, attempt.id)
}

/// Makes every attempt of a leg under the profiles that it may have.
pub(super) fn run(leg: Leg, profiles: &[Profile]) -> Tally {
    let all = all();
    let of_leg: Vec<&Attempt> = all.iter().filter(|one| one.shape.legs.contains(&leg)).collect();
    let (alone, together): (Vec<_>, Vec<_>) =
        of_leg.into_iter().partition(|one| one.shape.alone.is_some());
    let mut tally = run_together(leg, profiles, &together);
    let own: Vec<&Attempt> = alone
        .into_iter()
        .filter(|one| one.shape.profiles.iter().any(|profile| profiles.contains(profile)))
        .collect();
    for other in in_parallel(&own, |attempt| run_alone(leg, profiles, attempt)) {
        tally.add(other);
    }
    tally
}

/// Those that read, reach or change what is the person's, made by a subagent's tools.
pub(super) fn run_delegated(leg: Leg) -> Tally {
    let mut all =
        [reads::attempts(), secrets::attempts(), git::attempts(), sockets::attempts()].concat();
    for (number, attempt) in all.iter_mut().enumerate() {
        attempt.id = format!("s{number:03}");
    }
    let is_writers = |one: &&Attempt| one.shape.profiles.contains(&Profile::Writer);
    let together = |one: &&Attempt| one.shape.legs.contains(&leg) && one.shape.alone.is_none();
    let attempts: Vec<&Attempt> = all.iter().filter(together).filter(is_writers).collect();
    let mut tally = Tally::default();
    let counted = free(leg, &attempts, &mut tally);
    let mut ground = Ground::new(leg, &counted);
    let printed = ground.delegate();
    judge(&ground, &printed, (leg, "subagent"), &counted, &mut tally);
    tally
}

/// Many attempts in one jail: none of them disturbs another.
fn run_together(leg: Leg, profiles: &[Profile], attempts: &[&Attempt]) -> Tally {
    let mut tally = Tally::default();
    let counted = free(leg, attempts, &mut tally);
    let profiles: Vec<Profile> =
        EVERY.iter().filter(|one| profiles.contains(one)).copied().collect();
    for other in in_parallel(&profiles, |profile| {
        let mut tally = Tally::default();
        let of_profile = counted.iter().filter(|one| one.shape.profiles.contains(profile)).copied();
        jailed(leg, *profile, &of_profile.collect::<Vec<_>>(), &mut tally);
        tally
    }) {
        tally.add(other);
    }
    tally
}

fn run_alone(leg: Leg, profiles: &[Profile], attempt: &Attempt) -> Tally {
    let mut tally = Tally::default();
    if free(leg, &[attempt], &mut tally).is_empty() {
        return tally;
    }
    for profile in attempt.shape.profiles.iter().filter(|one| profiles.contains(one)) {
        jailed(leg, *profile, &[attempt], &mut tally);
    }
    tally
}

/// Those that succeed without a jail.
fn free<'a>(leg: Leg, attempts: &[&'a Attempt], tally: &mut Tally) -> Vec<&'a Attempt> {
    let mut ground = Ground::new(leg, attempts);
    let alone = attempts[0].shape.alone;
    let printed = ground.run(None, alone);
    tally.faults.extend(printed.trouble.iter().map(|why| format!("{leg:?}, free: {why}")));
    let mut counted = Vec::new();
    for attempt in attempts {
        if ground.is_breached(attempt, &printed) {
            counted.push(*attempt);
            continue;
        }
        let text: String = printed.of_attempt(&attempt.id).chars().take(300).collect();
        let sentence = format!("{} does nothing without a jail: {text}", describe(attempt));
        let list = if attempt.shape.certain { &mut tally.faults } else { &mut tally.impossible };
        list.push(format!("{leg:?}: {sentence}"));
    }
    tally.counted += counted.len();
    counted
}

fn jailed(leg: Leg, profile: Profile, attempts: &[&Attempt], tally: &mut Tally) {
    let Some(first) = attempts.first() else { return };
    let mut ground = Ground::new(leg, attempts);
    let printed = ground.run(Some(profile), first.shape.alone);
    judge(&ground, &printed, (leg, profile.name()), attempts, tally);
}

fn judge(
    ground: &Ground,
    printed: &Printed,
    (leg, name): (Leg, &str),
    attempts: &[&Attempt],
    tally: &mut Tally,
) {
    if let Some(why) = &printed.trouble {
        tally.faults.push(format!("{leg:?}, {name}: did not go to its end: {why}"));
    }
    if let Some(why) = &printed.refusal {
        tally.faults.push(format!("{leg:?}, {name}: nothing was tried: {why}"));
        return;
    }
    tally.jailed += attempts.len();
    for attempt in attempts {
        if ground.is_breached(attempt, printed) {
            let text: String = printed.of_attempt(&attempt.id).chars().take(300).collect();
            let name = format!("{leg:?}, {name}: NOT CONTAINED: {}", describe(attempt));
            tally.faults.push(format!("{name} [code {:?}]: {text}", printed.code));
        }
    }
}

/// The results in the order of what they are for.
pub(super) fn in_parallel<T: Sync, R: Send>(of: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..WORKERS.min(of.len()) {
            scope.spawn(|| {
                while let Some(one) = of.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(one);
                    done.lock().unwrap().push((std::ptr::from_ref(one).addr(), result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
