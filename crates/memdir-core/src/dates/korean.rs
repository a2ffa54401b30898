//! Korean: what is said, and what it means.
//!
//! The reader has already cut words from particles, so `다음 주` is "다음 주" as well as "다음주", and the particle
//! behind a phrase ("까지", "부터", "에") is no part of it.

use super::grammar::{Grammar, days, first_day, last_day, month, of_year, period, quarter};
use super::lexicon::{Lang, Sense, Unit};
use super::meaning::{Meaning, Which};
use super::pattern::{Phrase, Slots};

pub(super) const GRAMMAR: Grammar = Grammar {
    lang: Lang::Korean,
    weekdays: &["월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"],
    short_weekdays: &["", "", "", "", "", "", ""],
    months: &[],
    short_months: &[],
    words: &[
        ("한", Sense::Number(1)),
        ("두", Sense::Number(2)),
        ("세 석 삼", Sense::Number(3)),
        ("네 넉 사", Sense::Number(4)),
        ("다섯 오", Sense::Number(5)),
        ("여섯 육", Sense::Number(6)),
        ("일곱 칠", Sense::Number(7)),
        ("여덟 팔", Sense::Number(8)),
        ("아홉 구", Sense::Number(9)),
        ("열 십", Sense::Number(10)),
        ("일", Sense::Unit(Unit::Day)),
        ("주 주일", Sense::Unit(Unit::Week)),
        ("달 개월", Sense::Unit(Unit::Month)),
        ("년 해", Sense::Unit(Unit::Year)),
        ("주", Sense::Period(Unit::Week)),
        ("달", Sense::Period(Unit::Month)),
        ("분기", Sense::Period(Unit::Quarter)),
        ("하루", Sense::Span(1, Unit::Day)),
        ("이틀", Sense::Span(2, Unit::Day)),
        ("사흘", Sense::Span(3, Unit::Day)),
        ("나흘", Sense::Span(4, Unit::Day)),
        ("닷새", Sense::Span(5, Unit::Day)),
        ("엿새", Sense::Span(6, Unit::Day)),
        ("이레", Sense::Span(7, Unit::Day)),
        ("여드레", Sense::Span(8, Unit::Day)),
        ("아흐레", Sense::Span(9, Unit::Day)),
        ("열흘", Sense::Span(10, Unit::Day)),
        ("일주일", Sense::Span(1, Unit::Week)),
        ("이주일", Sense::Span(2, Unit::Week)),
        ("일년", Sense::Span(1, Unit::Year)),
    ],
    classes: &[
        ("THIS", "이번"),
        ("NEXT", "다음 담"),
        ("LAST", "지난 저번"),
        ("COMING", "오는 돌아오는 다가오는"),
        ("AFTERNEXT", "다다음"),
        ("BEFORELAST", "지지난 저저번"),
        ("THISWEEK", "금주"),
        ("NEXTWEEK", "차주 내주"),
        ("THISMONTH", "이달 금월"),
        ("NEXTMONTH", "내달"),
        ("THISYEAR", "올해 금년"),
        ("NEXTYEAR", "내년 명년"),
        ("LASTYEAR", "작년 지난해"),
        ("LATER", "후 뒤"),
        ("WITHIN", "이내 안 내"),
        ("PARTICLE", "에 로 으로"),
    ],
    phrases: PHRASES,
};

const PHRASES: &[Phrase] = &[
    // days
    Phrase { pattern: "오늘|금일", means: |_| Meaning::Day(0) },
    Phrase { pattern: "내일|명일|낼", means: |_| Meaning::Day(1) },
    Phrase { pattern: "모레", means: |_| Meaning::Day(2) },
    Phrase { pattern: "글피", means: |_| Meaning::Day(3) },
    Phrase { pattern: "어제|어저께", means: |_| Meaning::Day(-1) },
    Phrase { pattern: "그저께|그제", means: |_| Meaning::Day(-2) },
    // so long from today
    Phrase { pattern: "N UNIT LATER", means: |s| Meaning::Step { n: s.n, unit: s.unit() } },
    Phrase { pattern: "SPAN LATER", means: |s| Meaning::Step { n: s.n, unit: s.unit() } },
    Phrase { pattern: "N UNIT 전", means: |s| Meaning::Step { n: -s.n, unit: s.unit() } },
    Phrase { pattern: "SPAN 전", means: |s| Meaning::Step { n: -s.n, unit: s.unit() } },
    Phrase { pattern: "N UNIT WITHIN PARTICLE?", means: |s| Meaning::Within { n: s.n, unit: s.unit() } },
    Phrase { pattern: "SPAN WITHIN PARTICLE?", means: |s| Meaning::Within { n: s.n, unit: s.unit() } },
    // weekdays
    Phrase { pattern: "WEEKDAY", means: |s| Meaning::Weekday { day: s.weekday, weeks: 0 } },
    Phrase { pattern: "THIS 주 WEEKDAY", means: |s| Meaning::Weekday { day: s.weekday, weeks: 0 } },
    Phrase { pattern: "THISWEEK WEEKDAY", means: |s| Meaning::Weekday { day: s.weekday, weeks: 0 } },
    Phrase { pattern: "THIS WEEKDAY", means: |s| Meaning::Coming { day: s.weekday } },
    Phrase { pattern: "COMING WEEKDAY", means: |s| Meaning::Coming { day: s.weekday } },
    Phrase { pattern: "NEXT 주? WEEKDAY", means: |s| Meaning::InWeek { day: s.weekday, week: 1 } },
    Phrase { pattern: "NEXTWEEK WEEKDAY", means: |s| Meaning::InWeek { day: s.weekday, week: 1 } },
    Phrase { pattern: "AFTERNEXT 주? WEEKDAY", means: |s| Meaning::InWeek { day: s.weekday, week: 2 } },
    Phrase { pattern: "LAST WEEKDAY", means: |s| Meaning::Last { day: s.weekday } },
    Phrase { pattern: "LAST 주 WEEKDAY", means: |s| Meaning::InWeek { day: s.weekday, week: -1 } },
    Phrase { pattern: "BEFORELAST 주? WEEKDAY", means: |s| Meaning::InWeek { day: s.weekday, week: -2 } },
    Phrase { pattern: "N 주|주일 전 WEEKDAY", means: |s| Meaning::InWeek { day: s.weekday, week: -s.n } },
    Phrase {
        pattern: "N 주|주일 LATER WEEKDAY", means: |s| Meaning::InWeek { day: s.weekday, week: s.n }
    },
    // weeks, months, quarters, years
    Phrase { pattern: "THIS PERIOD", means: |s| period(s.unit(), 0) },
    Phrase { pattern: "NEXT PERIOD", means: |s| period(s.unit(), 1) },
    Phrase { pattern: "LAST PERIOD", means: |s| period(s.unit(), -1) },
    Phrase { pattern: "AFTERNEXT PERIOD", means: |s| period(s.unit(), 2) },
    Phrase { pattern: "BEFORELAST PERIOD", means: |s| period(s.unit(), -2) },
    Phrase { pattern: "THISWEEK", means: |_| Meaning::Week(0) },
    Phrase { pattern: "NEXTWEEK", means: |_| Meaning::Week(1) },
    Phrase { pattern: "THISMONTH", means: |_| Meaning::Month(0) },
    Phrase { pattern: "NEXTMONTH", means: |_| Meaning::Month(1) },
    Phrase { pattern: "THISYEAR", means: |_| Meaning::Year(0) },
    Phrase { pattern: "NEXTYEAR", means: |_| Meaning::Year(1) },
    Phrase { pattern: "LASTYEAR", means: |_| Meaning::Year(-1) },
    Phrase { pattern: "재작년", means: |_| Meaning::Year(-2) },
    Phrase { pattern: "내후년", means: |_| Meaning::Year(2) },
    Phrase { pattern: "주말", means: |_| Meaning::Weekend(None) },
    Phrase { pattern: "THIS 주? 주말", means: |_| Meaning::Weekend(Some(0)) },
    Phrase { pattern: "NEXT 주? 주말", means: |_| Meaning::Weekend(Some(1)) },
    Phrase { pattern: "LAST 주? 주말", means: |_| Meaning::Weekend(Some(-1)) },
    // their ends
    Phrase { pattern: "월말", means: |_| last_day(Meaning::Month(0)) },
    Phrase { pattern: "연말", means: |_| last_day(Meaning::Year(0)) },
    Phrase { pattern: "분기 말", means: |_| last_day(Meaning::Quarter(0)) },
    Phrase { pattern: "THIS PERIOD 말", means: |s| last_day(period(s.unit(), 0)) },
    Phrase { pattern: "NEXT PERIOD 말", means: |s| last_day(period(s.unit(), 1)) },
    Phrase { pattern: "LAST PERIOD 말", means: |s| last_day(period(s.unit(), -1)) },
    Phrase { pattern: "THISMONTH 말", means: |_| last_day(Meaning::Month(0)) },
    Phrase { pattern: "NEXTMONTH 말", means: |_| last_day(Meaning::Month(1)) },
    Phrase { pattern: "THISYEAR 말|연말", means: |_| last_day(Meaning::Year(0)) },
    Phrase { pattern: "NEXTYEAR 말|연말", means: |_| last_day(Meaning::Year(1)) },
    Phrase { pattern: "LASTYEAR 말|연말", means: |_| last_day(Meaning::Year(-1)) },
    Phrase {
        pattern: "YEAR 년 말|연말",
        means: |s| last_day(Meaning::NamedYear(s.year.unwrap_or_default())),
    },
    Phrase { pattern: "DIGITS 월 말", means: |s| last_day(month(n(s), Which::Nearest)) },
    Phrase { pattern: "DIGITS 월말", means: |s| last_day(month(n(s), Which::Nearest)) },
    Phrase { pattern: "YEAR 년 DIGITS 월 말", means: |s| last_day(month(n(s), of_year(s.year))) },
    Phrase { pattern: "NEXTYEAR DIGITS 월 말", means: |s| last_day(month(n(s), Which::InYear(1))) },
    Phrase { pattern: "DIGITS 분기 말", means: |s| last_day(quarter(s.n, Which::Nearest)) },
    Phrase { pattern: "NEXT PERIOD 첫날", means: |s| first_day(period(s.unit(), 1)) },
    // months and their days
    Phrase { pattern: "DIGITS 월", means: |s| month(n(s), Which::Nearest) },
    Phrase { pattern: "YEAR 년 DIGITS 월", means: |s| month(n(s), of_year(s.year)) },
    Phrase { pattern: "THISYEAR DIGITS 월", means: |s| month(n(s), Which::InYear(0)) },
    Phrase { pattern: "NEXTYEAR DIGITS 월", means: |s| month(n(s), Which::InYear(1)) },
    Phrase { pattern: "LASTYEAR DIGITS 월", means: |s| month(n(s), Which::InYear(-1)) },
    Phrase { pattern: "지난 DIGITS 월", means: |s| month(n(s), Which::Last) },
    Phrase { pattern: "DIGITS 월 DAY 일", means: |s| day(s, Which::Nearest) },
    Phrase { pattern: "YEAR 년 DIGITS 월 DAY 일", means: |s| day(s, of_year(s.year)) },
    Phrase { pattern: "THISYEAR DIGITS 월 DAY 일", means: |s| day(s, Which::InYear(0)) },
    Phrase { pattern: "NEXTYEAR DIGITS 월 DAY 일", means: |s| day(s, Which::InYear(1)) },
    Phrase { pattern: "LASTYEAR DIGITS 월 DAY 일", means: |s| day(s, Which::InYear(-1)) },
    Phrase { pattern: "DIGITS 월 DAY 일? - DAY 일", means: |s| days(n(s), s.days, Which::Nearest) },
    Phrase {
        pattern: "YEAR 년 DIGITS 월 DAY 일? - DAY 일", means: |s| days(n(s), s.days, of_year(s.year))
    },
    Phrase { pattern: "DAY 일", means: |s| Meaning::DayOfMonth { day: s.day(), weekday: None } },
    Phrase { pattern: "THIS 달 DAY 일", means: |s| Meaning::DayInMonth { day: s.day(), month: 0 } },
    Phrase { pattern: "NEXT 달 DAY 일", means: |s| Meaning::DayInMonth { day: s.day(), month: 1 } },
    Phrase { pattern: "LAST 달 DAY 일", means: |s| Meaning::DayInMonth { day: s.day(), month: -1 } },
    Phrase { pattern: "THISMONTH DAY 일", means: |s| Meaning::DayInMonth { day: s.day(), month: 0 } },
    Phrase { pattern: "NEXTMONTH DAY 일", means: |s| Meaning::DayInMonth { day: s.day(), month: 1 } },
    // quarters
    Phrase { pattern: "DIGITS 분기", means: |s| quarter(s.n, Which::Nearest) },
    Phrase { pattern: "YEAR 년 DIGITS 분기", means: |s| quarter(s.n, of_year(s.year)) },
    Phrase { pattern: "THISYEAR DIGITS 분기", means: |s| quarter(s.n, Which::InYear(0)) },
    Phrase { pattern: "NEXTYEAR DIGITS 분기", means: |s| quarter(s.n, Which::InYear(1)) },
    Phrase { pattern: "LASTYEAR DIGITS 분기", means: |s| quarter(s.n, Which::InYear(-1)) },
];

/// Korean months are numbers; one that is no month resolves to nothing.
fn n(slots: &Slots) -> i8 {
    i8::try_from(slots.n).unwrap_or(i8::MAX)
}

fn day(slots: &Slots, which: Which) -> Meaning {
    super::grammar::day(n(slots), slots.day(), which)
}
