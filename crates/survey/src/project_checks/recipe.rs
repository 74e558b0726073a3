//! Targets of makefiles and recipes of justfiles.

pub(crate) const MAKEFILES: [&str; 3] = ["Makefile", "makefile", "GNUmakefile"];
pub(crate) const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recipe<'a> {
    pub(crate) name: &'a str,
    /// What a comment says of it.
    pub(crate) about: &'a str,
    pub(crate) line: usize,
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && name.contains(|c: char| c.is_ascii_lowercase())
}

/// Plain targets of a makefile, with the `##` comment behind them.
pub(crate) fn targets(text: &str) -> Vec<Recipe<'_>> {
    let mut found = Vec::new();
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.starts_with([' ', '\t', '#', '.']));
    for (text, line) in lines {
        let Some((head, rest)) = text.split_once(':').filter(|parts| !is_variable(*parts)) else {
            continue;
        };
        let about = rest.split_once("##").map_or("", |(_, about)| about.trim());
        let names = head.split_whitespace().filter(|name| is_name(name));
        found.extend(names.map(|name| Recipe { name, about, line }));
    }
    found
}

/// `A = b:c`, `A := b` and `A ::= b`, parted at the first colon.
fn is_variable((head, rest): (&str, &str)) -> bool {
    head.contains('=') || rest.trim_start_matches(':').starts_with('=')
}

/// Recipes of a justfile, with the comment above them.
pub(crate) fn recipes(text: &str) -> Vec<Recipe<'_>> {
    let mut found = Vec::new();
    let mut above = "";
    for (line, number) in text.lines().zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            above = comment.trim();
            continue;
        }
        let head = line.trim_start_matches('@');
        let starts = !line.starts_with([' ', '\t', '[']) && !line.contains(":=");
        if let Some((head, _)) = head.split_once(':').filter(|_| starts) {
            let name = head.split_whitespace().next().unwrap_or("");
            if is_name(name) && !matches!(name, "set" | "alias" | "export" | "import" | "mod") {
                found.push(Recipe { name, about: above, line: number });
            }
        }
        if !line.starts_with('[') {
            above = "";
        }
    }
    found
}
