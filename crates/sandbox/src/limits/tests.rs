use super::*;

fn set(settings: &[&str]) -> Result<Limits, Error> {
    let mut limits = Limits::default();
    settings.iter().try_for_each(|setting| limits.set(setting))?;
    Ok(limits)
}

#[test]
fn every_limit_is_read_as_people_write_it() {
    let limits = set(&["memory=512M", "wall=10s", "cpu=5s", "pids=64", "output=1M", "disk=200M"]);
    let expected = Limits {
        memory: 512 << 20,
        pids: 64,
        cpu: Some(Duration::from_secs(5)),
        wall: Duration::from_secs(10),
        output: 1 << 20,
        disk: 200 << 20,
    };
    assert_eq!(limits, Ok(expected));
}

#[test]
fn units_and_fractions_are_exact() {
    for (setting, milliseconds) in
        [("wall=500ms", 500), ("wall=1.5s", 1_500), ("wall=2m", 120_000), ("wall=7", 7_000)]
    {
        assert_eq!(set(&[setting]).unwrap().wall.as_millis(), milliseconds, "{setting}");
    }
    for (setting, bytes) in
        [("disk=1.5G", 3 << 29), ("disk=64KiB", 64 << 10), ("disk=9", 9), ("disk=1k", 1024)]
    {
        assert_eq!(set(&[setting]).unwrap().disk, bytes, "{setting}");
    }
}

#[test]
fn what_no_jail_could_be_made_in_is_refused_with_the_least() {
    for (setting, least) in [("memory=1", "16M"), ("memory=15M", "16M"), ("pids=1", "from 4")] {
        let told = set(&[setting]).unwrap_err().hint();
        assert!(told.contains(least), "{told}");
    }
}

#[test]
fn the_last_setting_of_a_limit_counts() {
    assert_eq!(set(&["pids=9", "pids=10"]).unwrap().pids, 10);
}

#[test]
fn what_is_no_limit_is_refused_with_a_hint() {
    for (setting, message, hint) in [
        ("memory", "The limit `memory` has no value.", "Write `KEY=VALUE`"),
        ("speed=1", "There is no limit `speed`.", "Limits are `memory`"),
        ("pids=0", "`0` cannot be read as the limit `pids`.", "Write a number from 4"),
        ("wall=soon", "`soon` cannot be read as the limit `wall`.", "Write a time"),
    ] {
        let error = set(&[setting]).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().starts_with(hint), "{}", error.hint());
    }
}

#[test]
fn numbers_that_are_none_never_pass() {
    for value in
        ["", ".", "1.", ".5", "-1", "+1", "1e3", "1 G", "1..2", "1.2.3", "99999999999T", "M", "٣"]
    {
        for key in ["memory", "wall", "pids", "cpu", "disk", "output"] {
            assert!(set(&[&format!("{key}={value}")]).is_err(), "{key}={value}");
        }
    }
    assert!(set(&["pids=4294967296"]).is_err());
    assert!(set(&["memory=1.1234567"]).is_err());
}

#[test]
fn what_a_profile_sets_is_taken_and_what_is_no_limit_of_a_jail_is_not() {
    use sequester_core::limits::Limit;
    let set = [
        (Limit::Memory, 512 << 20),
        (Limit::Pids, 64),
        (Limit::Disk, 1 << 30),
        (Limit::Cpu, 60),
        (Limit::Output, 1),
        (Limit::Turns, 1),
    ];
    let expected = Limits {
        memory: 512 << 20,
        pids: 64,
        disk: 1 << 30,
        cpu: Some(Duration::from_mins(1)),
        ..Limits::default()
    };
    assert_eq!(Limits::default().with(&set.into()), expected);
}
