//! How much of a prompt is the talk of a small job that names all it needs.
//!
//! Most of what people type to an agent is a small job: rename this, move the button, what does the regex do. No note
//! helps with it, however near in topic it is, and it is made of the words that every small job has. What else a prompt
//! says is what notes are about. This is a sign of manner only; the fitted weights say what it counts.

use crate::terms::{Term, english_words};

/// Words of small jobs, as stems: what is done, what it is done to, and the talk around it.
const CHORES: &[&str] = &[
    "add",
    "adjust",
    "align",
    "appli",
    "argument",
    "array",
    "attribut",
    "better",
    "bigger",
    "bit",
    "blank",
    "border",
    "bottom",
    "bracket",
    "bump",
    "button",
    "captur",
    "case",
    "cell",
    "center",
    "chang",
    "changelog",
    "charact",
    "class",
    "clean",
    "code",
    "color",
    "colour",
    "column",
    "comma",
    "comment",
    "compar",
    "comput",
    "constant",
    "constructor",
    "continu",
    "convert",
    "copi",
    "corner",
    "count",
    "crop",
    "css",
    "dark",
    "delet",
    "describ",
    "dialog",
    "differ",
    "display",
    "doc",
    "docstr",
    "document",
    "draft",
    "drop",
    "dropdown",
    "ellipsi",
    "email",
    "enum",
    "exampl",
    "explain",
    "extract",
    "fast",
    "field",
    "file",
    "fix",
    "flag",
    "font",
    "footer",
    "format",
    "friend",
    "function",
    "generat",
    "getter",
    "good",
    "great",
    "green",
    "group",
    "guess",
    "header",
    "head",
    "helper",
    "hide",
    "icon",
    "idea",
    "idiom",
    "import",
    "inlin",
    "insert",
    "iter",
    "kind",
    "label",
    "lambda",
    "later",
    "layout",
    "left",
    "letter",
    "line",
    "link",
    "list",
    "littl",
    "log",
    "long",
    "loop",
    "mail",
    "make",
    "margin",
    "mean",
    "menu",
    "merg",
    "messag",
    "method",
    "minut",
    "mode",
    "modul",
    "move",
    "name",
    "narrow",
    "newest",
    "nice",
    "nicer",
    "number",
    "ok",
    "option",
    "orang",
    "order",
    "output",
    "padding",
    "page",
    "paragraph",
    "paramet",
    "part",
    "pictur",
    "placehold",
    "plural",
    "pretti",
    "prettier",
    "print",
    "progress",
    "put",
    "quick",
    "readm",
    "red",
    "redo",
    "refactor",
    "reformat",
    "regex",
    "remov",
    "renam",
    "reorder",
    "replac",
    "rest",
    "revert",
    "rewrit",
    "round",
    "row",
    "screen",
    "screenshot",
    "second",
    "sentenc",
    "setter",
    "short",
    "shorten",
    "shorter",
    "show",
    "similar",
    "simpl",
    "simpler",
    "simplifi",
    "size",
    "small",
    "smaller",
    "snippet",
    "sort",
    "space",
    "spell",
    "spinner",
    "split",
    "string",
    "struct",
    "stuff",
    "style",
    "suggest",
    "summari",
    "summaris",
    "svg",
    "swap",
    "syntax",
    "tab",
    "tabl",
    "templat",
    "test",
    "text",
    "thank",
    "thing",
    "tidi",
    "titl",
    "toast",
    "tooltip",
    "top",
    "translat",
    "trim",
    "truncat",
    "turn",
    "type",
    "typo",
    "ugli",
    "undo",
    "unit",
    "unus",
    "updat",
    "upper",
    "use",
    "valu",
    "variabl",
    "version",
    "warn",
    "way",
    "white",
    "whitespac",
    "wider",
    "width",
    "word",
    "wrap",
    "write",
    "wrong",
    "yellow",
];

/// The telling words of a prompt, and which of them every small job has.
#[derive(Debug, Clone, Default)]
pub(super) struct Chores {
    n_words: usize,
    terms: Vec<Term>,
}

impl Chores {
    pub(super) fn of(prompt: &str) -> Self {
        let words = english_words(prompt);
        let chores = words.iter().map(|(_, term)| *term).filter(|term| is_chore(*term));
        Self { n_words: words.len(), terms: chores.collect() }
    }

    /// Returns the share of the words that every small job has; those that a note is about count half. A prompt without
    /// any telling word says nothing else.
    pub(super) fn share(&self, about: &[Term]) -> f32 {
        let counts = |term: &Term| if about.binary_search(term).is_ok() { 0.5 } else { 1.0 };
        let n_chores: f32 = self.terms.iter().map(counts).sum();
        if self.n_words == 0 { 1.0 } else { n_chores / self.n_words as f32 }
    }
}

/// Says whether a word stands in every small job.
fn is_chore(term: Term) -> bool {
    CHORES.iter().any(|stem| Term::of(stem) == term)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(prompt: &str, about: &str) -> f32 {
        let mut about: Vec<Term> = english_words(about).into_iter().map(|(_, term)| term).collect();
        about.sort_unstable();
        Chores::of(prompt).share(&about)
    }

    #[test]
    fn a_small_job_is_known_by_its_words() {
        assert!(share("rename the variable and add a comment", "") > 0.9);
        assert!(share("bitte die Funktion umbenennen", "") > 0.4);
        assert!(share("the harbour bake runs on two nodes", "") < 0.1);
        assert_eq!(share("", ""), 1.0);
    }

    #[test]
    fn what_a_note_is_about_is_less_of_a_chore() {
        let prompt = "where does the button lead";
        assert!(share(prompt, "the buttons of the form") < share(prompt, "the harbour bake"));
    }

    #[test]
    fn every_chore_is_written_as_its_stem_and_once() {
        let mut seen = std::collections::BTreeSet::new();
        for stem in CHORES {
            assert!(seen.insert(stem), "{stem} twice");
            assert_eq!(stem.to_lowercase(), *stem);
        }
    }
}
