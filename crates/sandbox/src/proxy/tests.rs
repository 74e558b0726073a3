mod bench;

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Shutdown};
use std::time::Duration;

use super::samples::hello;
use super::*;
use bench::{Bench, Names, allowed, host, refused};

const GET: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

#[test]
fn a_plain_request_reaches_its_host_and_what_stands_behind_it_does_not() {
    let (port, heard) = host(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
    let bench = Bench::new(&[&format!("127.0.0.1:{port}")]);
    let request = format!(
        "POST http://127.0.0.1:{port}/x HTTP/1.1\r\nContent-Length: 4\r\nUpgrade: h2c\r\n\r\nbody"
    );
    let second = "GET /second HTTP/1.1\r\nHost: evil.net\r\n\r\n";
    let answer = bench.ask(format!("{request}{second}").as_bytes());
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
    let expected = format!(
        "POST /x HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody"
    );
    assert_eq!(heard.recv().unwrap(), expected.as_bytes());
    assert_eq!(bench.decisions(), [allowed("127.0.0.1", port)]);
}

#[test]
fn a_chunked_body_ends_where_it_ends() {
    let (port, heard) = host(b"HTTP/1.1 204 No Content\r\n\r\n");
    let bench = Bench::new(&[&format!("127.0.0.1:{port}")]);
    let mut client = bench.connect();
    let head =
        format!("PUT http://127.0.0.1:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.write_all(head.as_bytes()).unwrap();
    for piece in ["3\r", "\nabc\r\n", "0\r\n\r\nGET /second HTTP/1.1\r\n\r\n"] {
        client.write_all(piece.as_bytes()).unwrap();
    }
    assert_eq!(bench::read_all(&mut client), "HTTP/1.1 204 No Content\r\n\r\n");
    assert!(heard.recv().unwrap().ends_with(b"Connection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
}

#[test]
fn a_host_that_is_not_named_is_refused_before_its_name_is_asked_for() {
    let bench = Bench::new(&["example.org", "*.below.org"]);
    for asked in ["CONNECT evil.net:443 HTTP/1.1", "GET http://evil.net:443/ HTTP/1.1"] {
        let answer = bench.ask(format!("{asked}\r\n\r\n").as_bytes());
        let why = "`evil.net` is not among the hosts that this jail may reach; name it under `hosts` in the user's configuration \
                   or with `--net evil.net`.";
        assert!(answer.starts_with(&format!("HTTP/1.1 403 {why}\r\n")), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{why}\n")), "{answer}");
        assert_eq!(bench.decisions().pop(), Some(refused("evil.net", 443, why)));
    }
    let answer = bench.ask(b"CONNECT example.org:22 HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403 `example.org` may not be reached on port 22; name `example.org:22` under `hosts`"), "{answer}");
    assert_eq!(bench.names.asked(), Vec::<String>::new());
}

#[test]
fn a_request_that_is_none_is_answered_and_told() {
    let bench = Bench::new(&["example.org"]);
    for bad in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"GET http://example.org/ HTTP/1.1\n\n",
        b"\x16\x03\x01\0",
        &vec![b'x'; 20_000],
    ] {
        let answer = bench.ask(bad);
        assert!(answer.starts_with("HTTP/1.1 400 This is no request for a proxy: "), "{answer}");
    }
    assert_eq!(bench.decisions().len(), 4);
    assert!(bench.decisions().iter().all(|decision| !decision.allowed && decision.host.is_empty()));
}

#[test]
fn a_name_that_leads_inside_is_refused() {
    let private = [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
    ];
    for address in private {
        let answers = vec!["8.8.8.8".parse().unwrap(), address.parse().unwrap()];
        let bench = Bench::with(&["example.org"], Allowance::default(), Names::new([answers]));
        let answer = bench.ask(b"GET http://example.org/ HTTP/1.1\r\n\r\n");
        let address: IpAddr = address.parse().unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 403 `example.org` leads to {address}, a ")),
            "{answer}"
        );
        assert!(answer.contains("`hosts` in the user's configuration or `--net`"), "{answer}");
        assert_eq!(bench.decisions().len(), 1);
    }
}

#[test]
fn a_name_is_asked_for_once_and_its_answer_is_what_is_reached() {
    let (port, heard) = host(b"HTTP/1.1 200 OK\r\n\r\n");
    let answers = [vec![[127, 0, 0, 1].into()], vec![[10, 0, 0, 1].into()]];
    let bench =
        Bench::with(&[&format!("localhost:{port}")], Allowance::default(), Names::new(answers));
    let request = format!("GET http://LOCALHOST.:{port}/ HTTP/1.1\r\n\r\n");
    assert_eq!(bench.ask(request.as_bytes()), "HTTP/1.1 200 OK\r\n\r\n");
    assert!(heard.recv().unwrap().starts_with(b"GET / HTTP/1.1\r\n"));
    assert_eq!(bench.names.asked(), ["localhost"]);
    let second = bench.ask(request.as_bytes());
    assert!(
        second.starts_with("HTTP/1.1 403 `localhost` leads to 10.0.0.1, a private address"),
        "{second}"
    );
}

#[test]
fn a_host_that_cannot_be_had_is_said_and_is_no_decision() {
    let bench = Bench::new(&["example.org", "127.0.0.1:1"]);
    let answer = bench.ask(b"GET http://example.org/ HTTP/1.1\r\n\r\n");
    assert!(
        answer.starts_with("HTTP/1.1 502 The name `example.org` could not be resolved."),
        "{answer}"
    );
    assert_eq!(bench.decisions(), []);
    let answer = bench.ask(b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n");
    assert!(
        answer.starts_with("HTTP/1.1 502 `127.0.0.1` could not be reached on port 1."),
        "{answer}"
    );
    assert_eq!(bench.decisions(), [allowed("127.0.0.1", 1)]);
}

#[test]
fn a_tunnel_carries_tls_to_the_name_that_it_was_opened_to() {
    let (port, heard) = host(b"server");
    let bench = Bench::local(port);
    let mut client = bench.tunnel(port);
    let hello = hello("localhost");
    for byte in &hello {
        client.write_all(&[*byte]).unwrap();
    }
    client.write_all(b"more").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(bench::read_all(&mut client), "server");
    assert_eq!(heard.recv().unwrap(), [&hello[..], b"more"].concat());
    assert_eq!(bench.decisions(), [allowed("localhost", port)]);
}

#[test]
fn a_tunnel_that_asks_for_another_name_is_closed_and_nothing_of_it_passes() {
    let (port, heard) = host(b"server");
    let bench = Bench::local(port);
    let mut client = bench.tunnel(port);
    client.write_all(&hello("evil.net")).unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, hello::DENIED);
    assert_eq!(heard.recv().unwrap(), b"");
    let why = "A tunnel to `localhost` asks for `evil.net`; name that under `hosts` in the user's configuration or with `--net` and \
               open a tunnel to it.";
    assert_eq!(bench.decisions(), [allowed("localhost", port), refused("localhost", port, why)]);
}

#[test]
fn a_tunnel_carries_a_plain_request_for_its_own_host_only() {
    let (port, heard) = host(b"HTTP/1.1 200 OK\r\n\r\n");
    let bench = Bench::local(port);
    let mut client = bench.tunnel(port);
    client.write_all(GET).unwrap();
    assert_eq!(bench::read_all(&mut client), "HTTP/1.1 200 OK\r\n\r\n");
    let expected = format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    assert_eq!(heard.recv().unwrap(), expected.as_bytes());

    for other in ["GET / HTTP/1.1\r\nHost: evil.net\r\n\r\n", "SSH-2.0-x y\r\n", "EHLO\n"] {
        let mut client = bench.tunnel(port);
        client.write_all(other.as_bytes()).unwrap();
        assert!(bench::read_all(&mut client).starts_with("HTTP/1.1 400 "));
        assert_eq!(heard.recv().unwrap(), b"");
        assert!(!bench.decisions().pop().unwrap().allowed);
    }
}

#[test]
fn either_side_may_be_done_first() {
    let (port, peers) = bench::peer();
    let bench = Bench::local(port);
    let hello = hello("localhost");
    for is_client_first in [true, false] {
        let mut client = bench.tunnel(port);
        client.write_all(&hello).unwrap();
        let mut peer = peers.recv().unwrap();
        peer.read_exact(&mut vec![0; hello.len()]).unwrap();
        let (first, second) =
            if is_client_first { (&mut client, &mut peer) } else { (&mut peer, &mut client) };
        first.write_all(b"last words").unwrap();
        first.shutdown(Shutdown::Write).unwrap();
        assert_eq!(bench::read_all(second), "last words");
        let long = "x".repeat(1 << 20);
        let writing = bench::write_and_close(second, long.clone());
        assert_eq!(bench::read_all(first), long);
        writing.join().unwrap();
    }
}

#[test]
fn a_silent_client_costs_one_place_for_as_long_as_it_may_be_idle() {
    let allowance =
        Allowance { at_once: 1, idle: Duration::from_millis(200), ..Allowance::default() };
    let bench = Bench::with(&[], allowance, Names::new([]));
    let mut silent = bench.connect();
    let mut slow = bench.connect();
    slow.write_all(b"GET http://a").unwrap();
    assert_eq!(bench::read_all(&mut silent), "");
    assert_eq!(bench::read_all(&mut slow), "");
    assert!(bench.ask(b"CONNECT a.org:443 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));
}

#[test]
fn a_jail_moves_and_connects_no_more_than_it_may() {
    let (port, heard) = host(&vec![b'x'; 50_000]);
    let allowance = Allowance { bytes: 10_000, in_all: 2, ..Allowance::default() };
    let bench = Bench::with(&[&format!("127.0.0.1:{port}")], allowance, Names::new([]));
    let request = format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n");
    assert!(bench.ask(request.as_bytes()).len() < 10_000);
    heard.recv().unwrap();
    let bytes = "This jail has moved the 10000 bytes that it may exchange with what `hosts` in the user's configuration or `--net` names.";
    assert_eq!(bench.decisions(), [allowed("127.0.0.1", port), refused("127.0.0.1", port, bytes)]);
    assert!(bench.ask(request.as_bytes()).starts_with(&format!("HTTP/1.1 403 {bytes}")));
    for _ in 0..2 {
        assert!(
            bench
                .ask(request.as_bytes())
                .starts_with("HTTP/1.1 403 This jail has made the 2 connections that it may make")
        );
    }
    assert_eq!(bench.decisions().len(), 4);
}

#[test]
fn a_proxy_that_is_stopped_ends_everything_at_once() {
    let (port, peers) = bench::peer();
    let allowance = Allowance { at_once: 3, ..Allowance::default() };
    let bench = Bench::with(&[&format!("localhost:{port}")], allowance, Names::loopback());
    let mut tunnel = bench.tunnel(port);
    tunnel.write_all(&hello("localhost")).unwrap();
    let mut peer = peers.recv().unwrap();
    peer.read_exact(&mut [0; 5]).unwrap();
    let mut waiting = bench.tunnel(port);
    let mut silent = bench.connect();
    bench.proxy.stop();
    for client in [&mut tunnel, &mut waiting, &mut silent] {
        // Cut off, or closed.
        let _ = client.read_to_end(&mut Vec::new());
    }
    let _ = peer.read_to_end(&mut Vec::new());
}

#[test]
fn clients_that_leave_early_cost_no_place() {
    let bench = Bench::with(&[], Allowance { at_once: 2, ..Allowance::default() }, Names::new([]));
    for _ in 0..300 {
        let mut client = bench.connect();
        client.write_all(b"CONNECT a.org:443 HTTP/1.1\r\n\r\n").unwrap();
    }
    assert!(bench.ask(b"CONNECT b.org:443 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403 "));
}
