//! `memdir save`: creates a memory, or updates the one of that name.

use jiff::civil::Date;
use memdir_core::change::Edit;
use memdir_core::dates;
use memdir_core::hash::ContentHash;
use memdir_core::memory::{
    Document, Draft, Frontmatter, MemoryName, MemoryPath, MemoryType, Rule, Scope, Value,
};
use memdir_core::obedience;
use memdir_core::team::share::usual_scope;
use memdir_store::gate::Gate;
use memdir_store::team::has_team;
use memdir_store::vault::Loaded;

use super::writing::{self, Why, as_body, one_line, set};
use crate::context::{Context, Found, STDIN, dash_is_stdin, text_or_stdin};
use crate::failure::{Failure, Outcome};
use crate::ui::Ui;

/// Save a memory, or update the one of that name
///
/// The body comes from --body or stdin. Feedback and project memories are followed best with a
/// `**Why:**` and a `**How to apply:**` paragraph. Prints the file's path.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name: a-z, 0-9, `-` and `_`, for instance feedback-testing
    name: String,
    /// What it is about: user, feedback, project or reference
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    memory_type: String,
    /// One line that says when this memory matters
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    description: String,
    /// The text, instead of stdin; `-` is stdin
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// Who may see it: private or team
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,
    /// A word to find it by; may be repeated
    #[arg(long = "tag", value_name = "WORD")]
    tags: Vec<String>,
    /// A file it is about, as a glob from the project's root; may be repeated
    #[arg(long = "path", value_name = "GLOB")]
    paths: Vec<String>,
    /// What is refused, asked or said before a tool is used, for feedback: `deny bash ^git push --force`; may be repeated
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// A finer kind: status, standard, pattern, decision, gotcha, howto
    #[arg(long, value_name = "WORD")]
    kind: Option<String>,
    /// The day from which on it is stale: YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    /// Keep it at the top of MEMORY.md
    #[arg(long)]
    pin: bool,
    /// Leave secrets out instead of refusing: `[REDACTED:kind]` stands in their place
    #[arg(long)]
    redact: bool,
    /// Save it although a gate refuses; the reason is kept in the log
    #[arg(long, value_name = "REASON", allow_hyphen_values = true)]
    force: Option<String>,
    /// Only if the memory still is this version (sha256)
    #[arg(long, value_name = "HASH")]
    base: Option<String>,
    #[command(flatten)]
    why: Why,
}

/// What the arguments mean, checked.
struct Checked {
    memory_type: MemoryType,
    scope: Option<Scope>,
    expires: Option<Date>,
    description: String,
    body: Option<String>,
}

impl Checked {
    fn redact(&mut self, gate: &Gate) {
        self.description = gate.redacted(&self.description).0;
        self.body = self.body.take().map(|body| gate.redacted(&body).0);
    }
}

pub(crate) fn run(args: Args, context: &Context, ui: &mut Ui) -> Result<Outcome, Failure> {
    let mut checked = check(&args, ui)?;
    if args.redact {
        checked.redact(context.gate()?);
    }
    let found = context.find_exact(&args.name)?;
    check_base(args.base.as_deref(), found.as_ref().map(|found| &found.loaded), &args.name)?;
    let (vault, edit, name) = match found {
        Some(Found { vault, loaded }) => {
            let name = loaded.path.stem().to_owned();
            (vault, update(&args, &checked, &loaded, context)?, name)
        }
        None => {
            let name = MemoryName::new(&args.name)?;
            let text = draft(&args, &checked, &name, context)?.render();
            (
                context.vault_for(checked.memory_type, ui)?,
                Edit::Create { path: name.path(), text },
                name.to_string(),
            )
        }
    };
    let mut set = args.why.change_set("save", vec![edit])?;
    set.force = args.force;
    let committed = writing::commit(&vault, &set, context, ui)?;
    writing::print_written(&name, &committed, ui);
    Ok(Outcome::Done)
}

fn check(args: &Args, ui: &Ui) -> Result<Checked, Failure> {
    let memory_type = args.memory_type.parse()?;
    check_rules(&args.rules, memory_type)?;
    Ok(Checked {
        memory_type,
        scope: args.scope.as_deref().map(str::parse).transpose()?,
        expires: args.expires.as_deref().map(parse_date).transpose()?,
        description: one_line(&dash_is_stdin(args.description.clone())?, ui)?,
        // Where the description is on standard input, the body is not.
        body: if args.body.is_none() && args.description == STDIN {
            None
        } else {
            text_or_stdin(args.body.clone())?
        },
    })
}

fn check_rules(rules: &[String], memory_type: MemoryType) -> Result<(), Failure> {
    if !rules.is_empty() && memory_type != MemoryType::Feedback {
        return Err(Failure::error("only a feedback memory has rules").hint("save it with `--type feedback`"));
    }
    for rule in rules {
        let parsed: Result<Rule, _> = rule.parse();
        let is_wrong = |why: String| {
            Failure::error(format!("`{rule}` is not a rule: {why}")).hint(
                "write it like `deny bash ^git push --force`, `ask edit db/**` or `remind bash ^git add -A`",
            )
        };
        let parsed = parsed.map_err(|err| is_wrong(err.to_string()))?;
        obedience::check(&parsed).map_err(is_wrong)?;
    }
    Ok(())
}

/// Reads a day.
pub(super) fn parse_date(text: &str) -> Result<Date, Failure> {
    text.parse()
        .map_err(|_| Failure::error(format!("`{text}` is not a day")).hint("write it like 2026-03-05"))
}

/// Refuses when the caller saw another version.
pub(super) fn check_base(base: Option<&str>, loaded: Option<&Loaded>, name: &str) -> Result<(), Failure> {
    let Some(base) = base else { return Ok(()) };
    let base: ContentHash = base.parse().map_err(|err| Failure::from_chain(&err))?;
    if loaded.map(|loaded| loaded.hash) == Some(base) {
        return Ok(());
    }
    Err(Failure::refusal(format!("memory `{name}` changed on disk since it was read"))
        .hint(format!("read it again: `memdir show {name}`, then repeat the change")))
}

fn draft(args: &Args, checked: &Checked, name: &MemoryName, context: &Context) -> Result<Draft, Failure> {
    let to_user_vault = checked.memory_type == MemoryType::User && !context.place.explicit;
    let is_teams = has_team(&context.place.state_dir());
    let body = checked.body.as_deref().unwrap_or(&checked.description);
    Ok(Draft {
        scope: checked.scope.unwrap_or_else(|| usual_scope(checked.memory_type, is_teams)),
        kind: args.kind.clone(),
        tags: args.tags.clone(),
        paths: args.paths.clone(),
        rules: args.rules.clone(),
        created: Some(context.now),
        modified: Some(context.now),
        session: args.why.session.clone(),
        provenance: Some(args.why.provenance()?),
        expires: checked.expires,
        pinned: args.pin,
        origin_project: to_user_vault.then(|| context.place.project.id.to_string()),
        body: as_body(body),
        layout: context.place.settings.layout,
        ..Draft::new(name.clone(), checked.memory_type, checked.description.clone())
    })
}

/// Changes what the arguments name and nothing else.
fn update(args: &Args, checked: &Checked, loaded: &Loaded, context: &Context) -> Result<Edit, Failure> {
    let path: MemoryPath = loaded.path.clone();
    let base = loaded.document.bytes().to_vec();
    let mut document = loaded.document.clone();
    if matches!(document.frontmatter(), Frontmatter::Absent) {
        document = document
            .with_frontmatter(path.stem(), &checked.description, checked.memory_type)
            .map_err(|err| writing::cannot_edit(&err))?;
    }
    for (field, value) in fields(args, checked) {
        if document.get(field) != Some(value.clone()) {
            document = set(document, field, &value)?;
        }
    }
    if let Some(body) = &checked.body {
        // Said again on the same day, "tomorrow" is what was saved: nothing changes.
        let settled = dates::settle(body, &context.now.to_zoned(context.zone.clone())).text;
        let is_same = replace_body(&document, &settled)?.bytes() == document.bytes();
        document = if is_same { document } else { replace_body(&document, body)? };
    }
    if document.bytes() != base {
        document = writing::touch(document, context, args.why.session.as_deref())?;
    }
    Ok(Edit::Replace { path, base, text: document.bytes().to_vec() })
}

/// Replaces the body, unless it says the same already.
pub(super) fn replace_body(document: &Document, body: &str) -> Result<Document, Failure> {
    let body = as_body(body);
    let current = String::from_utf8_lossy(document.body());
    if current.trim_matches(['\n', '\r']) == body.trim_matches(['\n', '\r']) {
        return Ok(document.clone());
    }
    document.with_body(body.as_bytes()).map_err(|err| writing::cannot_edit(&err))
}

fn fields(args: &Args, checked: &Checked) -> Vec<(&'static str, Value)> {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut fields =
        vec![("description", text(&checked.description)), ("type", text(checked.memory_type.as_str()))];
    fields.extend(checked.scope.map(|scope| ("scope", text(scope.as_str()))));
    fields.extend(args.kind.as_deref().map(|kind| ("kind", text(kind))));
    fields.extend(checked.expires.map(|day| ("expires", text(&day.to_string()))));
    if args.pin {
        fields.push(("pinned", text("true")));
    }
    if !args.tags.is_empty() {
        fields.push(("tags", Value::list(args.tags.iter().cloned())));
    }
    if !args.paths.is_empty() {
        fields.push(("paths", Value::list(args.paths.iter().cloned())));
    }
    if !args.rules.is_empty() {
        fields.push(("rule", Value::list(args.rules.iter().cloned())));
    }
    fields
}
