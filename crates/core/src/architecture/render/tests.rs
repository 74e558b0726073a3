use proptest::prelude::*;

use super::*;

fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

fn cost(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::cost).sum()
}

fn small() -> ArchitecturalContext {
    ArchitecturalContext {
        project_structure: vec![
            Stated::new("crates/", "crates"),
            Stated::new("core/ 3 files", "crates/core"),
            Stated::new("docs/ 1 file", "docs"),
        ],
        languages: vec![Stated::new("Rust: 3 files", "*.rs")],
        conventions: vec![
            Stated::new("No panics.", "AGENTS.md"),
            Stated::new("Short names.", "AGENTS.md"),
            Stated::new("max_width = 100", "rustfmt.toml"),
        ],
        ..ArchitecturalContext::default()
    }
}

#[test]
fn what_fits_is_shown_whole_with_its_sources_and_absence_is_said() {
    let expected = "\
## Project structure
- crates/
  - core/ 3 files
- docs/ 1 file
## Languages
- Rust: 3 files (*.rs)
## Entry points
None found.
## How to build and test
None found.
## Key patterns
None found.
## Decisions
None found.
## Conventions
- AGENTS.md:
  - No panics.
  - Short names.
- max_width = 100 (rustfmt.toml)
## Dependencies
None found.
";
    assert_eq!(text(&small().render(6_000)), expected);
}

#[test]
fn every_piece_with_content_has_a_source() {
    for piece in small().render(6_000) {
        let own = piece.text.starts_with("## ") || piece.text == "None found.\n";
        assert_eq!(piece.source.is_empty(), own, "{piece:?}");
    }
}

#[test]
fn deep_folders_and_tails_are_cut_first_and_each_cut_is_said() {
    let mut context = small();
    for at in 0..40 {
        let folder = format!("crates/part{at:02}/deeper/and/deeper");
        context.project_structure.insert(2, Stated::new("deeper/ 9 files", folder));
        context.dependencies.push(Stated::new(format!("crate{at} 1.0"), "Cargo.toml"));
    }
    let pieces = context.render(300);
    let shown = text(&pieces);
    assert!(cost(&pieces) <= 300);
    assert!(shown.contains("- docs/ 1 file\n") && shown.contains("crate0 1.0"));
    assert!(shown.contains("more, cut to fit.\n## Languages\n"), "{shown}");
    assert!(shown.ends_with("more, cut to fit.\n"), "{shown}");
    let missing: usize = shown
        .lines()
        .filter_map(|line| line.strip_prefix("... ")?.split(' ').next()?.parse::<usize>().ok())
        .sum();
    let there =
        pieces.iter().filter(|piece| piece.text.contains("- ") && !piece.text.ends_with(":\n"));
    assert_eq!(there.count() + missing, 43 + 1 + 3 + 40);
}

fn stated() -> impl Strategy<Value = Vec<Stated>> {
    let one = ("[a-zé ./:0-9`]{1,60}", "[a-c](/[a-c]){0,3}");
    prop::collection::vec(one.prop_map(|(text, source)| Stated::new(text, source)), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_never_exceeds_the_budget_and_is_the_same_each_time(
        sections in prop::collection::vec(stated(), 8),
        budget in 200_usize..3_000,
    ) {
        let mut sections = sections.into_iter();
        let mut next = || sections.next().unwrap_or_default();
        let context = ArchitecturalContext {
            project_structure: next(),
            languages: next(),
            entry_points: next(),
            key_patterns: next(),
            relevant_adrs: next(),
            dependencies: next(),
            conventions: next(),
            commands: next(),
        };
        let pieces = context.render(budget);
        prop_assert!(cost(&pieces) <= budget);
        prop_assert_eq!(&pieces, &context.render(budget));
        prop_assert_eq!(pieces.iter().filter(|piece| piece.text.starts_with("## ")).count(), 8);
    }
}
