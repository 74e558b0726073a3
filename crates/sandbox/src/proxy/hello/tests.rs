use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::super::samples::{ECH, GREASE, NAME, hello, message, name_list, records};
use super::*;

fn target(host: &str) -> Target {
    Target { peer: Peer::parse(host).unwrap(), port: 443 }
}

fn refused_name(asked: Option<&str>, host: &str) -> Result<Progress, Refusal> {
    Err(Refusal::Name { asked: asked.map(str::to_owned), target: target(host) })
}

#[test]
fn a_tunnel_asks_for_the_host_that_it_was_opened_to() {
    let example = target("example.org");
    assert_eq!(check(&hello("example.org"), &example), Ok(Progress::Whole));
    assert_eq!(check(&hello("EXAMPLE.org"), &example), Ok(Progress::Whole));
    for other in ["evil.net", "www.example.org", "example.org.", "example.orgx", "example.or"] {
        assert_eq!(check(&hello(other), &example), refused_name(Some(other), "example.org"));
    }
    let silent = records(&message(&[(GREASE, vec![1])]), 16_384);
    assert_eq!(check(&silent, &example), refused_name(None, "example.org"));
}

#[test]
fn a_name_that_is_encrypted_is_refused_whatever_stands_beside_it() {
    for kind in [ECH, 0xffce] {
        let sealed = [(NAME, name_list(&["example.org"])), (kind, vec![2; 186])];
        let outcome = check(&records(&message(&sealed), 16_384), &target("example.org"));
        assert!(matches!(outcome, Err(Refusal::Hello(why)) if why.contains("encrypted")));
    }
}

#[test]
fn an_address_needs_no_name() {
    let address = target("127.0.0.1");
    assert_eq!(address.peer, Peer::Address(Ipv4Addr::LOCALHOST.into()));
    assert_eq!(check(&records(&message(&[]), 100), &address), Ok(Progress::Whole));
    assert_eq!(check(&hello("127.0.0.1"), &address), Ok(Progress::Whole));
    assert_eq!(check(&hello("evil.net"), &address), refused_name(Some("evil.net"), "127.0.0.1"));
}

#[test]
fn a_message_may_be_cut_anywhere() {
    let example = target("example.org");
    let whole =
        message(&[(GREASE, vec![0; 50]), (NAME, name_list(&["example.org"])), (21, vec![0; 9])]);
    for size in 1..=whole.len() {
        let bytes = records(&whole, size);
        assert_eq!(check(&bytes, &example), Ok(Progress::Whole), "records of {size}");
        let early = [&bytes, &[0x14, 3, 3, 0, 1, 1][..]].concat();
        assert_eq!(check(&early, &example), Ok(Progress::Whole), "and what follows them");
    }
    for size in [1, 3, 4, 64, whole.len()] {
        let bytes = records(&whole, size);
        for end in 0..bytes.len() {
            assert_eq!(
                check(&bytes[..end], &example),
                Ok(Progress::Partial),
                "{end} of records of {size}"
            );
        }
    }
}

#[test]
fn a_message_that_names_two_hosts_is_refused() {
    let both = name_list(&["example.org", "evil.net"]);
    let one = name_list(&["example.org"]);
    let mut kind = one.clone();
    kind[2] = 1;
    let mut short = one.clone();
    short[1] -= 1;
    let bad = [
        vec![(NAME, both)],
        vec![(NAME, one.clone()), (NAME, name_list(&["evil.net"]))],
        vec![(NAME, one.clone()), (NAME, one.clone())],
        vec![(NAME, [one.clone(), vec![0]].concat())],
        vec![(NAME, vec![])],
        vec![(NAME, vec![0, 0])],
        vec![(NAME, kind)],
        vec![(NAME, short)],
    ];
    for extensions in bad {
        let outcome = check(&records(&message(&extensions), 16_384), &target("example.org"));
        assert!(matches!(outcome, Err(Refusal::Hello(_))), "{extensions:?}: {outcome:?}");
    }
}

#[test]
fn what_is_no_first_message_is_refused() {
    let whole = message(&[(NAME, name_list(&["example.org"]))]);
    let mut server = whole.clone();
    server[0] = 2;
    let mut cut = whole.clone();
    let last = cut.len() - 1;
    cut[3] -= 1;
    cut.truncate(last);
    let bad = [
        b"SSH-2.0-x\r\n".to_vec(),
        vec![0x80, 0x2e, 1, 3, 1],
        vec![0x17, 3, 3, 0, 1, 0],
        vec![0x16, 2, 0, 0, 4, 1, 0, 0, 0],
        vec![0x16, 3, 1, 0, 0],
        vec![0x16, 3, 1, 0x40, 1],
        records(&server, 100),
        records(&cut, 100),
        // More in the last record than the message.
        records(&[&whole[..], &[1, 0, 0, 0]].concat(), 16_384),
        // Something else between two records.
        [&records(&whole[..20], 20)[..], &[0x15, 3, 3, 0, 2, 1, 0]].concat(),
    ];
    for bytes in bad {
        let outcome = check(&bytes, &target("example.org"));
        assert!(matches!(outcome, Err(Refusal::Hello(_))), "{bytes:02x?}: {outcome:?}");
    }
}

#[test]
fn a_message_without_end_is_refused() {
    let long =
        records(&message(&[(21, vec![0; 30_000]), (NAME, name_list(&["example.org"]))]), 16_384);
    assert_eq!(check(&long[..HELLO_BYTES - 1], &target("example.org")), Ok(Progress::Partial));
    assert!(matches!(check(&long[..HELLO_BYTES], &target("example.org")), Err(Refusal::Hello(_))));
}

/// Extensions that hold no name: neither the plain one nor an encrypted hello, which is refused whatever else is there.
fn readable() -> impl Strategy<Value = u16> {
    (1_u16..).prop_filter("an encrypted hello", |kind| !SEALED.contains(kind))
}

proptest! {
    #[test]
    fn no_bytes_at_all_make_it_panic_or_pass(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert_ne!(check(&bytes, &target("example.org")), Ok(Progress::Whole));
    }

    #[test]
    fn a_changed_byte_never_asks_for_another_host(at in 0_usize..400, to in any::<u8>()) {
        let mut bytes = hello("evil.net");
        let at = at % bytes.len();
        bytes[at] = to;
        prop_assert_ne!(check(&bytes, &target("example.org")), Ok(Progress::Whole));
    }

    #[test]
    fn one_name_among_any_extensions_is_the_name(
        others in prop::collection::vec((readable(), prop::collection::vec(any::<u8>(), 0..60)), 0..12),
        at in 0_usize..12,
        names in 0_usize..3,
        size in 1_usize..2_000,
    ) {
        let mut extensions = others;
        for _ in 0..names {
            extensions.insert(at.min(extensions.len()), (NAME, name_list(&["example.org"])));
        }
        let outcome = check(&records(&message(&extensions), size), &target("example.org"));
        match names {
            0 => prop_assert_eq!(outcome, refused_name(None, "example.org")),
            1 => prop_assert_eq!(outcome, Ok(Progress::Whole)),
            _ => prop_assert!(matches!(outcome, Err(Refusal::Hello(_)))),
        }
    }

    #[test]
    fn an_encrypted_hello_among_any_extensions_is_refused(
        others in prop::collection::vec((1_u16.., prop::collection::vec(any::<u8>(), 0..60)), 0..12),
        at in 0_usize..12,
        sealed in prop::sample::select(&SEALED),
        data in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut extensions = others;
        extensions.insert(at.min(extensions.len()), (NAME, name_list(&["example.org"])));
        extensions.insert(at.min(extensions.len()), (sealed, data));
        let outcome = check(&records(&message(&extensions), 16_384), &target("example.org"));
        let told = matches!(&outcome, Err(Refusal::Hello(why)) if why.contains("encrypted"));
        prop_assert!(told, "{:?}", outcome);
    }

    /// Only the lengths say where the parts are: none of them can be another and the rest still be read.
    #[test]
    fn a_length_that_is_another_is_no_proper_message(which in 0_usize..6, by in 1_u8..) {
        let mut content = message(&[(NAME, name_list(&["example.org"]))]);
        // Of the session, the ciphers, the compressions, the extensions, the names' extension and the list in it.
        let low = [38, 72, 79, 82, 86, 88][which];
        content[low] = content[low].wrapping_add(by);
        let outcome = check(&records(&content, 16_384), &target("example.org"));
        prop_assert!(outcome != Ok(Progress::Whole), "{} {}: {:?}", which, by, outcome);
    }
}
