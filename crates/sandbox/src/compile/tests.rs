mod capability;

use sequester_core::profile::Confinement;
use sequester_core::protected::Grants;
use serde_json::Value;

use super::*;
use crate::Access;
use crate::folder::{Folder, Git};
use crate::machine::{self, folder, layers, policy, root, user};

fn blueprint(policy: &Policy, surroundings: &Surroundings) -> Blueprint {
    compile(policy, surroundings, &Capabilities::all()).unwrap().blueprint
}

/// One line for each thing that it is made of.
fn lines(blueprint: &Blueprint) -> String {
    let value = serde_json::to_value(blueprint).unwrap();
    let mut lines = String::new();
    for (field, value) in value.as_object().unwrap() {
        let all: Vec<String> = match value {
            Value::Array(all) => all.iter().map(|one| format!("{field} {one}\n")).collect(),
            Value::Object(all) => {
                all.iter().map(|(name, one)| format!("{field} {name} {one}\n")).collect()
            }
            one => vec![format!("{field} {one}\n")],
        };
        lines.extend(all);
    }
    lines
}

#[test]
fn each_profile_has_its_jail_around_a_folder() {
    for confinement in Confinement::ALL {
        let made = blueprint(&policy(confinement, Workspace::Folder(folder())), &user());
        crate::golden::assert(&format!("folder/{}.txt", confinement.as_str()), &lines(&made));
    }
}

#[test]
fn each_profile_has_its_jail_in_a_private_workspace() {
    for confinement in Confinement::ALL {
        let made = blueprint(&policy(confinement, Workspace::Layers(layers())), &root());
        crate::golden::assert(&format!("layers/{}.txt", confinement.as_str()), &lines(&made));
    }
}

#[test]
fn a_change_is_computed_where_there_is_nothing_but_the_workspace_and_its_base() {
    for (name, lower) in [("one", vec!["/state/base".into()]), ("two", layers().lower)] {
        let workspace = Workspace::Layers(crate::Layers { lower, ..layers() });
        let policy = policy(Confinement::Writer, workspace);
        let made = compile_harvest(&policy, &root(), &Capabilities::all()).unwrap();
        crate::golden::assert(&format!("harvest/{name}.txt"), &lines(&made));
    }
    let reader = policy(Confinement::Validate, Workspace::Layers(layers()));
    assert_eq!(compile_harvest(&reader, &root(), &Capabilities::all()), None);
}

#[test]
fn without_a_workspace_there_is_an_empty_one() {
    let made = blueprint(&policy(Confinement::Validate, Workspace::None), &user());
    crate::golden::assert("none/validate.txt", &lines(&made));
}

#[test]
fn without_namespaces_a_reader_has_rules() {
    let policy = policy(Confinement::ReadOnly, Workspace::Folder(machine::clean_folder()));
    let capabilities = Capabilities { user_namespaces: false, ..Capabilities::all() };
    let made = compile(&policy, &machine::clean(user()), &capabilities).unwrap().blueprint;
    crate::golden::assert("fallback/read-only.txt", &lines(&made));
}

#[test]
fn no_link_of_the_jails_stands_above_a_workspace_or_a_home() {
    let is_link = |folder: Folder, surroundings: &Surroundings| {
        let made =
            blueprint(&policy(Confinement::ReadOnly, Workspace::Folder(folder)), surroundings);
        let mut links = made.root.iter().filter(|entry| matches!(entry, Entry::Link { .. }));
        links.any(|link| link.at() == Path::new("/var/tmp"))
    };
    assert!(is_link(folder(), &user()));
    let below = Folder { path: "/var/tmp/shop".into(), ..folder() };
    assert!(!is_link(below, &user()));
    let homeless = Surroundings { home: "/var/tmp/dev".into(), ..user() };
    assert!(!is_link(folder(), &homeless));
}

#[test]
fn the_same_is_made_of_the_same() {
    for confinement in Confinement::ALL {
        let policy = policy(confinement, Workspace::Folder(folder()));
        assert_eq!(blueprint(&policy, &user()), blueprint(&policy, &user()));
    }
}

#[test]
fn what_lies_in_another_comes_after_it() {
    for confinement in Confinement::ALL {
        for surroundings in [user(), root()] {
            let made = blueprint(&policy(confinement, Workspace::Folder(folder())), &surroundings);
            for (number, entry) in made.root.iter().enumerate() {
                let above =
                    |later: &Entry| later.at() != entry.at() && entry.at().starts_with(later.at());
                assert!(!made.root[number..].iter().any(above), "{entry:?}");
            }
        }
    }
}

#[test]
fn whoever_only_reads_a_folder_stores_nothing() {
    for confinement in [Confinement::ReadOnly, Confinement::Research] {
        for git in [Git::None, Git::Here, Git::Elsewhere("/home/dev/git".into())] {
            let mirrors = 1 + usize::from(matches!(git, Git::Elsewhere(_)));
            let workspace = Workspace::Folder(Folder { git, ..folder() });
            let made = blueprint(&policy(confinement, workspace), &user());
            let count = |is: fn(&Entry) -> bool| made.root.iter().filter(|one| is(one)).count();
            assert_eq!(count(|one| matches!(one, Entry::Mirror { .. })), mirrors);
            assert_eq!(count(|one| matches!(one, Entry::Layered { .. })), 0);
        }
    }
}

#[test]
fn only_writers_write_to_what_stays() {
    for confinement in Confinement::ALL {
        for workspace in [Workspace::Folder(folder()), Workspace::Layers(layers()), Workspace::None]
        {
            let made = blueprint(&policy(confinement, workspace.clone()), &user());
            let writable: Vec<&Path> = made
                .root
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Bind { from, access: Access::Write, .. } => Some(from.as_path()),
                    _ => None,
                })
                .collect();
            let keeps = matches!(confinement, Confinement::Writer | Confinement::FullAccess);
            let expected: &[&str] = match workspace {
                Workspace::Folder(_) if keeps => &["/home/dev/shop", "/home/dev/shop/.github"],
                _ => &[],
            };
            let expected: Vec<&Path> = expected.iter().map(Path::new).collect();
            assert_eq!(writable, expected, "{}", confinement.as_str());
        }
    }
}

#[test]
fn a_grant_opens_its_name_and_no_other() {
    let shut = |grants: &[&str]| -> Vec<String> {
        let mut policy = policy(Confinement::Writer, Workspace::Folder(folder()));
        policy.grants = granted(grants);
        let entries = blueprint(&policy, &user()).root;
        let shut = entries.iter().filter(|entry| matches!(entry, Entry::Shut { .. }));
        shut.map(|entry| entry.at().strip_prefix("/home/dev/shop").unwrap().display().to_string())
            .collect()
    };
    let all = shut(&[]);
    let without = |names: &[&str]| -> Vec<String> {
        all.iter().filter(|name| !names.contains(&name.as_str())).cloned().collect()
    };
    assert_eq!(shut(&[".github/workflows"]), without(&[".github/workflows"]));
    assert_eq!(shut(&[".github/workflows/ci.yml"]), all);
    assert_eq!(shut(&["Jenkinsfile", ".vscode"]), without(&["Jenkinsfile", ".vscode"]));
}

fn granted(names: &[&str]) -> Grants {
    let mut grants = Grants::default();
    for name in names {
        grants.grant(name).unwrap();
    }
    grants
}

#[test]
fn a_part_of_a_name_is_open_where_the_change_is_harvested() {
    let shut = |grants: &[&str]| {
        let mut policy = policy(Confinement::Writer, Workspace::Layers(layers()));
        policy.grants = granted(grants);
        let is_shut = |entry: &&Entry| matches!(entry, Entry::Shut { .. });
        blueprint(&policy, &user()).root.iter().filter(is_shut).count()
    };
    let all = shut(&[]);
    assert_eq!((shut(&[".github/workflows/ci.yml"]), shut(&[".github/actions"])), (all - 1, all));
}

#[test]
fn a_folder_above_a_protected_name_that_is_not_there_is_shut_whole() {
    let absent = || Workspace::Folder(Folder { parents: Vec::new(), ..folder() });
    let shut = |policy: &Policy, path: &str| {
        let at = Path::new("/home/dev/shop").join(path);
        let is_it = |entry: &Entry| matches!(entry, Entry::Shut { .. }) && entry.at() == at;
        blueprint(policy, &user()).root.iter().filter(|entry| is_it(entry)).count()
    };
    let mut policy = policy(Confinement::Writer, absent());
    assert_eq!((shut(&policy, ".github"), shut(&policy, ".github/workflows")), (1, 0));
    policy.grants = granted(&[".github/workflows"]);
    assert_eq!((shut(&policy, ".github"), shut(&policy, ".github/actions")), (0, 1));
}

#[test]
fn every_folder_above_what_git_runs_stays_where_it_is() {
    let run_paths = vec![(PathBuf::from("/home/dev/shop/a/b/c/hooks"), crate::Kind::Folder)];
    let folder = Workspace::Folder(Folder { run_paths, ..folder() });
    let root = blueprint(&policy(Confinement::Writer, folder), &user()).root;
    for above in ["a", "a/b", "a/b/c"] {
        let at = Path::new("/home/dev/shop").join(above);
        let is_mount = |entry: &Entry| matches!(entry, Entry::Bind { .. }) && entry.at() == at;
        assert!(root.iter().any(is_mount), "{above}");
    }
}

#[test]
fn a_protected_name_that_is_a_link_is_refused_to_writers() {
    let path = PathBuf::from("/home/dev/shop/.vscode");
    let linked = Folder { links: vec![path.clone()], ..folder() };
    for confinement in Confinement::ALL {
        let mut policy = policy(confinement, Workspace::Folder(linked.clone()));
        let refused = compile(&policy, &user(), &Capabilities::all()).err();
        let keeps = matches!(confinement, Confinement::Writer | Confinement::FullAccess);
        assert_eq!(refused, keeps.then(|| Refusal::Link { path: path.clone() }));
        policy.grants = granted(&[".vscode"]);
        assert!(compile(&policy, &user(), &Capabilities::all()).is_ok());
    }
}

#[test]
fn no_jail_is_made_around_what_it_stands_on() {
    for path in ["/", "/usr", "/home", "/home/dev", "/tmp", "/etc", "/proc/1", "/dev/shm", "/sys/a"]
    {
        let workspace = Folder { path: path.into(), ..machine::clean_folder() };
        let policy = policy(Confinement::ReadOnly, Workspace::Folder(workspace));
        let refusal = compile(&policy, &user(), &Capabilities::all()).unwrap_err();
        assert_eq!(refusal, Refusal::Around { workspace: path.into() });
        assert!(refusal.to_string().starts_with(&format!("The workspace `{path}` is or holds")));
    }
}

#[test]
fn hosts_are_sorted_and_go_through_the_proxy() {
    let mut policy = policy(Confinement::Research, Workspace::None);
    policy.hosts = ["b.example.org", "a.example.org:8443", "b.example.org"]
        .map(|host| host.parse().unwrap())
        .into();
    let made = blueprint(&policy, &user());
    let hosts = ["a.example.org:8443", "b.example.org"].map(str::to_owned).into();
    assert_eq!(made.network, Network::Hosts { hosts, port: PROXY_PORT });
    assert_eq!(made.environment["https_proxy"], "http://127.0.0.1:3128");
    assert!(!made.environment.contains_key("CARGO_NET_OFFLINE"));
}
