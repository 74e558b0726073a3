//! The index of error codes: one page per code, written by hand, none forgotten.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;
use sequester_core::fault::Code;

use super::Page;
use crate::shell;

pub(super) fn index(reference: &Path) -> Result<Page> {
    let mut pages = Vec::new();
    for file in shell::files(&reference.join("errors"), ".md")? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name != "README" {
            pages.push((name, std::fs::read_to_string(file)?));
        }
    }
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    Ok(Page("errors/README.md", render(&codes, &pages)?))
}

fn render(codes: &BTreeSet<&str>, pages: &[(String, String)]) -> Result<String> {
    let mut text =
        "# Error codes\n\nMade by `cargo xtask reference` from the pages beside it.\n\n".to_owned();
    text += "| code | what is wrong |\n|---|---|\n";
    let mut faults: Vec<String> = Vec::new();
    for (name, page) in pages {
        let title = page.lines().next().and_then(|line| line.strip_prefix(&format!("# {name}: ")));
        match title.filter(|_| codes.contains(name.as_str())) {
            Some(title) => writeln!(text, "| [{name}]({name}.md) | {title} |")?,
            None => {
                faults.push(format!("errors/{name}.md: no such code, or no title `# {name}: ...`"));
            }
        }
    }
    let missing = codes.iter().filter(|code| !pages.iter().any(|(name, _)| name == *code));
    faults.extend(missing.map(|code| format!("errors/{code}.md: missing")));
    shell::none_of("Pages of error codes", &faults)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let codes = BTreeSet::from(["SQ1", "SQ2"]);
        let page = |code: &str| (code.to_owned(), format!("# {code}: it is {code}\n\nMore.\n"));
        let text = render(&codes, &[page("SQ1"), page("SQ2")]).unwrap();
        assert!(text.ends_with("| [SQ1](SQ1.md) | it is SQ1 |\n| [SQ2](SQ2.md) | it is SQ2 |\n"));
        let faults = render(&codes, &[page("SQ1"), page("SQ3")]).unwrap_err().to_string();
        assert!(
            faults.contains("SQ2.md: missing") && faults.contains("SQ3.md: no such code"),
            "{faults}"
        );
    }
}
