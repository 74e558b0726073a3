//! The architectural context, file ranking and outlines.
