//! The network: the machine's own loopback stands for all of it, so that nothing ever leaves the machine.

use super::attempt::Row::{Py, Sh};
use super::attempt::{Attempt, Breach, CONNECTED, PLAIN, Row, Shape, rows};
use super::leg::{APART, AS_ROOT};

pub(super) fn attempts() -> Vec<Attempt> {
    let arrives = Shape { breach: Breach::Arrives, ..PLAIN };
    let says = Shape { breach: Breach::Says, certain: false, ..PLAIN };
    let proxied = Shape { profiles: CONNECTED, legs: APART, ..arrives };
    [
        rows("network", arrives, DIRECT),
        rows("network", says, FAMILIES),
        rows("network", Shape { legs: AS_ROOT, ..says }, RAW),
        rows("named hosts", proxied, PROXIED),
        rows("named hosts", Shape { breach: Breach::Misleads, ..proxied }, MISLED),
    ]
    .concat()
}

const DIRECT: &[Row] = &[
    Sh("a connection by bash", r#"bash -c 'echo "$0" > /dev/tcp/127.0.0.1/$1' "$MARK" "$TCP""#),
    Sh("a request by curl", r#"curl -s -m 3 "http://127.0.0.1:$TCP/$MARK""#),
    Sh("a request by curl to a name", r#"curl -s -m 3 "http://localhost:$TCP/$MARK""#),
    Sh(
        "a request by node",
        r#"node -e 'fetch(process.argv[1]).catch(() => {})' "http://127.0.0.1:$TCP/$MARK""#,
    ),
    Sh("a request by git", r#"git ls-remote "http://127.0.0.1:$TCP/$MARK""#),
    Sh(
        "a request through the person's proxy",
        r#"
curl -s -m 3 -x "${http_proxy:-http://127.0.0.1:9}" --noproxy '' "http://127.0.0.1:$TCP/$MARK""#,
    ),
    Sh(
        "a request through a proxy that is named",
        r#"
curl -s -m 3 -x "http://127.0.0.1:$PROXY" --noproxy '' "http://127.0.0.1:$TCP/$MARK""#,
    ),
    Py(
        "a connection",
        r#"socket.create_connection(("127.0.0.1", int(TCP)), 3).send(MARK.encode())"#,
    ),
    Py(
        "a connection to any address",
        r#"socket.create_connection(("0.0.0.0", int(TCP)), 3).send(MARK.encode())"#,
    ),
    Py(
        "a connection by IPv6",
        r#"socket.create_connection(("::1", int(TCP6)), 3).send(MARK.encode())"#,
    ),
    Py(
        "a connection by an IPv4 address in IPv6",
        r#"
socket.create_connection(("::ffff:127.0.0.1", int(TCP)), 3).send(MARK.encode())
"#,
    ),
    Py(
        "a connection that begins with its content",
        r#"
fast_open = 0x20000000
line = socket.socket()
line.sendto(MARK.encode(), fast_open, ("127.0.0.1", int(TCP)))
time.sleep(0.1)
"#,
    ),
    Py(
        "a datagram",
        r#"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(MARK.encode(), ("127.0.0.1", int(UDP)))"#,
    ),
    Py(
        "a datagram by IPv6",
        r#"socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(MARK.encode(), ("::1", int(UDP6)))"#,
    ),
    Py(
        "a question for a name server",
        r#"
name = b"".join(bytes([len(part)]) + part.encode() for part in (MARK, "example")) + b"\0"
question = struct.pack(">HHHHHH", 1, 0x100, 1, 0, 0, 0) + name + struct.pack(">HH", 16, 1)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(question, ("127.0.0.1", int(UDP)))
"#,
    ),
    Py(
        "a connection from a socket that was handed on",
        r#"
one, other = socket.socketpair()
line = socket.socket()
socket.send_fds(one, [b"x"], [line.fileno()])
_, given, _, _ = socket.recv_fds(other, 1, 1)
line = socket.socket(fileno=given[0])
line.connect(("127.0.0.1", int(TCP)))
line.send(MARK.encode())
"#,
    ),
];

const FAMILIES: &[Row] = &[
    Py(
        "a line to the kernel about connections",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4); say()",
    ),
    Py(
        "a line to the kernel about devices",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15); say()",
    ),
    Py(
        "a line to the kernel about its audit",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9); say()",
    ),
    Py(
        "a line to the machine around this one",
        "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); say()",
    ),
    Py("the kernel's ciphers", "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET); say()"),
    Py(
        "a message to all",
        r#"
line = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 16)
say()
"#,
    ),
];

const RAW: &[Row] = &[
    Py("packets as they are", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x300); say()"),
    Py(
        "packets of any protocol",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP); say()",
    ),
    Py(
        "packets of any protocol by IPv6",
        "socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58); say()",
    ),
];

/// One host may be reached, at `NAMED`. Nothing may arrive anywhere else, however it is written.
const PROXIED: &[Row] = &[
    Py(
        "another port",
        r#"
through(f"CONNECT 127.0.0.1:{TCP} HTTP/1.1\r\nHost: 127.0.0.1:{TCP}\r\n\r\n", MARK)
"#,
    ),
    Py(
        "another port by a plain request",
        r#"
through(f"GET http://127.0.0.1:{TCP}/{MARK} HTTP/1.1\r\nHost: 127.0.0.1:{TCP}\r\n\r\n")
"#,
    ),
    Py(
        "a host in the header that is not the one asked for",
        r#"
through(f"GET http://127.0.0.1:{NAMED}/{MARK} HTTP/1.1\r\nHost: 127.0.0.1:{TCP}\r\n\r\n")
"#,
    ),
    Py(
        "a second request behind the first",
        r#"
line = through(f"GET http://127.0.0.1:{NAMED}/ HTTP/1.1\r\nHost: 127.0.0.1:{NAMED}\r\n\r\n"
               f"GET http://127.0.0.1:{TCP}/{MARK} HTTP/1.1\r\nHost: 127.0.0.1:{TCP}\r\n\r\n")
line.settimeout(1)
line.recv(99)
"#,
    ),
    Py(
        "a way to another host given by the first",
        r#"
import urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": os.environ["http_proxy"]}))
os.environ.pop("NO_PROXY", None)
os.environ.pop("no_proxy", None)
opener.open(f"http://127.0.0.1:{NAMED}/elsewhere/{MARK}", timeout=3).read()
"#,
    ),
    Py(
        "an address as one number",
        r#"
through(f"CONNECT 2130706433:{TCP} HTTP/1.1\r\n\r\n", MARK)
"#,
    ),
    Py(
        "an address in short",
        r#"
through(f"CONNECT 127.1:{TCP} HTTP/1.1\r\n\r\n", MARK)
"#,
    ),
    Py(
        "an address in other digits",
        r#"
through(f"CONNECT 0x7f000001:{TCP} HTTP/1.1\r\n\r\n", MARK)
"#,
    ),
    Py(
        "an IPv4 address in IPv6",
        r#"
through(f"CONNECT [::ffff:127.0.0.1]:{TCP} HTTP/1.1\r\n\r\n", MARK)
"#,
    ),
    Py(
        "a name for the same machine",
        r#"
through(f"CONNECT localhost:{TCP} HTTP/1.1\r\n\r\n", MARK)
"#,
    ),
    Py(
        "the named host as the user of another",
        r#"
through(f"CONNECT 127.0.0.1:{NAMED}@127.0.0.1:{TCP} HTTP/1.1\r\n\r\n", MARK)
"#,
    ),
    Py(
        "another address of the same machine",
        r#"
through(f"CONNECT [::1]:{TCP6} HTTP/1.1\r\n\r\n", MARK)
"#,
    ),
    Py(
        "a second host on a connection to the first",
        r#"
line = through(f"GET http://127.0.0.1:{NAMED}/ HTTP/1.1\r\nHost: 127.0.0.1:{NAMED}\r\nContent-Length: 3\r\n\r\n"
               f"GET http://127.0.0.1:{TCP}/{MARK} HTTP/1.1\r\nHost: 127.0.0.1:{TCP}\r\n\r\n")
line.settimeout(1)
line.recv(99)
"#,
    ),
];

/// The host may be reached, but not under a name that is not its own.
const MISLED: &[Row] = &[Py(
    "another name inside an encrypted connection",
    r#"
import ssl
line = through(f"CONNECT 127.0.0.1:{NAMED} HTTP/1.1\r\nHost: 127.0.0.1:{NAMED}\r\n\r\n")
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
line.settimeout(1)
context.wrap_socket(line, server_hostname=MARK + ".example.com")
"#,
)];
