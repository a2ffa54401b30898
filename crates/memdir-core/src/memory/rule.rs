//! Rules that a hook can check without a model: `<verb> <tool> <pattern>`.
//!
//! Only the shape is checked here. The pattern is compiled by whoever enforces it, and whether a rule may enforce at
//! all depends on who said it: [`Rule::said_by`].

use std::fmt;
use std::str::FromStr;

use super::words::{Provenance, UnknownWord, words};

words! {
    /// What a rule does when it matches.
    Verb, "verb" {
        /// Refuses the call.
        Deny = "deny",
        /// Asks the person first.
        Ask = "ask",
        /// Lets it pass and says so.
        Remind = "remind",
    }
}

words! {
    /// Which calls a rule looks at.
    Tool, "tool" {
        /// Commands; the pattern is a regular expression.
        Bash = "bash",
        /// Changes to files; the pattern is a glob over the path.
        Edit = "edit",
        /// Reads of files; the pattern is a glob over the path.
        Read = "read",
        /// Every call.
        Any = "any",
    }
}

/// One machine-checkable rule of a feedback memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it does.
    pub verb: Verb,
    /// What it looks at.
    pub tool: Tool,
    /// What it looks for, as written.
    pub pattern: String,
}

/// Says why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The verb or tool is unknown.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// A part is missing.
    #[error("a rule is `<verb> <tool> <pattern>`")]
    Shape,
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (verb, rest) = text.trim().split_once(char::is_whitespace).ok_or(RuleError::Shape)?;
        let (tool, pattern) = rest.trim_start().split_once(char::is_whitespace).ok_or(RuleError::Shape)?;
        let pattern = pattern.trim_start();
        if pattern.is_empty() || pattern.contains(['\n', '\r']) {
            return Err(RuleError::Shape);
        }
        Ok(Self { verb: verb.parse()?, tool: tool.parse()?, pattern: pattern.to_owned() })
    }
}

impl Rule {
    /// Returns the rule as far as it counts for who said it. Only the user, and a teammate whose memory the user
    /// accepted, can refuse or hold up a call; from anybody else it reminds.
    pub fn said_by(self, who: Provenance, is_accepted: bool) -> Self {
        let may_enforce = who == Provenance::User || (who == Provenance::Team && is_accepted);
        Self { verb: if may_enforce { self.verb } else { Verb::Remind }, ..self }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.verb, self.tool, self.pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_a_verb_a_tool_and_a_pattern() {
        let rule: Rule = r"remind bash ^git add (\.|-A)".parse().unwrap();
        assert_eq!(
            (rule.verb, rule.tool, rule.pattern.as_str()),
            (Verb::Remind, Tool::Bash, r"^git add (\.|-A)")
        );
        assert_eq!(rule.to_string(), r"remind bash ^git add (\.|-A)");
        assert_eq!("  deny  edit   *.lock ".parse::<Rule>().unwrap().to_string(), "deny edit *.lock");
    }

    /// UX-22.
    #[test]
    fn only_the_user_and_an_accepted_teammate_enforce() {
        let rule: Rule = "deny bash ^curl".parse().unwrap();
        for who in Provenance::ALL.iter().copied() {
            for is_accepted in [false, true] {
                let may = matches!((who, is_accepted), (Provenance::User, _) | (Provenance::Team, true));
                let verb = if may { Verb::Deny } else { Verb::Remind };
                assert_eq!(rule.clone().said_by(who, is_accepted).verb, verb, "{who} {is_accepted}");
            }
        }
    }

    #[test]
    fn what_is_not_a_rule_says_why() {
        let table = [
            ("", "a rule is `<verb> <tool> <pattern>`"),
            ("deny bash", "a rule is `<verb> <tool> <pattern>`"),
            ("deny bash ", "a rule is `<verb> <tool> <pattern>`"),
            ("forbid bash x", "unknown verb `forbid`: it is one of deny, ask, remind"),
            ("deny shell x", "unknown tool `shell`: it is one of bash, edit, read, any"),
        ];
        for (text, why) in table {
            assert_eq!(text.parse::<Rule>().unwrap_err().to_string(), why, "{text:?}");
        }
    }
}
