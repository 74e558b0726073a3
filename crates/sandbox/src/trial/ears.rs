//! A host on the machine's loopback, which answers whoever reaches it.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Listens as long as it lives.
pub(super) struct Ear {
    pub(super) port: u16,
    closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ear {
    pub(super) fn open() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let closed = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&closed);
        let hear = move || {
            while let Ok((stream, _)) = listener.accept() {
                if end.load(Ordering::Acquire) {
                    break;
                }
                // Whoever goes away early gets no answer.
                let _ = answer(stream);
            }
        };
        let thread = thread::Builder::new().name("ear".into()).spawn(hear)?;
        Ok(Self { port, closed, thread: Some(thread) })
    }
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut request = [0; 1024];
    let _ = stream.read(&mut request)?;
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // Wakes it; where that fails nobody listens any more.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
