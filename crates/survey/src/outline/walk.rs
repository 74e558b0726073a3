//! One pass over a syntax tree.

use std::cell::Cell;
use std::ops::ControlFlow;

use sequester_core::outliner::Symbol;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::grammar::{Definition, Grammar, Naming};
use super::{Lines, MOST_SIGNATURE, collapse};

/// Symbols of one file.
const MOST_SYMBOLS: usize = 160_000;

/// The symbols in order of their start, or nothing if the parser gave up.
pub(super) fn outline(grammar: &Grammar, text: &str) -> Option<Vec<Symbol>> {
    let tree = parse(grammar, text)?;
    let mut walk = Walk {
        definitions: definitions_by_kind(grammar),
        wrappers: grammar
            .wrappers
            .iter()
            .map(|kind| grammar.language.id_for_node_kind(kind, true))
            .collect(),
        lines: Lines::of(text),
        symbols: Vec::new(),
        frames: vec![Frame::default()],
    };
    walk.run(&tree);
    Some(walk.symbols)
}

/// Bytes handed to the lexer at once.
const PIECE: usize = 1 << 10;

/// The parser works in steps and asks between them whether to go on, and some scanners look far ahead in each step.
/// Hostile text is stopped after a number of steps and pieces, not of seconds, so that every machine gives the same
/// outline. Of twelve thousand real files none took half of either.
fn parse(grammar: &Grammar, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).ok()?;
    let bytes = text.as_bytes();
    let most_steps = 1_000 + (bytes.len() / 10).min(19_000);
    let most_pieces = 1_000 + bytes.len() / PIECE * 12;
    let (mut steps, pieces) = (0, Cell::new(0));
    let mut go_on = |_: &ParseState| {
        steps += 1;
        if steps > most_steps || pieces.get() > most_pieces {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut piece = |at: usize, _| {
        pieces.set(pieces.get() + 1);
        let end = if pieces.get() > most_pieces { at } else { bytes.len().min(at + PIECE) };
        bytes.get(at..end).unwrap_or_default()
    };
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let tree = parser.parse_with_options(&mut piece, None, Some(options));
    tree.filter(|_| pieces.get() <= most_pieces)
}

/// Definitions at the index of their node's kind, so that a node costs one look.
fn definitions_by_kind(grammar: &Grammar) -> Vec<Option<&'static Definition>> {
    let mut table = vec![None; grammar.language.node_kind_count()];
    for definition in grammar.definitions {
        let id = grammar.language.id_for_node_kind(definition.node, true);
        if let Some(slot) = table.get_mut(usize::from(id)).filter(|_| id != 0) {
            *slot = Some(definition);
        }
    }
    table
}

/// What is known at one level of the tree.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// First and last line of the comments and attributes directly above the next node.
    lead: Option<(usize, usize)>,
    /// The last line of the node before.
    before: Option<usize>,
    /// What a wrapper lends to the one definition in it.
    lent: Option<Lent>,
    depth: u32,
    inside: Inside,
}

/// A wrapper's lines, and the byte its signature starts at. Decorators are no part of it: they may be longer than
/// what they decorate.
#[derive(Clone, Copy)]
struct Lent {
    first: usize,
    last: usize,
    byte: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    File,
    Type,
    Function,
}

struct Walk<'a> {
    definitions: Vec<Option<&'static Definition>>,
    wrappers: Vec<u16>,
    lines: Lines<'a>,
    symbols: Vec<Symbol>,
    frames: Vec<Frame>,
}

impl Walk<'_> {
    fn run(&mut self, tree: &Tree) {
        let mut cursor = tree.walk();
        while self.symbols.len() < MOST_SYMBOLS {
            let inner = self.visit(cursor.node());
            if cursor.goto_first_child() {
                self.frames.push(inner);
                continue;
            }
            while !cursor.goto_next_sibling() {
                self.frames.pop();
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Notes a node and says what its children start from.
    fn visit(&mut self, node: Node<'_>) -> Frame {
        let Some(frame) = self.frames.last_mut() else {
            return Frame::default();
        };
        let (first, last) = rows(node);
        let kind = node.kind();
        if kind.contains("comment") || kind == "attribute_item" || kind == "decorator" {
            let trails = frame.before == Some(first);
            frame.lead = match frame.lead {
                Some((start, end)) if first <= end + 1 => Some((start, last)),
                _ if trails => None,
                _ => Some((first, last)),
            };
            frame.before = frame.before.filter(|_| frame.lead.is_none());
            return *frame;
        }
        let lead = frame.lead.take().filter(|(_, end)| first <= end + 1);
        frame.before = Some(last);
        let level = *frame;
        let start = lead.map_or(first, |(start, _)| start.min(first));
        if self.wrappers.contains(&node.kind_id()) {
            let outer = level.lent.unwrap_or(Lent {
                first: start,
                last,
                byte: (node.kind() != "decorated_definition").then(|| node.start_byte()),
            });
            return Frame {
                lead: None,
                before: None,
                lent: single(node).then_some(outer),
                ..level
            };
        }
        let inner = Frame { lead: None, before: None, lent: None, ..level };
        let Some(definition) = self.definitions.get(usize::from(node.kind_id())).copied().flatten()
        else {
            return inner;
        };
        let Some((name, word)) = self.name(node, definition, level) else {
            return inner;
        };
        let rows = level.lent.map_or((start, last), |lent| (lent.first, lent.last));
        let signature = self.signature(node, level.lent, word, &name);
        let mut symbol = self.lines.symbol(name, word, rows);
        symbol.signature = signature;
        symbol.depth = level.depth;
        self.symbols.push(symbol);
        Frame { depth: level.depth + 1, inside: inside(word, level.inside), ..inner }
    }

    /// The definition's name and the word for its kind, if the node truly defines something an outline shows.
    fn name(
        &self,
        node: Node<'_>,
        definition: &Definition,
        level: Frame,
    ) -> Option<(String, &'static str)> {
        let mut word = refined(node, definition.word);
        let at = match definition.naming {
            Naming::Name => node.child_by_field_name("name")?,
            Naming::Callable | Naming::Declarator => {
                declared(node, definition.naming == Naming::Callable)?
            }
            Naming::Implementation => return Some((self.implementation(node)?, word)),
            Naming::Bound => {
                word = bound(node).or((definition.word == "constant").then_some("constant"))?;
                node.child_by_field_name("name").filter(|name| name.kind() != "object_pattern")?
            }
            Naming::Assigned => {
                callable(node.child_by_field_name("right")?.kind()).then_some(())?;
                node.child_by_field_name("left")?
            }
            Naming::Constant => node
                .child_by_field_name("left")
                .filter(|left| matches!(left.kind(), "identifier" | "constant"))?,
            Naming::Child => child_name(node)?,
            Naming::Word(name) => return Some((name.to_owned(), word)),
        };
        let specifier = node.kind().ends_with("_specifier");
        let empty = specifier && node.child_by_field_name("body").is_none();
        let local = level.inside == Inside::Function
            && (specifier || definition.node == "declaration" || binds(definition, word));
        let field = definition.naming == Naming::Constant
            && level.inside != Inside::File
            && at.kind() != "constant";
        if empty || local || field {
            return None;
        }
        if word == "function"
            && (level.inside == Inside::Type || at.kind() == "qualified_identifier")
        {
            word = "method";
        }
        let name = collapse(self.text(at.byte_range()), MOST_SIGNATURE);
        (!name.is_empty()).then_some((name, word))
    }

    fn implementation(&self, node: Node<'_>) -> Option<String> {
        let of = self.text(node.child_by_field_name("type")?.byte_range());
        let name = node
            .child_by_field_name("trait")
            .map_or_else(|| of.to_owned(), |by| format!("{} for {of}", self.text(by.byte_range())));
        Some(collapse(&name, MOST_SIGNATURE))
    }

    /// The text up to the body, on one line.
    fn signature(&self, node: Node<'_>, lent: Option<Lent>, word: &str, name: &str) -> String {
        let whole = node.byte_range();
        let start = lent.and_then(|lent| lent.byte).unwrap_or(whole.start);
        let end = body_start(node).unwrap_or_else(|| {
            let stops: &[char] = if holds_value(word) { &['{', '\n'] } else { &['{', ';'] };
            let text = self.text(whole.clone());
            whole.start + text.find(stops).unwrap_or(text.len())
        });
        let text = self.text(start..end.max(start)).trim_end();
        let text = ["=>", "=", "{", ";"]
            .iter()
            .fold(text, |text, end| text.trim_end_matches(end).trim_end());
        let signature = collapse(text, MOST_SIGNATURE);
        let named = word == "impl" || signature.ends_with('…') || signature.contains(name);
        if named { signature } else { collapse(&format!("{signature} … {name}"), MOST_SIGNATURE) }
    }

    fn text(&self, bytes: std::ops::Range<usize>) -> &str {
        self.lines.text.get(bytes).unwrap_or_default()
    }
}

/// First and last line; a node that ends at a line's start ends on the line before.
fn rows(node: Node<'_>) -> (usize, usize) {
    let (first, end) = (node.start_position().row, node.end_position());
    let last = if end.column == 0 && end.row > first { end.row - 1 } else { end.row };
    (first, last)
}

/// Whether a wrapper holds no more than one definition: a group of constants lends its lines to none of them.
fn single(node: Node<'_>) -> bool {
    let specs = (0..node.named_child_count().min(16) as u32)
        .filter_map(|at| node.named_child(at))
        .filter(|child| !child.kind().contains("comment") && child.kind() != "decorator")
        .filter(|child| !child.kind().ends_with("modifier"));
    let grouped = specs.clone().any(|child| child.kind().ends_with("_spec_list"));
    let mut kinds = specs.map(|child| child.kind());
    let first = kinds.next();
    !grouped && !kinds.any(|kind| Some(kind) == first)
}

fn inside(word: &str, outer: Inside) -> Inside {
    match word {
        "function" | "method" | "constructor" | "constant" | "property" | "field" | "variable" => {
            Inside::Function
        }
        "module" | "namespace" => outer,
        _ => Inside::Type,
    }
}

/// Whether the definition gives a name to a value: inside functions those are not shown.
fn binds(definition: &Definition, word: &str) -> bool {
    holds_value(word) || matches!(definition.naming, Naming::Bound | Naming::Assigned)
}

fn holds_value(word: &str) -> bool {
    matches!(word, "constant" | "variable" | "property" | "static" | "field")
}

/// A closer word where one node stands for several kinds of type.
fn refined(node: Node<'_>, word: &'static str) -> &'static str {
    let kinds = |node: Node<'_>| -> Option<&'static str> {
        (0..node.child_count().min(16)).filter_map(|at| node.child(at)).find_map(
            |child| match child.kind() {
                "interface" | "interface_type" => Some("interface"),
                "enum_class_body" => Some("enum"),
                "struct_type" => Some("struct"),
                _ => None,
            },
        )
    };
    match node.kind() {
        "class_declaration" | "type_spec" => kinds(node).unwrap_or(word),
        _ => word,
    }
}

fn callable(kind: &str) -> bool {
    matches!(kind, "arrow_function" | "function_expression" | "generator_function" | "function")
}

/// The word for what a name is bound to, if it is more than a value.
fn bound(node: Node<'_>) -> Option<&'static str> {
    match node.child_by_field_name("value")?.kind() {
        kind if callable(kind) => Some("function"),
        "class" => Some("class"),
        _ => None,
    }
}

/// The innermost declarator; C nests them like the use of the name.
fn declared(node: Node<'_>, must_be_function: bool) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    let mut function = false;
    for _ in 0..64 {
        // A pointer inside a function's declarator makes it a pointer to a function.
        match at.kind() {
            "function_declarator" => function = true,
            "pointer_declarator" => function = false,
            _ => {}
        }
        let inner = at.child_by_field_name("declarator").or_else(|| {
            matches!(at.kind(), "parenthesized_declarator" | "reference_declarator")
                .then(|| at.named_child(0))
                .flatten()
        });
        match inner {
            Some(inner) => at = inner,
            None => return (function || !must_be_function).then_some(at),
        }
    }
    None
}

fn child_name(node: Node<'_>) -> Option<Node<'_>> {
    let names = |node: Node<'_>| {
        matches!(node.kind(), "identifier" | "name" | "type_identifier" | "simple_identifier")
    };
    let children = |node: Node<'_>| node.named_child_count().min(16) as u32;
    (0..children(node)).filter_map(|at| node.named_child(at)).find_map(|child| {
        if names(child) {
            return Some(child);
        }
        (child.kind() == "variable_declaration")
            .then(|| {
                (0..children(child))
                    .filter_map(|at| child.named_child(at))
                    .find(|node| names(*node))
            })
            .flatten()
    })
}

fn body_start(node: Node<'_>) -> Option<usize> {
    let body = node.child_by_field_name("body").or_else(|| {
        node.child_by_field_name("value")
            .or_else(|| node.child_by_field_name("right"))
            .and_then(|value| value.child_by_field_name("body"))
    });
    let body = body.or_else(|| node.child_by_field_name("accessors"));
    let body = body.or_else(|| {
        (0..node.named_child_count().min(32) as u32).filter_map(|at| node.named_child(at)).find(
            |child| {
                matches!(child.kind(), "function_body" | "class_body" | "enum_class_body" | "block")
            },
        )
    });
    body.map(|body| body.start_byte())
}
