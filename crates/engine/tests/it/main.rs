//! The engine against a scripted model and a toolbox in memory.
#![allow(clippy::panic, clippy::unwrap_used, reason = "what is not there fails the test")]

mod audit;
mod backpack;
mod by_person;
mod delegate;
mod drive;
mod durable;
mod grant;
mod group;
mod handle;
mod notes;
mod records;
mod run;
mod stage;
mod waves;
mod withdraw;
