//! The first message of a TLS tunnel: the proxy lets it pass only if every server reads the tunnel's own name in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rustls::server::Acceptor;
use sequester_sandbox::fuzzing::{Hello, check_hello};

const HOST: &str = "example.org";

fuzz_target!(|bytes: &[u8]| {
    let outcome = check_hello(bytes, HOST);
    assert_eq!(outcome, check_hello(bytes, HOST));
    // As the proxy sees it: piece by piece. A verdict never changes when more bytes arrive.
    let mut before = Hello::Partial;
    for end in [bytes.len() / 4, bytes.len() / 2, bytes.len().saturating_sub(1), bytes.len()] {
        let now = check_hello(&bytes[..end], HOST);
        assert!(before == Hello::Partial || before == now, "{before:?} became {now:?}");
        before = now;
    }
    if outcome != Hello::Passed {
        return;
    }
    // A server that takes this message takes it for the same name.
    let mut acceptor = Acceptor::default();
    let mut rest = bytes;
    while !rest.is_empty() && acceptor.read_tls(&mut rest).is_ok_and(|count| count > 0) {
        match acceptor.accept() {
            Ok(Some(accepted)) => {
                let hello = accepted.client_hello();
                let name = hello.server_name();
                assert!(name.is_some_and(|name| name.eq_ignore_ascii_case(HOST)), "{name:?}");
                return;
            }
            Ok(None) => {}
            Err(_) => return,
        }
    }
});
