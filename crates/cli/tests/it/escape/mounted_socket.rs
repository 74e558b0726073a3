//! A socket that is mounted on a file below `/usr`, alone.

use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;

use crate::machine;

/// A file of the system's on every Linux with systemd's conventions.
const PLACE: &str = "/usr/lib/os-release";

/// Connects to the place in a mount namespace of its own, where a listener's socket is mounted on it.
fn connect(program: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    let script = format!(
        "mount --bind {socket} {PLACE} && cd {folder} && {program} python3 -c '{CONNECT}'",
        socket = socket.display(),
        folder = folder.path().display(),
    );
    let output = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let is_reached = listener.accept().is_ok();
    assert!(is_reached || !output.status.success(), "{output:?}");
    is_reached
}

const CONNECT: &str =
    "import socket; socket.socket(socket.AF_UNIX).connect(\"/usr/lib/os-release\")";

#[test]
fn a_socket_that_is_mounted_on_a_file_of_the_systems_does_not_answer() {
    if !machine::may_go("a socket below /usr", (!machine::is_root()).then_some("it takes root")) {
        return;
    }
    assert!(connect(""), "the attempt itself works");
    let program = machine::program().display();
    for profile in ["read-only", "writer"] {
        assert!(!connect(&format!("{program} sandbox --profile {profile} --")), "{profile}");
    }
}
