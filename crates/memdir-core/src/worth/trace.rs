//! Lines that a program wrote when it failed: stack traces, panics, compiler errors.
//!
//! People paste them; nobody writes them. So a line is told by its form alone, in the languages whose forms we know,
//! and one such line is enough to call what is around it a debugging note. Look at [`pasted`].

/// Returns what kind of failure the first such line of `text` reports, and the line.
pub(super) fn pasted(text: &str) -> Option<(&'static str, &str)> {
    text.lines().find_map(|line| Some((kind(line.trim())?, line.trim())))
}

/// Says which program's failure a line reports.
fn kind(line: &str) -> Option<&'static str> {
    let line = line.trim_start_matches(['>', '|', '`', ' ']);
    FORMS.iter().find(|(_, is_form)| is_form(line)).map(|(name, _)| *name)
}

type Form = (&'static str, fn(&str) -> bool);

/// The forms, the plainest first.
const FORMS: [Form; 13] = [
    ("a Python traceback", python),
    ("a Rust panic", rust),
    ("a Go panic", go),
    ("a Java stack trace", java),
    ("a .NET stack trace", dot_net),
    ("a JavaScript stack trace", javascript),
    ("a Ruby backtrace", ruby),
    ("an Elixir stack trace", elixir),
    ("a PHP error", php),
    ("a debugger's backtrace", debugger),
    ("a compiler's error", compiler),
    ("a linker's error", linker),
    ("an error message", exception),
];

fn python(line: &str) -> bool {
    line.starts_with("Traceback (most recent call last)")
        || line.starts_with("File \"") && line.contains("\", line ")
}

fn rust(line: &str) -> bool {
    let is_frame = || {
        let (number, name) = line.split_once(": ").unwrap_or_default();
        is_number(number) && name.contains("::") && !name.contains(' ')
    };
    line.contains("panicked at ")
        || line.contains("RUST_BACKTRACE")
        || line.starts_with("stack backtrace:")
        || is_frame()
}

fn go(line: &str) -> bool {
    let is_frame = || line.contains(".go:") && line.contains(" +0x");
    line.starts_with("panic: ") || line.starts_with("goroutine ") && line.contains(" [") || is_frame()
}

fn java(line: &str) -> bool {
    let is_frame = || {
        let in_file = line.contains(".java:") || line.contains(".kt:") || line.contains(".scala:");
        line.starts_with("at ") && line.ends_with(')') && (in_file || line.contains("(Native Method)"))
    };
    line.starts_with("Exception in thread ") || line.starts_with("Caused by: ") || is_frame()
}

fn dot_net(line: &str) -> bool {
    let is_frame = || line.starts_with("at ") && line.contains(") in ") && line.contains(":line ");
    line.starts_with("Unhandled exception") || is_frame()
}

fn javascript(line: &str) -> bool {
    let place = line.strip_prefix("at ").map(|rest| rest.trim_end_matches(')'));
    place.is_some_and(|place| ends_with_position(place, 2))
        || line.starts_with("npm ERR!")
        || line.contains("[ERR_")
}

fn ruby(line: &str) -> bool {
    let after = line.split_once(".rb:").map(|(_, after)| after);
    after.is_some_and(|after| after.split_once(":in ").is_some_and(|(number, _)| is_number(number)))
}

fn elixir(line: &str) -> bool {
    let is_frame = || {
        line.starts_with('(') && (line.contains(".ex:") || line.contains(".erl:") || line.contains(".exs:"))
    };
    line.starts_with("** (") || is_frame()
}

fn php(line: &str) -> bool {
    line.starts_with("PHP ") && line.contains("error:")
        || line.contains(".php on line ")
        || line.contains(".php:") && line.starts_with('#')
}

fn debugger(line: &str) -> bool {
    let is_frame = || {
        let rest = line.strip_prefix('#').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        let has_number = line.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        has_number
            && rest.is_some_and(|rest| rest.contains("0x") && rest.contains(" in ") || rest.contains(") at "))
    };
    line.starts_with("Program received signal") || line.contains("(core dumped)") || is_frame()
}

fn compiler(line: &str) -> bool {
    let numbered = ["error[E", "error TS", "error CS", "error C", "error: linking", "fatal error:"];
    let is_numbered = numbered.iter().any(|start| {
        let after = line.find(start).map(|at| &line[at + start.len()..]);
        after.is_some_and(|after| {
            !start.ends_with(['E', 'S', 'C']) || after.starts_with(|c: char| c.is_ascii_digit())
        })
    });
    let (place, message) = line.split_once(": ").unwrap_or_default();
    let is_placed = (ends_with_position(place, 1) || ends_with_position(place, 2))
        && (message.starts_with("error") || message.starts_with("warning"));
    let is_arrow = line.strip_prefix("--> ").is_some_and(|place| ends_with_position(place, 2));
    is_numbered || is_placed || is_arrow
}

fn linker(line: &str) -> bool {
    line.contains("undefined reference to ")
        || line.starts_with("ld: ")
        || line.contains("symbol(s) not found")
}

/// `TypeError: x is not a function`, `java.lang.IllegalStateException: …`, wherever it stands in a line.
fn exception(line: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b"._$:".contains(&b);
    line.match_indices(": ").any(|(at, _)| {
        let start = line[..at].bytes().rposition(|b| !is_word(b)).map_or(0, |before| before + 1);
        let name = &line[start..at];
        let starts_upper =
            name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_uppercase()));
        let ends = ["Error", "Exception", "Panic", "Failure"];
        starts_upper && ends.iter().any(|end| name.len() > end.len() && name.ends_with(end))
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Says whether a text ends like `src/main.rs:12:41`, with `n` numbers behind the file.
fn ends_with_position(text: &str, n: usize) -> bool {
    let mut parts = text.rsplit(':');
    let numbers = parts.by_ref().take(n).filter(|part| is_number(part)).count();
    numbers == n && parts.next().is_some_and(|file| file.contains(['.', '/']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_many_languages_are_told_by_their_form() {
        for (text, name) in [
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>",
                "a Python traceback",
            ),
            ("thread 'main' panicked at src/a.rs:9:41:", "a Rust panic"),
            ("   2: heron_api::store::Store::connect", "a Rust panic"),
            ("panic: runtime error: index out of range", "a Go panic"),
            ("goroutine 1 [running]:", "a Go panic"),
            ("    at de.heron.Door.open(Door.java:12)", "a Java stack trace"),
            ("   at App.Main(String[] args) in C:\\x\\Program.cs:line 12", "a .NET stack trace"),
            ("    at Object.<anonymous> (/srv/app/index.js:3:11)", "a JavaScript stack trace"),
            ("    at /srv/app/index.js:3:11", "a JavaScript stack trace"),
            ("app/models/door.rb:12:in `open'", "a Ruby backtrace"),
            ("** (FunctionClauseError) no function clause", "an Elixir stack trace"),
            ("    (app 0.1.0) lib/app/match.ex:3: App.Match.join/2", "an Elixir stack trace"),
            ("PHP Fatal error:  Uncaught Exception in /srv/a.php:3", "a PHP error"),
            ("#0  0x00007ffff in main () at door.c:12", "a debugger's backtrace"),
            ("error[E0499]: cannot borrow `x` as mutable", "a compiler's error"),
            ("src/a.ts(3,1): error TS2345: Argument of type", "a compiler's error"),
            ("door.c:12:3: error: expected ';'", "a compiler's error"),
            ("a.o: undefined reference to `watchdog_kick'", "a linker's error"),
            ("TypeError: x is not a function", "an error message"),
            ("java.lang.IllegalStateException: closed", "an error message"),
        ] {
            assert_eq!(pasted(&format!("Seen today:\n{text}\n")).map(|(name, _)| name), Some(name), "{text}");
        }
    }

    #[test]
    fn prose_about_errors_is_no_trace() {
        for text in [
            "Errors: we answer with problem details.",
            "The panic button is at the door",
            "at 12:30 we deploy",
            "Why: the error budget is spent",
            "see src/main.rs:12 for more",
            "Note: an Error: is shown to customers",
        ] {
            assert_eq!(pasted(text), None, "{text}");
        }
    }
}
