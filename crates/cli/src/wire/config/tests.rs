use sequester_core::agent;
use sequester_core::profile::Profiles;
use sequester_core::source::Source;

use super::*;

fn repository() -> Origin {
    Origin::Repository("sequester.toml".to_owned())
}

fn user() -> Origin {
    Origin::User("config.toml".to_owned())
}

/// The built-in agents, and one whose file cannot be used.
fn agents() -> Registry {
    let origin = Origin::Repository(".sequester/agents/broken.md".to_owned());
    Registry::read(&[Source { origin, text: String::new() }], Profiles::built_in())
}

fn parse(text: &str, origin: &Origin) -> Config {
    let (config, faults) = Config::parse(text, origin, &agents());
    assert_eq!(faults, [], "{text}");
    config
}

fn faults(text: &str, origin: &Origin) -> Vec<String> {
    let told = Config::parse(text, origin, &agents()).1;
    told.iter()
        .map(|one| {
            let (fault, place) = (&one.fault, one.fault.place);
            format!(
                "{}:{} {} {} {}",
                place.line, place.column, fault.code, fault.message, fault.hint
            )
        })
        .collect()
}

fn settings(repository_text: &str, user_text: &str) -> Settings {
    let (repository, user) = (parse(repository_text, &repository()), parse(user_text, &user()));
    Settings::of(repository, &self::repository(), user)
}

#[test]
fn every_key_is_read() {
    let text = "model = \"a/b\"\nhosts = [\"crates.io\"]\nsearch = \"provider\"\njobs = 3\nprotected.grant = [\"Jenkinsfile\"]\n\
        [models]\nstrong = \"a/big\"\n[agents.reviewer]\nmodel = \"a/c\"\n[limits]\nwall = \"2h\"\nturns = 200\n\
        [keys]\nanthropic = \"pass show key\"\n[checks]\ntests = \"make\"\n[records]\nnotes = false\n";
    let one = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    let config = parse(text, &user());
    assert_eq!(config.later.keys().collect::<Vec<_>>(), ["jobs", "records"]);
    assert_eq!(config.grants.iter().collect::<Vec<_>>(), ["Jenkinsfile"]);
    assert_eq!(
        config,
        Config {
            model: Some("a/b".into()),
            models: one("strong", "a/big"),
            agents: one("reviewer", "a/c"),
            limits: [(Limit::Turns, 200), (Limit::Wall, 7_200)].into(),
            hosts: vec!["crates.io".into()],
            grants: config.grants.clone(),
            search: Some("provider".into()),
            keys: one("anthropic", "pass show key"),
            checks: [("tests".to_owned(), vec!["make".to_owned()])].into(),
            later: config.later.clone(),
        }
    );
}

#[test]
fn all_that_is_wrong_is_said_with_its_place_and_what_may_be_meant() {
    let text = "modle = \"x\"\nmodel = 3\n[limits]\n  truns = 4\nwall = \"soon\"\ncontext = 200000\n[models]\nweak = \"x\"\n\
        [agents]\nreviewer = \"x\"\n";
    assert_eq!(
        faults(text, &user()),
        [
            "1:1 SQ0255 `modle` is not a key that is known here. Perhaps `model` is meant.",
            "2:9 SQ0255 `model` must be a text. Write `model = \"...\"`.",
            "4:3 SQ0255 `truns` is not a key that is known here. Perhaps `turns` is meant.",
            "5:8 SQ0255 `limits.wall` cannot be read. Write a time such as `90s`, `10m` or `1h`.",
            "6:1 SQ0255 `limits.context` is above 100000. Set a smaller number.",
            "8:1 SQ0255 `weak` is not a key that is known here. The keys here are `strong`, `cheap`, `default`.",
            "10:12 SQ0255 `reviewer` must be a table. Write `[reviewer]`, then its keys.",
        ]
    );
    assert!(
        faults("model = \n", &user())[0].starts_with("1:"),
        "{:?}",
        faults("model = \n", &user())
    );
    assert_eq!(faults(&"x = 1\n".repeat(2), &user()).len(), 1);
}

#[test]
fn a_way_to_share_that_there_is_not_is_said_where_it_stands() {
    let told = "1:9 SQ0255 `share` has no such value. Write `needs`, `none`, `all-earlier`.";
    assert_eq!(faults("share = \"siblings\"\n", &repository()), [told]);
    assert_eq!(
        faults("share = 1\n", &user()),
        ["1:9 SQ0255 `share` must be a text. Write `share = \"...\"`."]
    );
    assert_eq!(settings("share = \"none\"", "share = \"needs\"").share(), Share::None);
}

#[test]
fn checks_that_cannot_be_run_are_said_where_they_stand() {
    assert_eq!(
        faults("checks = [\"python3 -m unittest\"]\n", &repository()),
        ["1:10 SQ0255 `checks` must be a table. Write `[checks]`, then its keys."]
    );
    assert_eq!(
        faults("[checks]\ntests = 5\nlint = [\"a\", \"\"]\ntest = \"b\"\n", &repository()),
        [
            "2:9 SQ0255 `tests` must be a text. Write `tests = \"...\"`.",
            "3:14 SQ0255 `lint` must be a text. Write `lint = \"...\"`.",
            "4:1 SQ0255 `test` is not a key that is known here. Perhaps `tests` is meant.",
        ]
    );
}

#[test]
fn a_number_of_jobs_that_is_none_is_said_where_it_stands() {
    for wrong in ["0", "-1", "\"2\"", "100000", "1.5"] {
        let found = faults(&format!("jobs = {wrong}\n"), &repository());
        let told = "1:8 SQ0255 `jobs` must be a number from 1 to 256. Write `jobs = 4`.";
        assert_eq!(found, [told], "{wrong}");
    }
    assert_eq!(settings("jobs = 3", "jobs = 5").jobs(), 3);
}

#[test]
fn what_is_no_host_is_said_where_it_stands() {
    let text = "hosts = [\"crates.io\",\n  \"https://docs.rs/\", 3]\n[limits]\nreports = \"1M\"\nsumary = 900\n";
    let found = faults(text, &user());
    let places: Vec<&str> = found.iter().map(|one| one.split(' ').next().unwrap()).collect();
    assert_eq!(places, ["2:3", "2:23", "4:1", "5:1"], "{found:?}");
    assert!(found[0].contains("`https://docs.rs/` is no host."), "{found:?}");
}

#[test]
fn an_agent_that_is_not_there_is_said_where_it_stands() {
    let text = "[agents]\nbroken.model = \"a/b\"\nnope.model = \"a/b\"\nreviwer.model = \"a/b\"\n";
    let slip = "4:1 SQ0005 There is no agent `reviwer`. Perhaps `reviewer` is meant.";
    let found = faults(text, &repository());
    assert!(found[0].starts_with("3:1 SQ0005 There is no agent `nope`. Known agents are Explore"));
    assert_eq!(found[1..], [slip]);
    // It may be one of another repository.
    assert_eq!(faults(text, &user()), [slip]);
}

#[test]
fn a_search_without_a_place_for_the_query_is_said_where_it_stands() {
    for search in ["http://h/s", "h/{query}", "http://[", "https://{query}/"] {
        let found = faults(&format!("\nsearch = \"{search}\"\n"), &user());
        assert!(found[0].starts_with("2:10 SQ0255") && found[0].contains("{query}"), "{found:?}");
    }
    parse("search = \"http://h/s?q={query}\"\n", &user());
}

#[test]
fn the_repository_cannot_set_what_only_the_user_may() {
    let text = "hosts = [\"a\"]\nsearch = \"provider\"\n[keys]\na = \"cat /etc/passwd\"\n[limits]\nwall = \"31m\"\nturns = 80\n";
    let found = faults(text, &repository());
    let places: Vec<&str> = found.iter().map(|one| &one[..10]).collect();
    assert_eq!(places, ["1:1 SQ0256", "2:1 SQ0256", "3:2 SQ0256", "6:1 SQ0256"]);
    assert!(found[0].contains("`sequester trust`") && !found[2].contains("trust"), "{found:?}");
    assert_eq!(faults(text, &user()), Vec::<String>::new());
}

#[test]
fn the_repository_lowers_limits_and_never_raises_them() {
    let both = settings(
        "[limits]\nturns = 40\nwall = \"20m\"\nfile = 900\n",
        "[limits]\nturns = 200\nwall = \"5m\"\n",
    );
    let set = [(Limit::File, 900), (Limit::Turns, 40), (Limit::Wall, 300)];
    assert_eq!(both.set_limits(), set.into());
    assert_eq!(both.limits(), Limits { file: 900, ..Limits::default() });
}

#[test]
fn an_accepted_file_may_raise_limits_and_name_hosts_but_no_key_commands() {
    let accepted = Origin::Accepted("sequester.toml".to_owned());
    let text = "hosts = [\"a\", \"b\"]\nsearch = \"provider\"\n[limits]\nwall = \"31m\"\n";
    let own = parse("hosts = [\"b\", \"c\"]\n[limits]\nwall = \"5m\"\n", &user());
    let both = Settings::of(parse(text, &accepted), &accepted, own);
    assert_eq!(both.hosts(), ["b", "c", "a"]);
    assert_eq!(both.search(), Some("provider"));
    assert_eq!(both.set_limits(), [(Limit::Wall, 31 * 60)].into());
    assert_eq!(
        faults("[keys]\na = \"cat key\"\n", &accepted),
        [
            "1:2 SQ0256 A repository cannot set `keys`, whoever accepts it. Move it: your own configuration is `config.toml` in \
          `~/.config/sequester`, or where `XDG_CONFIG_HOME` says."
        ]
    );
    // It is no file for every repository: an agent that it names must be here.
    assert!(faults("agents.nope.model = \"a/b\"\n", &accepted)[0].contains("no agent `nope`"));
}

#[test]
fn a_model_is_taken_from_the_first_place_that_names_one() {
    let reviewer = agent::find("reviewer").unwrap();
    let writer = agent::find("writer").unwrap();
    let mine = Role { origin: repository(), model: Some("cheap".into()), ..writer.clone() };
    let both = settings(
        "model = \"r/all\"\n[agents.writer]\nmodel = \"r/writer\"\n[models]\ncheap = \"r/cheap\"\n",
        "model = \"u/all\"\n[agents.Explore]\nmodel = \"u/explore\"\n[models]\ncheap = \"u/cheap\"\nstrong = \"u/s1, u/s2\"\n",
    );
    let ask = |flags: &[&str], task: Option<&str>, role: &Role, settings: &Settings| {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        resolve_model(&flags, task, role, settings).join(" ")
    };
    let none = Settings::default();
    for (flags, task, role, settings, expected) in [
        (&["a,b", "reviewer=c"][..], Some("t"), reviewer, &both, "c"),
        (&["a,b", "reviewer=c"], Some("t"), writer, &both, "a b"),
        (&["literal,strong"], None, writer, &both, "literal u/s1 u/s2"),
        (&[], Some("t"), &mine, &both, "t"),
        (&[], None, &mine, &both, "r/cheap"),
        (&[], None, writer, &both, "r/writer"),
        (&[], None, reviewer, &both, "u/s1 u/s2"),
        (&[], None, agent::find("Explore").unwrap(), &both, "u/explore"),
        (&[], None, agent::find("Plan").unwrap(), &both, "r/all"),
        (&[], None, reviewer, &none, "strong"),
        (&[], None, writer, &none, "auto"),
        (&["default"], None, writer, &settings_with_default(), "d/d"),
    ] {
        assert_eq!(ask(flags, task, role, settings), expected, "{flags:?} {}", role.name);
    }
}

fn settings_with_default() -> Settings {
    settings("model = \"r/all\"\n", "[models]\ndefault = \"d/d\"\n")
}
