//! The isolated context: everything one subagent may see.
