//! Counting tokens: one fixed tokenizer for all models, so that contexts do not depend on the model.

/// The number of o200k tokens of `text`. The tokenizer is built once per process, on first need.
pub fn count(text: &str) -> usize {
    if text.is_empty() { 0 } else { bpe_openai::o200k_base().count(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_o200k() {
        assert_eq!((count(""), count("hello world"), count("fn main() {}")), (0, 2, 4));
    }
}
