use std::collections::BTreeSet;

use super::attempt::{Outcome, Verdict};
use super::deed::{Deed, overstep};
use super::*;
use crate::order::{Cause, Ending};

fn ground(name: &str, way: Way) -> (tempfile::TempDir, Ground) {
    let folder = tempfile::tempdir().unwrap();
    let ground = Ground::make(&folder.path().join(name), way).unwrap();
    (folder, ground)
}

/// What this process, which is in no jail, sees where a jailed one must not.
fn judged(confinement: Confinement, way: Way) -> BTreeSet<Guarantee> {
    let (_folder, ground) = ground(confinement.as_str(), way);
    let held = ground.held().unwrap();
    let seen = ground.questions(confinement, &held).unwrap().perform();
    ground.judge(confinement, &seen).into_keys().collect()
}

#[test]
fn without_a_jail_every_guarantee_is_seen_to_be_broken() {
    let reader = judged(Confinement::ReadOnly, Way::Covered);
    for guarantee in [
        Guarantee::NoWriteOutlives,
        Guarantee::ReadsConfined,
        Guarantee::SecretsHidden,
        Guarantee::CleanEnvironment,
        Guarantee::DescriptorsClosed,
        Guarantee::NoNewPrivileges,
        Guarantee::NoNetwork,
    ] {
        assert!(reader.contains(&guarantee), "{}", guarantee.as_str());
    }
    assert!(judged(Confinement::Research, Way::Open).contains(&Guarantee::NamedHosts));
    assert!(judged(Confinement::Validate, Way::Covered).contains(&Guarantee::CopyOnWrite));
    for way in [Way::Covered, Way::Layered] {
        let writer = judged(Confinement::Writer, way);
        let kept = [
            Guarantee::PrivateWorkspace,
            Guarantee::ProtectedNames,
            Guarantee::SecretsHidden,
            Guarantee::NoWriteOutlives,
        ];
        assert!(kept.iter().all(|one| writer.contains(one)), "{way:?}: {writer:?}");
    }
}

#[test]
fn without_a_jail_every_deed_gets_to_its_end() {
    let (_folder, ground) = ground("deeds", Way::Covered);
    for deed in [
        Deed::Print(1),
        Deed::Breed(8),
        Deed::Grow(4 << 20),
        Deed::Fill(ground.workspace(), 4 << 20),
    ] {
        let mut begun = false;
        assert!(overstep(&deed, || begun = true).is_some() && begun, "{deed:?}");
    }
}

#[test]
fn a_deed_that_cannot_begin_says_so() {
    let mut begun = false;
    let fill = Deed::Fill("/nowhere".into(), 4 << 20);
    assert!(overstep(&fill, || begun = true).is_none() && !begun);
}

#[test]
fn nothing_is_left_of_a_ground() {
    let (folder, ground) = ground("left", Way::Layered);
    drop(ground);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_limit_is_judged_by_what_is_reported_and_not_by_time() {
    let judge = |ending, said: &[u8]| {
        Outcome { ending, said: said.to_vec(), survived: false }.judge(Cause::Wall)
    };
    let wall = Ending::Killed(Cause::Wall);
    // On a busy machine a jail may be ended before its program has said anything.
    assert_eq!(judge(wall, b""), Verdict::Kept);
    assert_eq!(judge(wall, b"b"), Verdict::Kept);
    assert_eq!(judge(Ending::Exited(0), b"b"), Verdict::Kept);
    assert_eq!(judge(Ending::Exited(0), b"bd"), Verdict::Exceeded);
    let memory = Ending::Killed(Cause::Memory);
    assert_eq!(judge(memory, b"bd"), Verdict::Exceeded);
    for (ending, said) in [(Ending::Exited(126), &b""[..]), (memory, b"b")] {
        assert_eq!(judge(ending, said), Verdict::Unknown(ending));
    }
}

#[test]
fn a_guarantee_counts_that_is_kept_both_ways() {
    let tried = |broken: Option<Guarantee>| Tried {
        guarantees: [Guarantee::SecretsHidden, Guarantee::ProtectedNames]
            .map(|one| (one, broken != Some(one)))
            .into(),
        missing: Vec::new(),
        broken: broken.map(|one| (one, "it is not kept")).into_iter().collect(),
        untried: BTreeMap::new(),
        trouble: None,
        renames: None,
    };
    let broken = Some(Guarantee::ProtectedNames);
    for (one, other) in [(None, broken), (broken, None)] {
        let both = tried(one).and(tried(other));
        assert!(both.guarantees[&Guarantee::SecretsHidden]);
        assert!(!both.guarantees[&Guarantee::ProtectedNames]);
        assert_eq!(both.broken.into_keys().collect::<Vec<_>>(), [Guarantee::ProtectedNames]);
    }
    let kept = tried(None).and(tried(None)).guarantees;
    assert!(kept.into_values().all(|kept| kept));
}
