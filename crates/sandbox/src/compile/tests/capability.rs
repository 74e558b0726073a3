//! What holds under which capabilities, over all of them.

use super::*;
use crate::capabilities::{Capability, Swap};
use crate::folder::Walked;

fn subsets() -> impl Iterator<Item = Vec<Capability>> {
    (0..1_u32 << Capability::ALL.len()).map(|bits| {
        let all = Capability::ALL.into_iter().enumerate();
        all.filter(|(at, _)| bits & (1 << at) != 0).map(|(_, one)| one).collect()
    })
}

fn questions() -> Vec<(Policy, Surroundings)> {
    let mut all = Vec::new();
    for confinement in Confinement::ALL {
        for surroundings in [user(), root(), machine::clean(user())] {
            let one = crate::Layers { lower: vec!["/state/base".into()], ..layers() };
            for workspace in [
                Workspace::Folder(folder()),
                Workspace::Folder(machine::clean_folder()),
                Workspace::Layers(layers()),
                Workspace::Layers(one),
                Workspace::None,
            ] {
                all.push((policy(confinement, workspace), surroundings.clone()));
            }
        }
    }
    all
}

#[test]
fn a_jail_holds_what_its_profile_needs_or_is_refused_for_exactly_the_rest() {
    for (policy, surroundings) in questions() {
        let needed: BTreeSet<Guarantee> = policy.guarantees().into_iter().collect();
        for capabilities in subsets().map(|some| Capabilities::of(&some)) {
            let held = guarantees(&policy, &surroundings, &capabilities);
            match compile(&policy, &surroundings, &capabilities) {
                Ok(compiled) => {
                    assert!(needed.is_subset(&held), "{capabilities:?}");
                    assert_eq!(compiled.guarantees, held);
                }
                Err(Refusal::Missing { profile, missing }) => {
                    assert_eq!(profile, policy.confinement);
                    let named: BTreeSet<Guarantee> =
                        missing.iter().map(|one| one.guarantee).collect();
                    assert_eq!(named, needed.difference(&held).copied().collect());
                    assert!(!named.is_empty());
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn what_is_said_to_be_lacking_would_give_it() {
    for (policy, surroundings) in questions() {
        for some in subsets() {
            let refusal = compile(&policy, &surroundings, &Capabilities::of(&some)).err();
            let Some(Refusal::Missing { missing, .. }) = refusal else { continue };
            for one in missing {
                let Reason::Lacking(lacking) = one.reason else { panic!("{one}") };
                assert!(!lacking.is_empty() && lacking.iter().all(|one| !some.contains(one)));
                let more = Capabilities::of(&[some.clone(), lacking].concat());
                assert!(guarantees(&policy, &surroundings, &more).contains(&one.guarantee));
            }
        }
    }
}

#[test]
fn a_machine_that_can_do_more_never_gives_less() {
    for (policy, surroundings) in questions() {
        for some in subsets() {
            if compile(&policy, &surroundings, &Capabilities::of(&some)).is_err() {
                continue;
            }
            for one in Capability::ALL {
                let more = Capabilities::of(&[some.as_slice(), &[one]].concat());
                assert!(compile(&policy, &surroundings, &more).is_ok(), "{some:?} and {one}");
            }
        }
    }
}

#[test]
fn a_broken_guarantee_stops_exactly_the_profiles_that_need_it() {
    for guarantee in Guarantee::ALL {
        for (policy, surroundings) in questions() {
            let capabilities = Capabilities::all().without(guarantee);
            let refused = compile(&policy, &surroundings, &capabilities).err();
            let missing = vec![Missing { guarantee, reason: Reason::Broken }];
            let expected = Refusal::Missing { profile: policy.confinement, missing };
            let needed = policy.guarantees().contains(&guarantee);
            assert_eq!(refused, needed.then_some(expected), "{}", guarantee.as_str());
        }
    }
}

#[test]
fn without_namespaces_only_readers_of_what_holds_no_secret_are_served() {
    use Capability::{ContainedCores, Landlock, Pidfd, Seccomp};
    let served = |some: &[Capability]| -> Vec<String> {
        let served = questions().into_iter().filter_map(|(policy, surroundings)| {
            let compiled = compile(&policy, &surroundings, &Capabilities::of(some)).ok()?;
            assert_eq!(compiled.blueprint.isolation, Isolation::Fallback);
            assert_eq!(surroundings, machine::clean(user()));
            let workspace = match policy.workspace {
                Workspace::Folder(folder) => format!("folder hiding {}", folder.hidden.len()),
                Workspace::Layers(layers) => format!("layers {}", layers.lower.len()),
                Workspace::None => "none".to_owned(),
            };
            Some(format!("{} {workspace}", policy.confinement.as_str()))
        });
        served.collect()
    };
    let expected = ["read-only folder hiding 0", "read-only layers 1", "read-only none"];
    assert_eq!(served(&[Landlock, Seccomp, Pidfd, ContainedCores]), expected);
    let all = [Landlock, Seccomp, Pidfd, ContainedCores];
    for lacking in all {
        let some: Vec<_> = all.into_iter().filter(|one| *one != lacking).collect();
        assert_eq!(served(&some), [""; 0], "{lacking}");
    }
    let old = Capabilities { landlock: 5, ..Capabilities::of(&all) };
    let policy = policy(Confinement::ReadOnly, Workspace::None);
    assert!(compile(&policy, &machine::clean(user()), &old).is_err());
}

#[test]
fn a_refusal_is_a_sentence_that_names_what_it_takes() {
    use Capability::{
        ContainedCores, IdmappedMounts, MountApi, Pidfd, ProcMount, Seccomp, UserNamespaces,
    };
    let refusal = |confinement, some: &[Capability]| {
        let policy = policy(confinement, Workspace::Folder(folder()));
        compile(&policy, &root(), &Capabilities::of(some)).unwrap_err().to_string()
    };
    let most = [
        UserNamespaces,
        MountApi,
        ProcMount,
        IdmappedMounts,
        ContainedCores,
        Seccomp,
        Pidfd,
        Capability::Overlay,
    ];
    let without = |lacking| most.into_iter().filter(|one| *one != lacking).collect::<Vec<_>>();
    assert_eq!(
        refusal(Confinement::Validate, &without(ContainedCores)),
        "The profile `validate` needs what this machine cannot give: `no_write_outlives` (it takes a `kernel.core_pattern` that \
         names no socket, as after `sysctl kernel.core_pattern=core`)."
    );
    assert_eq!(
        refusal(Confinement::Validate, &without(Capability::Overlay)),
        "The profile `validate` needs what this machine cannot give: `copy_on_write` (it takes overlay mounts)."
    );
    assert_eq!(
        refusal(Confinement::Writer, &most[..5]),
        "The profile `writer` needs what this machine cannot give: `no_new_privileges` (it takes seccomp filters); \
         `limits` (it takes pidfds)."
    );
    assert!(refusal(Confinement::ReadOnly, &most[..3]).contains("(it takes idmapped mounts)"));
}

#[test]
fn a_folder_too_large_to_search_is_refused() {
    let unsearched = Folder { walked: Walked::Part, ..folder() };
    let policy = policy(Confinement::ReadOnly, Workspace::Folder(unsearched));
    let refusal = compile(&policy, &user(), &Capabilities::all()).unwrap_err();
    let guarantee = Guarantee::SecretsHidden;
    let missing = vec![Missing { guarantee, reason: Reason::Unsearched }];
    assert_eq!(refusal, Refusal::Missing { profile: Confinement::ReadOnly, missing });
}

#[test]
fn memory_and_processes_are_the_kernels_where_it_has_a_group() {
    let keepers = |cgroups, user_namespaces| {
        let capabilities = Capabilities { user_namespaces, cgroups, ..Capabilities::all() };
        let keepers = keepers(&user(), &capabilities);
        assert_eq!(keepers["disk"], Keeper::Watched);
        (keepers["memory"], keepers["pids"])
    };
    let first = |name: &str| {
        let parents = [(name.to_owned(), PathBuf::from("/g"))].into();
        Cgroups::V1 { parents, swap: Swap::Counted }
    };
    let second = |name: &str| {
        let controllers = [name.to_owned()].into();
        Cgroups::V2 { parent: "/g".into(), controllers, swap: Swap::Counted }
    };
    assert_eq!(keepers(Cgroups::None, true), (Keeper::Watched, Keeper::Rlimit));
    assert_eq!(keepers(Cgroups::None, false), (Keeper::Watched, Keeper::Watched));
    for groups in [first as fn(&str) -> Cgroups, second] {
        assert_eq!(keepers(groups("memory"), true), (Keeper::Kernel, Keeper::Rlimit));
        assert_eq!(keepers(groups("pids"), true), (Keeper::Watched, Keeper::Kernel));
        assert_eq!(keepers(groups("pids"), false), (Keeper::Watched, Keeper::Kernel));
    }
}
