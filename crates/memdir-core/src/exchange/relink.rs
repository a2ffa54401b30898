//! Rewrites links when notes get other names.

use std::collections::BTreeMap;

use crate::memory::{LinkForm, LinkVault, links};

/// Rewrites the links in `body` whose target is a key of `names` (lower case, with or without folder). A link that
/// showed its target goes on showing it. `None` if there is nothing to rewrite.
pub(super) fn relink(body: &[u8], names: &BTreeMap<String, String>) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(body.len());
    let mut done = 0;
    for link in links(body) {
        let folder = match &link.vault {
            LinkVault::Same => None,
            LinkVault::Project(folder) => Some(format!("{folder}/")),
            LinkVault::User => continue,
        };
        let shown = format!("{}{}", folder.as_deref().unwrap_or_default(), link.name);
        let found = names.get(&shown.to_lowercase()).or_else(|| names.get(&link.name.to_lowercase()));
        let Some(new) = found.filter(|new| **new != shown) else { continue };
        let prefix = folder.as_deref().unwrap_or_default().len();
        let start = link.name_span.start.saturating_sub(prefix);
        if body.get(start..link.name_span.end) != Some(shown.as_bytes()) {
            continue;
        }
        text.extend_from_slice(&body[done..start]);
        text.extend_from_slice(new.as_bytes());
        done = link.name_span.end;
        if link.form == LinkForm::Wiki && link.text.is_none() && link.section.is_none() {
            // What stands between the name and the brackets is at most `.md` or a blank.
            text.extend_from_slice(format!("|{}", link.name).as_bytes());
            done = link.span.end - "]]".len();
        }
    }
    if done == 0 {
        return None;
    }
    text.extend_from_slice(&body[done..]);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_follow_the_new_names_and_still_read_the_same() {
        let names = [("my note", "my-note"), ("folder/my note", "my-note"), ("plain", "plain")];
        let names = names.map(|(old, new)| (old.to_owned(), new.to_owned())).into();
        for (before, after) in [
            ("see [[My Note]].", Some("see [[my-note|My Note]].")),
            ("[[My Note|text]] [[folder/My Note]]", Some("[[my-note|text]] [[my-note|My Note]]")),
            ("[[My Note#Part]] `[[My Note]]`", Some("[[my-note#Part]] `[[My Note]]`")),
            ("[[plain]] [[other]]", None),
        ] {
            let text = relink(before.as_bytes(), &names).map(|text| String::from_utf8(text).unwrap());
            assert_eq!(text.as_deref(), after, "{before}");
        }
    }
}
