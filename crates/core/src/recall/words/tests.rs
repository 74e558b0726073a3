//! The words of texts.

use super::*;

#[test]
fn stop_words_are_sorted() {
    assert!(STOP_WORDS.is_sorted());
}
