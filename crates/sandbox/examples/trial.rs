use sequester_sandbox::*;
use std::os::fd::AsFd;
use std::path::PathBuf;
fn main() {
    enter_if_jailed(|_| {});
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = PathBuf::from(&args[0]);
    let uid = rustix::process::getuid().as_raw();
    let gid = rustix::process::getgid().as_raw();
    let ids = |user, group| Ids { user, group };
    let identity = if uid == 0 {
        Identity { inside: ids(1000, 1000), outside: ids(2147000000, 2147000000), owner: ids(0, 0) }
    } else {
        Identity { inside: ids(uid, gid), outside: ids(uid, gid), owner: ids(uid, gid) }
    };
    let bind = |p: &str| Entry::Bind { from: p.into(), at: p.into(), access: Access::Read };
    let link = |p: &str, to: &str| Entry::Link { at: p.into(), to: to.into() };
    let mut root = vec![
        bind("/usr"),
        link("/bin", "usr/bin"),
        link("/lib", "usr/lib"),
        link("/lib64", "usr/lib64"),
        link("/sbin", "usr/sbin"),
        Entry::Text { at: "/etc/passwd".into(), content: "u:x:1000:1000::/tmp:/bin/sh\n".into() },
        Entry::Processes,
        Entry::Devices,
        Entry::Scratch { at: "/tmp".into(), bytes: 64 << 20, mode: 0o1777 },
        Entry::Scratch { at: "/dev/shm".into(), bytes: 64 << 20, mode: 0o1777 },
    ];
    let mut counted = vec![];
    match args[1].as_str() {
        "ro" => root.push(Entry::Bind { from: dir.clone(), at: dir.clone(), access: Access::Read }),
        "rw" => {
            root.push(Entry::Bind { from: dir.clone(), at: dir.clone(), access: Access::Write });
            root.push(Entry::Shut { at: dir.join(".claude"), kind: Kind::Folder });
            root.push(Entry::Shut { at: dir.join(".git"), kind: Kind::Folder });
            counted.push(dir.clone());
        }
        _ => {
            let store = PathBuf::from(format!("/tmp/store-{}", std::process::id()));
            root.push(Entry::Layered {
                at: dir.clone(),
                lower: vec![dir.clone()],
                store: store.clone(),
            });
            counted.push(store);
        }
    }
    root.push(Entry::Hidden { at: dir.join(".env") });
    let rule = |p: &str, access| PathRule { path: p.into(), access };
    let blueprint = Blueprint {
        isolation: Isolation::Namespaces(identity),
        root,
        paths: vec![
            rule("/", Access::Read),
            rule("/tmp", Access::Write),
            rule("/dev", Access::Write),
            PathRule { path: dir.clone(), access: Access::Write },
        ],
        environment: [("PATH", "/usr/bin:/bin"), ("HOME", "/tmp")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .into(),
        folder: dir,
        network: Network::None,
        caps: Caps {
            memory: 1 << 30,
            pids: 100,
            cpu: None,
            wall: Some(std::time::Duration::from_secs(20)),
            output: Some(1 << 20),
            disk: 100 << 20,
            counted,
        },
        cgroup: None,
        state: None,
    };
    let (i, o, e) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let streams = Streams { stdin: i.as_fd(), stdout: o.as_fd(), stderr: e.as_fd() };
    match Jail::run(&blueprint, args[2..].to_vec(), streams) {
        Ok(jail) => println!("{:?}", jail.wait(|said| println!("{said:?}"))),
        Err(error) => println!("{error}"),
    }
}
