//! The server on loopback.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Barrier, oneshot};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::answer::{Answer, Steps};
use super::fault::Faults;
use super::ledger::{Ledger, Presence, Recorded};
use super::script::Script;
use super::serve::Service;

/// How fast the model is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Before the first byte.
    pub first: Duration,
    /// Between the frames of a stream.
    pub between: Duration,
}

/// A server about to start.
#[derive(Debug)]
pub struct Setup {
    script: Script,
    faults: Faults,
    pace: Pace,
    recording: bool,
    key: Option<String>,
    models: Vec<String>,
    together: usize,
}

impl Setup {
    pub fn new(script: Script) -> Self {
        Self {
            script,
            faults: Faults::none(),
            pace: Pace::default(),
            recording: true,
            key: None,
            models: Vec::new(),
            together: 1,
        }
    }

    /// Nobody gets a reply before so many have asked for one.
    #[must_use]
    pub fn together(self, count: usize) -> Self {
        Self { together: count, ..self }
    }

    #[must_use]
    pub fn faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    #[must_use]
    pub fn pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// Keeps counts only: for thousands of large requests.
    #[must_use]
    pub fn without_recording(self) -> Self {
        Self { recording: false, ..self }
    }

    /// The only key that is accepted. Without one, any is, and none.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    /// The only models there are. Without, any is.
    #[must_use]
    pub fn models(self, models: &[&str]) -> Self {
        Self { models: models.iter().map(|&name| name.to_owned()).collect(), ..self }
    }

    /// Starts within the runtime of the caller.
    #[expect(clippy::unused_async, reason = "it needs a runtime, and an await shows that")]
    pub async fn start(self) -> io::Result<Server> {
        let (listener, service, mut server) = self.open()?;
        let (stop, stopped) = oneshot::channel();
        server.stop = Some(stop);
        tokio::spawn(accept(listener, service, stopped));
        Ok(server)
    }

    /// Starts on a thread and a runtime of its own: for tests of programs that block.
    pub fn start_blocking(self) -> io::Result<Server> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (listener, service, mut server) = {
            let _entered = runtime.enter();
            self.open()?
        };
        let (stop, stopped) = oneshot::channel();
        server.stop = Some(stop);
        server.thread = Some(std::thread::spawn(move || {
            runtime.block_on(accept(listener, service, stopped));
        }));
        Ok(server)
    }

    fn open(self) -> io::Result<(TcpListener, Arc<Service>, Server)> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        // As many as may come at once; the kernel takes its own limit when that is lower.
        let listener = socket.listen(16_384)?;
        let address = listener.local_addr()?;
        let ledger = Arc::new(Ledger::default());
        ledger.set_recording(self.recording);
        let service = Service {
            script: self.script,
            faults: self.faults,
            pace: self.pace,
            key: self.key,
            models: self.models,
            together: Barrier::new(self.together),
            ledger: Arc::clone(&ledger),
        };
        let server = Server { address, ledger, stop: None, thread: None };
        Ok((listener, Arc::new(service), server))
    }
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    ledger: Arc<Ledger>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Within the runtime of the caller, without faults and delay.
    pub async fn start(script: Script) -> io::Result<Self> {
        Setup::new(script).start().await
    }

    /// On a thread of its own, without faults and delay.
    pub fn start_blocking(script: Script) -> io::Result<Self> {
        Setup::new(script).start_blocking()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stands before `messages`, `chat/completions` and `responses`: ends with `/v1/`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1/", self.address)
    }

    /// All requests in the order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.ledger.requests()
    }

    /// Requests whose answer was handed over to its last byte, in the order in which that was so.
    pub fn delivered(&self) -> Vec<Recorded> {
        self.ledger.delivered()
    }

    /// From now on, requests are recorded or only counted.
    pub fn set_recording(&self, on: bool) {
        self.ledger.set_recording(on);
    }

    /// How many requests for a reply came, recorded or not.
    pub fn asked(&self) -> usize {
        self.ledger.asked()
    }

    /// How often each kind of fault was injected, by [`super::Fault::name`].
    pub fn injected(&self) -> BTreeMap<&'static str, usize> {
        self.ledger.injected()
    }

    /// What was wrong with requests that the real API would not accept, or that the script has no turn for.
    pub fn rejected(&self) -> Vec<String> {
        self.ledger.rejected()
    }

    /// Requests in progress now.
    pub fn present(&self) -> usize {
        self.ledger.present()
    }

    /// Requests on which the server fell silent, with all before that sent.
    pub fn silent(&self) -> usize {
        self.ledger.silent()
    }

    /// The most requests that were in progress at once.
    pub fn peak(&self) -> usize {
        self.ledger.peak()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the server was printed when it happened.
            let _ = thread.join();
        }
    }
}

/// Takes connections until told to stop; then all of them are dropped.
async fn accept(listener: TcpListener, service: Arc<Service>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&service)));
                }
                // Out of descriptors, most likely: others must end first.
                Err(_) => sleep(Duration::from_millis(10)).await,
            },
        }
    }
}

async fn connection(stream: TcpStream, service: Arc<Service>) {
    // Frames are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let serve = service_fn(|request| {
        let service = Arc::clone(&service);
        async move {
            let presence = Presence::of(&service.ledger);
            let (answer, recorded) = service.answer(request).await;
            Ok::<_, Infallible>(respond(answer, presence.with(recorded)).await)
        }
    });
    let mut http = http1::Builder::new();
    // Ten thousand connections wait here: no large buffers.
    http.timer(TokioTimer::new()).max_buf_size(16 * 1024);
    // The error is the client's leaving or a scripted cut; neither is the server's.
    let _ = http.serve_connection(TokioIo::new(stream), serve).await;
}

async fn respond(answer: Answer, presence: Presence) -> Response<Steps> {
    let Answer::Reply { status, headers, steps } = answer else {
        presence.fall_silent();
        return std::future::pending().await;
    };
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    match builder.body(Steps::new(steps, presence)) {
        Ok(response) => response,
        Err(_) => unreachable!("status and headers are constants or numbers"),
    }
}
