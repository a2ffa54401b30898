//! `memdir edit`: changes a memory by flags, in an editor, or by a new body on stdin.

use std::path::PathBuf;
use std::process::Command;

use memdir_core::change::Edit;
use memdir_core::memory::{Document, MemoryType, Scope, Value};
use memdir_store::disk::Dir;
use memdir_store::ledger::How;
use memdir_store::vault::{Loaded, SCRATCH, Vault};

use super::save::{check_base, replace_body};
use super::writing::{self, Why, one_line, set};
use crate::context::{Context, Found, dash_is_stdin, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Change a memory
///
/// Without options it opens $VISUAL or $EDITOR on a copy; with no editor set, a text on stdin becomes
/// the new body. What somebody else changed meanwhile is merged; what cannot be merged is kept aside.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which memory
    name: String,
    /// Replace the body; `-` is stdin
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// Add a line at the end of the body; `-` is stdin
    #[arg(long, short, value_name = "TEXT", conflicts_with = "body", allow_hyphen_values = true)]
    append: Option<String>,
    /// Replace the description
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// Change the type: user, feedback, project or reference
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    memory_type: Option<String>,
    /// Change who may see it: private or team
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// Add a tag; may be repeated
    #[arg(long = "tag", value_name = "WORD")]
    tags: Vec<String>,
    /// Remove a tag; may be repeated
    #[arg(long = "untag", value_name = "WORD")]
    untags: Vec<String>,
    /// Set any frontmatter field; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    sets: Vec<String>,
    /// Remove any frontmatter field; may be repeated
    #[arg(long = "unset", value_name = "KEY")]
    unsets: Vec<String>,
    /// Only if the memory still is this version (sha256)
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    #[command(flatten)]
    why: Why,
}

impl Args {
    /// Takes what `-` stands for from standard input.
    fn read_dashes(&mut self) -> Result<(), Failure> {
        for text in [&mut self.body, &mut self.append, &mut self.description] {
            *text = text.take().map(dash_is_stdin).transpose()?;
        }
        Ok(())
    }

    fn has_changes(&self) -> bool {
        let texts = [&self.body, &self.append, &self.description, &self.memory_type, &self.scope];
        let lists = [&self.tags, &self.untags, &self.sets, &self.unsets];
        texts.iter().any(|text| text.is_some()) || lists.iter().any(|list| !list.is_empty())
    }
}

pub(crate) fn run(mut args: Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let Found { vault, loaded } = context.find(&args.name)?;
    check_base(args.base.as_deref(), Some(&loaded), &args.name)?;
    args.read_dashes()?;
    let base = loaded.document.bytes().to_vec();
    let (text, scratch) = if args.has_changes() {
        (by_flags(&args, &loaded, context, ui)?, None)
    } else if let Some(editor) = editor() {
        let scratch = Scratch::new(&vault, loaded.path.stem(), loaded.document.bytes())?;
        (scratch.edit(&editor)?, Some(scratch))
    } else {
        args.body = text_or_stdin(None)?;
        if args.body.is_none() {
            return Err(Failure::error("nothing to change")
                .hint("set $EDITOR, or use --body, --append, --description, --set …"));
        }
        (by_flags(&args, &loaded, context, ui)?, None)
    };
    if text == base {
        ui.say("nothing changed");
        return Ok(Outcome::Done);
    }
    let path = loaded.path.clone();
    let set = args.why.change_set("edit", vec![Edit::Replace { path, base, text }])?;
    let committed = writing::commit(&vault, &set, context, ui)?;
    if let Some(scratch) = scratch {
        scratch.discard();
    }
    writing::note_use(&vault, &loaded, How::Edited, args.why.session.as_deref(), context);
    writing::print_written(loaded.path.stem(), &committed, ui);
    Ok(Outcome::Done)
}

fn by_flags(args: &Args, loaded: &Loaded, context: &Context, ui: &Ui) -> Result<Vec<u8>, Failure> {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut document = loaded.document.clone();
    if let Some(description) = &args.description {
        document = set(document, "description", &text(&one_line(description, ui)?))?;
    }
    if let Some(word) = &args.memory_type {
        document = set(document, "type", &text(word.parse::<MemoryType>()?.as_str()))?;
    }
    if let Some(word) = &args.scope {
        document = set(document, "scope", &text(word.parse::<Scope>()?.as_str()))?;
    }
    if !args.tags.is_empty() || !args.untags.is_empty() {
        document =
            set(document, "tags", &Value::list(retagged(&loaded.memory.tags, &args.tags, &args.untags)))?;
    }
    for pair in &args.sets {
        let (field, value) = pair.split_once('=').ok_or_else(|| {
            Failure::error(format!("`{pair}` sets nothing")).hint("write it like --set expires=2026-03-05")
        })?;
        document = set(document, field.trim(), &text(value.trim()))?;
    }
    for field in &args.unsets {
        document = document.remove(field).map_err(|err| writing::cannot_edit(&err))?;
    }
    if let Some(body) = &args.body {
        document = replace_body(&document, body)?;
    }
    if let Some(line) = &args.append {
        document = append(&document, line)?;
    }
    if document.bytes() != loaded.document.bytes() {
        document = writing::touch(document, context, args.why.session.as_deref())?;
    }
    Ok(document.bytes().to_vec())
}

fn retagged(tags: &[String], add: &[String], remove: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = tags.iter().filter(|tag| !remove.contains(tag)).cloned().collect();
    for tag in add {
        if !tags.contains(tag) {
            tags.push(tag.clone());
        }
    }
    tags
}

fn append(document: &Document, line: &str) -> Result<Document, Failure> {
    let mut body = document.body().to_vec();
    let newline = if document.bytes().windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
    if !body.is_empty() && !body.ends_with(b"\n") {
        body.extend(newline.as_bytes());
    }
    body.extend(line.trim_end_matches('\n').as_bytes());
    body.extend(newline.as_bytes());
    document.with_body(&body).map_err(|err| writing::cannot_edit(&err))
}

/// Returns the editor that the user chose.
pub(super) fn editor() -> Option<String> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

/// A private copy that an editor works on. It stays on disk when the edit fails, so that no word is lost.
pub(super) struct Scratch {
    dir: Dir,
    name: String,
}

impl Scratch {
    /// Makes a copy of `text`, named after the memory it is of.
    pub(super) fn new(vault: &Vault, stem: &str, text: &[u8]) -> Result<Self, Failure> {
        let dir = Dir::ensure(&vault.state_path().join(SCRATCH))?;
        let name = format!("{stem}.{}.md", memdir_store::disk::random_hex()?);
        dir.replace(&name, text)?;
        Ok(Self { dir, name })
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }

    /// Runs the editor, which is a command line of the user's shell, and returns what it left.
    pub(super) fn edit(&self, editor: &str) -> Result<Vec<u8>, Failure> {
        let status = Command::new("sh")
            .arg("-c")
            .arg(format!("{editor} \"$1\""))
            .arg(editor)
            .arg(self.path())
            .status();
        let status =
            status.map_err(|err| Failure::error(format!("could not start the editor `{editor}`: {err}")))?;
        if !status.success() {
            let kept = self.path();
            return Err(Failure::error(format!("the editor `{editor}` failed: {status}"))
                .hint(format!("nothing was saved; your text is in {}", kept.display())));
        }
        let text = self.dir.read(&self.name, memdir_store::vault::MAX_MEMORY);
        let text =
            text.map_err(|err| Failure::error(format!("could not read {}: {err}", self.path().display())))?;
        text.ok_or_else(|| Failure::error("the editor removed the file").hint("nothing was changed"))
    }

    /// Removes the copy.
    pub(super) fn discard(self) {
        let _ = self.dir.remove(&self.name);
    }
}
