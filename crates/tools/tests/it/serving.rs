//! A tool server in a process of its own, as in the jail: this program again, asked for the one test that serves.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use sequester_core::tool::Outcome;
use sequester_tools::{Client, Settings, Workbench, serve};
use serde_json::Value;

use crate::bench::{Bench, invocation};

const ROOT: &str = "SERVED_ROOT";
const SETTINGS: &str = "SERVED_SETTINGS";

#[test]
#[ignore = "it is the server of other tests"]
fn serves() {
    let (Some(root), Some(settings)) = (std::env::var_os(ROOT), std::env::var_os(SETTINGS)) else {
        return;
    };
    let settings = serde_json::from_str(settings.to_str().unwrap()).unwrap();
    let workbench = Workbench::new(root.as_ref(), settings).unwrap();
    let stream = io::stdin().as_fd().try_clone_to_owned().unwrap();
    serve(stream.into(), workbench).unwrap();
}

pub(crate) struct Server {
    child: Child,
}

/// A server over the folder of `bench`, and the other end of its connection.
pub(crate) fn launch(bench: &Bench, settings: &Settings) -> (UnixStream, Server) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["serving::serves", "--exact", "--ignored"])
        .env(ROOT, bench.folder.path())
        .env(SETTINGS, serde_json::to_string(settings).unwrap())
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (ours, Server { child })
}

pub(crate) fn start(bench: &Bench) -> (Client, Server) {
    start_with(bench, &Settings::default())
}

pub(crate) fn start_with(bench: &Bench, settings: &Settings) -> (Client, Server) {
    let (stream, server) = launch(bench, settings);
    (Client::connect(stream, settings.patience()).unwrap(), server)
}

impl Server {
    /// Waits for its end.
    pub(crate) fn ended(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Numbers of the processes whose parent it is, ended or not.
    pub(crate) fn children(&self) -> Vec<String> {
        let parent = self.child.id().to_string();
        let stats = std::fs::read_dir("/proc").unwrap().flatten();
        let stats =
            stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let is_child = |stat: &String| {
            let fields = stat.rsplit_once(") ").map(|(_, fields)| fields);
            fields.and_then(|fields| fields.split(' ').nth(1)) == Some(parent.as_str())
        };
        stats.filter(is_child).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A future's value, by parking this thread.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

pub(crate) fn ask(client: &Client, tool: &str, arguments: Value) -> Outcome {
    wait(client.call(invocation(tool, arguments))).outcome
}
