//! `sequester.toml`: a repository that is not accepted opens nothing, whatever its file says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sequester_core::source::Origin;
use sequester_fuzz::assert_inside;
use sequester_fuzzing::read_configuration;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let [untrusted, accepted, own] = [Origin::Repository, Origin::Accepted, Origin::User]
        .map(|origin| read_configuration(text, &origin("sequester.toml".to_owned())));
    assert_eq!(untrusted, read_configuration(text, &Origin::Repository("sequester.toml".to_owned())));
    for one in [&untrusted, &accepted, &own].into_iter().flat_map(|read| &read.faults) {
        assert_inside(text, one.fault.place, &one.fault.message);
    }
    assert!(untrusted.hosts.is_empty() && untrusted.search.is_none());
    assert_eq!((untrusted.keys, untrusted.granted, accepted.keys), (0, 0, 0));
    for (limit, value) in &untrusted.limits {
        assert!(limit.default().is_none_or(|default| *value <= default), "{limit:?} {value}");
        assert_eq!(accepted.limits.get(limit), Some(value));
    }
    if untrusted.faults.is_empty() {
        assert!(accepted.faults.is_empty());
    }
});
