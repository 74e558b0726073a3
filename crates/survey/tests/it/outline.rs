#![allow(clippy::expect_used, reason = "what tests share may fail them")]

use std::fmt::Write as _;

use proptest::prelude::*;

use sequester_core::outliner::{Outliner, Symbol};
use sequester_core::path::RepoPath;
use sequester_survey::Outlines;

fn outline(path: &str, text: &str) -> Vec<Symbol> {
    let path = RepoPath::parse(path).expect("a path inside");
    let symbols = Outlines.outline(&path, text);
    for symbol in &symbols {
        let shown = text.get(symbol.bytes.clone()).expect("bytes on character borders");
        let whole = symbol.bytes.start == 0 || text.as_bytes()[symbol.bytes.start - 1] == b'\n';
        assert!(whole && !shown.is_empty(), "{symbol:?} starts inside a line");
        assert!(symbol.signature.chars().count() <= 200, "{symbol:?}");
        assert_eq!(shown.lines().count() as u32, symbol.lines.1 + 1 - symbol.lines.0, "{symbol:?}");
    }
    assert!(symbols.is_sorted_by_key(|symbol| symbol.lines.0));
    symbols
}

/// `first-last kind name`, indented by depth.
fn shown(path: &str, text: &str) -> String {
    outline(path, text).iter().fold(String::new(), |mut all, symbol| {
        let pad = "  ".repeat(symbol.depth as usize);
        let (first, last) = symbol.lines;
        let _ = writeln!(all, "{pad}{first}-{last} {} {}", symbol.kind, symbol.name);
        all
    })
}

fn signatures(path: &str, text: &str) -> Vec<String> {
    outline(path, text).into_iter().map(|symbol| symbol.signature).collect()
}

#[test]
fn rust_is_outlined() {
    let expected = "\
5-6 constant ROOM
8-12 struct Jar
14-16 trait Hold
  15-15 method hold
18-24 impl Hold for Vec<Jar>
  19-23 method hold
26-32 impl fmt::Display for Jar
  27-31 method fmt
    29-29 function helper
34-34 enum Lid
36-44 function close
46-48 module inner
  47-47 type Row
50-52 macro jar
";
    assert_eq!(shown("shelf.rs", include_str!("../fixtures/outline/shelf.rs")), expected);
}

#[test]
fn python_is_outlined() {
    let expected = "\
4-5 variable ROOM
8-19 class Jar
  13-14 method __init__
  16-19 method long
22-30 function close
  27-28 function inner
";
    assert_eq!(shown("shelf.py", include_str!("../fixtures/outline/shelf.py")), expected);
}

#[test]
fn typescript_is_outlined() {
    let expected = "\
3-7 interface Jar
  6-6 method open
9-9 type Row
11-27 class Shelf
  14-14 method constructor
  16-20 method add
  22-22 method close
  24-26 method handle
29-29 constant ROOM
31-33 function close
35-35 function open
37-39 enum Lid
41-43 module \"jars\"
  42-42 function lid
45-47 namespace Inner
  46-46 constant y
";
    assert_eq!(shown("shelf.ts", include_str!("../fixtures/outline/shelf.ts")), expected);
}

#[test]
fn javascript_is_outlined() {
    let expected = "\
1-1 constant React
3-5 function exports.load
7-7 function rows
9-13 class Shelf
  10-12 method render
15-15 function Jar
";
    assert_eq!(shown("shelf.jsx", include_str!("../fixtures/outline/shelf.jsx")), expected);
}

#[test]
fn go_is_outlined() {
    let expected = "\
5-5 constant room
8-8 constant tin
9-9 constant cork
12-15 struct Jar
17-19 interface Holder
21-21 variable ErrFull
23-27 method Hold
29-31 function Open
";
    assert_eq!(shown("shelf.go", include_str!("../fixtures/outline/shelf.go")), expected);
}

#[test]
fn java_is_outlined() {
    let expected = "\
5-21 class Shelf
  10-11 constructor Shelf
  13-16 method hold
  18-18 enum Lid
  20-20 record Row
23-25 interface Holder
  24-24 method hold
";
    assert_eq!(shown("Shelf.java", include_str!("../fixtures/outline/Shelf.java")), expected);
}

#[test]
fn kotlin_is_outlined() {
    let expected = "\
3-3 property ROOM
5-18 class Jar
  7-8 property long
  10-13 method open
  15-17 object companion
    16-16 method of
20-22 interface Holder
  21-21 method hold
24-26 object Shelf
  25-25 method hold
28-28 enum Lid
30-30 type Row
32-32 function close
";
    assert_eq!(shown("Shelf.kt", include_str!("../fixtures/outline/Shelf.kt")), expected);
}

#[test]
fn c_is_outlined() {
    let expected = "\
4-4 macro LONG
6-10 struct jar
12-14 type shelf_t
16-16 enum lid
20-20 function shelf_add
22-30 function shelf_label
";
    assert_eq!(shown("shelf.c", include_str!("../fixtures/outline/shelf.c")), expected);
}

#[test]
fn c_plus_plus_is_outlined() {
    let expected = "\
4-24 namespace shelf
  6-13 class Jar
    9-9 method Jar
    10-10 method ~Jar
    11-11 method open
  15-18 function close
  20-20 type Row
  22-22 enum Lid
26-27 method shelf::Jar::Jar
29-29 function operator==
";
    assert_eq!(shown("shelf.hpp", include_str!("../fixtures/outline/shelf.hpp")), expected);
}

#[test]
fn c_sharp_is_outlined() {
    let expected = "\
3-29 namespace Shelves
  5-7 record Jar
  9-12 interface IHold
    11-11 method Hold
  14-24 class Shelf
    16-16 property Room
    18-21 constructor Shelf
    23-23 method Hold
  26-26 struct Row
  28-28 enum Lid
";
    assert_eq!(shown("Shelf.cs", include_str!("../fixtures/outline/Shelf.cs")), expected);
}

#[test]
fn ruby_is_outlined() {
    let expected = "\
1-16 module Shelves
  3-3 constant ROOM
  5-15 class Jar
    7-9 method of
    11-14 method long?
18-20 method open
";
    assert_eq!(shown("shelf.rb", include_str!("../fixtures/outline/shelf.rb")), expected);
}

#[test]
fn php_is_outlined() {
    let expected = "\
3-3 namespace Shelves
5-8 interface Holder
  7-7 method hold
10-24 class Shelf
  16-16 constant ROOM
  20-23 method hold
26-28 trait Opens
30-33 enum Lid
35-37 function close
";
    assert_eq!(shown("shelf.php", include_str!("../fixtures/outline/shelf.php")), expected);
}

#[test]
fn a_signature_is_the_text_up_to_the_body_on_one_line() {
    let rust = signatures("shelf.rs", include_str!("../fixtures/outline/shelf.rs"));
    assert!(rust.contains(
        &"pub async fn close<T>( jar: &Jar, lid: T, ) -> Result<(), T> where T: Clone,".to_owned()
    ));
    assert!(rust.contains(&"pub const ROOM: usize = 12".to_owned()));
    let script = signatures("shelf.ts", include_str!("../fixtures/outline/shelf.ts"));
    assert!(script.contains(&"export const close = async (jar: Jar): Promise<boolean>".to_owned()));
    let c = signatures("shelf.c", include_str!("../fixtures/outline/shelf.c"));
    assert!(c.contains(&"typedef struct … shelf_t".to_owned()));
}

#[test]
fn a_header_is_read_in_the_language_it_is_written_in() {
    assert_eq!(shown("a.h", "int open(int jar);\n"), "1-1 function open\n");
    let shelf = "namespace jars {\nclass Shelf {\n  void open();\n};\n}\n";
    assert_eq!(shown("a.h", shelf), "1-5 namespace jars\n  2-4 class Shelf\n    3-3 method open\n");
}

#[test]
fn text_that_does_not_parse_still_gives_what_it_can() {
    let broken = "fn close(jar: Jar) {}\n\nfn open(= { ; }\n\nstruct Jar {\n    lid: u8,\n}\n";
    let found = shown("a.rs", broken);
    assert!(found.contains("function close") && found.contains("struct Jar"), "{found}");
}

#[test]
fn other_languages_get_a_plain_outline() {
    let shell = "#!/bin/sh\nopen() {\n  echo jar\n}\nfunction close {\n  :\n}\n";
    assert_eq!(shown("a.sh", shell), "2-4 function open\n5-7 function close\n");
    let text = "# Jars\n\n```sh\n# not a heading\n```\n\n### Lids\n\n## Rows\n";
    assert_eq!(shown("a.md", text), "1-9 heading Jars\n  7-8 heading Lids\n  9-9 heading Rows\n");
    let tables = "create or replace view open as select 1;\nCREATE TABLE IF NOT EXISTS jars (\n  id int\n);\n";
    assert_eq!(shown("a.sql", tables), "1-1 view open\n2-4 table jars\n");
    assert_eq!(
        shown("a.yml", "on: push\njobs:\n  build:\n    x: 1\n"),
        "1-1 key on\n2-4 key jobs\n"
    );
    assert_eq!(shown("a.toml", "[jar]\nlid = 1\n[[row]]\n"), "1-2 table jar\n3-3 table row\n");
    let elixir = "defmodule Jars do\n  def open(jar) do\n    jar\n  end\nend\n";
    assert_eq!(shown("a.ex", elixir), "1-5 module Jars\n  2-5 function open\n");
    assert_eq!(shown("empty.xyz", ""), "");
}

const EXTENSIONS: [&str; 17] = [
    "rs", "py", "ts", "tsx", "js", "go", "java", "kt", "c", "cpp", "cs", "rb", "php", "txt", "md",
    "sql", "yml",
];

#[test]
fn hostile_text_ends_and_never_panics() {
    let deep = "(".repeat(50_000);
    let wide = "fn a() {}\n".repeat(8_000);
    let torn = "class { def fn (((\u{0} \u{feff}é\r\n".repeat(1_000);
    let line = "x".repeat(1 << 20);
    for extension in EXTENSIONS {
        for text in [&deep, &wide, &torn, &line, &String::new()] {
            outline(&format!("a.{extension}"), text);
        }
    }
}

#[test]
fn text_past_the_limit_gets_the_plain_outline() {
    let text = format!("fn open() {{}}\n{}", "// jar\n".repeat(200_000));
    assert_eq!(outline("a.rs", &text).len(), 1);
}

#[test]
fn symbols_of_broken_text_stand_in_the_order_of_their_lines() {
    for extension in EXTENSIONS {
        outline(&format!("a.{extension}"), "const \r\nfn ::fn class =>def ::fn ");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_has_whole_lines_for_symbols(text in "(fn |class |def |func |interface |const |a|é|::|=>|[(){};:,.=<>#@/*\"' \n\t]|\r\n){0,60}") {
        for extension in EXTENSIONS {
            outline(&format!("a.{extension}"), &text);
        }
    }
}
