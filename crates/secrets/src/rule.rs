//! What a rule of the table says, and the example it makes of itself.

/// One kind of secret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// What the mark in the text says.
    pub name: &'static str,
    /// Text without any of these holds no such secret, so that the shape need not be tried.
    pub keywords: &'static [&'static str],
    /// The regular expression. Every repetition is bounded, which keeps the search linear.
    pub shape: &'static str,
    pub kind: Kind,
    /// The least Shannon entropy of the secret, in bits per character.
    pub entropy: f64,
    /// How often letters and digits must at least take turns in it: names do not, random text does.
    pub turns: usize,
    pub example: Example,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The whole match is the secret; it does not start in the middle of a word.
    Token,
    /// The first group is the secret; what surrounds it says so. Keywords are found in any case.
    Value,
    /// The match is a part of a name that tells; `assignment` finds its value. Keywords are found in any case.
    Name,
    /// The match opens, or closes, a private key of many lines.
    Block,
}

impl Rule {
    /// The group of the shape that is the secret.
    pub fn group(&self) -> usize {
        usize::from(self.kind == Kind::Value)
    }
}

/// A recipe instead of a text: no whole secret may stand in the source, or scanners would raise the alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    pub before: &'static str,
    pub secret: &'static [Piece],
    pub after: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(&'static str),
    Digits(usize),
    Hex(usize),
    /// Small letters and digits.
    Lower(usize),
    /// Capital letters and digits.
    Upper(usize),
    Alnum(usize),
    Base64(usize),
}

impl Example {
    /// The example's text; the same one every time.
    pub fn text(&self) -> String {
        [self.before, &self.secret_text(), self.after].concat()
    }

    pub fn secret_text(&self) -> String {
        let mut text = String::new();
        let mut state = 0x5EED_u64;
        for piece in self.secret {
            let (alphabet, count): (&[u8], usize) = match *piece {
                Piece::Text(fixed) => {
                    text.push_str(fixed);
                    continue;
                }
                Piece::Digits(count) => (&ALPHABET[..10], count),
                Piece::Hex(count) => (&ALPHABET[..16], count),
                Piece::Lower(count) => (&ALPHABET[..36], count),
                Piece::Upper(count) => (&ALPHABET[36..], count),
                Piece::Alnum(count) => (&ALPHABET[..62], count),
                Piece::Base64(count) => (BASE64, count),
            };
            for _ in 0..count {
                // Knuth's linear congruential generator; its high bits are good enough for a test.
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let index = (state >> 33) as usize % alphabet.len();
                text.push(char::from(alphabet[index]));
            }
        }
        text
    }
}

/// Digits, hexadecimal, small letters, capitals, and digits once more, so that each alphabet is one slice.
const ALPHABET: &[u8; 72] =
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
