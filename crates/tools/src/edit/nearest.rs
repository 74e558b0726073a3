//! What a text that was not found may have been meant to be.

use std::fmt::Write as _;

use crate::lines::{push_numbered, show};

/// A longer file is not searched for hints.
const BYTES: usize = 1 << 20;
/// Lines that are compared in all, and lines that are shown.
const COMPARED: usize = 100_000;
const LINES: usize = 20;

/// Where `text` comes nearest to `wanted`, in words.
pub(super) fn hint(text: &str, wanted: &str) -> String {
    if wanted.lines().all(is_numbered) {
        return "It begins with line numbers as `Read` prints them; leave them out.".to_owned();
    }
    let wanted: Vec<&str> = wanted.lines().collect();
    // A line without letters or digits, such as a brace, is found everywhere.
    let telling = |line: &&str| line.contains(char::is_alphanumeric);
    let Some(anchor) = wanted.iter().position(telling).filter(|_| text.len() <= BYTES) else {
        return "Read the file again.".to_owned();
    };
    let lines: Vec<&str> = text.lines().collect();
    let first = loose(wanted[anchor]);
    let found =
        (0..lines.len()).filter(|at| lines[*at].len() >= first.len() && loose(lines[*at]) == first);
    let nearest = found
        .filter_map(|at| at.checked_sub(anchor))
        .take(1 + COMPARED / wanted.len())
        .map(|start| (agreeing(&lines[start..], &wanted), start))
        .max_by_key(|(lines, start)| (*lines, std::cmp::Reverse(*start)));
    match nearest {
        Some((all, start)) if all == wanted.len() => differs_by_space(&lines, start, all),
        Some((some, start)) => {
            let number = start + some + 1;
            let expected = quote(wanted[some]);
            match lines.get(start + some) {
                Some(line) => format!(
                    "It is like line {} and on, but line {number} is {}, not {expected}.",
                    start + 1,
                    quote(line)
                ),
                None => format!("It is like line {} and on, but the file ends there.", start + 1),
            }
        }
        None => {
            format!("No line of the file is like {}. Read the file again.", quote(wanted[anchor]))
        }
    }
}

/// How many lines from the first on agree but for white space.
fn agreeing(lines: &[&str], wanted: &[&str]) -> usize {
    lines.iter().zip(wanted).take_while(|(line, wanted)| loose(line) == loose(wanted)).count()
}

fn differs_by_space(lines: &[&str], start: usize, count: usize) -> String {
    let (first, last) = (start + 1, start + count);
    let mut told = format!("Lines {first} to {last} differ from it by white space only:\n");
    for (index, line) in lines[start..start + count].iter().enumerate().take(LINES) {
        push_numbered(&mut told, first + index, line);
    }
    if count > LINES {
        let _ = writeln!(told, "[{} more lines]", count - LINES);
    }
    told
}

/// A line without its white space.
fn loose(line: &str) -> String {
    line.chars().filter(|character| !character.is_whitespace()).collect()
}

fn quote(line: &str) -> String {
    format!("`{}`", show(line, 120).line.trim_end())
}

fn is_numbered(line: &str) -> bool {
    line.trim_start().split_once('\t').is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
