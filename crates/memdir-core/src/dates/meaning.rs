//! What a phrase means, whatever the language, and the days it stands for.
//!
//! A [`Meaning`] knows no calendar: "next Friday" is a weekday in the week after this one. [`resolve`] is the only
//! place that counts days. Weeks begin on Monday.

use jiff::civil::{Date, Time, Weekday};
use jiff::{Span, ToSpan};

use super::lexicon::Unit;

/// What a phrase says, before anybody looks at a calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// So many days from today.
    Day(i32),
    /// So many units from today; a day, also when months are counted.
    Step {
        n: i32,
        unit: Unit,
    },
    /// From today until so many units later.
    Within {
        n: i32,
        unit: Unit,
    },
    /// A weekday as the tense of the clause has it, then so many weeks later.
    Weekday {
        day: i8,
        weeks: i32,
    },
    /// A weekday that never lies behind us: "this Friday".
    Coming {
        day: i8,
    },
    /// The last such weekday before today.
    Last {
        day: i8,
    },
    /// A weekday in the week so many weeks from this one.
    InWeek {
        day: i8,
        week: i32,
    },
    Week(i32),
    /// A week by its number, "KW 12".
    WeekNumber {
        week: i8,
        year: Option<i16>,
    },
    /// Saturday and Sunday of the week so many weeks from this one; `None` leaves it to the tense.
    Weekend(Option<i32>),
    Month(i32),
    NamedMonth {
        month: i8,
        which: Which,
    },
    Quarter(i32),
    NamedQuarter {
        quarter: i8,
        which: Which,
    },
    Year(i32),
    NamedYear(i16),
    MonthDay {
        month: i8,
        day: i8,
        which: Which,
        weekday: Option<i8>,
    },
    /// "the 15th", "Thursday the 5th".
    DayOfMonth {
        day: i8,
        weekday: Option<i8>,
    },
    /// A day of the month so many months from this one.
    DayInMonth {
        day: i8,
        month: i32,
    },
    FirstDay(Box<Meaning>),
    LastDay(Box<Meaning>),
    From(Box<Meaning>, Box<Meaning>),
}

impl Meaning {
    /// Whether it is one day that a range may begin or end with.
    pub(super) fn is_day(&self) -> bool {
        matches!(
            self,
            Self::Day(_)
                | Self::Weekday { .. }
                | Self::Coming { .. }
                | Self::InWeek { .. }
                | Self::MonthDay { .. }
                | Self::DayOfMonth { .. }
                | Self::DayInMonth { .. }
        )
    }
}

impl Meaning {
    /// Whether it is a date that only lacks its month or year, and counts from no day.
    pub(super) fn is_partial(&self) -> bool {
        let is_bare = |which: &Which| matches!(which, Which::Nearest | Which::Year(_));
        match self {
            Self::MonthDay { which, .. }
            | Self::NamedMonth { which, .. }
            | Self::NamedQuarter { which, .. } => is_bare(which),
            Self::DayOfMonth { .. } | Self::WeekNumber { .. } | Self::NamedYear(_) => true,
            Self::FirstDay(of) | Self::LastDay(of) => of.is_partial(),
            Self::From(first, last) => first.is_partial() || last.is_partial(),
            _ => false,
        }
    }
}

/// Which of the many Marches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The nearest in the direction of the tense.
    Nearest,
    Next,
    Last,
    Year(i16),
    /// In the year so many years from this one.
    InYear(i16),
}

/// Where the clause of a phrase looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tense {
    Past,
    Open,
}

/// How a stretch of days is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Day,
    /// "by that day"
    By,
    Days,
    Week,
    Month,
    Quarter,
    Year,
}

/// The days a phrase stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Days {
    pub(super) first: Date,
    pub(super) last: Date,
    pub(super) form: Form,
    pub(super) time: Option<Time>,
}

/// Finds the days that `meaning` stands for.
///
/// An error holds the readings of a phrase that contradicts itself, "Friday, March 5" on a Thursday; none, if there
/// is no such day at all.
pub(super) fn resolve(meaning: &Meaning, today: Date, tense: Tense) -> Result<Days, Vec<Date>> {
    match meaning {
        Meaning::MonthDay { weekday: Some(weekday), .. }
        | Meaning::DayOfMonth { weekday: Some(weekday), .. } => {
            let days = days_of(meaning, today, tense).ok_or_else(Vec::new)?;
            let said =
                days_of(&Meaning::Weekday { day: *weekday, weeks: 0 }, today, tense).ok_or_else(Vec::new)?;
            if number(days.first) == *weekday { Ok(days) } else { Err(vec![days.first, said.first]) }
        }
        _ => days_of(meaning, today, tense).ok_or_else(Vec::new),
    }
}

fn days_of(meaning: &Meaning, today: Date, tense: Tense) -> Option<Days> {
    match *meaning {
        Meaning::Day(n) => day(today.checked_add(n.days()).ok()?),
        Meaning::Step { n, unit } => day(step(today, n, unit)?),
        Meaning::Within { n, unit } => Some(Days { form: Form::By, ..day(step(today, n, unit)?)? }),
        Meaning::Weekday { day: weekday, weeks } => {
            let nearest = if tense == Tense::Past { before(today, weekday)? } else { after(today, weekday)? };
            day(nearest.checked_add(weeks.weeks()).ok()?)
        }
        Meaning::Coming { day: weekday } => day(after(today, weekday)?),
        Meaning::Last { day: weekday } => day(before(today, weekday)?),
        Meaning::InWeek { day: weekday, week } => {
            day(monday(today, week)?.checked_add((i64::from(weekday) - 1).days()).ok()?)
        }
        Meaning::Week(n) => week_from(monday(today, n)?),
        Meaning::WeekNumber { week, year } => numbered_week(week, year, today, tense),
        Meaning::Weekend(n) => {
            let n = n.unwrap_or(if tense == Tense::Past { -1 } else { 0 });
            let saturday = monday(today, n)?.checked_add(5.days()).ok()?;
            Some(Days { first: saturday, last: saturday.tomorrow().ok()?, form: Form::Days, time: None })
        }
        Meaning::Month(n) => month_from(today.first_of_month().checked_add(n.months()).ok()?),
        Meaning::NamedMonth { month, which } => named_month(month, which, today, tense),
        Meaning::Quarter(n) => {
            let this = today.month() - (today.month() - 1) % 3;
            let first = Date::new(today.year(), this, 1).ok()?;
            quarter_from(first.checked_add((3 * n).months()).ok()?)
        }
        Meaning::NamedQuarter { quarter, which } => named_quarter(quarter, which, today, tense),
        Meaning::Year(n) => year_of(today.year().checked_add(i16::try_from(n).ok()?)?),
        Meaning::NamedYear(year) => year_of(year),
        Meaning::MonthDay { month, day: of_month, which, .. } => {
            day(month_day(month, of_month, which, today, tense)?)
        }
        Meaning::DayOfMonth { day: of_month, .. } => {
            let months = (0..=2).map(|n| if tense == Tense::Past { -n } else { n });
            let mut dates = months.filter_map(|n| day_in_month(today, n, of_month));
            day(dates.find(|&date| if tense == Tense::Past { date <= today } else { date >= today })?)
        }
        Meaning::DayInMonth { day: of_month, month } => day(day_in_month(today, month, of_month)?),
        Meaning::FirstDay(ref of) => day(days_of(of, today, tense)?.first),
        Meaning::LastDay(ref of) => day(days_of(of, today, tense)?.last),
        Meaning::From(ref first, ref last) => {
            let first = days_of(first, today, tense)?.first;
            // A day that only has a name is looked for from the first one on, whichever way the clause looks.
            let named = matches!(
                **last,
                Meaning::Weekday { .. } | Meaning::MonthDay { .. } | Meaning::DayOfMonth { .. }
            );
            let last = days_of(last, if named { first } else { today }, Tense::Open)?.last;
            (first <= last).then_some(Days { first, last, form: Form::Days, time: None })
        }
    }
}

fn day(date: Date) -> Option<Days> {
    Some(Days { first: date, last: date, form: Form::Day, time: None })
}

fn step(today: Date, n: i32, unit: Unit) -> Option<Date> {
    let span = match unit {
        Unit::Day => Span::new().try_days(n),
        Unit::Week => Span::new().try_weeks(n),
        Unit::Month => Span::new().try_months(n),
        Unit::Quarter => Span::new().try_months(n.checked_mul(3)?),
        Unit::Year => Span::new().try_years(n),
    };
    today.checked_add(span.ok()?).ok()
}

/// Monday is 1.
pub(super) fn number(date: Date) -> i8 {
    date.weekday().to_monday_one_offset()
}

fn after(today: Date, weekday: i8) -> Option<Date> {
    today.nth_weekday(1, Weekday::from_monday_one_offset(weekday).ok()?).ok()
}

fn before(today: Date, weekday: i8) -> Option<Date> {
    today.nth_weekday(-1, Weekday::from_monday_one_offset(weekday).ok()?).ok()
}

fn monday(today: Date, week: i32) -> Option<Date> {
    let this = today.checked_sub((i64::from(number(today)) - 1).days()).ok()?;
    this.checked_add(week.weeks()).ok()
}

fn week_from(monday: Date) -> Option<Days> {
    Some(Days { first: monday, last: monday.checked_add(6.days()).ok()?, form: Form::Week, time: None })
}

fn month_from(first: Date) -> Option<Days> {
    Some(Days { first, last: first.last_of_month(), form: Form::Month, time: None })
}

fn quarter_from(first: Date) -> Option<Days> {
    let last = first.checked_add(2.months()).ok()?.last_of_month();
    Some(Days { first, last, form: Form::Quarter, time: None })
}

fn year_of(year: i16) -> Option<Days> {
    let (first, last) = (Date::new(year, 1, 1).ok()?, Date::new(year, 12, 31).ok()?);
    Some(Days { first, last, form: Form::Year, time: None })
}

fn month_day(month: i8, day: i8, which: Which, today: Date, tense: Tense) -> Option<Date> {
    // A leap day may be eight years away.
    let (mut years, past) = match (which, tense) {
        (Which::Year(year), _) => return Date::new(year, month, day).ok(),
        (Which::InYear(n), _) => return Date::new(today.year() + n, month, day).ok(),
        (Which::Last, _) | (Which::Nearest, Tense::Past) => {
            ((0..=8).map(|n| today.year() - n).collect::<Vec<_>>(), true)
        }
        (Which::Next, _) | (Which::Nearest, Tense::Open) => {
            ((0..=8).map(|n| today.year() + n).collect(), false)
        }
    };
    let dates = years.drain(..).filter_map(|year| Date::new(year, month, day).ok());
    dates.into_iter().find(|&date| if past { date <= today } else { date >= today })
}

fn day_in_month(today: Date, month: i32, day: i8) -> Option<Date> {
    let first = today.first_of_month().checked_add(month.months()).ok()?;
    Date::new(first.year(), first.month(), day).ok()
}

fn numbered_week(week: i8, year: Option<i16>, today: Date, tense: Tense) -> Option<Days> {
    let this = today.iso_week_date();
    let monday_of = |year| jiff::civil::ISOWeekDate::new(year, week, Weekday::Monday).ok();
    let year = year.unwrap_or(match tense {
        Tense::Past if week > this.week() => this.year() - 1,
        Tense::Open if week < this.week() => this.year() + 1,
        _ => this.year(),
    });
    week_from(monday_of(year)?.date())
}

fn named_month(month: i8, which: Which, today: Date, tense: Tense) -> Option<Days> {
    let this = today.month();
    let year = match (which, tense) {
        (Which::Year(year), _) => year,
        (Which::InYear(n), _) => today.year() + n,
        (Which::Next, _) => today.year() + i16::from(month <= this),
        (Which::Last, _) => today.year() - i16::from(month >= this),
        (Which::Nearest, Tense::Open) => today.year() + i16::from(month < this),
        (Which::Nearest, Tense::Past) => today.year() - i16::from(month > this),
    };
    month_from(Date::new(year, month, 1).ok()?)
}

fn named_quarter(quarter: i8, which: Which, today: Date, tense: Tense) -> Option<Days> {
    let this = (today.month() - 1) / 3 + 1;
    let year = match (which, tense) {
        (Which::Year(year), _) => year,
        (Which::InYear(n), _) => today.year() + n,
        (Which::Next, _) => today.year() + i16::from(quarter <= this),
        (Which::Last, _) => today.year() - i16::from(quarter >= this),
        (Which::Nearest, Tense::Open) => today.year() + i16::from(quarter < this),
        (Which::Nearest, Tense::Past) => today.year() - i16::from(quarter > this),
    };
    quarter_from(Date::new(year, 3 * quarter - 2, 1).ok()?)
}
