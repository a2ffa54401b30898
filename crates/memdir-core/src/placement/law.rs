//! The law of places, and what it says about one text.

use super::Surroundings;
use super::place::Place;
use crate::memory::MemoryType;
use crate::statement::{Act, Gist, Part, Reading};

/// How much likelier a sentence must do something else than its text before it is called out of place.
const CLEARLY: f32 = 0.75;
/// How likely an act must be to speak of it unasked.
const SURE: f32 = 0.8;
/// How likely a second act must be to make its place acceptable too.
const PERHAPS: f32 = 0.2;

/// Whether a text belongs to a place, and where it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether the place is acceptable.
    pub ok: bool,
    /// Whether what the text does is plain enough to speak of it unasked.
    pub sure: bool,
    /// Why, in one sentence.
    pub reason: String,
    /// The acceptable places, best first; none if it belongs nowhere because something else shows it.
    pub destinations: Vec<Place>,
    /// Each sentence with what it does and where that belongs.
    pub parts: Vec<VerdictPart>,
}

/// One sentence of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictPart {
    /// The sentence.
    pub text: String,
    /// What it does.
    pub act: Act,
    /// Where that belongs, best first.
    pub destinations: Vec<Place>,
}

/// Judges whether the text of `gist` belongs to `target`.
pub fn place(gist: &Gist<'_>, target: Place, around: &Surroundings) -> Verdict {
    // Where nothing can be told it is context: only people know why they said it.
    let main = gist.act().unwrap_or(Act::Context);
    let destinations = places(main, gist, around);
    let parts: Vec<VerdictPart> = parts(gist, main, around);
    let stray = parts.iter().find(|part| !accepts(target, part, &destinations));
    let ok = destinations.contains(&target);
    let sure = gist.likely(main) >= SURE;
    match stray.filter(|_| ok) {
        None => Verdict { ok, sure, reason: reason(main, target, &destinations), destinations, parts },
        Some(stray) => {
            let mut all = stray.destinations.clone();
            all.extend(destinations.into_iter().filter(|place| !stray.destinations.contains(place)));
            let reason = format!("`{}`: {}", stray.text, reason(stray.act, target, &stray.destinations));
            Verdict { ok: false, sure, reason, destinations: all, parts }
        }
    }
}

/// Documents that are read as a whole by whoever starts to work bear no stray sentence; a memory may explain itself.
fn accepts(target: Place, part: &VerdictPart, destinations: &[Place]) -> bool {
    let strict = matches!(target, Place::Instructions | Place::Status);
    !strict
        || part.destinations.contains(&target)
        || part.destinations.iter().any(|place| destinations.first() == Some(place))
}

fn parts(gist: &Gist<'_>, main: Act, around: &Surroundings) -> Vec<VerdictPart> {
    let told =
        gist.parts.iter().filter(|(statement, _)| matches!(statement.part, Part::Paragraph | Part::Item));
    told.map(|(statement, reading)| {
        let act = own_act(reading, main);
        VerdictPart { text: statement.text.to_owned(), act, destinations: places(act, gist, around) }
    })
    .collect()
}

/// A sentence does what its text does, unless it clearly does something else.
fn own_act(reading: &Reading, main: Act) -> Act {
    match reading.act() {
        Some(act) if reading.likely(act) >= reading.likely(main) + CLEARLY => act,
        _ => main,
    }
}

/// Returns where an act belongs, best first.
fn places(act: Act, gist: &Gist<'_>, around: &Surroundings) -> Vec<Place> {
    use Place::{
        Architecture, Decisions, Instructions, Memory, Readme, Status, TeamVault, UserVault, WorkingMemory,
    };
    let project = Memory(MemoryType::Project);
    let mut places = match act {
        Act::Rule => vec![Instructions, Memory(MemoryType::Feedback)],
        Act::Feedback if gist.likely(Act::Rule) > PERHAPS => vec![Memory(MemoryType::Feedback), Instructions],
        Act::Feedback => vec![Memory(MemoryType::Feedback)],
        Act::Preference | Act::Role => vec![Memory(MemoryType::User), UserVault],
        Act::Decision if gist.has_reason() => vec![Decisions, Status, project],
        Act::Decision => vec![Decisions, Status],
        Act::Context if gist.likely(Act::State) > PERHAPS => vec![project, Status],
        Act::Context | Act::Gotcha => vec![project],
        Act::State if gist.likely(Act::Context) > PERHAPS => vec![Status, project],
        Act::State => vec![Status],
        Act::Task => vec![WorkingMemory],
        Act::Structure | Act::Architecture => vec![Architecture],
        Act::Overview => vec![Readme],
        Act::Pointer => vec![Memory(MemoryType::Reference)],
        // Git shows the one and the commit the other; who wants them written down says how things stand.
        Act::Event => vec![Status],
        Act::Recipe => vec![WorkingMemory],
    };
    let shared = places.iter().any(|place| matches!(place, Memory(kind) if *kind != MemoryType::User));
    if around.has_team_vault && shared && act != Act::Feedback {
        places.push(TeamVault);
    }
    places
}

fn reason(act: Act, target: Place, destinations: &[Place]) -> String {
    let what = told(act);
    if destinations.contains(&target) {
        return format!("{what}; {target} holds {}", target.purpose());
    }
    match destinations.first() {
        Some(first) => {
            format!("{what}; {target} holds {}, {first} holds {}", target.purpose(), first.purpose())
        }
        None => format!(
            "{what}; {} shows it already",
            if act == Act::Event { "git" } else { "the commit that fixed it" }
        ),
    }
}

/// Says in words what a text does.
fn told(act: Act) -> &'static str {
    match act {
        Act::Rule => "this is a rule for work in the project",
        Act::Feedback => "this corrects or confirms how the agent works",
        Act::Preference => "this tells what the user prefers",
        Act::Role => "this tells who the user is",
        Act::Decision => "this tells a decision",
        Act::Context => "this tells a goal, deadline, incident or motive",
        Act::Gotcha => "this warns of something outside the code",
        Act::State => "this tells where the project stands",
        Act::Task => "this tells what the session is doing",
        Act::Event => "this tells what git records",
        Act::Structure => "this tells what the tree and the code show",
        Act::Architecture => "this describes how the parts work together",
        Act::Recipe => "this tells how an error was fixed",
        Act::Overview => "this tells what the project is or how it is used",
        Act::Pointer => "this tells where something outside is found",
    }
}
