use super::*;

#[test]
fn what_fits_is_left_as_it_is() {
    assert_eq!(cap("a\nb".into(), 3), "a\nb");
    let mut kept = Cap::new(1_000);
    for _ in 0..3 {
        kept.push("grün ".as_bytes());
    }
    assert_eq!(kept.finish(), "grün grün grün ");
}

#[test]
fn head_and_tail_are_kept_and_the_cut_is_counted() {
    let text: String = "line after line\n".repeat(1_000);
    let short = cap(text.clone(), 400);
    assert!(short.len() <= 400, "{}", short.len());
    let (head, rest) = short.split_once('[').unwrap();
    let (words, tail) = rest.split_once("]\n").unwrap();
    assert!(text.starts_with(head) && head.ends_with('\n'));
    assert!(text.ends_with(tail) && tail.starts_with("line "));
    let cut = text.len() - head.len() - tail.len();
    assert_eq!(words, format!("{cut} bytes were cut here. Narrow the call to see them."));
}

#[test]
fn no_character_is_split_and_no_limit_is_broken() {
    for text in ["ß".repeat(500), "🦀".repeat(300), "aé".repeat(400), "x".repeat(999)] {
        for limit in 0..260 {
            let short = cap(text.clone(), limit);
            assert!(short.len() <= limit.max(WORDS), "{limit}: {}", short.len());
            assert!(!short.contains(char::REPLACEMENT_CHARACTER), "{limit}: {short}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_stay_within_the_limit() {
    for size in [100, 300, 5_000] {
        let mut kept = Cap::new(400);
        kept.push(&vec![0xFF; size]);
        let text = kept.finish();
        assert!(text.len() <= 400, "{size}: {}", text.len());
        assert_eq!(text.contains("bytes were cut"), size > 100, "{size}");
    }
}

#[test]
fn a_long_stream_is_never_held() {
    let mut kept = Cap::new(1 << 10);
    for _ in 0..10_000 {
        kept.push(&[b'y'; 4_096]);
        assert!(kept.head.len() + kept.tail.len() <= 1 << 10);
    }
    assert!(kept.finish().contains("40959072 bytes were cut"));
}
