//! Canaries: unique marks planted in texts, to see where they turn up.

/// Makes marks that occur nowhere else.
#[derive(Debug, Default)]
pub struct Canary {
    planted: Vec<String>,
}

impl Canary {
    /// A new mark, said to be planted in `place`.
    pub fn plant(&mut self, place: &str) -> String {
        let mark = format!("Qcanary{}x{}Z", self.planted.len(), place.len());
        self.planted.push(mark.clone());
        mark
    }

    /// The marks that stand in `text`.
    pub fn seen_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        self.planted.iter().map(String::as_str).filter(|mark| text.contains(mark))
    }
}
