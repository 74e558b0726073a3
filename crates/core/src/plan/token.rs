//! What a text that names a file says: path, lines, and whether it is a path at all.

use std::ops::RangeInclusive;

/// Names without an extension that are files all the same.
const BARE_NAMES: [&str; 9] = [
    "Makefile",
    "Dockerfile",
    "Containerfile",
    "Justfile",
    "Procfile",
    "Gemfile",
    "Rakefile",
    "LICENSE",
    "CODEOWNERS",
];

/// Products that look like file names.
const PRODUCTS: [&str; 26] = [
    "node.js",
    "next.js",
    "nuxt.js",
    "vue.js",
    "react.js",
    "express.js",
    "three.js",
    "d3.js",
    "chart.js",
    "socket.io",
    "asp.net",
    "angular.js",
    "ember.js",
    "discord.js",
    "prism.js",
    "highlight.js",
    "moment.js",
    "backbone.js",
    "alpine.js",
    "p5.js",
    "solid.js",
    "nest.js",
    "ethers.js",
    "paper.js",
    "plotly.js",
    "pdf.js",
];

/// Names that begin with a dot and are files by themselves. What follows behind a dot or a hyphen, such as `.env.example`, does not
/// matter. Any other lone word with a dot in front is an extension.
const DOTFILES: &str = " .gitignore .gitattributes .gitmodules .gitkeep .mailmap .gitlab-ci .travis .dockerignore .editorconfig \
    .env .envrc .npmrc .npmignore .nvmrc .yarnrc .node-version .python-version .ruby-version .tool-versions .eslintrc .eslintignore \
    .prettierrc .prettierignore .stylelintrc .babelrc .swcrc .mocharc .nycrc .jshintrc .lintstagedrc .commitlintrc .releaserc \
    .huskyrc .markdownlint .markdownlintrc .markdownlintignore .pre-commit .golangci .goreleaser .rubocop .rspec .flake8 .pylintrc \
    .coveragerc .ruff .isort .clang-format .clang-tidy .clangd .rustfmt .taplo .yamllint .hadolint .swiftlint .swiftformat .bashrc \
    .bash_profile .profile .zshrc .vimrc .inputrc .htaccess .mcp .cursorrules .cursorignore .windsurfrules .clinerules .terraform \
    .tflint .trivyignore .helmignore .vscodeignore .browserslistrc .graphqlrc .sqlfluff .netrc .pypirc .condarc ";

/// Extensions that make a lone word a file; with a folder before it, any extension does.
const EXTENSIONS: &str = " rs py ts tsx js jsx mjs cjs json md mdx toml yaml yml html css scss less go java kt kts swift \
    c h cc cpp hpp cs rb php sh bash zsh sql txt lock xml svg vue svelte astro dart ex exs lua proto graphql prisma tf \
    ini cfg conf env gradle csv ipynb scala zig nix ps1 bat ";

/// First and last line, where a token points at lines.
pub(super) type Span = Option<(u32, u32)>;

/// The paths a token stands for, with the lines it points at: `src/a.rs:10-20`, `src/{a,b}.rs`, `a.md#L3-L9`.
pub(super) fn read(token: &str) -> Option<(Vec<String>, Span)> {
    let token = token.trim();
    let odd = |c: char| c.is_whitespace() || "<>*|\"'$=;()?!`…".contains(c);
    if token.is_empty() || token.contains("://") || token.contains(odd) {
        return None;
    }
    let (path, lines) = split_lines(token);
    let path = path.trim_end_matches(['.', ',', ':']);
    let spread = expand(path)?;
    Some((spread, lines))
}

/// A path with blanks in it, where a list says that a file is named: a folder comes first, and only the last word is a file.
pub(super) fn read_spaced(token: &str) -> Option<(Vec<String>, Span)> {
    let words: Vec<&str> = token.split(' ').collect();
    let (last, before) = words.split_last()?;
    // A command is in lower case: `run a/b.sh`.
    let leads = |first: &&str| first.contains('/') || first.starts_with(char::is_uppercase);
    let is_path = before.first().is_some_and(leads)
        && token.contains('/')
        && before.iter().all(|word| read(word).is_some() && !is_file(word));
    let (paths, lines) = read(last).filter(|_| is_path)?;
    let [path] = &paths[..] else { return None };
    let whole = format!("{} {path}", before.join(" "));
    (is_file(path) && last.starts_with(path.as_str())).then_some((vec![whole], lines))
}

/// Whether a bare word is worth a closer look.
pub(super) fn is_likely(word: &str) -> bool {
    word.contains(['.', '/']) || BARE_NAMES.contains(&word)
}

/// Whether a path is plainly a file: it has an extension or a known name.
pub(super) fn is_file(path: &str) -> bool {
    if path.ends_with('/') || PRODUCTS.contains(&path.to_ascii_lowercase().as_str()) {
        return false;
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if BARE_NAMES.contains(&name) {
        return true;
    }
    if folder.is_empty() && name.starts_with('.') {
        return is_dotfile(name);
    }
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let shaped = (1..=10).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let known = || EXTENSIONS.contains(&format!(" {} ", extension.to_ascii_lowercase()));
    shaped && (!folder.is_empty() || known() || stem.is_empty())
}

/// Whether a name is that of a known file: `.gitignore`, `.env.example`; `.ics` is an extension.
fn is_dotfile(name: &str) -> bool {
    let ends = name.match_indices(['.', '-']).skip(1).map(|(at, _)| at).chain([name.len()]);
    ends.into_iter().any(|end| DOTFILES.contains(&format!(" {} ", &name[..end])))
}

pub(super) fn is_test(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let stem = name.split('.').next().unwrap_or(name);
    lower
        .split('/')
        .rev()
        .skip(1)
        .any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec"))
        || name.contains(".test.")
        || name.contains(".spec.")
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
}

/// Cuts `:10`, `:10-20`, `#L10-L20` and `::item` off a path.
fn split_lines(token: &str) -> (&str, Option<(u32, u32)>) {
    let from = usize::from(token.as_bytes().get(1) == Some(&b':')) * 2;
    let cut =
        token[from.min(token.len())..].find([':', '#', '：']).map(|at| at + from.min(token.len()));
    let Some(cut) = cut else {
        return (token, None);
    };
    let lines = token[cut..].trim_start_matches([':', '#', '：']);
    (&token[..cut], read_lines(lines).map(|lines| (*lines.start(), *lines.end())))
}

/// `10`, `10-20`, `L10-L20`, `10-20,40-50`.
fn read_lines(text: &str) -> Option<RangeInclusive<u32>> {
    let mut first = None;
    let mut last = 0;
    for part in text.split(['-', '–', ',', '+']) {
        let number: u32 = part.trim().trim_start_matches(['L', 'l']).parse().ok()?;
        first = first.or(Some(number));
        last = last.max(number);
    }
    first.filter(|first| *first > 0).map(|first| first..=last)
}

/// One level of `{a,b}`; other braces are no path.
fn expand(path: &str) -> Option<Vec<String>> {
    let Some((head, rest)) = path.split_once('{') else {
        return (!path.is_empty() && !path.contains('}')).then(|| vec![path.to_owned()]);
    };
    let (inner, tail) = rest.split_once('}')?;
    let plain = !tail.contains(['{', '}']) && !inner.contains('{') && inner.contains(',');
    let few = inner.matches(',').count() < 32;
    (plain && few).then(|| {
        let parts = inner.split(',');
        parts.map(|part| format!("{head}{}{tail}", part.trim())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_paths_and_lines() {
        let one = |path: &str, lines| Some((vec![path.to_owned()], lines));
        assert_eq!(read("src/a.rs:12-40"), one("src/a.rs", Some((12, 40))));
        assert_eq!(read("src/a.rs:12"), one("src/a.rs", Some((12, 12))));
        assert_eq!(read("a.md#L3-L9"), one("a.md", Some((3, 9))));
        assert_eq!(read("src/a.rs::tests"), one("src/a.rs", None));
        assert_eq!(
            read("src/{a,b}.rs").map(|found| found.0.join(" ")),
            Some("src/a.rs src/b.rs".into())
        );
        for no in ["cargo test", "https://a.b/c.md", "src/*.rs", "foo()", "", "a{b"] {
            assert_eq!(read(no), None, "{no}");
        }
    }

    #[test]
    fn a_path_may_have_blanks_and_two_paths_are_none() {
        for yes in ["docs/my file.md", "a/b c/d.rs", "Echo macOS/Views/Player.swift"] {
            assert_eq!(read_spaced(yes), Some((vec![yes.to_owned()], None)), "{yes}");
        }
        let lines = (vec!["My App/B.swift".to_owned()], Some((39, 46)));
        assert_eq!(read_spaced("My App/B.swift:39-46"), Some(lines));
        for no in ["src/a.rs src/b.rs", "cargo test", "run a/b.sh", "a/b  c.md", "a/b c", "x.md"] {
            assert_eq!(read_spaced(no), None, "{no}");
        }
    }

    #[test]
    fn products_and_versions_are_no_files() {
        for yes in [
            "src/a.rs",
            "README.md",
            "Makefile",
            ".github/workflows/ci.yml",
            ".gitignore",
            "a/b.custom",
        ] {
            assert!(is_file(yes), "{yes}");
        }
        for no in ["Node.js", "3.11", "src/", "and/or", "v1.2", "e.g", "foo.bar", "Prism.js"] {
            assert!(!is_file(no), "{no}");
        }
        for yes in [".env.example", ".eslintrc.json", ".dockerignore", ".pre-commit-config.yaml"] {
            assert!(is_file(yes), "{yes}");
        }
        for no in [".ics", ".exe", ".p12", ".d.ts", ".test.ts", ".js", "."] {
            assert!(!is_file(no), "{no}");
        }
    }

    #[test]
    fn test_files_are_known_by_folder_or_name() {
        for yes in ["tests/a.rs", "src/a.test.ts", "pkg/a_test.go", "test_x.py", "spec/a.rb"] {
            assert!(is_test(yes), "{yes}");
        }
        assert!(!is_test("src/contest.rs"));
    }
}
