//! Secrets: found in text by shape, in names by name, and replaced before anyone sees them.
