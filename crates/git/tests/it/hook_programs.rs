//! What of a tree the hooks of its repository start, however they spell it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use sequester_git::RunPath;

use crate::sandbox::Sandbox;

fn tree() -> Sandbox {
    let sandbox = Sandbox::new();
    for script in
        ["scripts/x.sh", "scripts/y.sh", "tools/y", "tools/chk.py", "tools/c.js", "bin/run.sh"]
    {
        sandbox.write(script, "#!/bin/sh\n");
    }
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(sandbox.path("tools/y"), mode).unwrap();
    for file in ["x", "README.md", "src/main.rs", "src/app.js", "tests/test_a.py", "package.json"] {
        sandbox.write(file, "x\n");
    }
    sandbox.write("Makefile", "check:\n\tsh scripts/x.sh\n");
    sandbox.write("src/__init__.py", "\n");
    sandbox.commit("first");
    sandbox
}

/// What is protected for a hook of this text.
fn started(sandbox: &Sandbox, text: &str) -> Vec<String> {
    let hooks = sandbox.path(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::write(hooks.join("pre-commit"), text).unwrap();
    let found = sandbox.repo().run_paths().unwrap().into_iter();
    found.map(|RunPath { path, .. }| path).collect()
}

#[test]
fn a_program_that_a_hook_starts_is_found_however_it_is_spelled() {
    let sandbox = tree();
    for (text, wanted) in [
        ("bash -e x", &["x"][..]),
        ("sh -x x", &["x"]),
        ("dash -u x", &["x"]),
        ("bash --norc x", &["x"]),
        ("bash -o errexit x", &["x"]),
        ("timeout 5 python3 -u x README.md", &["x"]),
        ("R=$(git rev-parse --show-toplevel)\n\"$R/scripts/x.sh\"", &["scripts/x.sh"]),
        ("R=$(git rev-parse --show-toplevel)\n. \"$R/scripts/x.sh\"", &["scripts/x.sh"]),
        ("D=scripts; \"$D/x.sh\"", &["scripts/x.sh"]),
        ("H=scripts/x.sh; sh \"$H\"", &["scripts/x.sh"]),
        ("H=x; sh \"$H\"", &["x"]),
        ("for h in scripts/*; do \"$h\"; done", &["scripts"]),
        ("for h in scripts/*.sh; do . \"$h\"; done", &["scripts"]),
        ("run-parts scripts", &["scripts"]),
        ("run-parts --exit-on-error ./scripts", &["scripts"]),
        ("find scripts -name '*.sh' -exec sh {} \\;", &["scripts"]),
        ("find scripts -type f -exec {} +", &["scripts"]),
        ("find scripts -type f | while read -r f; do sh \"$f\"; done", &["scripts"]),
        ("ls scripts/* | xargs -n1 sh", &["scripts"]),
        ("for s in x y; do sh scripts/$s.sh; done", &["scripts/x.sh", "scripts/y.sh"]),
        ("sh scripts/$1.sh", &["scripts"]),
        ("sh \"scripts\"/x.sh", &["scripts/x.sh"]),
        ("sh \\\nscripts/x.sh", &["scripts/x.sh"]),
        ("sh \\\n  x", &["x"]),
        ("cat x | sh", &["x"]),
        ("sh < x", &["x"]),
        ("eval \"$(cat x)\"", &["x"]),
        (". <(cat x)", &["x"]),
        ("echo x | xargs sh", &["x"]),
        ("bash -c 'source scripts/x.sh'", &["scripts/x.sh"]),
        ("trap 'scripts/x.sh' EXIT", &["scripts/x.sh"]),
        ("PATH=\"$PWD/tools:$PATH\"; y", &["tools"]),
        ("export PATH=tools:$PATH\ny", &["tools"]),
        ("PYTHONPATH=tools python3 -m chk", &["tools/chk.py"]),
        ("test -x ./ci/later.sh && ./ci/later.sh", &["ci/later.sh"]),
        ("cd \"$(dirname \"$0\")/../..\" && tools/y", &["tools/y"]),
        ("SELF=$(cd \"$(dirname \"$0\")/../..\" && pwd)\n$SELF/tools/y", &["tools/y"]),
        (
            "#!/usr/bin/env python3\nimport sys\nsys.path.insert(0,\"tools\"); import chk",
            &["tools/chk.py"],
        ),
        (
            "#!/usr/bin/env python3\nrun([\"bash\", os.path.join(root, \"scripts\", \"x.sh\")])",
            &["scripts/x.sh"],
        ),
        ("#!/usr/bin/env node\nrequire(\"../../tools/c.js\")", &["tools/c.js"]),
        ("#!/usr/bin/env node\nrequire('../../tools/c').run()", &["tools/c.js"]),
        ("#!/usr/bin/env node\nexecSync(`sh scripts/x.sh --all`)", &["scripts/x.sh"]),
    ] {
        assert_eq!(started(&sandbox, &format!("{text}\n")), wanted, "{text}");
    }
}

#[test]
fn hooks_of_honest_projects_protect_nothing_that_tasks_edit() {
    let sandbox = tree();
    for text in [
        "cargo fmt --check\ncargo clippy -- -D warnings",
        "cargo fmt --check -- src/main.rs",
        "npx lint-staged",
        "npx --no-install lint-staged --config package.json",
        "npm test",
        "pnpm run check",
        "yarn lint",
        "make -s check",
        "eslint src",
        "eslint 'src/**/*.js' src/*.js",
        "pytest tests",
        "python3 -m pytest tests src",
        "PYTHONPATH=src pytest",
        "black .",
        "ruff check . && mypy src tests",
        "prettier --check README.md package.json",
        "for f in $(git diff --cached --name-only); do npx eslint \"$f\"; done",
        "for f in src/*.js; do npx eslint \"$f\"; done",
        "for f in src/*.js; do node --check \"$f\"; done",
        "git diff --cached --name-only | xargs grep -n TODO",
        "git diff --name-only | grep '\\.py$' | xargs python3 -m black",
        "find . -name '*.rs' -exec rustfmt {} +",
        "find src -name '*.js' -exec npx prettier {} +",
        "deno lint src/*.js",
        "deno fmt --check src",
        "node --test tests/*.js",
        "cat package.json | node -p 'JSON.parse(x).name'",
        "cat README.md | python3 -c 'print(1)'",
        "cd src && cargo test",
        "git add package.json README.md",
        "#!/usr/bin/env sh\n. \"$(dirname -- \"$0\")/_/husky.sh\"\n\nnpx lint-staged",
        "export PATH=\"$PWD/node_modules/.bin:$PATH\"\neslint src",
        "[ -f ~/.huskyrc ] && . ~/.huskyrc\nexec git lfs pre-push \"$@\"",
        "INSTALL_PYTHON=/usr/bin/python3\nARGS=(hook-impl --config=.pre-commit-config.yaml)\nHERE=\"$(cd \"$(dirname \"$0\")\" && pwd)\"\nARGS+=(--hook-dir \"$HERE\" -- \"$@\")\nif [ -x \"$INSTALL_PYTHON\" ]; then exec \"$INSTALL_PYTHON\" -mpre_commit \"${ARGS[@]}\"; fi",
        "#!/usr/bin/env python3\nimport src, json, subprocess\nsubprocess.run([\"pytest\", \"tests\"])",
        "#!/usr/bin/env node\nconst {execSync} = require('child_process')\nexecSync('npm test')",
    ] {
        assert_eq!(started(&sandbox, &format!("{text}\n")), Vec::<String>::new(), "{text}");
    }
}
