use super::*;
use crate::machine::{folder, policy, user};

#[test]
fn each_profile_has_its_text() {
    for confinement in Confinement::ALL {
        let policy = policy(confinement, Workspace::Folder(folder()));
        let name = format!("seatbelt/{}.sb", confinement.as_str());
        crate::golden::assert(&name, &profile(&policy, &user(), 3128));
    }
}

#[test]
fn a_path_cannot_end_its_own_quotes() {
    let mut text = String::new();
    rule(&mut text, "allow file-read*", "subpath", vec![Path::new("/a\") (allow default) \\")]);
    assert_eq!(text, "(allow file-read*\n  (subpath \"/a\\\") (allow default) \\\\\"))\n");
}
