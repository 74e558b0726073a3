use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use sequester_testkit::model::{Script, Server, Setup, Turn, Wire};

use crate::asking::{ask, first};

/// All ask before any listens.
fn ask_at_once(address: SocketAddr, clients: usize) {
    let body = first(Wire::Chat, true).to_string();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let ask = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    let waiting: Vec<TcpStream> = (0..clients).map(ask).collect();
    for mut stream in waiting {
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.contains("[DONE]"), "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn many_clients_wait_at_once_and_nothing_of_theirs_is_kept() {
    const CLIENTS: usize = 300;
    let setup = Setup::new(Script::replies(vec![Turn::text("At last.")])).together(CLIENTS);
    let server = setup.without_recording().start().await.unwrap();
    let address = server.address();
    tokio::task::spawn_blocking(move || ask_at_once(address, CLIENTS)).await.unwrap();
    assert_eq!((server.asked(), server.requests().len()), (CLIENTS, 0));
    assert_eq!(server.peak(), CLIENTS);
}

#[test]
fn a_dropped_server_is_gone() {
    let server = Server::start_blocking(Script::replies(vec![Turn::text("Hello.")])).unwrap();
    assert_eq!(ask(&server, Wire::Chat, &first(Wire::Chat, false)).status, 200);
    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}
