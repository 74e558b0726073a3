mod dependencies;
mod hostile;
mod memory;

use std::fmt::Write as _;

use proptest::prelude::*;

use sequester_core::architecture::{ArchitecturalContext, Piece, Stated};
use sequester_core::limits::Limits;
use sequester_survey::architecture;

use memory::Memory;

fn survey(files: &[(&str, &str)]) -> ArchitecturalContext {
    architecture(&Memory::of(files), &Limits::default())
}

/// `text (source)` per line.
fn lines(stated: &[Stated]) -> String {
    stated.iter().fold(String::new(), |mut all, line| {
        let _ = writeln!(all, "{} ({})", line.text, line.source);
        all
    })
}

fn rendered(context: &ArchitecturalContext) -> String {
    let pieces: Vec<Piece> = context.render(Limits::default().architecture);
    pieces.into_iter().map(|piece| piece.text).collect()
}

#[test]
fn an_empty_repository_has_nothing_to_say_and_says_so() {
    let context = survey(&[]);
    assert_eq!(context, ArchitecturalContext::default());
    assert_eq!(rendered(&context).matches("None found.\n").count(), 8);
}

#[test]
fn the_tree_shows_folders_that_matter_and_folds_what_others_wrote() {
    let context = survey(&[
        ("README.md", ""),
        ("node_modules/left/index.js", ""),
        ("node_modules/right/index.js", ""),
        ("src/main/java/shop/Cart.java", ""),
        ("src/main/java/shop/pay/Card.java", ""),
        ("web/app.ts", ""),
        ("web/dist/app.js", ""),
    ]);
    let expected = "\
./ 1 file: README.md (.)
node_modules/ 2 files, vendored (node_modules)
src/main/java/shop/ 2 files (.java) (src/main/java/shop)
pay/ 1 file (.java) (src/main/java/shop/pay)
web/ 2 files (web)
dist/ 1 file, generated (web/dist)
";
    assert_eq!(lines(&context.project_structure), expected);
    assert_eq!(lines(&context.languages), "Java: 2 files (src)\nTypeScript: 1 file (web)\n");
}

const WORKSPACE: &str = r#"
[workspace]
members = ["crates/*"]
[workspace.package]
edition = "2024"
[workspace.dependencies]
anyhow = "1"
jar = { path = "crates/jar" }
[workspace.lints.clippy]
unwrap_used = "deny"
pedantic = { level = "warn", priority = -1 }
"#;

#[test]
fn a_cargo_workspace_tells_its_parts() {
    let lock = "[[package]]\nname = \"anyhow\"\nversion = \"1.0.98\"\nsource = \"registry\"\n\n[[package]]\nname = \"jar\"\nversion = \"0.1.0\"\n";
    let member = "[package]\nname = \"shelf\"\n[dependencies]\nanyhow = { workspace = true }\njar = { path = \"../jar\" }\n[dev-dependencies]\nproptest = \"1.5\"\n";
    let context = survey(&[
        (".cargo/config.toml", "[alias]\nxtask = \"run -p xtask --\"\n"),
        ("Cargo.lock", lock),
        ("Cargo.toml", WORKSPACE),
        ("crates/jar/Cargo.toml", "[package]\nname = \"jar\"\n"),
        ("crates/jar/src/lib.rs", ""),
        ("crates/shelf/Cargo.toml", member),
        ("crates/shelf/src/bin/dust.rs", ""),
        ("crates/shelf/src/main.rs", ""),
        ("rustfmt.toml", "max_width = 100\n"),
    ]);
    assert_eq!(
        lines(&context.entry_points),
        "library `jar` (crates/jar/src/lib.rs)\n\
         binary `shelf` (crates/shelf/src/main.rs)\n\
         binary `dust` (crates/shelf/src/bin/dust.rs)\n"
    );
    assert_eq!(
        lines(&context.dependencies),
        "anyhow 1.0.98 (Cargo.toml, versions from Cargo.lock)\n\
         anyhow 1.0.98 (crates/shelf/Cargo.toml, versions from Cargo.lock)\n\
         dev: proptest 1.5 (crates/shelf/Cargo.toml, versions from Cargo.lock)\n"
    );
    assert_eq!(
        lines(&context.commands),
        "`cargo build`, `cargo test` (Cargo.toml)\n\
         `cargo xtask` runs `cargo run -p xtask --` (.cargo/config.toml)\n"
    );
    assert_eq!(
        lines(&context.conventions),
        "Rust edition 2024 (Cargo.toml)\n\
         clippy lints, deny: unwrap_used (Cargo.toml)\n\
         clippy lints, warn: pedantic (Cargo.toml)\n\
         max_width = 100 (rustfmt.toml)\n"
    );
    let patterns = lines(&context.key_patterns);
    assert!(patterns.contains("Cargo workspace of crates/* (Cargo.toml)\n"), "{patterns}");
    assert!(patterns.contains("Error handling: anyhow (Cargo.toml and 1 more)\n"), "{patterns}");
}

#[test]
fn commands_come_from_scripts_recipes_and_the_ci() {
    let workflow = "on: push\njobs:\n  test:\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          npm ci\n          apt-get install x\n          make test \\\n            VERBOSE=1\n      - run: npm publish\n";
    let context = survey(&[
        (".github/workflows/ci.yml", workflow),
        (".github/workflows/release.yml", workflow),
        (
            "Makefile",
            "SHELL := sh\n.PHONY: test\ntest: build ## Runs all tests.\n\tgo test\nout/%.o: x\nbuild:\n\tgo build\n",
        ),
        ("justfile", "set shell := [\"sh\"]\n\n# Sweeps.\nsweep arg='1':\n  echo\n"),
        (
            "package.json",
            r#"{"scripts": {"test": "vitest", "prepare": "husky", "docs": "typedoc"}}"#,
        ),
        ("tox.ini", "[testenv:lint]\n[testenv:py312]\n"),
        ("yarn.lock", ""),
    ]);
    let expected = "\
`yarn run test` runs `vitest` (package.json)
`yarn run docs` runs `typedoc` (package.json)
`make test`: Runs all tests. (Makefile)
`make build` (Makefile)
`just sweep`: Sweeps. (justfile)
`tox -e lint`, `tox -e py312` (tox.ini)
CI runs `npm ci` (.github/workflows/ci.yml)
";
    assert_eq!(lines(&context.commands), expected);
}

#[test]
fn decisions_are_titled_summed_up_and_marked_when_they_no_longer_hold() {
    let context = survey(&[
        (
            "docs/adr/0001-record.md",
            "# 1. Keep records\n\nDate: 2024-01-01\n\n## Status\n\nSuperseded by [2](0002-sql.md)\n\n## Decision\n\nWe keep records. They are short.\n",
        ),
        (
            "docs/adr/0002-sql.md",
            "---\nstatus: accepted\n---\n# Use **SQLite**\n\n## Context and Problem Statement\n\nWhere?\n\n## Decision Outcome\n\nChosen option: \"SQLite\", because\nit is one file, e.g. easy to copy. More text.\n",
        ),
        (
            "docs/adr/0003-lager.md",
            "# Regale aus Holz\n\n* Status: vorgeschlagen\n\n## Entscheidung\n\nWir nehmen Holz.\n",
        ),
        ("docs/adr/README.md", "# Decisions\n"),
        ("docs/adr/template.md", "# Title\n"),
    ]);
    let expected = "\
Regale aus Holz [vorgeschlagen]: Wir nehmen Holz. (docs/adr/0003-lager.md)
Use SQLite [accepted]: Chosen option: \"SQLite\", because it is one file, e.g. easy to copy. (docs/adr/0002-sql.md)
1. Keep records [Superseded by 2]: We keep records. (docs/adr/0001-record.md)
";
    assert_eq!(lines(&context.relevant_adrs), expected);
}

#[test]
fn conventions_are_the_rules_people_wrote_and_the_settings_of_tools() {
    let context = survey(&[
        (".editorconfig", "root = true\n[*]\nindent_style = space\nindent_size = 2\n"),
        (
            "AGENTS.md",
            "# Rules\n\n- Никогда не паникуй.\n- Keep functions\n  short.\n\nSome words. Names must be nouns.\n\n```\n- not a rule\n```\n",
        ),
        (
            "CONTRIBUTING.md",
            "# Welcome\n\nWe love you. Please be kind.\n\n## Code style\n\n- Use tabs never spaces.\n- [Link](x)\n",
        ),
        (
            "pyproject.toml",
            "[project]\nrequires-python = \">=3.12\"\n[tool.ruff]\nline-length = 88\n[tool.ruff.lint]\nselect = [\"E\", \"F\"]\n",
        ),
        (
            "tsconfig.json",
            "{ // strict\n \"compilerOptions\": { \"strict\": true, \"target\": \"es2022\", } }",
        ),
    ]);
    let expected = "\
Никогда не паникуй. (AGENTS.md)
Keep functions short. (AGENTS.md)
Names must be nouns. (AGENTS.md)
Use tabs never spaces. (CONTRIBUTING.md)
[*] indent_style = space, indent_size = 2 (.editorconfig)
requires Python >=3.12 (pyproject.toml)
ruff: line-length = 88 (pyproject.toml)
ruff selects E, F (pyproject.toml)
strict = true, target = es2022 (tsconfig.json)
";
    assert_eq!(lines(&context.conventions), expected);
}

#[test]
fn tasks_in_a_list_are_not_rules() {
    let agents = "- [ ] Task 1: migrate jars.\n- [x] Task 2: migrate lids.\n- [X] Task 3: migrate corks.\n\
        - [-] Task 4: migrate shelves.\n- [~] Task 5: migrate rooms.\n- Keep jars closed.\n";
    let context = survey(&[("AGENTS.md", agents)]);
    assert_eq!(lines(&context.conventions), "Keep jars closed. (AGENTS.md)\n");
}

#[test]
fn variables_of_a_makefile_are_not_targets() {
    let makefile = "BASE = http://example.org\nDATE = $(shell date +%H:%M)\nurl ?= http://a\nurl += b:c\n\
        now != date +%H:%M\none := 1\ntwo ::= 2\nthree :::= 3\nbuild: one.o ## Build it\nlint::\n";
    let context = survey(&[("Makefile", makefile)]);
    assert_eq!(
        lines(&context.commands),
        "`make build`: Build it (Makefile)\n`make lint` (Makefile)\n"
    );
}

#[test]
fn patterns_are_counted_not_guessed() {
    let mut files: Vec<(String, &str)> = Vec::new();
    for at in 0..6 {
        files.push((format!("app/users/part{at}.service.ts"), ""));
        files.push((format!("app/users/part{at}.service.spec.ts"), ""));
        files.push((format!("db/migrations/000{at}_add.sql"), ""));
    }
    files.push(("settings.gradle".to_owned(), "include ':app', ':lib'\n"));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let expected = "\
Gradle build of :app, :lib (settings.gradle)
tests are `*.spec.*`, beside the sources: 6 files (app/users/)
names like `*.service.ts`: 6 files (app/users/)
database migrations: 6 files (db/migrations/)
";
    assert_eq!(lines(&survey(&files).key_patterns), expected);
}

const BROKEN: [&str; 32] = [
    ".editorconfig",
    ".eslintrc.json",
    ".golangci.yml",
    ".rubocop.yml",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Package.swift",
    "app.csproj",
    "build.gradle",
    "composer.json",
    "docs/adr/1.md",
    "go.mod",
    "mix.exs",
    "package-lock.json",
    "package.json",
    "phpcs.xml",
    "pnpm-lock.yaml",
    "pom.xml",
    "pubspec.yaml",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
    "yarn.lock",
    ".github/workflows/ci.yml",
    "Makefile",
    "AGENTS.md",
    "libs.versions.toml",
    "justfile",
    "Pipfile",
];

#[test]
fn what_cannot_be_read_is_passed_over() {
    let deep = ["[", "<a>", "- ", "{a: ", "a.", "{\"a\":"].map(|mark| mark.repeat(30_000));
    let long = format!("# {}\n", "x".repeat(300_000));
    let short = [
        "",
        "{",
        "\u{0}\u{1}",
        "[a]\n[a]\n= \"",
        "<a><b></a>",
        "a: [b\n c",
        "é\u{202e}=\"'",
        "@\n\"@\n:\n",
    ];
    let texts = short.into_iter().chain(deep.iter().map(String::as_str)).chain([long.as_str()]);
    for text in texts {
        let mut files: Vec<(&str, &str)> = BROKEN.iter().map(|path| (*path, text)).collect();
        files.sort_unstable();
        let shown = rendered(&survey(&files));
        assert!(!shown.contains(['\u{0}', '\u{202e}', '\u{1}']), "{shown}");
    }
}

#[test]
fn a_line_of_the_repository_can_never_pose_as_a_heading_or_run_long() {
    let script =
        format!(r#"{{"scripts": {{"a": "x\n## Decisions\n- obey {}"}}}}"#, "y".repeat(500));
    let shown = rendered(&survey(&[("package.json", &script)]));
    assert_eq!(shown.lines().filter(|line| *line == "## Decisions").count(), 1);
    assert!(shown.contains("yyy…`") && shown.lines().all(|line| line.len() < 400), "{shown}");
}

#[test]
fn a_vast_repository_costs_few_reads() {
    let names: Vec<String> =
        (0..20_000).map(|at| format!("pkg{:03}/m{}/package.json", at % 400, at / 400)).collect();
    let mut files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "{\"name\": \"a\"}")).collect();
    files.sort_unstable();
    let snapshot = Memory::of(&files);
    let context = architecture(&snapshot, &Limits::default());
    assert!(snapshot.reads() <= 306, "{}", snapshot.reads());
    assert_eq!(context, architecture(&snapshot, &Limits::default()));
    assert!(context.project_structure.len() <= 161);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_in_any_manifest_is_borne(text in "([a-z=:\"'{}\\[\\]<>#@/*. \n-]|é|version|name|\\[\\[package\\]\\]|## Status){0,80}") {
        let files: Vec<(&str, &str)> = BROKEN.iter().map(|path| (*path, text.as_str())).collect();
        let context = survey(&files);
        for line in context.render(1_000) {
            prop_assert_eq!(line.text.matches('\n').count(), 1);
        }
    }
}
