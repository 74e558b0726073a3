use grep_regex::RegexMatcherBuilder;
use proptest::prelude::*;

use super::*;

fn finder(pattern: &str, reach: Reach, window: usize) -> Finder {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).dot_matches_new_line(reach == Reach::Lines);
    if reach == Reach::Line {
        builder.crlf(true);
    }
    Finder { matcher: builder.build(pattern).unwrap(), reach, window }
}

fn found(pattern: &str, reach: Reach, window: usize, text: &str) -> Vec<usize> {
    let finder = finder(pattern, reach, window);
    let (hits, flow) = finder.search(text.as_bytes(), Want::Lines(usize::MAX), || false);
    assert!(flow.is_continue());
    hits.lines.into_iter().flatten().collect()
}

#[test]
fn a_line_longer_than_the_window_is_searched_to_its_end() {
    let long = "-".repeat(1_000);
    let text = format!("a\n{long}needle{long}\nneedle\n");
    assert_eq!(found("needle", Reach::Line, 16, &text), [2, 3]);
    assert_eq!(found("-needle-", Reach::Line, 16, &text), [2]);
    // Where a window ends or begins there is no end and no beginning of a line.
    assert_eq!(found("^-", Reach::Line, 16, &text), [2]);
    assert_eq!(found("-$", Reach::Line, 16, &text), [2]);
    assert_eq!(found("^-{8}$|^n", Reach::Line, 16, &text), [3]);
    assert_eq!(found(r"\bneedle\b", Reach::Line, 16, &format!("{long}\nxneedle\n")), [0; 0]);
}

#[test]
fn a_match_over_lines_is_found_where_windows_meet() {
    for before in 0..40 {
        let text = format!("{}one\ntwo\n{}", "\n".repeat(before), "x".repeat(50));
        assert_eq!(found("one.two", Reach::Lines, 16, &text), [before + 1, before + 2]);
        assert_eq!(found(r"two\n", Reach::Lines, 16, &text), [before + 2]);
    }
}

#[test]
fn a_match_without_characters_is_one_of_its_line() {
    for window in [3, 100] {
        assert_eq!(found("^$", Reach::Line, window, "a\n\nb\n\n"), [2, 4]);
        assert_eq!(found("$", Reach::Line, window, "a\r\nb"), [1, 2]);
        assert_eq!(found("", Reach::Line, window, "a\n\n"), [1, 2]);
        assert_eq!(found("", Reach::Lines, window, "a\n\n"), [1, 2]);
        assert_eq!(found("$", Reach::Line, window, ""), [0; 0]);
    }
}

#[test]
fn time_that_is_up_ends_a_search_within_one_file_and_keeps_what_was_found() {
    let text = "needle\n".repeat(100_000);
    let mut looks = 0;
    let mut is_over = || {
        looks += 1;
        looks > 5
    };
    let present = finder("needle", Reach::Line, WINDOW);
    let (hits, flow) = present.search(text.as_bytes(), Want::Count, &mut is_over);
    assert_eq!((hits.matches, flow), (5, ControlFlow::Break(())));
    assert!(hits.lines.is_empty(), "nobody wants them");
    // Without a match there is a look at the clock for each window.
    let mut looks = 0;
    let absent = finder("absent", Reach::Line, WINDOW);
    let (hits, _) = absent.search(text.as_bytes(), Want::Count, || {
        looks += 1;
        false
    });
    assert_eq!(hits, Hits::default());
    assert!(looks > text.len() / WINDOW, "{looks}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn windows_change_nothing_about_which_lines_match(
        text in "([ab\u{e9}\r]{0,30}\n){0,6}[ab]{0,30}",
        pattern in prop::sample::select(vec!["a", "b+a", "^a", "a$", "\u{e9}", "(?:ab){2}", r"\bb", "^$", "[^a]", "a?"]),
        window in 16_usize..60,
    ) {
        prop_assert_eq!(
            found(pattern, Reach::Line, window, &text),
            found(pattern, Reach::Line, usize::MAX / 2, &text)
        );
    }
}
