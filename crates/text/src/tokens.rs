//! Counting tokens: one fixed tokenizer for all models, so that contexts do not depend on the model.

/// The number of o200k tokens of `text`. The tokenizer is built once per process, on first need.
pub fn count(text: &str) -> usize {
    if text.is_empty() { 0 } else { bpe_openai::o200k_base().count(text) }
}

/// The longest beginning of `text` that has at most `limit` tokens, found by halving.
pub fn head(text: &str, limit: usize) -> &str {
    // A token has at least a byte.
    if text.len() <= limit || count(text) <= limit {
        return text;
    }
    let (mut fits, mut beyond) = (0, text.len());
    while beyond - fits > 1 {
        let middle = text.floor_char_boundary(fits.midpoint(beyond));
        if middle <= fits {
            break;
        }
        if count(&text[..middle]) <= limit { fits = middle } else { beyond = middle }
    }
    &text[..fits]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_o200k() {
        assert_eq!((count(""), count("hello world"), count("fn main() {}")), (0, 2, 4));
    }

    #[test]
    fn a_head_is_the_longest_beginning_that_fits() {
        assert_eq!((head("hello world", 2), head("hello world", 1)), ("hello world", "hello"));
        let text = "äöü ".repeat(500);
        let cut = head(&text, 100);
        assert!(count(cut) <= 100 && count(cut) > 90 && text.starts_with(cut));
        assert_eq!(head("a", 0), "");
    }
}
