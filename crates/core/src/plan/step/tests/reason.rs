//! What stands in the way of a step is told as it is.

use super::*;

#[test]
fn what_no_change_may_hold_is_told_before_anything_is_done() {
    for text in [
        "Create `.github/workflows/ci.yml`:\n\n```yaml\non: push\n```\n",
        "Delete `.vscode/settings.json`.",
        "Rename `a.json` to `.mcp.json`.",
        "Create `.env`:\n\n```\nA=1\n```\n",
    ] {
        unclear(text, "no change may hold `.");
    }
    same("Delete `.github/CODEOWNERS`.", &["delete .github/CODEOWNERS"]);
}
