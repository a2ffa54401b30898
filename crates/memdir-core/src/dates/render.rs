//! How days are written once they are settled: ISO, with the days beside whatever is not a day itself.

use jiff::civil::{Date, Time};

use super::lexicon::Lang;
use super::meaning::{Days, Form};

/// Writes `days` for a sentence in `lang`. `begins` says that the phrase began with a capital.
pub(super) fn render(days: &Days, lang: Lang, begins: bool) -> String {
    let Days { first, last, form, time } = *days;
    let stretch = format!("{first} {} {last}", connector(lang));
    match form {
        Form::Day => match time {
            Some(time) => format!("{first} {}", clock(time)),
            None => first.to_string(),
        },
        Form::By => by(first, lang, begins),
        Form::Days => stretch,
        Form::Week => {
            let week = first.iso_week_date();
            format!("{}-W{:02} ({stretch})", week.year(), week.week())
        }
        Form::Month => format!("{}-{:02}", first.year(), first.month()),
        Form::Quarter => format!("{}-Q{} ({stretch})", first.year(), first.month() / 3 + 1),
        Form::Year => first.year().to_string(),
    }
}

/// What stands between the first and the last day.
pub(super) fn connector(lang: Lang) -> &'static str {
    match lang {
        Lang::English => "to",
        Lang::German => "bis",
        Lang::Korean => "~",
    }
}

fn by(date: Date, lang: Lang, begins: bool) -> String {
    match (lang, begins) {
        (Lang::English, false) => format!("by {date}"),
        (Lang::English, true) => format!("By {date}"),
        (Lang::German, false) => format!("bis {date}"),
        (Lang::German, true) => format!("Bis {date}"),
        (Lang::Korean, _) => format!("{date}까지"),
    }
}

fn clock(time: Time) -> String {
    format!("{:02}:{:02}", time.hour(), time.minute())
}
