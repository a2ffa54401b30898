//! Takes the pointers off a page that lead nowhere, wherever they stand.
//!
//! Rendering leaves lines outside the block alone, because they are the user's. When the user asks for a repair,
//! a pointer to a memory that does not exist is what they mean.

use std::collections::BTreeSet;

use super::lint::{PageProblem, lint};
use crate::memory::MemoryPath;

/// Returns the page `bytes` without the lines that point to none of the memories `existing`.
pub fn prune(bytes: &[u8], existing: &BTreeSet<MemoryPath>) -> Vec<u8> {
    let dangling: BTreeSet<usize> = lint(bytes, existing)
        .into_iter()
        .filter_map(|problem| match problem {
            PageProblem::Dangling { line, .. } => Some(line),
            _ => None,
        })
        .collect();
    let lines = (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n'));
    lines.filter(|(line, _)| !dangling.contains(line)).flat_map(|(_, bytes)| bytes).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pointers_that_lead_nowhere_go() {
        let page = "# Memory\r\n- [A](a.md) — a\r\n- [Gone](gone.md) — g\r\nmy notes on gone.md\r\n```\r\n- [X](x.md) — code\r\n```\r\n<!-- memdir:begin -->\r\n- [B](b.md) — b\r\n<!-- memdir:end -->\r\n* [Lost](lost.md)";
        let existing = [MemoryPath::new("a.md").unwrap()].into();
        let expected = "# Memory\r\n- [A](a.md) — a\r\nmy notes on gone.md\r\n```\r\n- [X](x.md) — code\r\n```\r\n<!-- memdir:begin -->\r\n<!-- memdir:end -->\r\n";
        assert_eq!(String::from_utf8(prune(page.as_bytes(), &existing)).unwrap(), expected);
        assert_eq!(prune(expected.as_bytes(), &existing), expected.as_bytes());
    }
}
