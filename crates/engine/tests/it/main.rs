//! The engine against a scripted model and a toolbox in memory.

mod drive;
mod run;
mod stage;
