//! Words of Claude Code's agent files, and what they mean here.

/// What a tool's name stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tool<'a> {
    Named(&'a str),
    /// All that an agent can have.
    All,
    /// Belongs to that program alone; leaving it out takes nothing from the work.
    Foreign,
    /// Bash for some commands only: here the jail decides what a command may do, so that cannot be kept to.
    Restricted,
}

pub(super) fn tool(name: &str) -> Tool<'_> {
    let (bare, restricted) = match name.split_once('(') {
        Some((bare, _)) => (bare, true),
        None => (name, false),
    };
    match bare {
        "*" => Tool::All,
        "Task" | "Agent" => Tool::Named("Task"),
        _ if restricted => Tool::Restricted,
        "LS" => Tool::Named("Glob"),
        "NotebookRead" => Tool::Named("Read"),
        "MultiEdit" | "NotebookEdit" => Tool::Named("Edit"),
        _ if FOREIGN.contains(&bare) => Tool::Foreign,
        _ => Tool::Named(bare),
    }
}

const FOREIGN: [&str; 20] = [
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "KillBash",
    "KillShell",
    "ListMcpResourcesTool",
    "LSP",
    "ReadMcpResourceTool",
    "Skill",
    "SlashCommand",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];

/// A model's name there as one of ours; nothing for the one that everybody gets.
pub(super) fn model(name: &str) -> Option<String> {
    Some(match name {
        "inherit" => return None,
        "opus" => "strong".to_owned(),
        "sonnet" => "default".to_owned(),
        "haiku" => "cheap".to_owned(),
        full if full.starts_with("claude-") => format!("anthropic/{full}"),
        other => other.to_owned(),
    })
}

/// Front matter as that program forgives it: a text with `: ` in it need not be quoted. Lines stay where they are.
pub(super) fn quote(front: &str) -> String {
    let line = |line: &str| {
        let end = line.len() - line.trim_end_matches(['\r', '\n']).len();
        let (text, end) = line.split_at(line.len() - end);
        let (key, value) = text.split_once(": ").unwrap_or((text, ""));
        let value = value.trim();
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let plain = !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!']);
        if is_key && plain && (value.contains(": ") || value.contains(" #")) {
            return format!("{key}: '{}'{end}", value.replace('\'', "''"));
        }
        line.to_owned()
    };
    front.split_inclusive('\n').map(line).collect()
}
