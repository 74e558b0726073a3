//! The embedded engine: it drives the loop, keeps the limits and stops when told.
