use proptest::prelude::*;

use super::profiles::SOURCES;
use super::*;
use crate::fault::FileFault;
use crate::source::Source;

fn built_in(name: &str) -> Profile {
    Profiles::built_in().get(name).unwrap().clone()
}

fn tools(profile: &Profile) -> String {
    profile.tools.iter().map(Grant::to_string).collect::<Vec<_>>().join(" ")
}

fn repository(texts: &[&str]) -> (Profiles, Vec<String>) {
    read(texts, Origin::Repository)
}

fn read(texts: &[&str], origin: fn(String) -> Origin) -> (Profiles, Vec<String>) {
    let sources: Vec<Source> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| Source { origin: origin(format!("{at}.yaml")), text: (*text).to_owned() })
        .collect();
    let (profiles, faults) = Profiles::read(&sources);
    let told = faults.iter().map(|one| {
        let (fault, place) = (&one.fault, one.fault.place);
        format!("{}:{}:{} {:?} {}", one.file, place.line, place.column, fault.code, fault.message)
    });
    (profiles, told.collect())
}

#[test]
fn built_in_profiles_grant_exactly_what_is_promised() {
    assert_eq!(Profiles::built_in().iter().count(), SOURCES.len());
    for (name, granted) in [
        ("read-only", "Read Grep Glob Bash"),
        ("research", "Read Grep Glob Bash WebFetch WebSearch? mcp__*?"),
        ("validate", "Read Grep Glob Bash"),
        ("writer", "Read Grep Glob Bash Write Edit"),
        ("full-access", "Read Grep Glob Bash Write Edit WebFetch WebSearch? mcp__*? Task"),
    ] {
        let profile = built_in(name);
        assert_eq!(tools(&profile), granted, "{name}");
        assert_eq!(profile.confinement.as_str(), name);
        assert!(profile.hosts.is_empty() && profile.limits.is_empty(), "{name}");
        assert_eq!(profile.grants("Task"), name == "full-access");
    }
}

#[test]
fn each_guarantee_is_required_by_the_profiles_that_need_it() {
    let needing = |guarantee| -> Vec<&str> {
        let all = Confinement::ALL.map(Confinement::as_str);
        all.into_iter().filter(|name| built_in(name).guarantees().contains(&guarantee)).collect()
    };
    assert_eq!(needing(Guarantee::NoNetwork), ["read-only", "validate", "writer"]);
    assert_eq!(needing(Guarantee::NamedHosts), ["research", "full-access"]);
    assert_eq!(needing(Guarantee::PrivateWorkspace), ["writer", "full-access"]);
    assert_eq!(needing(Guarantee::ProtectedNames), ["writer", "full-access"]);
    assert_eq!(needing(Guarantee::CopyOnWrite), ["validate"]);
    assert_eq!(needing(Guarantee::DiskLimit), ["validate", "writer", "full-access"]);
    assert_eq!(needing(Guarantee::TreeKill).len(), 5);
}

#[test]
fn a_tool_that_cannot_be_had_is_an_error_and_an_optional_one_is_said() {
    let research = built_in("research");
    let had = ["Bash", "Edit", "Glob", "Grep", "Read", "WebFetch", "mcp__b__y", "mcp__a__x"];
    let resolved = research.resolve(&had).unwrap();
    assert_eq!(
        resolved.listed,
        ["Read", "Grep", "Glob", "Bash", "WebFetch", "mcp__a__x", "mcp__b__y"]
    );
    assert_eq!(resolved.absent, ["WebSearch"]);
    let error = research.resolve(&had[..5]).unwrap_err();
    let missing = Error::MissingTool { tool: "WebFetch".into(), profile: "research".into() };
    assert_eq!(error, missing);
}

#[test]
fn a_profile_of_the_repository_narrows_what_it_extends() {
    let narrow = "name: careful\r\nextends: tidy\r\nlimits: {turns: 10, wall: 5m}\r\n";
    let tidy = "\u{feff}name: tidy\nextends: writer\ntools: [Read, Edit]\n";
    let (profiles, faults) = repository(&[narrow, tidy]);
    assert_eq!(faults, Vec::<String>::new());
    let careful = profiles.get("careful").unwrap();
    assert_eq!(tools(careful), "Read Edit");
    assert_eq!(careful.confinement, Confinement::Writer);
    assert_eq!(careful.limits, [(Limit::Turns, 10), (Limit::Wall, 300)].into());
    assert_eq!(careful.description, built_in("writer").description);
}

#[test]
fn a_profile_of_the_repository_that_widens_is_refused_where_it_does() {
    let wide = [
        "name: a\nextends: read-only\ntools:\n  - Read\n  - Write\n",
        "name: b\nextends: research\nhosts: [example.com]\n",
        "name: c\nextends: writer\nlimits:\n  wall: 2h\n",
        "name: d\nextends: full-access\ntools: [Read]\n",
    ];
    let (profiles, faults) = repository(&wide);
    assert_eq!(profiles, *Profiles::built_in());
    assert_eq!(
        faults,
        [
            "0.yaml:5:5 WidenedProfile `a` asks for the tool `Write`, which `read-only` does not grant.",
            "1.yaml:3:9 WidenedProfile `b` asks for the host `example.com`, which `research` does not grant.",
            "2.yaml:4:3 WidenedProfile `c` asks for a higher limit `wall`, which `writer` does not grant.",
            "3.yaml:2:10 WidenedProfile `d` is made from `full-access`, which a repository cannot ask for.",
        ]
    );
}

#[test]
fn a_refusal_has_a_place_in_the_file_where_nothing_is_extended_too() {
    let places = |text: &str| -> Vec<String> {
        repository(&[text]).1.iter().map(|one| one[..one.find(' ').unwrap()].to_owned()).collect()
    };
    let tools = "[Read, Grep, Glob, Bash, Write, Edit, WebFetch, Task]";
    assert_eq!(places(&format!("name: a\ntools: {tools}\n")), ["0.yaml:2:9"]);
    assert_eq!(places("description: x\nname: a\ntools: ['*']\n"), ["0.yaml:2:7"]);
}

#[test]
fn all_that_a_profile_asks_for_is_told() {
    let wide = "name: a\nextends: research\nhosts: [docs.rs, evil.example]\ntools: [Read, Write]\nlimits: {wall: 9h}\n";
    let told: Vec<String> =
        repository(&[wide]).1.iter().map(|one| one.replace("WidenedProfile ", "")).collect();
    assert_eq!(
        told,
        [
            "0.yaml:3:9 `a` asks for the host `docs.rs`, which `research` does not grant.",
            "0.yaml:3:18 `a` asks for the host `evil.example`, which `research` does not grant.",
            "0.yaml:4:15 `a` asks for the tool `Write`, which `research` does not grant.",
            "0.yaml:5:10 `a` asks for a higher limit `wall`, which `research` does not grant.",
        ]
    );
}

#[test]
fn who_is_trusted_inherits_only_from_who_is_trusted() {
    let source = |origin: Origin, text: &str| Source { origin, text: text.to_owned() };
    let a = "name: a\nextends: b\nhosts: [docs.example.com]\n";
    let b = "name: b\nextends: writer\n";
    for heir in [Origin::Accepted("a.yaml".into()), Origin::User("a.yaml".into())] {
        let parent = |origin: Origin| {
            let (profiles, faults) = Profiles::read(&[source(heir.clone(), a), source(origin, b)]);
            let told: Vec<_> = faults.iter().map(|one| (one.fault.code, one.fault.place)).collect();
            (profiles.get("a").is_ok(), told)
        };
        assert_eq!(parent(Origin::Accepted("b.yaml".into())), (true, Vec::new()));
        let place = crate::fault::Place { line: 2, column: 10 };
        let refused = (false, vec![(Code::WidenedProfile, place)]);
        assert_eq!(parent(Origin::Repository("b.yaml".into())), refused);
    }
}

#[test]
fn nobody_takes_the_name_of_a_profile_that_is_trusted() {
    let source = |origin: Origin, text: &str| Source { origin, text: text.to_owned() };
    let (profiles, faults) = Profiles::read(&[
        source(Origin::Repository("0.yaml".into()), "name: a\nextends: writer\n"),
        source(Origin::Accepted("1.yaml".into()), "name: a\nextends: research\n"),
    ]);
    assert_eq!(profiles.get("a").unwrap().confinement, Confinement::Research);
    assert_eq!(faults[0].file, "0.yaml");
}

#[test]
fn the_user_may_widen_but_only_full_access_spawns() {
    let (profiles, faults) = read(
        &[
            "name: packages\nextends: writer\nhosts: [\"*.crates.io\"]\nlimits: {wall: 2h}\n",
            "name: boss\nextends: writer\ntools: [Read, Task]\n",
        ],
        Origin::User,
    );
    let packages = profiles.get("packages").unwrap();
    assert!(packages.guarantees().contains(&Guarantee::NamedHosts));
    assert_eq!(
        faults,
        [
            "1.yaml:3:15 WidenedProfile `boss` asks for the tool `Task`, which `writer` does not grant; only profiles that are made from `full-access` can."
        ]
    );
    let repository = Origin::Repository("x".into());
    assert!(profiles.get_for("packages", &Origin::BuiltIn).is_ok());
    assert!(profiles.get_for("writer", &repository).is_ok());
    for name in ["packages", "full-access"] {
        let error = profiles.get_for(name, &repository).unwrap_err();
        assert_eq!(error.code(), Code::WidenedProfile, "{name}");
    }
}

#[test]
fn a_profile_that_names_hosts_keeps_exactly_those() {
    let (profiles, faults) = read(
        &[
            "name: docs\nextends: research\nhosts: [docs.rs]\n",
            "name: heir\nextends: docs\n",
            "name: none\nextends: research\nhosts: []\n",
            "name: open\nextends: research\n",
        ],
        Origin::User,
    );
    assert_eq!(faults, Vec::<String>::new());
    let configured = ["crates.io".to_owned()];
    let hosts = |name: &str| profiles.get(name).unwrap().clone().with_hosts(&configured).hosts;
    assert_eq!(hosts("docs"), ["docs.rs"]);
    assert_eq!(hosts("heir"), ["docs.rs"]);
    assert_eq!(hosts("none"), [""; 0]);
    assert_eq!(hosts("open"), ["crates.io"]);
    assert_eq!(hosts("writer"), [""; 0]);
}

#[test]
fn what_is_no_profile_is_said_with_its_place_and_hides_no_other() {
    let (profiles, faults) = repository(&[
        "name: a\nextends: b\n",
        "name: b\nextends: a\n",
        "name: c\nextends: nowhere\n",
        "name: d\n",
        "name: read-only\nextends: writer\n",
        "name: f\nextends: writer\ntool: [Read]\ntools: [Raed, mcp__]\nlimits: {truns: 3, wall: soon}\n",
        "name: g\nextends: f\n",
        "name: [\n",
        "",
        "name: ok\nextends: read-only\ntools: [Read]\n",
    ]);
    assert_eq!(tools(profiles.get("ok").unwrap()), "Read");
    assert_eq!(
        faults,
        [
            "0.yaml:2:10 BadProfile The profile `a` extends itself in a circle.",
            "1.yaml:2:10 BadProfile The profile `b` extends itself in a circle.",
            "2.yaml:2:10 UnknownProfile `c` extends `nowhere`, which is no profile that can be used.",
            "3.yaml:1:7 BadProfile The profile `d` extends none.",
            "4.yaml:1:7 BadProfile The name `read-only` is taken (built-in).",
            "5.yaml:3:1 BadProfile `tool` is not a key that is known here.",
            "5.yaml:4:9 BadProfile There is no tool `Raed`.",
            "5.yaml:4:15 BadProfile `mcp__` is no tool of an MCP server.",
            "5.yaml:5:10 BadProfile `truns` is not a key that is known here.",
            "5.yaml:5:26 BadProfile `wall` cannot be read as a limit.",
            "6.yaml:2:10 UnknownProfile `g` extends `f`, which is no profile that can be used.",
            "7.yaml:1:7 BadProfile This is not the YAML that was expected: unclosed bracket '['.",
            "8.yaml:1:1 BadProfile A profile needs a name.",
        ]
    );
}

fn profile() -> impl Strategy<Value = Profile> {
    let confinement = prop::sample::select(Confinement::ALL.to_vec());
    let names = ["Read", "Grep", "Bash", "Write", "Task", "mcp__*", "mcp__a__*", "mcp__a__x"];
    let tools = prop::sample::subsequence(names.to_vec(), 0..4);
    let hosts = prop::sample::subsequence(vec!["*.a.org", "b.a.org", "c.org"], 0..2);
    let turns = prop::option::of(1_u64..200);
    (confinement, tools, hosts, turns).prop_map(|(confinement, tools, hosts, turns)| Profile {
        confinement,
        tools: tools.into_iter().map(|tool| Grant::parse(tool).unwrap()).collect(),
        hosts: hosts.into_iter().map(str::to_owned).collect(),
        limits: turns.map(|turns| (Limit::Turns, turns)).into_iter().collect(),
        ..built_in("read-only")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn narrowing_twice_grants_nothing_that_the_last_one_lacks(
        a in profile(), b in profile(), c in profile(),
    ) {
        let Ok(narrowed) = narrow(&a, &b).and_then(|once| narrow(&once, &c)) else {
            return Ok(());
        };
        for tool in ["Read", "Grep", "Bash", "Write", "Task", "mcp__a__x", "mcp__b__y"] {
            let both = b.grants(tool) && c.grants(tool);
            prop_assert!(!narrowed.grants(tool) || both, "{}", tool);
        }
        for host in ["b.a.org", "d.a.org", "c.org", "a.org"] {
            prop_assert!(!reaches(&narrowed.hosts, host) || reaches(&c.hosts, host), "{}", host);
        }
        prop_assert!(narrowed.limit(Limit::Turns) <= c.limit(Limit::Turns));
        prop_assert!(narrowed.confinement.is_within(c.confinement));
    }

    #[test]
    fn a_profile_is_within_itself(a in profile()) {
        prop_assume!(a.limit(Limit::Turns).is_some());
        prop_assert_eq!(narrow(&a, &a), Ok(a.clone()));
    }

    #[test]
    fn no_text_makes_reading_fail_badly(text in "(name: a\n|extends: writer\n|tools: |[\\[\\]{}a-zR,?*:\n -]){0,20}") {
        let source = Source { origin: Origin::Repository("x.yaml".into()), text };
        let (profiles, _) = Profiles::read(&[source]);
        prop_assert!(profiles.iter().count() <= 6);
    }
}

#[test]
fn under_another_a_profile_grants_what_both_grant() {
    let mut parent = built_in("full-access");
    parent.tools.retain(|tool| tool.name != "Write" && tool.name != "Bash");
    parent.hosts = vec!["docs.example.org".to_owned()];
    parent.limits.insert(Limit::Turns, 10);
    let mut child = built_in("full-access");
    child.hosts = vec!["*.example.org".to_owned(), "elsewhere.org".to_owned()];
    child.limits.insert(Limit::Turns, 40);
    child.limits.insert(Limit::Wall, 60);
    let under = child.under(&parent);
    assert_eq!(under.tools, parent.tools);
    assert_eq!(under.hosts, ["docs.example.org"]);
    assert_eq!(under.limits, BTreeMap::from([(Limit::Turns, 10), (Limit::Wall, 60)]));
    let writer = built_in("writer").under(&built_in("read-only"));
    assert_eq!(writer.confinement, Confinement::ReadOnly);
    assert_eq!(writer.tools, built_in("read-only").tools);
    assert!(!under.without(TASK).grants(TASK));
}

/// A file of the repository, as people write profiles who know no `extends`.
fn plain(text: &str) -> (Profiles, Vec<FileFault>) {
    let origin = Origin::Repository(".sequester/profiles/own.yaml".to_owned());
    Profiles::read(&[Source { origin, text: text.to_owned() }])
}

#[test]
fn a_profile_without_extends_is_narrowed_from_the_smallest_that_has_its_tools() {
    for (tools, wanted) in [
        ("[Read, Grep, Glob, mcp__cclsp__get_hover]", "read-only"),
        ("[Read, WebFetch, WebSearch, \"mcp__context7__*\"]", "research"),
        ("[Read, Write, Edit, Bash, Grep, Glob, \"mcp__cclsp__*\"]", "writer"),
    ] {
        let (known, faults) = plain(&format!("name: own\ndescription: Mine.\ntools: {tools}\n"));
        assert_eq!(faults, []);
        let own = known.get("own").unwrap();
        assert_eq!(own.extends.as_deref(), Some(wanted));
        assert!(known.get_for("own", &own.origin).is_ok(), "{tools}");
        assert!(!own.grants("Task"));
    }
    let (known, _) = plain("name: own\ntools: [Read]\n");
    assert!(!known.get("own").unwrap().grants("Bash"), "what it does not name it does not have");
    let (_, faults) = plain("name: own\ntools: [All tools, Task]\n");
    assert!(faults[0].fault.code.is_trust(), "{faults:?}");
}

#[test]
fn a_narrowed_profile_may_have_a_built_in_name_and_built_in_agents_keep_theirs() {
    let (known, faults) = plain("name: read-only\ndescription: Less.\ntools: [Read, Grep]\n");
    assert_eq!(faults, []);
    assert!(!known.get("read-only").unwrap().grants("Bash"));
    assert!(known.get_for("read-only", &Origin::BuiltIn).unwrap().grants("Bash"));
    let (known, faults) = plain("name: read-only\ntools: [Read, Write]\n");
    assert_eq!(faults.len(), 1, "that is no narrower `read-only`");
    assert!(known.get("read-only").unwrap().grants("Bash"));
}
