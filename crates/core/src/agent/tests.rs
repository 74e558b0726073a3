use proptest::prelude::*;

use super::*;
use crate::profile::Profiles;
use crate::report::{Label, Phase};
use crate::source::{Origin, Source};

fn source(path: &str, text: &str) -> Source {
    Source { origin: Origin::Repository(path.to_owned()), text: text.to_owned() }
}

fn read(path: &str, text: &str) -> Registry {
    Registry::read(&[source(path, text)], Profiles::built_in())
}

/// The role of a file for Claude Code with this front matter.
fn claude(front: &str) -> Role {
    let text =
        format!("---\nname: mine\ndescription: Does things.\n{front}\n---\nYou do things.\n");
    let registry = read(".claude/agents/mine.md", &text);
    assert_eq!(registry.faults(), [], "{front}");
    registry.find("mine").unwrap().clone()
}

fn told(registry: &Registry) -> Vec<String> {
    let one = |one: &crate::fault::FileFault| {
        let (fault, place) = (&one.fault, one.fault.place);
        format!("{}:{}:{} {:?} {}", one.file, place.line, place.column, fault.code, fault.message)
    };
    registry.faults().iter().map(one).collect()
}

fn granted(role: &Role) -> String {
    let profile = role.granted(Profiles::built_in()).unwrap();
    let tools: Vec<String> = profile.tools.iter().map(ToString::to_string).collect();
    format!("{}: {}", role.profile, tools.join(" "))
}

#[test]
fn every_built_in_role_can_be_read_and_has_its_profile() {
    let listed: Vec<(&str, &str)> =
        built_in().iter().map(|role| (role.name.as_str(), role.profile.as_str())).collect();
    assert_eq!(
        listed,
        [
            ("Explore", "read-only"),
            ("Plan", "read-only"),
            ("general-purpose", "writer"),
            ("planner", "read-only"),
            ("reviewer", "read-only"),
            ("spec-reviewer", "read-only"),
            ("quality-reviewer", "read-only"),
            ("executor", "writer"),
            ("verifier", "validate"),
            ("researcher", "research"),
            ("writer", "writer"),
            ("validator", "validate"),
            ("analyzer", "read-only"),
            ("architect", "read-only"),
            ("quick-writer", "writer"),
            ("drafter", "read-only"),
            ("orchestrator", "full-access"),
        ]
    );
    let cheap = built_in().iter().filter(|role| role.model.as_deref() == Some("cheap"));
    let cheap: Vec<&str> = cheap.map(|role| role.name.as_str()).collect();
    assert_eq!(cheap, ["validator", "analyzer", "quick-writer"]);
}

#[test]
fn built_in_prompts_say_nothing_of_more_than_one_task() {
    for role in built_in() {
        let prompt = role.prompt.to_lowercase();
        for word in ["other task", "total tasks", "sibling", "next task", "the plan's tasks"] {
            assert!(!prompt.contains(word), "{} says {word:?}", role.name);
        }
    }
}

#[test]
fn a_file_of_the_project_is_a_role_like_any_other() {
    let text = "\u{feff}---\r\nname: docs-writer\r\ndescription: Writes docs.\r\nprofile: writer\r\n\
        phase: write\r\nmodel: openai/gpt-5\r\n---\r\n\r\nYou write.\r\nShortly.\r\n";
    let registry = read(".sequester/agents/docs.md", text);
    assert_eq!(registry.faults(), []);
    assert_eq!(
        registry.find("docs-writer"),
        Some(&Role {
            name: "docs-writer".into(),
            description: "Writes docs.".into(),
            profile: "writer".into(),
            tools: None,
            phase: Phase::Write,
            model: Some("openai/gpt-5".into()),
            artifacts: Vec::new(),
            origin: Origin::Repository(".sequester/agents/docs.md".into()),
            replaces: None,
            ignored: Vec::new(),
            prompt: "You write.\nShortly.\n".into(),
        })
    );
    assert!(registry.hint("nobody").ends_with("orchestrator, docs-writer."));
    assert_eq!(registry.hint("docs-witer"), "Perhaps `docs-writer` is meant.");
}

#[test]
fn an_agent_says_which_artifacts_it_owes() {
    let text = |owed: &str| {
        format!("---\nname: scout\ndescription: Looks.\nartifacts: {owed}\n---\nYou look.\n")
    };
    let registry = read(".sequester/agents/scout.md", &text("[TODO, FINDING, TODO]"));
    assert_eq!(registry.find("scout").unwrap().artifacts, [Label::Todo, Label::Finding]);
    let owed: Vec<(&str, &[Label])> = built_in()
        .iter()
        .filter(|role| !role.artifacts.is_empty())
        .map(|role| (role.name.as_str(), role.artifacts.as_slice()))
        .collect();
    assert_eq!(owed, [("researcher", [Label::Finding].as_slice())]);

    let registry = read(".sequester/agents/scout.md", &text("[FINDING, IDEA]"));
    let told = told(&registry).join("\n");
    assert!(told.contains("There is no kind of artifact `IDEA`."), "{told}");
    let hint = &registry.faults()[0].fault.hint;
    assert_eq!(hint, "The kinds are FINDING, DECISION, RESOURCE, ERROR, TODO.");
}

#[test]
fn claude_codes_tools_become_the_narrowest_profile_that_has_them() {
    for (tools, expected) in [
        ("tools: Read, Grep", "read-only: Read Grep"),
        ("tools: [Read, LS, Bash]", "read-only: Read Glob Bash"),
        ("tools:\n  - Read\n  - MultiEdit\n  - Edit", "writer: Read Edit"),
        ("tools: WebFetch, WebSearch", "research: WebFetch WebSearch?"),
        ("tools: Read, mcp__docs__search", "research: Read mcp__docs__search?"),
        ("tools: []", "read-only: "),
        ("tools: '*'", "writer: Read Grep Glob Bash Write Edit"),
        ("color: red", "writer: Read Grep Glob Bash Write Edit"),
        ("disallowedTools: Write, Bash", "writer: Read Grep Glob Edit"),
        ("tools: Read, Write\ndisallowedTools: Write", "read-only: Read"),
        ("permissionMode: plan", "read-only: Read Grep Glob Bash"),
        ("disallowedTools: MultiEdit, Write(src/**), Bash(rm:*), LS", "writer: Read Grep"),
        ("disallowedTools: '*'", "writer: "),
        (
            "profile: research\ndisallowedTools: mcp__a__x, Bash, WebFetch",
            "research: Read Grep Glob WebSearch?",
        ),
        ("tools: Read, Write\npermissionMode: plan", "read-only: Read"),
        ("profile: validate\ntools: Bash", "validate: Bash"),
    ] {
        assert_eq!(granted(&claude(tools)), expected, "{tools}");
    }
}

#[test]
fn claude_codes_other_fields_keep_their_meaning_or_are_said_to_have_none() {
    let role = claude("model: opus\ncolor: red\npermissionMode: default\ntools: Read, TodoWrite");
    assert_eq!(role.model.as_deref(), Some("strong"));
    assert_eq!(role.ignored, ["color", "permissionMode", "tools: TodoWrite"]);
    assert_eq!(role.phase, Phase::Research);
    let denied = claude("disallowedTools: TodoWrite, Dance, Bash");
    assert_eq!(denied.ignored, ["disallowedTools: TodoWrite", "disallowedTools: Dance"]);
    for (model, ours) in [
        ("sonnet", Some("default")),
        ("haiku", Some("cheap")),
        ("inherit", None),
        ("claude-opus-5", Some("anthropic/claude-opus-5")),
    ] {
        assert_eq!(claude(&format!("model: {model}")).model.as_deref(), ours, "{model}");
    }
}

#[test]
fn claude_codes_unquoted_descriptions_are_read() {
    let text =
        "---\nname: helper\ndescription: Use when: it's late #1. Example: user: \"hi\"\n---\nHi.\n";
    let registry = read(".claude/agents/helper.md", text);
    assert_eq!(registry.faults(), []);
    let description = &registry.find("helper").unwrap().description;
    assert_eq!(description, "Use when: it's late #1. Example: user: \"hi\"");
    assert_eq!(read(".sequester/agents/helper.md", text).faults().len(), 1);
    let sly = text.replace("\n---\nHi", "\ntools: Task\n---\nHi");
    let place = read(".claude/agents/helper.md", &sly).faults()[0].fault.place;
    assert_eq!((place.line, place.column), (4, 8));
}

#[test]
fn a_later_file_takes_the_place_of_an_earlier_one_and_says_so() {
    let explore = "---\nname: Explore\ndescription: Ours.\ntools: Read\n---\nLook.\n";
    let sources = [
        source(".claude/agents/a.md", explore),
        source(".claude/agents/b.md", explore),
        source(".sequester/agents/a.md", &explore.replace("Ours", "Newest")),
    ];
    let registry = Registry::read(&sources, Profiles::built_in());
    let role = &registry.roles()[0];
    assert_eq!((role.name.as_str(), role.description.as_str()), ("Explore", "Newest."));
    assert_eq!(role.replaces, Some(sources[0].origin.clone()));
    assert_eq!(registry.roles().len(), built_in().len());
    assert_eq!(
        told(&registry),
        [".claude/agents/b.md:1:1 BadAgent The name `Explore` is that of .claude/agents/a.md too."]
    );
}

#[test]
fn a_file_with_a_built_in_agents_name_never_widens_that_agent() {
    let text = |more: &str| format!("---\nname: reviewer\ndescription: Ours.\n{more}---\nLook.\n");
    let path = ".claude/agents/reviewer.md";
    let role = |more: &str| read(path, &text(more));
    let accepted = |more: &str| {
        let source = Source { origin: Origin::Accepted(path.to_owned()), text: text(more) };
        Registry::read(&[source], Profiles::built_in())
    };
    for (more, phase) in [
        ("", Phase::Review),
        ("tools: Read\n", Phase::Review),
        ("profile: read-only\nphase: analyze\n", Phase::Analyze),
    ] {
        let registry = accepted(more);
        let found = registry.find("reviewer").unwrap();
        assert_eq!(registry.faults(), []);
        assert_eq!((found.profile.as_str(), found.phase), ("read-only", phase), "{more}");
        assert_eq!(found.description, "Ours.");
        // Nobody's repository judges itself.
        let registry = role(more);
        assert_eq!(registry.find("reviewer").unwrap().origin, Origin::BuiltIn, "{more}");
        assert!(told(&registry).join("\n").contains("UntrustedSetting"), "{more}");
    }
    for (more, asked) in [
        ("tools: Read, Write\n", "the jail of `writer`"),
        ("profile: writer\n", "the jail of `writer`"),
        ("profile: validate\n", "the jail of `validate`"),
    ] {
        let registry = role(more);
        assert_eq!(registry.find("reviewer").unwrap().origin, Origin::BuiltIn, "{more}");
        let told = told(&registry).join("\n");
        assert!(told.contains("WidenedProfile") && told.contains("built-in `reviewer`"), "{told}");
        assert!(told.contains(asked) && told.contains("`read-only`"), "{told}");
    }
}

#[test]
fn what_is_wrong_has_a_place_and_hides_no_other_file() {
    let head = "---\nname: x\ndescription: d\n";
    let files = [
        "You are an agent.".to_owned(),
        "---\nname: x\n".to_owned(),
        "---\ncolour: red\n---\n".to_owned(),
        format!("{head}phase: dance\nprofile: none\n---\n"),
        format!("{head}tools: Grpe, Bash(git diff:*)\n---\n"),
        format!("{head}tools:\n---\n"),
        format!("{head}profile: read-only\ntools: [Edit]\n---\n"),
        format!("{head}profile: full-access\n---\n"),
        format!("{head}tools: Write, WebFetch\n---\n"),
        "---\nname: a=b\ndescription: d\n---\n".to_owned(),
        "---\nname: fine\ndescription: d\n---\n".to_owned(),
    ];
    let sources: Vec<Source> =
        files.iter().enumerate().map(|(at, text)| source(&format!("{at:02}.md"), text)).collect();
    let registry = Registry::read(&sources, Profiles::built_in());
    assert!(registry.find("fine").is_some() && registry.find("x").is_none());
    assert_eq!(
        told(&registry),
        [
            "00.md:1:1 BadAgent An agent's file begins with front matter between `---` lines.",
            "01.md:1:1 BadAgent The front matter is not closed by `---`.",
            "02.md:2:1 BadAgent `colour` is not a key that is known here.",
            "02.md:2:1 BadAgent An agent needs a name.",
            "02.md:2:1 BadAgent An agent needs a description.",
            "03.md:4:8 BadAgent There is no phase `dance`.",
            "03.md:5:10 UnknownProfile There is no profile `none`.",
            "04.md:4:8 BadAgent There is no tool `Grpe`.",
            "04.md:4:8 BadAgent `Bash(git diff:*)` cannot be kept to.",
            "05.md:4:6 BadAgent `tools` must be a list of texts.",
            "06.md:4:10 WidenedProfile `x` asks for the tool `Edit`, which `read-only` does not grant.",
            "07.md:4:10 WidenedProfile A repository cannot ask for `full-access`.",
            "08.md:4:8 WidenedProfile Its tools are found together only in `full-access`, which a repository cannot ask for.",
            "09.md:2:7 BadAgent This cannot be an agent's name.",
        ]
    );
}

proptest! {
    #[test]
    fn no_text_makes_reading_fail_badly(
        text in "(---\r?\n|name: a\n|description: b: c\n|tools: |profile: |Task|Read|[\\[\\]{}a-z,?*:'\"\n -]){0,24}",
    ) {
        for path in [".claude/agents/x.md", ".sequester/agents/x.md"] {
            let registry = read(path, &text);
            for role in registry.roles().iter().skip(built_in().len()) {
                let profile = role.granted(Profiles::built_in()).unwrap();
                prop_assert!(!profile.grants("Task"));
            }
        }
    }
}
