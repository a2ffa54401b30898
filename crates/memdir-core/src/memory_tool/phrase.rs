//! The sentences of the memory tool, each in one place. Models were taught them: not a letter may differ.

/// Says that there is nothing to view.
pub(super) fn no_such_path_to_view(path: &str) -> String {
    format!("The path {path} does not exist. Please provide a valid path.")
}

/// Says that there is nothing to edit.
pub(super) fn no_such_path_to_edit(path: &str) -> String {
    format!("Error: The path {path} does not exist. Please provide a valid path.")
}

/// Says that there is nothing to insert into, delete or rename.
pub(super) fn no_such_path(path: &str) -> String {
    format!("Error: The path {path} does not exist")
}

/// Heads what a directory holds.
pub(super) fn directory(path: &str) -> String {
    format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:"
    )
}

/// Heads a file.
pub(super) fn file(path: &str) -> String {
    format!("Here's the content of {path} with line numbers:")
}

/// Says that a file has more lines than can be shown.
pub(super) fn too_many_lines(path: &str) -> String {
    format!("File {path} exceeds maximum line limit of 999,999 lines.")
}

/// Says that a file was made.
pub(super) fn created(path: &str) -> String {
    format!("File created successfully at: {path}")
}

/// Says that a file is there already.
pub(super) fn file_exists(path: &str) -> String {
    format!("Error: File {path} already exists")
}

/// Says that a text was replaced, and shows it.
pub(super) fn edited(snippet: &str) -> String {
    format!("The memory file has been edited.\n{snippet}")
}

/// Says that a file does not say that.
pub(super) fn not_found(old: &str, path: &str) -> String {
    format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
}

/// Says that it is not clear which place is meant.
pub(super) fn found_more_than_once(old: &str, lines: &[usize]) -> String {
    let lines = lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    format!(
        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
    )
}

/// Says that text was put into a file.
pub(super) fn inserted(path: &str) -> String {
    format!("The file {path} has been edited.")
}

/// Says that a file has no such line.
pub(super) fn no_such_line(line: i64, n_lines: usize) -> String {
    format!(
        "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {n_lines}]"
    )
}

/// Says that something is gone.
pub(super) fn deleted(path: &str) -> String {
    format!("Successfully deleted {path}")
}

/// Says that something has another name.
pub(super) fn renamed(old: &str, new: &str) -> String {
    format!("Successfully renamed {old} to {new}")
}

/// Says that the new name is taken.
pub(super) fn destination_exists(path: &str) -> String {
    format!("Error: The destination {path} already exists")
}
