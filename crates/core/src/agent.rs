//! Agents: named roles.
