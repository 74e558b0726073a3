//! A model played by script: a server on loopback that speaks Anthropic Messages, OpenAI Chat Completions and OpenAI
//! Responses, streamed or not, records what it was asked, and fails in chosen ways.

mod answer;
mod anthropic;
mod chat;
mod conversation;
mod errors;
mod fault;
mod hash;
mod ledger;
mod request;
mod responses;
mod script;
mod serve;
mod server;
mod spoil;
mod sse;
mod turn;

pub use fault::{Fault, Faults};
pub use ledger::Recorded;
pub use request::{Choice, Request, Wire};
pub use script::Script;
pub use server::{Pace, Server, Setup};
pub use turn::{Spoken, Turn};
