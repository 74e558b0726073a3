//! The grammar's own examples, and those of the page about it.

use super::*;
use crate::plan::step::form::{self, FORMS};
use crate::plan::step::pattern;
use crate::plan::step::sentence::Sentence;

const PAGE: &str = include_str!("../../../../../../docs/literal.md");

#[test]
fn every_row_has_an_example_that_no_row_before_it_takes() {
    for (at, (_, form, example)) in FORMS.iter().enumerate() {
        let sentence = Sentence::new(example);
        let tokens = pattern::tokens(&sentence).unwrap();
        let row =
            FORMS.iter().position(|(row, ..)| pattern::find(row, form::core(&tokens)).is_some());
        assert_eq!(row, Some(at), "{example} is {:?}", row.map(|row| FORMS[row].0));
        assert_eq!(form::read(&sentence).unwrap().0, *form);
    }
}

/// A cell of the page's table as a text: what stands between double backticks, and fences where it says so.
fn text_of(example: &str) -> String {
    let mut text = String::new();
    for (at, piece) in example.split("``").enumerate() {
        let fence =
            if piece.contains("diff fence") { "```diff\n a\n-b\n+c\n```" } else { "```\nx\n```" };
        match at % 2 {
            1 => text.push_str(piece),
            _ if piece.contains("fence") => text.extend(["\n\n", fence, "\n\n"]),
            _ => text.push('\n'),
        }
    }
    text
}

#[test]
fn what_the_page_shows_is_what_is_done() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ``").map(|_| line));
    let mut seen = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [says, does] = cells.as_slice() else { panic!("{row}") };
        let kind = does.trim().split("**").nth(1).unwrap();
        for example in says.split(" · ") {
            let text = text_of(example);
            let told = told(&text);
            assert!(
                told.iter().all(|one| one.starts_with(kind)),
                "{text}\n{told:?}\nshould be {kind}"
            );
            seen += 1;
        }
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn a_box_with_the_id_of_its_format_is_carried_out() {
    for text in [
        "- [ ] T001 Run: `make one`\n",
        "- [ ] T002 [P] [US1] Run: `make one`\n",
        "- [ ] 1.1 Run: `make one`\n",
        "- [ ] 1.1 Run: `make one`\n  - _Requirements: 1.1, 2.3_\n",
        "- [ ] A.1.1 Run: `make one`\n",
    ] {
        assert_eq!(told(text), ["run \"make one\" Pass"], "{text}");
    }
}
