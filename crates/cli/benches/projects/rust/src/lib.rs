use serde::{Deserialize, Serialize};
#[derive(Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    pub count: u64,
}
pub fn count(text: &str) -> Vec<Row> {
    let words = regex::Regex::new(r"\w+").unwrap();
    let mut rows: Vec<Row> = Vec::new();
    for found in words.find_iter(text) {
        match rows.iter_mut().find(|row| row.name == found.as_str()) {
            Some(row) => row.count += 1,
            None => rows.push(Row { name: found.as_str().to_owned(), count: 1 }),
        }
    }
    rows
}
pub fn work(seed: u64) -> u64 {
    let mut x = seed;
    for i in 0..400_000_000u64 {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(i);
    }
    x
}
