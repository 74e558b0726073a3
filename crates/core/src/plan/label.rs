//! Labels such as `**Files:**`, `Goal:` or `_Requirements: 1.1_`, and the words behind them in several languages.

use super::Action;

/// A label at the start of a line: its words, and where in the line the rest begins.
pub(crate) fn split(line: &str) -> Option<(&str, usize)> {
    let Some(colon) = line.char_indices().take(64).find(|(_, c)| matches!(c, ':' | '：')) else {
        // A line that is bold from end to end is a label too.
        let inner = line.trim().strip_prefix("**")?.strip_suffix("**")?;
        return (!inner.contains('*') && inner.len() <= 48).then_some((inner, line.len()));
    };
    let decoration = |c: char| matches!(c, '*' | '_' | '#' | ' ' | '\t' | '\u{a0}');
    let label = line[..colon.0].trim_matches(decoration);
    if label.is_empty()
        || label.chars().count() > 48
        || label.contains(['`', '.', '(', '|']) && !label.ends_with(')')
    {
        return None;
    }
    let after = colon.0 + colon.1.len_utf8();
    let rest = line[after..].trim_start_matches(['*', '_']);
    Some((label, line.len() - rest.trim_start().len()))
}

/// Whether a line begins with a label in bold or italics.
pub(crate) fn is_marked(line: &str) -> bool {
    let line = line.trim_start();
    (line.starts_with("**") || line.starts_with("__")) && split(line).is_some()
}

/// What a labelled part of a plan or task is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Goal,
    Architecture,
    TechStack,
    Constraints,
    Files(Option<Action>),
    Interfaces,
    Consumes,
    Produces,
}

pub(crate) fn topic(label: &str) -> Option<Topic> {
    let lower = label.trim().to_lowercase();
    Some(match lower.as_str() {
        "goal" | "goals" | "ziel" | "objetivo" | "objectif" | "obiettivo" | "doel" | "цель"
        | "目标" | "目標" | "목표" | "ゴール" => Topic::Goal,
        "architecture"
        | "architektur"
        | "arquitectura"
        | "arquitetura"
        | "architettura"
        | "архитектура"
        | "架构"
        | "架構"
        | "アーキテクチャ"
        | "아키텍처" => Topic::Architecture,
        "tech stack"
        | "technology stack"
        | "technologies"
        | "stack"
        | "pila tecnológica"
        | "stack tecnológico"
        | "stack technique"
        | "technologie-stack"
        | "технологии"
        | "技术栈"
        | "技術スタック"
        | "기술 스택" => Topic::TechStack,
        "global constraints"
        | "constraints"
        | "globale vorgaben"
        | "globale bedingungen"
        | "restricciones globales"
        | "contraintes globales"
        | "restrições globais"
        | "глобальные ограничения"
        | "全局约束"
        | "グローバル制約"
        | "전역 제약" => Topic::Constraints,
        "interfaces"
        | "interface"
        | "schnittstellen"
        | "接口"
        | "インターフェース"
        | "인터페이스" => Topic::Interfaces,
        "consumes" | "verwendet" | "消费" | "consume" => Topic::Consumes,
        "produces" | "liefert" | "产出" | "produce" => Topic::Produces,
        lower if names_all_tasks(lower) => Topic::Constraints,
        lower => return files_topic(lower),
    })
}

/// Whether a title says that what stands beneath holds for each task.
fn names_all_tasks(lower: &str) -> bool {
    ["every task", "each task", "all tasks"].iter().any(|words| lower.contains(words))
        || ["ground rules", "global rules"].contains(&lower)
}

impl Topic {
    /// Whether it holds for the plan as a whole.
    pub(crate) fn is_of_plan(self) -> bool {
        matches!(self, Self::Goal | Self::Architecture | Self::TechStack | Self::Constraints)
    }
}

/// Whether a section's title is one of those that hold for all tasks at the head of a plan.
pub(crate) fn is_topic_of_plan(title: &str) -> bool {
    topic(title.trim_end_matches([':', '：'])).is_some_and(Topic::is_of_plan)
}

/// Whether a section is about the plan and not the parent of the tasks that happen to follow it.
pub(crate) fn is_about_plan(title: &str) -> bool {
    let lower = title.trim_end_matches([':', '：']).to_lowercase();
    is_topic_of_plan(title)
        || [
            "overview",
            "file structure",
            "file map",
            "background",
            "summary",
            "context",
            "introduction",
            "notes",
        ]
        .contains(&lower.as_str())
}

/// `Files`, `Files to create/modify`, `New files`, ...: nothing but these words, one of them the word for files.
fn files_topic(label: &str) -> Option<Topic> {
    let mut files = false;
    let mut actions = Vec::new();
    for word in label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        match word {
            "files" | "file" | "dateien" | "datei" | "archivos" | "ficheros" | "fichiers"
            | "arquivos" | "файлы" | "文件" | "ファイル" | "파일" | "bestanden" => {
                files = true;
            }
            "to" | "and" | "or" | "be" | "affected" | "involved" | "touched" | "touch" | "the"
            | "key" => {}
            word => actions.push(action(word)?),
        }
    }
    if !files {
        return None;
    }
    let same = actions.iter().all(|one| Some(one) == actions.first());
    Some(Topic::Files(actions.first().copied().filter(|_| same)))
}

/// The action a word stands for.
pub(crate) fn action(word: &str) -> Option<Action> {
    Some(match word.to_lowercase().as_str() {
        "create" | "creates" | "created" | "new" | "add" | "added" | "erstellen" | "anlegen"
        | "neu" | "crear" | "nuevo" | "créer" | "criar" | "создать" | "创建" | "新建" | "新增"
        | "作成" | "新規" | "생성" => Action::Create,
        "modify" | "modified" | "update" | "updated" | "edit" | "change" | "changed" | "extend"
        | "ändern" | "anpassen" | "modificar" | "modifier" | "изменить" | "修改" | "更新"
        | "変更" | "수정" => Action::Modify,
        "delete" | "deleted" | "remove" | "removed" | "löschen" | "eliminar" | "supprimer"
        | "excluir" | "удалить" | "删除" | "削除" | "삭제" => Action::Delete,
        "read" | "reference" | "inspect" | "lesen" | "leer" | "lire" | "参考" | "読む" => {
            Action::Read
        }
        "test" | "tests" | "prueba" | "pruebas" | "тест" | "тесты" | "测试" | "テスト"
        | "테스트" => Action::Test,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_found_bold_or_plain() {
        assert_eq!(split("**Files to create**"), Some(("Files to create", 19)));
        for line in ["**Files:** rest", "**Files**: rest", "Files: rest", "__Files__： rest"] {
            let (label, rest) = split(line).unwrap();
            assert_eq!((label, &line[rest..]), ("Files", "rest"), "{line}");
        }
        assert_eq!(split("no label"), None);
        assert_eq!(split("see `a: b`"), None);
    }

    #[test]
    fn the_words_for_files_carry_an_action() {
        assert_eq!(topic("Files"), Some(Topic::Files(None)));
        assert_eq!(topic("Files to create"), Some(Topic::Files(Some(Action::Create))));
        for mixed in ["Files to Create/Modify", "Files Created/Modified"] {
            assert_eq!(topic(mixed), Some(Topic::Files(None)), "{mixed}");
        }
        for label in ["Modified files", "Files to Change", "Files Changed"] {
            assert_eq!(topic(label), Some(Topic::Files(Some(Action::Modify))), "{label}");
        }
        assert_eq!(topic("New Files"), Some(Topic::Files(Some(Action::Create))));
        assert_eq!(topic("File Structure"), None);
    }
}
