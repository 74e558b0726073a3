//! What the product itself may say in a task's own part. Whoever adds a sentence to contexts adds it here too.

use sequester_core::context::{
    EMPTY, FOOT, HEAD, OUTSIDE, READ, artifact_heading, is_report_frame,
};
use sequester_core::report::Label;

const FRAMES: [&str; 23] = [
    "# Task\n\n",
    "\n\n## Feature\n\n",
    "None given.\n\n",
    "\n\n",
    "## Part of\n\n",
    "# Constraints\n\n",
    "\nThese checks are run on the result:\n\n",
    "None.\n\n",
    "\n",
    "# Interfaces\n\n",
    "# Clarifications\n\n",
    "# This task so far\n\n",
    "# Specification\n\n",
    "# Files\n\n",
    "Named for this task:\n\n",
    "What follows was found for this text, to be read:\n\n",
    OUTSIDE,
    READ,
    "No files given; ask if you need one.\n\n",
    HEAD,
    FOOT,
    EMPTY,
    "# From earlier work\n\n",
];

pub(super) fn is_frame(text: &str) -> bool {
    FRAMES.contains(&text) || is_report_frame(text) || headed_type(text).is_some()
}

/// The type of artifacts that a frame is the heading of.
pub(super) fn headed_type(text: &str) -> Option<Label> {
    Label::ALL.into_iter().find(|label| artifact_heading(*label) == text)
}
