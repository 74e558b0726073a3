//! Records: what outlives a task.
