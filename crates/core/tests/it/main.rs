//! Plans from text to graph, on fixtures of every format.

mod faults;
mod fixture;
mod formats;
mod order;
mod robust;
mod untidy;
