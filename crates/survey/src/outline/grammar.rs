//! The languages with a grammar: which nodes define something, what they are called, and where their name stands.

use sequester_core::path::RepoPath;
use tree_sitter::Language;

/// Where the name of a definition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// In the field `name`.
    Name,
    /// Inside C's nested declarators, one of which must be a function's.
    Callable,
    /// Inside C's nested declarators.
    Declarator,
    /// The type, and the trait if there is one.
    Implementation,
    /// In the field `name`; the field `value` says whether it is a function, a class or a mere value.
    Bound,
    /// In the field `left`, if the field `right` is a function.
    Assigned,
    /// In the field `left`, if it is a plain name at the top level.
    Constant,
    /// In the first child that is an identifier or declares one.
    Child,
    /// It has none: this stands in.
    Word(&'static str),
}

pub(super) struct Definition {
    pub(super) node: &'static str,
    pub(super) word: &'static str,
    pub(super) naming: Naming,
}

pub(super) struct Grammar {
    pub(super) language: Language,
    pub(super) definitions: &'static [Definition],
    /// Nodes that lend their first and last line to the one definition in them.
    pub(super) wrappers: &'static [&'static str],
}

const fn named(node: &'static str, word: &'static str) -> Definition {
    by(node, word, Naming::Name)
}

const fn by(node: &'static str, word: &'static str, naming: Naming) -> Definition {
    Definition { node, word, naming }
}

static RUST: &[Definition] = &[
    named("function_item", "function"),
    named("function_signature_item", "function"),
    named("struct_item", "struct"),
    named("enum_item", "enum"),
    named("union_item", "union"),
    named("trait_item", "trait"),
    by("impl_item", "impl", Naming::Implementation),
    named("mod_item", "module"),
    named("macro_definition", "macro"),
    named("type_item", "type"),
    named("const_item", "constant"),
    named("static_item", "static"),
];

static PYTHON: &[Definition] = &[
    named("function_definition", "function"),
    named("class_definition", "class"),
    by("assignment", "variable", Naming::Constant),
];

static SCRIPT: &[Definition] = &[
    named("function_declaration", "function"),
    named("generator_function_declaration", "function"),
    named("function_signature", "function"),
    named("class_declaration", "class"),
    named("abstract_class_declaration", "class"),
    named("method_definition", "method"),
    named("method_signature", "method"),
    named("abstract_method_signature", "method"),
    named("interface_declaration", "interface"),
    named("type_alias_declaration", "type"),
    named("enum_declaration", "enum"),
    named("internal_module", "namespace"),
    named("module", "module"),
    by("variable_declarator", "constant", Naming::Bound),
    by("public_field_definition", "field", Naming::Bound),
    by("field_definition", "field", Naming::Bound),
    by("assignment_expression", "function", Naming::Assigned),
];

static GO: &[Definition] = &[
    named("function_declaration", "function"),
    named("method_declaration", "method"),
    named("type_spec", "type"),
    named("type_alias", "type"),
    named("const_spec", "constant"),
    named("var_spec", "variable"),
];

static JAVA: &[Definition] = &[
    named("class_declaration", "class"),
    named("interface_declaration", "interface"),
    named("enum_declaration", "enum"),
    named("record_declaration", "record"),
    named("annotation_type_declaration", "annotation"),
    named("method_declaration", "method"),
    named("constructor_declaration", "constructor"),
    named("compact_constructor_declaration", "constructor"),
];

static KOTLIN: &[Definition] = &[
    named("class_declaration", "class"),
    named("object_declaration", "object"),
    by("companion_object", "object", Naming::Word("companion")),
    named("function_declaration", "function"),
    by("property_declaration", "property", Naming::Child),
    by("secondary_constructor", "constructor", Naming::Word("constructor")),
    by("type_alias", "type", Naming::Child),
];

static C: &[Definition] = &[
    by("function_definition", "function", Naming::Callable),
    by("declaration", "function", Naming::Callable),
    by("field_declaration", "method", Naming::Callable),
    named("struct_specifier", "struct"),
    named("union_specifier", "union"),
    named("enum_specifier", "enum"),
    named("class_specifier", "class"),
    named("namespace_definition", "namespace"),
    named("concept_definition", "concept"),
    named("alias_declaration", "type"),
    by("type_definition", "type", Naming::Declarator),
    named("preproc_function_def", "macro"),
];

static C_SHARP: &[Definition] = &[
    named("namespace_declaration", "namespace"),
    named("file_scoped_namespace_declaration", "namespace"),
    named("class_declaration", "class"),
    named("struct_declaration", "struct"),
    named("record_declaration", "record"),
    named("interface_declaration", "interface"),
    named("enum_declaration", "enum"),
    named("delegate_declaration", "delegate"),
    named("method_declaration", "method"),
    named("constructor_declaration", "constructor"),
    named("property_declaration", "property"),
];

static RUBY: &[Definition] = &[
    named("method", "method"),
    named("singleton_method", "method"),
    named("class", "class"),
    named("module", "module"),
    by("assignment", "constant", Naming::Constant),
];

static PHP: &[Definition] = &[
    named("namespace_definition", "namespace"),
    named("class_declaration", "class"),
    named("interface_declaration", "interface"),
    named("trait_declaration", "trait"),
    named("enum_declaration", "enum"),
    named("function_definition", "function"),
    named("method_declaration", "method"),
    by("const_element", "constant", Naming::Child),
];

/// The grammar for a path, if there is one. Making a language is a pointer, not work.
pub(super) fn of(path: &RepoPath, text: &str) -> Option<Grammar> {
    let extension = path.extension()?.to_ascii_lowercase();
    let (language, definitions, wrappers): (_, _, &[_]) = match extension.as_str() {
        "rs" => (tree_sitter_rust::LANGUAGE, RUST, &[]),
        "py" | "pyi" => (
            tree_sitter_python::LANGUAGE,
            PYTHON,
            &["decorated_definition", "expression_statement"],
        ),
        "ts" | "mts" | "cts" => (tree_sitter_typescript::LANGUAGE_TYPESCRIPT, SCRIPT, EXPORTS),
        "tsx" => (tree_sitter_typescript::LANGUAGE_TSX, SCRIPT, EXPORTS),
        "js" | "mjs" | "cjs" | "jsx" => (tree_sitter_javascript::LANGUAGE, SCRIPT, EXPORTS),
        "go" => (tree_sitter_go::LANGUAGE, GO, GO_GROUPS),
        "java" => (tree_sitter_java::LANGUAGE, JAVA, &[]),
        "kt" | "kts" => (tree_sitter_kotlin_ng::LANGUAGE, KOTLIN, &[]),
        "h" if !reads_as_cpp(text) => (tree_sitter_c::LANGUAGE, C, &[]),
        "c" => (tree_sitter_c::LANGUAGE, C, &[]),
        "cc" | "cpp" | "cxx" | "c++" | "hpp" | "hh" | "hxx" | "ipp" | "inl" | "h" => {
            (tree_sitter_cpp::LANGUAGE, C, &["template_declaration"])
        }
        "cs" => (tree_sitter_c_sharp::LANGUAGE, C_SHARP, &[]),
        "rb" | "rake" | "gemspec" => (tree_sitter_ruby::LANGUAGE, RUBY, &[]),
        "php" => (tree_sitter_php::LANGUAGE_PHP, PHP, &["const_declaration"]),
        _ => return None,
    };
    Some(Grammar { language: language.into(), definitions, wrappers })
}

static EXPORTS: &[&str] = &[
    "export_statement",
    "ambient_declaration",
    "lexical_declaration",
    "variable_declaration",
    "expression_statement",
];

static GO_GROUPS: &[&str] = &["type_declaration", "const_declaration", "var_declaration"];

/// A `.h` file is C++ if a line of it starts like C++ alone does.
fn reads_as_cpp(text: &str) -> bool {
    ["class ", "namespace ", "template<", "template <", "using ", "public:", "private:"]
        .iter()
        .any(|mark| text.lines().any(|line| line.trim_start().starts_with(mark)))
}
