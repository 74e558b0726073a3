use sequester_core::profile::{Confinement, Guarantee};
use sequester_core::protected::Grants;
use sequester_sandbox::{Limits, Workspace};

use super::*;

/// Who needs what, as the design says it.
#[rustfmt::skip]
const NEEDED: [(Guarantee, [bool; 5]); 15] = [
    //                             read-only research validate writer full-access
    (Guarantee::NoWriteOutlives,   [true, true, true, true, true]),
    (Guarantee::ReadsConfined,     [true, true, true, true, true]),
    (Guarantee::SecretsHidden,     [true, true, true, true, true]),
    (Guarantee::CleanEnvironment,  [true, true, true, true, true]),
    (Guarantee::DescriptorsClosed, [true, true, true, true, true]),
    (Guarantee::TreeKill,          [true, true, true, true, true]),
    (Guarantee::NoNewPrivileges,   [true, true, true, true, true]),
    (Guarantee::Limits,            [true, true, true, true, true]),
    (Guarantee::MemoryLimit,       [true, true, true, true, true]),
    (Guarantee::NoNetwork,         [true, false, true, true, false]),
    (Guarantee::NamedHosts,        [false, true, false, false, true]),
    (Guarantee::PrivateWorkspace,  [false, false, false, true, true]),
    (Guarantee::ProtectedNames,    [false, false, false, true, true]),
    (Guarantee::CopyOnWrite,       [false, false, true, false, false]),
    (Guarantee::DiskLimit,         [false, false, true, true, true]),
];

#[test]
fn without_a_guarantee_exactly_the_profiles_that_need_it_end_with_5_and_its_name() {
    let workspace = tempfile::tempdir().unwrap();
    let surroundings = Surroundings::look(&BTreeMap::new());
    assert_eq!(NEEDED.map(|(guarantee, _)| guarantee), Guarantee::ALL);
    for (guarantee, needing) in NEEDED {
        for (confinement, needs) in Confinement::ALL.into_iter().zip(needing) {
            let policy = Policy {
                confinement,
                hosts: Vec::new(),
                workspace: Workspace::Folder(Folder::look(workspace.path()).unwrap()),
                limits: Limits::default(),
                grants: Grants::default(),
                store: "/nowhere/store".into(),
            };
            let capabilities = Capabilities::all().without(guarantee);
            let refused = compile(&policy, &surroundings, &capabilities).err();
            let failure = refused.map(|refusal| refuse(&refusal));
            let told = failure.as_ref().map(|failure| (failure.exit(), failure.message()));
            let row = format!("{} without {}", confinement.as_str(), guarantee.as_str());
            assert_eq!(told.map(|(exit, _)| exit), needs.then_some(5), "{row}");
            let name = format!("`{}`", guarantee.as_str());
            assert!(told.is_none_or(|(_, message)| message.contains(&name)), "{row}: {told:?}");
        }
    }
}
