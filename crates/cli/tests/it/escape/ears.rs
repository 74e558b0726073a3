//! Sockets of the machine's, and what arrives at them.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(4);
const PATIENCE: Duration = Duration::from_millis(1500);

/// Everything that listens on one ground.
pub(super) struct Ears {
    pub(super) words: Vec<(&'static str, String)>,
    heard: Heard,
    /// At the host that a jail may reach.
    named: Heard,
    over: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    fn add(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }

    fn holds(&self, mark: &str) -> bool {
        let heard = self.0.lock().unwrap();
        heard.windows(mark.len()).any(|window| window == mark.as_bytes())
    }
}

struct Sockets {
    tcp: Vec<TcpListener>,
    named: TcpListener,
    /// Leads wherever it is told; what a jail's own proxy is compared with.
    proxy: TcpListener,
    udp: Vec<UdpSocket>,
    streams: Vec<UnixListener>,
    datagrams: Vec<UnixDatagram>,
    pipes: Vec<File>,
}

impl Ears {
    /// Listens at the paths, on the loopback, and at two names that are in no file system.
    pub(super) fn open(
        (streams, pipes): (&[&Path], &[PathBuf]),
        datagram: &Path,
        abstraction: &str,
    ) -> Self {
        let sockets = Sockets {
            tcp: vec![
                TcpListener::bind("127.0.0.1:0").unwrap(),
                TcpListener::bind("[::1]:0").unwrap(),
            ],
            named: TcpListener::bind("127.0.0.1:0").unwrap(),
            proxy: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: vec![UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("[::1]:0").unwrap()],
            streams: streams
                .iter()
                .map(|path| UnixListener::bind(path).unwrap())
                .chain([UnixListener::bind_addr(&hidden(abstraction, "stream")).unwrap()])
                .collect(),
            datagrams: vec![
                UnixDatagram::bind(datagram).unwrap(),
                UnixDatagram::bind_addr(&hidden(abstraction, "datagram")).unwrap(),
            ],
            pipes: pipes.iter().map(|path| open_pipe(path)).collect(),
        };
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port().to_string();
        let udp = |socket: &UdpSocket| socket.local_addr().unwrap().port().to_string();
        let words = vec![
            ("TCP", port(&sockets.tcp[0])),
            ("TCP6", port(&sockets.tcp[1])),
            ("NAMED", port(&sockets.named)),
            ("PROXY", port(&sockets.proxy)),
            ("UDP", udp(&sockets.udp[0])),
            ("UDP6", udp(&sockets.udp[1])),
            ("ABSTRACT", abstraction.to_owned()),
        ];
        let (heard, named, over) = (Heard::default(), Heard::default(), Arc::default());
        let listener = sockets.listen(heard.clone(), named.clone(), Arc::clone(&over));
        Self { words, heard, named, over, listener: Some(listener) }
    }

    pub(super) fn word(&self, name: &str) -> &str {
        &self.words.iter().find(|(known, _)| *known == name).unwrap().1
    }

    pub(super) fn have_heard(&self, mark: &str) -> bool {
        self.heard.holds(mark)
    }

    pub(super) fn were_misled(&self, mark: &str) -> bool {
        self.named.holds(mark)
    }

    /// Takes what has already arrived, and listens no more.
    pub(super) fn close(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            listener.join().unwrap();
        }
    }
}

impl Drop for Ears {
    fn drop(&mut self) {
        self.close();
    }
}

/// A pipe with a name, open for both so that nobody waits for the other end.
fn open_pipe(path: &Path) -> File {
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).write(true).custom_flags(flags).open(path).unwrap()
}

fn hidden(name: &str, kind: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(format!("{name}-{kind}")).unwrap()
}

impl Sockets {
    fn listen(self, heard: Heard, named: Heard, over: Arc<AtomicBool>) -> JoinHandle<()> {
        for listener in self.tcp.iter().chain([&self.named, &self.proxy]) {
            listener.set_nonblocking(true).unwrap();
        }
        self.udp.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        self.streams.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
        self.datagrams.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        let elsewhere = self.tcp[0].local_addr().unwrap().to_string();
        thread::spawn(move || {
            let mut guests = Vec::new();
            loop {
                let last = over.load(Ordering::Relaxed);
                self.take(&heard, &named, &elsewhere, &mut guests);
                if last {
                    break;
                }
                thread::sleep(PAUSE);
            }
            for guest in guests {
                let _: Result<(), _> = JoinHandle::join(guest);
            }
        })
    }

    fn take(
        &self,
        heard: &Heard,
        named: &Heard,
        elsewhere: &str,
        guests: &mut Vec<JoinHandle<()>>,
    ) {
        for listener in &self.tcp {
            while let Ok((guest, _)) = listener.accept() {
                let (heard, elsewhere) = (heard.clone(), elsewhere.to_owned());
                guests.push(thread::spawn(move || answer(guest, &heard, &elsewhere)));
            }
        }
        while let Ok((guest, _)) = self.named.accept() {
            let (named, elsewhere) = (named.clone(), elsewhere.to_owned());
            guests.push(thread::spawn(move || answer(guest, &named, &elsewhere)));
        }
        while let Ok((guest, _)) = self.proxy.accept() {
            guests.push(thread::spawn(move || lead(guest).unwrap_or_default()));
        }
        for listener in &self.streams {
            while let Ok((guest, _)) = listener.accept() {
                let heard = heard.clone();
                guests.push(thread::spawn(move || hear(guest, &heard)));
            }
        }
        let mut buffer = [0; 4096];
        for socket in &self.udp {
            while let Ok(bytes) = socket.recv(&mut buffer) {
                heard.add(&buffer[..bytes]);
            }
        }
        for mut pipe in &self.pipes {
            while let Ok(bytes @ 1..) = pipe.read(&mut buffer) {
                heard.add(&buffer[..bytes]);
            }
        }
        for socket in &self.datagrams {
            while let Ok(bytes) = socket.recv(&mut buffer) {
                heard.add(&buffer[..bytes]);
            }
        }
    }
}

fn hear(mut guest: UnixStream, heard: &Heard) {
    let mut buffer = [0; 4096];
    guest.set_nonblocking(false).unwrap();
    guest.set_read_timeout(Some(PATIENCE)).unwrap();
    if let Ok(bytes) = guest.read(&mut buffer) {
        heard.add(&buffer[..bytes]);
    }
}

/// As a web server, which sends whoever asks for `/elsewhere...` to the same path there.
fn answer(mut guest: TcpStream, heard: &Heard, elsewhere: &str) {
    let mut buffer = [0; 4096];
    guest.set_nonblocking(false).unwrap();
    guest.set_read_timeout(Some(PATIENCE)).unwrap();
    while let Ok(bytes @ 1..) = guest.read(&mut buffer) {
        heard.add(&buffer[..bytes]);
        let text = String::from_utf8_lossy(&buffer[..bytes]);
        let path = text.split(' ').nth(1).unwrap_or("/");
        let reply = match path.find("/elsewhere") {
            Some(at) => format!(
                "HTTP/1.1 302 Found\r\nLocation: http://{elsewhere}{}\r\nContent-Length: 0\r\n\r\n",
                &path[at + "/elsewhere".len()..]
            ),
            None => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned(),
        };
        if guest.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

/// As a proxy that asks nothing. Each request is looked at by itself.
fn lead(mut guest: TcpStream) -> Option<()> {
    guest.set_nonblocking(false).ok()?;
    guest.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut buffer = [0; 4096];
    let bytes = guest.read(&mut buffer).ok()?;
    let mut rest = buffer[..bytes].to_vec();
    while !rest.is_empty() {
        let text = String::from_utf8_lossy(&rest).into_owned();
        let mut words = text.split(' ');
        let (verb, target) = (words.next()?, words.next()?);
        let end = text.find("\r\n\r\n")? + 4;
        if verb == "CONNECT" {
            let mut host = TcpStream::connect(host(target)).ok()?;
            guest.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
            host.write_all(&rest[end..]).ok()?;
            return relay(guest, host);
        }
        let target = target.strip_prefix("http://").unwrap_or(target);
        let header = text[..end].lines().find_map(|line| line.strip_prefix("Host: "));
        let target = header.unwrap_or_else(|| target.split('/').next().unwrap_or(target));
        let mut host = TcpStream::connect(host(target)).ok()?;
        host.set_read_timeout(Some(PATIENCE)).ok()?;
        host.write_all(&rest[..end]).ok()?;
        let bytes = host.read(&mut buffer).ok()?;
        guest.write_all(&buffer[..bytes]).ok()?;
        rest.drain(..end);
    }
    Some(())
}

/// What a target names: after a user, in any notation that the resolver takes.
fn host(target: &str) -> String {
    let target = target.rsplit('@').next().unwrap_or(target);
    if target.contains(':') { target.to_owned() } else { format!("{target}:80") }
}

fn relay(guest: TcpStream, host: TcpStream) -> Option<()> {
    let (mut from_guest, mut to_host) = (guest.try_clone().ok()?, host.try_clone().ok()?);
    let (mut from_host, mut to_guest) = (host, guest);
    from_host.set_read_timeout(Some(PATIENCE)).ok()?;
    let up = thread::spawn(move || std::io::copy(&mut from_guest, &mut to_host));
    let _ = std::io::copy(&mut from_host, &mut to_guest);
    let _ = to_guest.shutdown(std::net::Shutdown::Both);
    let _ = up.join();
    Some(())
}
