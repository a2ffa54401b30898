//! A note as the index holds it for the ranker: its vector, what was worked out of its text, and the note itself.
//!
//! The vector stands in the index's blocks too, among those of its group, where a scan finds it. Who opens a single note
//! would have to read a block of 256 for one of them, so it is kept here a second time.

use memdir_core::embed::{DIMENSIONS, Row};
use memdir_core::recall::{Gist, Note};

/// Changes whenever what follows is written in another way, or a text is read in another way.
const VERSION: u8 = 1;

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

    #[test]
    fn a_note_comes_back_with_its_vector_and_gist() {
        let text =
            "---\nname: a\ndescription: Tests use a real database\ntype: feedback\n---\n\nNever mock it.\n";
        let document = Document::parse(text.as_bytes());
        let (memory, _) = Memory::read(&MemoryPath::new("a.md").unwrap(), &document);
        let note = Note::of(&memory, &document);
        for row in [note.entry().row, None] {
            let bytes = write(&note, row.as_ref()).unwrap();
            assert_eq!(read(&bytes), Some((note.clone(), row)));
            assert_eq!(read(&[&[VERSION + 1], &bytes[1..]].concat()), None);
            assert!((0..bytes.len()).all(|len| read(&bytes[..len]).is_none()));
        }
    }
}
