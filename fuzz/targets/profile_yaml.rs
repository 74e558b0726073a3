//! A profile of a repository, which is not trusted: it never grants more than the built-in profile it extends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sequester_core::profile::{self, Profiles};
use sequester_core::source::{Origin, Source};
use sequester_fuzz::assert_inside;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let source = |origin: fn(String) -> Origin| Source {
        origin: origin("profiles/own.yaml".to_owned()),
        text: text.to_owned(),
    };
    let (profiles, faults) = Profiles::read(&[source(Origin::Repository)]);
    assert_eq!((&profiles, &faults), (&Profiles::read(&[source(Origin::Repository)]).0, &faults));
    for one in &faults {
        assert_inside(text, one.fault.place, &one.fault.message);
    }
    let built_in = Profiles::built_in();
    assert!(built_in.iter().all(|one| profiles.get(&one.name).is_ok()));
    for own in profiles.iter().filter(|one| !one.origin.is_trusted()) {
        let wider = built_in.iter().filter(|one| profile::narrow(own, one).is_ok());
        let wider: Vec<&str> = wider.map(|one| one.name.as_str()).collect();
        assert!(wider.iter().any(|name| *name != "full-access"), "{own:?}");
        assert!(profiles.get_for(&own.name, &own.origin).is_ok(), "{own:?}");
    }
    // The same file of the user's own may say more, never less.
    let (trusted, trusted_faults) = Profiles::read(&[source(Origin::User)]);
    assert!(!faults.is_empty() || trusted_faults.is_empty());
    assert!(trusted.iter().count() >= built_in.iter().count());
});
