//! A proxy on loopback, clients of it and hosts behind it.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::super::{Allowance, Decision, Proxy, Resolve};

pub(super) struct Bench {
    pub(super) proxy: Proxy,
    pub(super) names: Names,
    address: SocketAddr,
    decisions: Arc<Mutex<Vec<Decision>>>,
}

impl Bench {
    pub(super) fn new(hosts: &[&str]) -> Self {
        Self::with(hosts, Allowance::default(), Names::new([]))
    }

    /// One that reaches a port of this machine by the name `localhost`.
    pub(super) fn local(port: u16) -> Self {
        Self::with(&[&format!("localhost:{port}")], Allowance::default(), Names::loopback())
    }

    pub(super) fn with(hosts: &[&str], allowance: Allowance, names: Names) -> Self {
        let listener = listen();
        let address = listener.local_addr().unwrap();
        let decisions = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&decisions);
        let sink = move |decision| told.lock().unwrap().push(decision);
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let proxy = Proxy::start(listener, hosts, allowance, names.clone(), sink).unwrap();
        Self { proxy, names, address, decisions }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_nodelay(true).unwrap();
        // A test that hangs says less than one that fails.
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        client
    }

    /// All that comes back for these bytes.
    pub(super) fn ask(&self, bytes: &[u8]) -> String {
        let mut client = self.connect();
        client.write_all(bytes).unwrap();
        read_all(&mut client)
    }

    /// An open tunnel to `localhost`.
    pub(super) fn tunnel(&self, port: u16) -> TcpStream {
        const OPEN: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
        let mut client = self.connect();
        client.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let mut answer = vec![0; OPEN.len()];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer, OPEN);
        client
    }

    pub(super) fn decisions(&self) -> Vec<Decision> {
        self.decisions.lock().unwrap().clone()
    }
}

/// A name service that gives these answers, one after the other, and then the last for ever.
#[derive(Clone)]
pub(super) struct Names(Arc<Mutex<Asked>>);

struct Asked {
    answers: VecDeque<Vec<IpAddr>>,
    names: Vec<String>,
}

impl Names {
    pub(super) fn new(answers: impl IntoIterator<Item = Vec<IpAddr>>) -> Self {
        let answers = answers.into_iter().collect();
        Self(Arc::new(Mutex::new(Asked { answers, names: Vec::new() })))
    }

    pub(super) fn loopback() -> Self {
        Self::new([vec![Ipv4Addr::LOCALHOST.into()]])
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().names.clone()
    }
}

impl Resolve for Names {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let Asked { answers, names } = &mut *self.0.lock().unwrap();
        names.push(name.to_owned());
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        next.ok_or_else(|| io::Error::other("no such name"))
    }
}

pub(super) fn allowed(host: &str, port: u16) -> Decision {
    let why = format!("`{host}` is among the hosts that this jail may reach.");
    Decision { host: host.to_owned(), port, allowed: true, why }
}

pub(super) fn refused(host: &str, port: u16, why: &str) -> Decision {
    Decision { host: host.to_owned(), port, allowed: false, why: why.to_owned() }
}

fn listen() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

/// A host that answers each connection once it has heard its first bytes, and then tells all that it heard.
pub(super) fn host(answer: &[u8]) -> (u16, Receiver<Vec<u8>>) {
    let (port, peers) = peer();
    let (told, heard) = channel();
    let answer = answer.to_vec();
    thread::spawn(move || {
        for mut peer in peers {
            let mut bytes = vec![0; 65_536];
            let count = peer.read(&mut bytes).unwrap_or(0);
            bytes.truncate(count);
            // What it says may be more than its client may hear.
            let _ = peer.write_all(if count == 0 { &[] } else { &answer });
            let _ = peer.shutdown(Shutdown::Write);
            let _ = peer.read_to_end(&mut bytes);
            told.send(bytes).unwrap();
        }
    });
    (port, heard)
}

/// The other ends of what is connected to a port of this machine.
pub(super) fn peer() -> (u16, Receiver<TcpStream>) {
    let listener = listen();
    let port = listener.local_addr().unwrap().port();
    let (told, heard) = channel();
    thread::spawn(move || {
        for peer in listener.incoming() {
            let peer = peer.unwrap();
            peer.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            if told.send(peer).is_err() {
                return;
            }
        }
    });
    (port, heard)
}

pub(super) fn read_all(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

pub(super) fn write_and_close(socket: &TcpStream, text: String) -> JoinHandle<()> {
    let mut socket = socket.try_clone().unwrap();
    thread::spawn(move || {
        socket.write_all(text.as_bytes()).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
    })
}
