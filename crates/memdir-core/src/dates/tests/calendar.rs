//! The phrases against a calendar that shares nothing with the code: it counts days one by one.

use super::{noon, settle};

/// A day of the counted calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Civil {
    year: i32,
    month: i32,
    day: i32,
    /// Monday is 1.
    weekday: i32,
}

impl std::fmt::Display for Civil {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// Every day from Thursday 1970-01-01 on.
struct Calendar {
    days: Vec<Civil>,
}

impl Calendar {
    fn counted() -> Self {
        let mut days = vec![Civil { year: 1970, month: 1, day: 1, weekday: 4 }];
        while days.len() < 30_000 {
            let Civil { mut year, mut month, mut day, weekday } = days[days.len() - 1];
            day += 1;
            if day > length(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
            days.push(Civil { year, month, day, weekday: weekday % 7 + 1 });
        }
        Self { days }
    }

    fn find(&self, year: i32, month: i32, day: i32) -> usize {
        let is = |civil: &Civil| (civil.year, civil.month, civil.day) == (year, month, day);
        self.days.iter().position(is).expect("the calendar holds the day")
    }

    /// Walks from `at`, one day a step, until `is` holds.
    fn walk(&self, at: usize, step: isize, is: impl Fn(&Civil) -> bool) -> usize {
        let mut at = at.checked_add_signed(step).unwrap();
        while !is(&self.days[at]) {
            at = at.checked_add_signed(step).unwrap();
        }
        at
    }

    fn monday(&self, at: usize) -> usize {
        if self.days[at].weekday == 1 { at } else { self.walk(at, -1, |civil| civil.weekday == 1) }
    }

    /// The year and number of the week that begins on `monday`: the week with a year's first Thursday is its first.
    fn week(&self, monday: usize) -> (i32, i32) {
        let year = self.days[monday + 3].year;
        let mut first = self.find(year, 1, 1);
        while self.days[first].weekday != 4 {
            first += 1;
        }
        let mut n = 1;
        while first != monday + 3 {
            first += 7;
            n += 1;
        }
        (year, n)
    }
}

fn length(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A day and the calendar it is in, as the expectations below read it.
struct Today<'c> {
    calendar: &'c Calendar,
    at: usize,
}

impl Today<'_> {
    fn civil(&self) -> Civil {
        self.calendar.days[self.at]
    }

    fn plus(&self, n: isize) -> String {
        self.calendar.days[self.at.checked_add_signed(n).unwrap()].to_string()
    }

    fn next(&self, weekday: i32) -> String {
        self.calendar.days[self.calendar.walk(self.at, 1, |civil| civil.weekday == weekday)].to_string()
    }

    fn last(&self, weekday: i32) -> String {
        self.calendar.days[self.calendar.walk(self.at, -1, |civil| civil.weekday == weekday)].to_string()
    }

    fn in_week(&self, week: isize, weekday: isize) -> String {
        let monday = self.calendar.monday(self.at);
        self.calendar.days[monday.checked_add_signed(7 * week + weekday - 1).unwrap()].to_string()
    }

    fn week(&self, n: isize, to: &str) -> String {
        let monday = self.calendar.monday(self.at).checked_add_signed(7 * n).unwrap();
        let (year, week) = self.calendar.week(monday);
        format!("{year}-W{week:02} ({} {to} {})", self.calendar.days[monday], self.calendar.days[monday + 6])
    }

    /// The year and month so many months away.
    fn month(&self, n: i32) -> (i32, i32) {
        let Civil { year, month, .. } = self.civil();
        let months = year * 12 + month - 1 + n;
        (months.div_euclid(12), months.rem_euclid(12) + 1)
    }

    fn month_end(&self, n: i32) -> String {
        let (year, month) = self.month(n);
        format!("{year}-{month:02}-{:02}", length(year, month))
    }

    /// The same day so many months away, or the last day that month has.
    fn months(&self, n: i32) -> String {
        let (year, month) = self.month(n);
        format!("{year}-{month:02}-{:02}", self.civil().day.min(length(year, month)))
    }

    fn quarter(&self, n: i32, to: &str) -> String {
        let Civil { year, month, .. } = self.civil();
        let quarters = year * 4 + (month - 1) / 3 + n;
        let (year, quarter) = (quarters.div_euclid(4), quarters.rem_euclid(4) + 1);
        let last = 3 * quarter;
        format!("{year}-Q{quarter} ({year}-{:02}-01 {to} {year}-{last:02}-{})", last - 2, length(year, last))
    }

    /// The nearest such day of the year, today included.
    fn month_day(&self, step: isize, month: i32, day: i32) -> String {
        let is = |civil: &Civil| (civil.month, civil.day) == (month, day);
        if is(&self.civil()) {
            return self.civil().to_string();
        }
        self.calendar.days[self.calendar.walk(self.at, step, is)].to_string()
    }
}

type Expectation = fn(&Today) -> String;

/// What is said, and what the counted calendar makes of it.
const EXPECTED: &[(&str, Expectation)] = &[
    ("ready today", |t| format!("ready {}", t.plus(0))),
    ("tomorrow it is", |t| format!("{} it is", t.plus(1))),
    ("the day after tomorrow", |t| t.plus(2)),
    ("yesterday", |t| t.plus(-1)),
    ("the day before yesterday", |t| t.plus(-2)),
    ("in 10 days", |t| t.plus(10)),
    ("in three weeks", |t| t.plus(21)),
    ("two weeks ago", |t| t.plus(-14)),
    ("in a month", |t| t.months(1)),
    ("in 6 months", |t| t.months(6)),
    ("three months ago", |t| t.months(-3)),
    ("in a year", |t| t.months(12)),
    ("a year ago", |t| t.months(-12)),
    ("within 5 days", |t| format!("by {}", t.plus(5))),
    ("on Monday", |t| format!("on {}", t.next(1))),
    ("by Tuesday", |t| format!("by {}", t.next(2))),
    ("this Wednesday", |t| t.next(3)),
    ("after Thursday", |t| format!("after {}", t.next(4))),
    ("we shipped on Friday", |t| format!("we shipped on {}", t.last(5))),
    ("broken since Saturday", |t| format!("broken since {}", t.last(6))),
    ("last Sunday", |t| t.last(7)),
    ("next Monday", |t| t.in_week(1, 1)),
    ("next Sunday", |t| t.in_week(1, 7)),
    ("Friday after next", |t| t.in_week(2, 5)),
    ("Wednesday last week", |t| t.in_week(-1, 3)),
    ("this week", |t| t.week(0, "to")),
    ("next week", |t| t.week(1, "to")),
    ("last week", |t| t.week(-1, "to")),
    ("the week after next", |t| t.week(2, "to")),
    ("this weekend", |t| format!("{} to {}", t.in_week(0, 6), t.in_week(0, 7))),
    ("next month", |t| format!("{}-{:02}", t.month(1).0, t.month(1).1)),
    ("last month", |t| format!("{}-{:02}", t.month(-1).0, t.month(-1).1)),
    ("end of month", |t| t.month_end(0)),
    ("end of next month", |t| t.month_end(1)),
    ("end of week", |t| t.in_week(0, 7)),
    ("EOY", |t| format!("{}-12-31", t.civil().year)),
    ("this quarter", |t| t.quarter(0, "to")),
    ("next quarter", |t| t.quarter(1, "to")),
    ("last quarter", |t| t.quarter(-1, "to")),
    ("next year", |t| (t.civil().year + 1).to_string()),
    ("March 5", |t| t.month_day(1, 3, 5)),
    ("due on 29 February", |t| format!("due on {}", t.month_day(1, 2, 29))),
    ("we met on December 31", |t| format!("we met on {}", t.month_day(-1, 12, 31))),
    ("heute", |t| t.plus(0)),
    ("übermorgen", |t| t.plus(2)),
    ("vorgestern", |t| t.plus(-2)),
    ("in 14 Tagen", |t| t.plus(14)),
    ("vor einem Monat", |t| t.months(-1)),
    ("am Dienstag", |t| format!("am {}", t.next(2))),
    ("wurde am Samstag verschickt", |t| format!("wurde am {} verschickt", t.last(6))),
    ("nächsten Donnerstag", |t| t.in_week(1, 4)),
    ("letzte Woche Freitag", |t| t.in_week(-1, 5)),
    ("nächste Woche", |t| t.week(1, "bis")),
    ("letztes Quartal", |t| t.quarter(-1, "bis")),
    ("bis Monatsende", |t| format!("bis {}", t.month_end(0))),
    ("am 1. Januar", |t| format!("am {}", t.month_day(1, 1, 1))),
    ("내일까지", |t| format!("{}까지", t.plus(1))),
    ("그저께", |t| t.plus(-2)),
    ("사흘 뒤", |t| t.plus(3)),
    ("2주 전", |t| t.plus(-14)),
    ("한 달 뒤", |t| t.months(1)),
    ("목요일까지", |t| format!("{}까지", t.next(4))),
    ("일요일에 배포했다", |t| format!("{}에 배포했다", t.last(7))),
    ("다음 주 월요일", |t| t.in_week(1, 1)),
    ("지난주 일요일", |t| t.in_week(-1, 7)),
    ("다음 주", |t| t.week(1, "~")),
    ("지난달 말", |t| t.month_end(-1)),
    ("다음 분기", |t| t.quarter(1, "~")),
    ("작년", |t| (t.civil().year - 1).to_string()),
    ("2월 29일", |t| t.month_day(1, 2, 29)),
];

/// Stretches of days: ends of years and months, leap years, years with 53 weeks, and each weekday many times.
const STRETCHES: &[((i32, i32, i32), usize)] = &[
    ((1999, 12, 27), 10),
    ((2020, 12, 27), 10),
    ((2024, 2, 25), 9),
    ((2024, 12, 28), 9),
    ((2025, 12, 27), 10),
    ((2026, 3, 1), 9),
    ((2026, 5, 29), 4),
    ((2026, 11, 15), 1),
    ((2026, 12, 27), 10),
    ((2028, 2, 27), 4),
];

#[test]
fn every_phrase_agrees_with_a_calendar_that_counts_days() {
    let calendar = Calendar::counted();
    for &((year, month, day), n_days) in STRETCHES {
        let first = calendar.find(year, month, day);
        for at in first..first + n_days {
            let today = Today { calendar: &calendar, at };
            let now = noon(&today.civil().to_string());
            for (said, expected) in EXPECTED {
                assert_eq!(settle(said, &now).text, expected(&today), "{said} on {}", today.civil());
            }
        }
    }
}
