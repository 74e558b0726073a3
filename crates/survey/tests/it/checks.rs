//! Which commands check a project.

use std::collections::BTreeMap;

use proptest::prelude::*;

use sequester_core::check::Kind;
use sequester_survey::{FoundCheck, detect_checks};
use sequester_testkit::MemoryRepository;

fn found(files: &[(&str, &str)]) -> Vec<FoundCheck> {
    // Of the programs that a project need not have, one is there.
    let installed = |program: &str| program == "cargo-deny";
    detect_checks(&MemoryRepository::new(files.iter().copied()), &BTreeMap::new(), &installed)
}

/// `kind: command (from)` of those that were found.
fn lines(files: &[(&str, &str)]) -> Vec<String> {
    let found = found(files).into_iter();
    let line = |one: FoundCheck| Some(format!("{}: {} ({})", one.kind, one.command?, one.from));
    found.filter_map(line).collect()
}

#[test]
fn a_project_that_names_nothing_has_no_checks_and_none_is_invented() {
    let found = found(&[("README.md", ""), ("main.c", "")]);
    let kinds: Vec<Kind> = found.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, Kind::PROJECT);
    for one in found {
        assert_eq!(
            (one.command, one.from.as_str()),
            (None, "not configured, and not named by the project")
        );
    }
}

#[test]
fn node_runs_tests_where_no_package_names_another_runner() {
    let tests = ("lib/sum.test.mjs", "");
    assert_eq!(lines(&[tests]), ["tests: node --test (lib/sum.test.mjs)"]);
    assert_eq!(lines(&[tests, ("package.json", "{}")]), [""; 0]);
    assert_eq!(lines(&[tests, ("web/package.json", "{}")]), [""; 0]);
    assert_eq!(lines(&[("lib/sum.spec.rb", "")]), [""; 0]);
}

#[test]
fn what_is_configured_wins_and_the_rest_is_found() {
    let configured =
        BTreeMap::from([(Kind::Tests, "./ci".to_owned()), (Kind::Security, "scan".to_owned())]);
    let project = MemoryRepository::new([("go.mod", "module shop")]);
    let commands: Vec<_> = detect_checks(&project, &configured, &|_| false)
        .into_iter()
        .map(|one| one.command)
        .collect();
    let wanted = ["go build ./...", "go vet ./...", "./ci", "scan"];
    assert_eq!(commands, wanted.map(|command| Some(command.to_owned())));
}

#[test]
fn cargo_lints_where_clippy_is_set_up_or_the_ci_runs_it() {
    let plain = "[package]\nname = \"a\"\n";
    assert_eq!(
        lines(&[("Cargo.toml", plain), ("crates/b/Cargo.toml", plain)]),
        ["types: cargo check --all-targets (Cargo.toml)", "tests: cargo test (Cargo.toml)"]
    );
    let both = "[package]\nname = \"a\"\n[workspace]\n[workspace.lints.clippy]\nall = \"deny\"\n";
    assert_eq!(
        lines(&[("Cargo.toml", both), ("deny.toml", "")]),
        [
            "types: cargo check --all-targets --workspace (Cargo.toml)",
            "lint: cargo clippy --all-targets --workspace (Cargo.toml:4 (workspace.lints.clippy))",
            "tests: cargo test --workspace (Cargo.toml)",
            "security: cargo deny --offline check bans licenses sources (deny.toml)",
        ]
    );
    let ci = "jobs:\n  a:\n    steps:\n      - run: cargo clippy -- -D warnings\n";
    let told = lines(&[("Cargo.toml", plain), (".github/workflows/ci.yml", ci)]);
    assert_eq!(told[1], "lint: cargo clippy -- -D warnings (.github/workflows/ci.yml)");
    let own = lines(&[("Cargo.toml", plain), ("clippy.toml", "")]);
    assert_eq!(own[1], "lint: cargo clippy --all-targets (clippy.toml)");
}

#[test]
fn packages_of_javascript_are_checked_by_their_scripts() {
    let scripts = "{\n  \"scripts\": {\n    \"test\": \"vitest run\",\n    \"lint\": \"eslint .\",\n    \"audit\": \"npm audit\"\n  },\n  \"devDependencies\": {\"typescript\": \"5\"}\n}";
    assert_eq!(
        lines(&[("package.json", scripts), ("tsconfig.json", "{}"), ("pnpm-lock.yaml", "")]),
        [
            "types: pnpm exec tsc --noEmit (tsconfig.json)",
            "lint: pnpm run lint (package.json:4 (scripts.lint))",
            "tests: pnpm run test (package.json:3 (scripts.test))",
            "security: pnpm run audit (package.json:5 (scripts.audit))",
        ]
    );
    let other = r#"{"packageManager": "yarn@4", "scripts": {"typecheck": "tsc -b", "test": "jest --watch", "test:ci": "jest"}}"#;
    assert_eq!(
        lines(&[("package.json", other)]),
        [
            "types: yarn run typecheck (package.json (scripts.typecheck))",
            "tests: yarn run test:ci (package.json (scripts.test:ci))",
        ]
    );
    let fresh = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    assert_eq!(lines(&[("package.json", fresh), ("tsconfig.json", "{}")]), [""; 0]);
}

#[test]
fn python_is_checked_by_what_it_sets_up() {
    let project = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nstrict = true\n";
    assert_eq!(
        lines(&[("pyproject.toml", project)]),
        [
            "types: mypy . (pyproject.toml:5 (tool.mypy))",
            "lint: ruff check (pyproject.toml:4 (tool.ruff))",
            "tests: python3 -m pytest (pyproject.toml:3)",
        ]
    );
    assert_eq!(
        lines(&[
            ("pyproject.toml", "[project]\n[dependency-groups]\ndev = [\n  \"pytest>=8\",\n]\n"),
            ("pyrightconfig.json", "{}"),
            ("setup.cfg", "[flake8]\n"),
            ("uv.lock", ""),
        ]),
        [
            "types: uv run pyright (pyrightconfig.json)",
            "lint: uv run flake8 (setup.cfg:1)",
            "tests: uv run pytest (pyproject.toml:4)",
        ]
    );
    for (files, wanted) in [
        (&["a.py", "test_a.py"][..], "tests: python3 -m unittest (test_a.py)"),
        (&["tests/__init__.py", "tests/test_a.py"], "tests: python3 -m unittest (tests/test_a.py)"),
        (&["tests/test_a.py"], "tests: python3 -m unittest discover -s tests (tests/test_a.py)"),
        (&["tests/conftest.py"], "tests: python3 -m pytest (tests/conftest.py)"),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
        assert_eq!(lines(&files), [wanted]);
    }
}

#[test]
fn other_languages_are_certain_of_their_commands() {
    for (files, wanted) in [
        (
            &[("pom.xml", ""), ("mvnw", "")][..],
            &["types: ./mvnw test-compile (pom.xml)", "tests: ./mvnw test (pom.xml)"][..],
        ),
        (
            &[("build.gradle.kts", "")],
            &[
                "types: gradle testClasses (build.gradle.kts)",
                "tests: gradle test (build.gradle.kts)",
            ],
        ),
        (
            &[("go.mod", ""), (".golangci.yml", "")],
            &[
                "types: go build ./... (go.mod)",
                "lint: golangci-lint run (.golangci.yml)",
                "tests: go test ./... (go.mod)",
            ],
        ),
        (&[("Shop.sln", "")], &["types: dotnet build (Shop.sln)", "tests: dotnet test (Shop.sln)"]),
        (
            &[("CMakeLists.txt", "project(a)\nenable_testing()\n")],
            &[
                "tests: cmake -S . -B build && cmake --build build && ctest --test-dir build (CMakeLists.txt:2)",
            ],
        ),
        (&[("CMakeLists.txt", "project(a)\n")], &[]),
        (&[("Gemfile", ""), (".rspec", "")], &["tests: bundle exec rspec (.rspec)"]),
        (
            &[("composer.json", "{}"), ("phpunit.xml", "")],
            &["tests: vendor/bin/phpunit (phpunit.xml)"],
        ),
    ] {
        assert_eq!(lines(files), wanted);
    }
}

#[test]
fn recipes_stand_in_where_no_tool_is_sure() {
    let makefile = "all:\n\ttrue\ntest: all\n\t./t\nlint:\n\t./l\naudit:\n\t./a\n";
    assert_eq!(
        lines(&[("Makefile", makefile)]),
        [
            "lint: make lint (Makefile:5)",
            "tests: make test (Makefile:3)",
            "security: make audit (Makefile:7)"
        ]
    );
    assert_eq!(
        lines(&[("Makefile", makefile), ("go.mod", "")]),
        [
            "types: go build ./... (go.mod)",
            "lint: go vet ./... (go.mod)",
            "tests: go test ./... (go.mod)",
            "security: make audit (Makefile:7)",
        ]
    );
    assert_eq!(lines(&[("justfile", "check:\n  ./c\n")]), ["tests: just check (justfile:1)"]);
}

#[test]
fn several_tools_and_folders_make_one_command() {
    let package = r#"{"scripts": {"test": "vitest run"}}"#;
    let many = [
        ("Cargo.toml", "[workspace]\n"),
        ("web/package.json", package),
        ("api/v1/go.mod", ""),
        ("examples/a/package.json", package),
        ("node_modules/b/package.json", package),
        ("a b/package.json", package),
        ("-x/package.json", package),
    ];
    assert_eq!(
        lines(&many),
        [
            "types: cargo check --all-targets && (cd api/v1 && go build ./...) (Cargo.toml, api/v1/go.mod)",
            "lint: (cd api/v1 && go vet ./...) (api/v1/go.mod)",
            "tests: cargo test && (cd api/v1 && go test ./...) && (cd web && npm run test) \
             (Cargo.toml, api/v1/go.mod, web/package.json (scripts.test))",
        ]
    );
    let apart = [("web/package.json", package), ("api/v1/go.mod", "")];
    assert_eq!(
        lines(&apart)[2],
        "tests: (cd api/v1 && go test ./...) && (cd web && npm run test) (api/v1/go.mod, web/package.json (scripts.test))"
    );
    let whole = [apart[0], apart[1], ("Makefile", "test:\n\t./all\n")];
    assert_eq!(lines(&whole)[2], "tests: make test (Makefile:1)");
}

proptest! {
    #[test]
    fn any_manifest_is_borne_and_no_name_reaches_a_shell_unseen(
        name in "[a-z;&$`'\"|() ]{1,12}",
        text in "([a-z=:\"'{}\\[\\]#. \n-]|é|scripts|test|\\[tool.pytest\\]){0,80}",
    ) {
        let folder = format!("{name}/package.json");
        let files = [
            (folder.as_str(), r#"{"scripts": {"test": "x"}}"#),
            ("package.json", text.as_str()),
            ("Cargo.toml", &text),
            ("pyproject.toml", &text),
            ("Makefile", &text),
            (".github/workflows/ci.yml", &text),
        ];
        for one in found(&files) {
            let command = one.command.unwrap_or_default();
            let odd = |c: char| "\"'`$;|".contains(c);
            prop_assert!(!command.contains(odd), "{command}");
        }
    }
}

#[test]
fn programs_that_look_for_weaknesses_are_used_where_they_are_installed() {
    let files = [("requirements.txt", "flask\n"), (".semgrep.yml", "rules: []\n")];
    let base = MemoryRepository::new(files);
    let security = |installed: &[&str]| {
        let found = detect_checks(&base, &BTreeMap::new(), &|program| installed.contains(&program));
        found.into_iter().find(|one| one.kind == Kind::Security).and_then(|one| one.command)
    };
    assert_eq!(security(&[]), None);
    assert!(security(&["bandit"]).unwrap().starts_with("bandit "));
    let both = security(&["bandit", "semgrep"]).unwrap();
    assert!(both.contains(" && semgrep scan ") && both.ends_with(" --config .semgrep.yml"));
}
