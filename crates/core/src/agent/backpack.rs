//! The backpack in the hands of an attempt: what it was handed, less what it took out, and what it packed.

use std::cmp::Reverse;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inherited::Inherited;
use super::kept::{Kept, within};
use crate::tokens;

/// What compaction makes free where nobody says how much.
pub(super) const ROOM: usize = 100;

/// A thing in the backpack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// One fact, in a sentence.
    pub item: String,
    #[serde(default)]
    pub category: Category,
    #[serde(default)]
    pub priority: Priority,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    #[default]
    Facts,
    Decisions,
    Todos,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
}

impl Category {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Facts => "facts",
            Self::Decisions => "decisions",
            Self::Todos => "todos",
        }
    }
}

impl Priority {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

impl Item {
    pub fn tokens(&self) -> usize {
        tokens::count(&self.item)
    }

    /// On one line: what is quoted cannot end the quotation.
    pub fn line(&self) -> String {
        self.item.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Something that is in the backpack now.
#[derive(Clone, Copy)]
struct Inside<'a> {
    /// The id of what was handed over, else where it stands among what was packed.
    place: Result<&'a str, usize>,
    /// From the oldest on.
    age: usize,
    item: &'a Item,
}

impl Kept {
    pub(super) fn pack(
        &mut self,
        item: Item,
        (inherited, most): (&Inherited, usize),
    ) -> Result<String, String> {
        let size = within("An item", &[&item.item], most)?;
        let inside = self.inside(inherited);
        if inside.iter().any(|one| one.item.line() == item.line()) {
            return Ok("It is in the backpack already.".to_owned());
        }
        let taken = taken(&inside);
        if taken + size > most {
            return Err(format!(
                "The backpack holds {most} tokens, {taken} are taken and this needs {size}. Remove something \
                 first, or call `compact_backpack`. In it:\n{}",
                contents(&inside)
            ));
        }
        self.backpack.push(item);
        Ok(format!("Packed; {} of {most} tokens are taken.", taken + size))
    }

    /// By its words, or by the id of what was handed over.
    pub(super) fn unpack(
        &mut self,
        name: &str,
        (inherited, most): (&Inherited, usize),
    ) -> Result<String, String> {
        let name = name.trim();
        let inside = self.inside(inherited);
        let is_meant = |one: &&Inside<'_>| {
            one.place == Ok(name) || one.item.item.trim() == name || one.item.line() == name
        };
        let meant: Vec<Result<String, usize>> =
            inside.iter().filter(is_meant).map(|one| one.place.map(str::to_owned)).collect();
        if meant.is_empty() {
            return Err(format!("There is no such item. In the backpack:\n{}", contents(&inside)));
        }
        self.take_out(meant);
        Ok(format!("Removed; {} of {most} tokens are taken.", taken(&self.inside(inherited))))
    }

    pub(super) fn clear_backpack(&mut self, inherited: &Inherited) -> String {
        let all: Vec<Result<String, usize>> =
            self.inside(inherited).iter().map(|one| one.place.map(str::to_owned)).collect();
        let count = all.len();
        self.take_out(all);
        format!("Removed {count} item{}.", if count == 1 { "" } else { "s" })
    }

    /// Makes room by rule: what is said twice goes, then the least important, the oldest first. What is of high priority stays.
    pub(super) fn compact(
        &mut self,
        room: usize,
        (inherited, most): (&Inherited, usize),
    ) -> String {
        let room = room.min(most);
        let inside = self.inside(inherited);
        let repeated = repeated(&inside);
        let is_left = |one: &&Inside<'_>| !repeated.iter().any(|gone| gone.age == one.age);
        let mut left: Vec<Inside<'_>> = inside.iter().filter(is_left).copied().collect();
        left.sort_by_key(|one| (one.item.priority, one.age));
        let mut free = most.saturating_sub(taken(&left));
        let mut least = Vec::new();
        for one in left.iter().filter(|one| one.item.priority < Priority::High) {
            if free >= room {
                break;
            }
            free += one.item.tokens();
            least.push(*one);
        }
        let mut told = format!("{} of {most} tokens are taken.", most.saturating_sub(free));
        for (why, gone) in [("Said twice", &repeated), ("Least important", &least)] {
            if !gone.is_empty() {
                let _ = write!(told, "\n{why}, taken out:\n{}", contents(gone));
            }
        }
        if free < room {
            told += "\nWhat is left is of high priority: remove by hand what can go.";
        } else if repeated.is_empty() && least.is_empty() {
            told += "\nNothing had to go.";
        }
        let gone = repeated.iter().chain(&least).map(|one| one.place.map(str::to_owned)).collect();
        self.take_out(gone);
        told
    }

    fn inside<'a>(&'a self, inherited: &'a Inherited) -> Vec<Inside<'a>> {
        let is_left = |id: &str| !self.removed.iter().any(|removed| removed == id);
        let inherited = inherited.backpack.iter().filter(|one| is_left(&one.id));
        let inherited = inherited.map(|one| (Ok(&*one.id), &one.item));
        let own = self.backpack.iter().enumerate().map(|(at, item)| (Err(at), item));
        let all = inherited.chain(own).enumerate();
        all.map(|(age, (place, item))| Inside { place, age, item }).collect()
    }

    fn take_out(&mut self, places: Vec<Result<String, usize>>) {
        let mut own = Vec::new();
        for place in places {
            match place {
                Ok(id) => self.removed.push(id),
                Err(at) => own.push(at),
            }
        }
        let mut at = 0..;
        self.backpack.retain(|_| !at.next().is_some_and(|at| own.contains(&at)));
    }
}

fn taken(inside: &[Inside<'_>]) -> usize {
    inside.iter().map(|one| one.item.tokens()).sum()
}

/// Those that another one says word for word and that matter no more; of equal ones the oldest stays.
fn repeated<'a>(inside: &[Inside<'a>]) -> Vec<Inside<'a>> {
    let line = |one: &Inside<'_>| one.item.line().trim_end_matches('.').to_lowercase();
    let lines: Vec<String> = inside.iter().map(line).collect();
    let rank = |one: &Inside<'_>| (one.item.priority, Reverse(one.age));
    let is_said = |one: &&Inside<'_>| {
        let says = |other: &Inside<'_>| lines[other.age] == lines[one.age];
        inside.iter().any(|other| rank(other) > rank(one) && says(other))
    };
    inside.iter().filter(is_said).copied().collect()
}

fn contents(inside: &[Inside<'_>]) -> String {
    let mut list = String::new();
    for Inside { place, item, .. } in inside {
        let id = place.map(|id| format!(" `{id}`")).unwrap_or_default();
        let (category, priority) = (item.category.as_str(), item.priority.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(list, "-{id} ({category}, {priority}) {}", item.line());
    }
    if list.is_empty() { "nothing".to_owned() } else { list }
}
