//! HTML to Markdown, by a library that trusts its input; so hostile shapes are kept from it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::thread;

use htmd::{HtmlToMarkdown, Node};

/// What browsers nest at most. The library recurses, and its parser looks up the whole depth for each tag.
const DEPTH: usize = 512;
/// Depths of all elements together: each line may begin with a mark for every element around it.
const DEPTHS: usize = 4_000_000;
/// Its parser compares each attribute of a tag with all others.
const ATTRIBUTES: usize = 2_000;
const STACK_BYTES: usize = 32 << 20;

/// The page as Markdown, or as it came if its shape is not one that a person writes.
pub(super) fn to_markdown(html: &str) -> String {
    let convert = || {
        let converter = HtmlToMarkdown::builder()
            .skip_tags(vec!["head", "script", "style", "noscript", "svg", "iframe"])
            .build();
        let tree = converter.html_to_tree(html).ok()?;
        is_flat(&tree).then(|| converter.tree_to_markdown(&tree))
    };
    let converted = is_tame(html).then(|| {
        thread::scope(|scope| {
            let thread =
                thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, convert);
            thread.ok()?.join().ok()?
        })
    });
    converted.flatten().unwrap_or_else(|| {
        format!("[The page is nested too deeply to be made Markdown; this is its HTML.]\n{html}")
    })
}

fn is_flat(tree: &Rc<Node>) -> bool {
    let mut open = vec![(tree.clone(), 0)];
    let mut depths = 0;
    while let Some((node, depth)) = open.pop() {
        depths += depth;
        if depth > DEPTH || depths > DEPTHS {
            return false;
        }
        open.extend(node.children.borrow().iter().map(|child| (child.clone(), depth + 1)));
    }
    true
}

/// Whether few elements are open at any time and no tag has very many attributes, judged before parsing. Tags in comments
/// and quotes are counted too: better too many than too few.
fn is_tame(html: &str) -> bool {
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let mut depth = 0;
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let closes = rest.starts_with('/');
        let tag = rest.strip_prefix('/').unwrap_or(rest);
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(tag.len());
        if end == 0 || !tag.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let name = tag[..end].to_ascii_lowercase();
        let inner = tag[end..].split('>').next().unwrap_or_default();
        rest = &tag[end + inner.len()..];
        if inner.bytes().filter(|byte| b" \t\r\n\x0c/=".contains(byte)).count() > ATTRIBUTES {
            return false;
        }
        if UNCLOSED.contains(&name.as_str()) {
            continue;
        }
        let count = open.entry(name).or_default();
        if !closes {
            *count += 1;
            depth += 1;
        } else if *count > 0 {
            *count -= 1;
            depth -= 1;
        }
        if depth > 2 * DEPTH {
            return false;
        }
    }
    true
}

/// Elements that need no end tag: they end where the next one begins, and do not nest by themselves.
const UNCLOSED: &[&str] = &[
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html",
    "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param", "rp", "rt", "source",
    "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_in_many_quotes_stay_as_they_came() {
        let page = "<blockquote>".repeat(250) + &"<p>x".repeat(60_000);
        assert!(to_markdown(&page).starts_with("[The page is nested too deeply"));
    }

    #[test]
    fn a_page_becomes_markdown_without_scripts() {
        let page = "<html><head><title>T</title><script>x()</script></head><body><h1>Hi</h1><p>A <b>b</b>\
                    <ul><li>one<li>two</ul><script>evil()</script></body></html>";
        assert_eq!(to_markdown(page), "# Hi\n\nA **b**\n\n*   one\n*   two");
    }

    #[test]
    fn many_unclosed_items_are_no_depth() {
        let page = format!("<ul>{}</ul>", "<li>x<p>y".repeat(20_000));
        assert!(!to_markdown(&page).starts_with('['));
    }

    #[test]
    fn hostile_shapes_neither_overflow_nor_stall() {
        let attributes =
            " ".to_owned() + &(0..300_000).map(|n| n.to_string()).collect::<Vec<_>>().join(" a");
        for page in [
            "<div>".repeat(400_000),
            "<b></x>".repeat(300_000),
            "<table><tr><td></div>".repeat(90_000),
            "<p><button>".repeat(150_000),
            "<a href=x><div>".repeat(130_000),
            format!("<a{attributes}>"),
        ] {
            let page: String = page.chars().take(2 << 20).collect();
            assert!(to_markdown(&page).starts_with("[The page is nested"), "{}", &page[..20]);
        }
        for page in ["<b><p></b>".repeat(200_000), "<".repeat(2 << 20), "</p>".repeat(500_000)] {
            // What comes out does not matter; that it does, in bounded time, is the point.
            let _ = to_markdown(&page);
        }
    }
}
