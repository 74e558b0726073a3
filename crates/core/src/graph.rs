//! Needs, waves and cycles.
