//! What leads out of the repository, and what is forbidden.

use super::*;

#[test]
fn a_folder_outside_of_the_repository_is_unclear_however_it_is_reached() {
    for script in [
        "cd ..",
        "cd ../..",
        "cd web/../..",
        "(cd ..; pwd)",
        "pushd ..",
        "cd web && cd ../.. && ls",
        "cd",
        "cd ~/x",
        "cd /tmp",
        "make; cd \"..\"",
        "X=$(cd .. && pwd)",
        "if true; then cd ..; fi",
        "bash -c 'cd ..; ls'",
        "A=1 cd ..",
        "cd web && cd - && cd ..",
        "cd \\\n..",
    ] {
        unclear(&format!("- [ ] Run it\n\n```bash\n{script}\n```\n"), "outside of the repository");
        if !script.contains('\n') {
            unclear(&format!("Run: `{script}`"), "outside of the repository");
        }
    }
    unclear("Run: `cd $HOME`", "it does not say to which folder");
    for script in [
        "cd web && cd .. && ls",
        "cd web/../docs",
        "(cd web; ls) && cd docs && cd ..",
        "cd \"$(git rev-parse --show-toplevel)\"",
        "pushd a/b && cd ../.. && popd",
        "echo cd ..",
    ] {
        same(&format!("Run: `{script}`"), &[&format!("run {script:?} Pass")]);
    }
}

#[test]
fn a_path_of_git_is_not_taken_over_from_another_folder() {
    unclear("- [ ] Clean up\n\n```bash\ncd web\ngit rm a.txt\n```\n", "mixes");
}

const DELETE: &str =
    "- [ ] **Step 1: Clean up**\n\nDelete `package.json`.\n\nRun `npm ci --quiet`.\n";

#[test]
fn what_the_text_forbids_by_name_is_not_carried_out() {
    for said in [
        "Do not change package.json.",
        "Never delete `package.json`.",
        "`package.json` must not change.",
        "Leave `package.json` alone.",
        "Keep `package.json` unchanged.",
        "Please don’t touch `*.json`.",
        "Important: do not run `npm ci`.",
        "Tidy up, but never touch `./package.json`.",
    ] {
        for text in [
            format!("{said}\n\n{DELETE}"),
            format!("> {said}\n\n{DELETE}"),
            format!("{DELETE}\n### Notes\n\n{said}\n"),
            format!("{DELETE}\n### Notes\n\n- {said}\n"),
        ] {
            unclear(&text, " forbids it (`");
        }
        let told = read(DELETE).under(&format!("- {said}\n"));
        let blamed = told.steps.last().map(|step| tell(&step.action)).unwrap_or_default();
        assert!(
            blamed.starts_with("unclear `") && blamed.contains("forbids it"),
            "{said}: {blamed}"
        );
    }
}

#[test]
fn what_is_not_forbidden_is_carried_out() {
    for said in [
        "Do not change `src/a.ts`.",
        "Don't forget `package.json`.",
        "Do not change anything except `package.json`.",
        "`package.json` never names its licence.",
        "These files do not use `package.json`.",
        "Use tabs.",
    ] {
        let told = read(DELETE).under(&format!("- {said}\n"));
        assert_eq!(told.steps.len(), 2, "{said}: {:?}", told.steps);
    }
    let tests = "- [ ] Run it\n\nRun `pytest tests/a.py`.\n";
    let told = read(tests).under("- Do not change `tests/a.py`.\n- Use tabs.\n");
    assert_eq!((told.steps.len(), told.unchecked), (1, vec!["Use tabs.".to_owned()]));
    for step in ["Run `rm tests/a.py`.", "Delete the folder `tests`.", "Run `x > tests/a.py`."] {
        let told = read(step).under("- Do not change `tests/a.py`.\n");
        assert_eq!(told.steps.len(), 2, "{step}");
    }
}

#[test]
fn reasons_and_remedies_fit() {
    let gap = |text: &str| {
        let unclear = read(text).steps.into_iter().find_map(|step| match step.action {
            Action::Unclear { reason, remedy } => Some(format!("{reason}. {remedy}")),
            _ => None,
        });
        unclear.unwrap_or_default()
    };
    for (text, said) in [
        ("- [ ] Try it by hand\n", "by hand is for a person. Leave it out"),
        ("- [ ] Run it by hand\n\nRun `x`.\n", "by hand is for a person. Leave it out"),
        ("Run: `git push`", "nothing leaves or enters the workspace"),
        ("Create `../a.txt`:\n\n```\nx\n```\n", "leaves the repository"),
        ("- [ ] Create `../a.txt`\n\n```\nx\n```\n", "leaves the repository"),
    ] {
        let found = gap(text);
        assert!(found.contains(said), "{text}: {found}");
        assert!(
            !found.contains("right before its code") && !found.contains("Give the command, as"),
            "{found}"
        );
    }
}

#[test]
fn what_one_line_leaves_in_the_shell_reaches_no_line_behind_a_takeover() {
    for script in [
        "export A=1\ngit rm a.txt\nmake",
        "A=1\ngit add -A\necho $A",
        "source env.sh\ngit mv a.txt b.txt\nmake",
        "set -e\nmake\ngit commit -m x\nmake test",
        "make && cd web\ngit rm a.txt",
        "(cd web && make)\ngit rm a.txt",
        "pushd web\nmake\npopd\ngit commit -m x",
        "f() { make; }\ngit rm a.txt\nf",
    ] {
        unclear(&format!("- [ ] Clean up\n\n```bash\n{script}\n```\n"), "");
    }
    same(
        "- [ ] Clean up\n\n```bash\nexport A=1\nmake\ngit rm a.txt\n# the end\n```\n",
        &["run \"export A=1\\nmake\" Pass", "delete a.txt"],
    );
}

#[test]
fn git_is_taken_over_only_with_flags_that_are_known() {
    for script in [
        "git rm -n a.txt",
        "git rm --dry-run a.txt",
        "git rm --ignore-unmatch a.txt",
        "git rm --cached a.txt",
        "git mv -n a.txt b.txt",
        "git mv -k a.txt b.txt",
        "git mv a.txt b/",
        "git mv a.txt b.txt c",
        "git rm $FILE",
        "git rm *.txt",
        "git -C web rm a.txt",
        "git -C web add a.txt",
        "sudo git rm a.txt",
        "git rm a.txt || true",
        "git rm a.txt > log",
    ] {
        unclear(&format!("- [ ] Clean up\n\n```bash\n{script}\n```\n"), "");
    }
    for (script, done) in [
        ("git rm -r -f -q -- old", "delete-folder old"),
        ("git rm -rf old", "delete-folder old"),
        ("git rm 'a.txt'", "delete a.txt"),
        ("git mv -f a.txt b.txt", "rename a.txt b.txt"),
    ] {
        same(&format!("- [ ] Clean up\n\n```bash\n{script}\n```\n"), &[done]);
    }
    for script in ["git -C web push", "git -c a=b push origin main", "make; git --no-pager push"] {
        unclear(&format!("Run: `{script}`"), "nothing leaves or enters the workspace");
    }
}
