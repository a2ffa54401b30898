//! A note as the index holds it for the ranker: its vector, what was worked out of its text, and the note itself.
//!
//! The vector stands in the index's blocks too, among those of its group, where a scan finds it. Who opens a single note
//! would have to read a block of 256 for one of them, so it is kept here a second time.

use memdir_core::embed::{DIMENSIONS, Row};
use memdir_core::recall::{Gist, Note};

/// Changes whenever what follows is written in another way, or a text is read in another way: other stems, another
/// glossary or another table. A test notices.
const VERSION: u8 = 4;

/// Writes a note; `None` if it cannot be written as text.
pub(super) fn write(note: &Note, row: Option<&Row>) -> Option<Vec<u8>> {
    let gist = note.gist().to_bytes();
    let mut bytes = vec![VERSION, u8::from(row.is_some())];
    bytes.extend(row.into_iter().flatten().map(|value| value.cast_unsigned()));
    bytes.extend(u32::try_from(gist.len()).ok()?.to_le_bytes());
    bytes.extend(gist);
    serde_json::to_writer(&mut bytes, note).ok()?;
    Some(bytes)
}

/// Reads what [`write`] wrote; `None` if another version wrote it.
pub(super) fn read(bytes: &[u8]) -> Option<(Note, Option<Row>)> {
    let (&[version, has_row], mut rest) = bytes.split_first_chunk()?;
    if version != VERSION {
        return None;
    }
    let mut row = None;
    if has_row == 1 {
        let (found, after) = rest.split_first_chunk::<DIMENSIONS>()?;
        row = Some(found.map(u8::cast_signed));
        rest = after;
    }
    let (len, rest) = rest.split_first_chunk()?;
    let (gist, note) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    let note: Note = serde_json::from_slice(note).ok()?;
    Some((note.with_gist(Gist::from_bytes(gist)?), row))
}

#[cfg(test)]
mod tests {
    use memdir_core::memory::{Document, Memory, MemoryPath};

    use super::*;

    fn note(description: &str, body: &str) -> Note {
        let text = format!("---\nname: a\ndescription: {description}\ntype: feedback\n---\n\n{body}\n");
        let document = Document::parse(text.as_bytes());
        let (memory, _) = Memory::read(&MemoryPath::new("a.md").unwrap(), &document);
        Note::of(&memory, &document)
    }

    /// L10: an index of an older memdir is built anew when texts are read in another way.
    #[test]
    fn what_a_text_becomes_changes_only_with_the_version() {
        let texts = [
            ("Integration tests use a real database", "Mocks hid a broken migration in parseConfig()."),
            ("Die Datenbankmigration läuft nur nachts", "Verfügbarkeitsprüfung vor jeder Veröffentlichung."),
            ("배포는 금요일에 하지 않는다", "결제 서비스의 인증 토큰을 갱신한다."),
            ("Les tests d'intégration utilisent l'hébergeur", "Le mot de passe expire chaque mois."),
            ("La copia de seguridad se hace cada noche", "Nunca borrar los registros del servidor."),
            ("本番データベースには触らない", "エラーが発生したらログを確認する。"),
            ("不要直接修改生产数据库", "发布之前先运行测试。"),
        ];
        let mut bytes = Vec::new();
        for (description, body) in texts {
            let note = note(description, body);
            let entry = note.entry();
            bytes.extend(
                entry
                    .terms
                    .iter()
                    .flat_map(|(term, n)| [term.value(), u64::from(*n)])
                    .flat_map(u64::to_le_bytes),
            );
            bytes.extend(write(&note, entry.row.as_ref()).unwrap());
        }
        let found = format!("{VERSION} {:08x}", crc32fast::hash(&bytes));
        expect_test::expect!["4 60c7c66d"].assert_eq(&found);
    }

    #[test]
    fn a_note_comes_back_with_its_vector_and_gist() {
        let note = note("Tests use a real database", "Never mock it.");
        for row in [note.entry().row, None] {
            let bytes = write(&note, row.as_ref()).unwrap();
            assert_eq!(read(&bytes), Some((note.clone(), row)));
            assert_eq!(read(&[&[VERSION + 1], &bytes[1..]].concat()), None);
            assert!((0..bytes.len()).all(|len| read(&bytes[..len]).is_none()));
        }
    }
}
