use super::*;

const LIMITS: &str = "memory=512M pids=64";

fn limits() -> Limits {
    let mut limits = Limits::default();
    LIMITS.split(' ').for_each(|setting| limits.set(setting).unwrap());
    limits
}

fn golden(name: &str, cgroups: &Cgroups) {
    crate::golden::assert(
        name,
        &serde_json::to_string_pretty(&settings(&limits(), cgroups)).unwrap(),
    );
}

fn first(swap: Swap) -> Cgroups {
    let parents = ["cpuacct", "freezer", "memory", "pids"];
    let parents =
        parents.map(|one| (one.to_owned(), format!("/sys/fs/cgroup/{one}/sequester").into()));
    Cgroups::V1 { parents: parents.into(), swap }
}

fn second(swap: Swap) -> Cgroups {
    let parent = "/sys/fs/cgroup/user.slice/sequester".into();
    let controllers = ["cpu", "memory", "pids"].map(str::to_owned).into();
    Cgroups::V2 { parent, controllers, swap }
}

#[test]
fn the_first_version_is_set_in_each_hierarchy() {
    golden("cgroup/v1.json", &first(Swap::Counted));
    golden("cgroup/v1-without-swap.json", &first(Swap::Uncounted));
}

#[test]
fn the_second_version_is_set_in_one_folder() {
    golden("cgroup/v2.json", &second(Swap::Counted));
    golden("cgroup/v2-without-swap.json", &second(Swap::Uncounted));
}

#[test]
fn without_control_groups_nothing_is_set() {
    assert_eq!(settings(&limits(), &Cgroups::None), None);
}
