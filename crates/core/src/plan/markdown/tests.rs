use super::*;

fn shown(source: &str) -> Vec<String> {
    let document = Document::read(source);
    document
        .blocks
        .iter()
        .map(|block| {
            let kind = match &block.kind {
                Kind::Heading(level) => format!("h{level}"),
                Kind::Item(item) => match item.mark {
                    Some(mark) => {
                        format!("box{}{}", item.depth, if mark.ticked { "x" } else { "" })
                    }
                    None => format!("item{}", item.depth),
                },
                Kind::Paragraph => "p".to_owned(),
                Kind::Fence(info) => format!("fence({info})"),
                Kind::Rule => "rule".to_owned(),
            };
            format!("{kind}:{}", document.text(&block.words))
        })
        .collect()
}

#[test]
fn fences_html_tables_and_quotes_are_opaque() {
    let source = "# T\n```md\n## no\n- [ ] no\n```\n<!--\n- [ ] no\n-->\n\n> - [ ] no\n\n| a |\n|---|\n| - [ ] no |\n\n- [x] yes\n";
    assert_eq!(shown(source), ["h1:T", "fence(md):## no\n- [ ] no\n", "box1x:yes"]);
}

#[test]
fn a_box_may_stand_in_bold_and_other_brackets_are_none() {
    let source = "1. **[x] Modify it** - done\n2. [x] b\n3. **[ ]** c\n4. **[a](b)** d\n5. [P] e\n6. [⛔] f\n";
    assert_eq!(
        shown(source),
        [
            "box1x:Modify it** - done",
            "box1x:b",
            "box1:c",
            "item1:**[a](b)** d",
            "item1:[P] e",
            "box1:f"
        ]
    );
}

#[test]
fn an_item_has_the_words_of_its_first_paragraph() {
    let source =
        "- [ ] one `a`\n  more **b**\n  - [X] two\n\n    para\n- [ ]* three\n1. [ ] four\n";
    assert_eq!(
        shown(source),
        ["box1:one `a`\n  more **b**", "box2x:two", "p:para", "box1:three", "box1:four"]
    );
}

#[test]
fn headings_lose_their_marks_and_three_dashes_are_a_rule() {
    let source = "## A ##\r\ntext\r\n---\r\n#### `C#`\r\nLong\r\n----\r\n";
    assert_eq!(shown(source), ["h2:A", "p:text\r\n---", "h4:`C#`", "h2:Long"]);
}

#[test]
fn front_matter_stands_only_at_the_start() {
    let document = Document::read("---\na: 1\n---\n# T\n---\n# U\n---\n");
    assert_eq!(document.front, Some(4..9));
    assert_eq!(document.blocks.iter().filter_map(Block::level).count(), 2);
}

#[test]
fn prose_leaves_out_what_is_opaque() {
    let source = "a\n\n```\nb\n```\nc\n";
    let document = Document::read(source);
    let lines: Vec<_> = document.prose(&(0..source.len())).map(|(_, line)| line).collect();
    assert_eq!(lines, ["a", "", "c"]);
}
