//! What holds for every text: settling twice is settling once, and what is no date stays as it is.

use expect_test::{Expect, expect};
use jiff::Timestamp;
use jiff::tz::{TimeZone, offset};
use proptest::prelude::*;

use super::super::settle_within;
use super::{noon, settle};

const TODAY: &str = "2026-03-02";

fn check(text: &str, expected: Expect) {
    let settled = settle(text, &noon(TODAY));
    let mut shown = settled.text;
    for question in settled.questions {
        shown.push_str(&format!("\n`{}`: {}?", question.said, question.readings.join(" or ")));
    }
    expected.assert_eq(&shown);
}

#[test]
fn today_is_the_day_in_the_zone_of_the_user() {
    let berlin = || TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let cases = [
        ("2026-03-02T23:30:00Z", TimeZone::fixed(offset(9)), "2026-03-03"),
        ("2026-03-02T23:30:00Z", TimeZone::UTC, "2026-03-02"),
        ("2026-03-02T03:30:00Z", TimeZone::fixed(offset(-8)), "2026-03-01"),
        // The night that has 23 hours, and the one that has 25.
        ("2026-03-28T23:30:00Z", berlin(), "2026-03-29"),
        ("2026-03-29T22:30:00Z", berlin(), "2026-03-30"),
        ("2026-10-24T22:30:00Z", berlin(), "2026-10-25"),
        ("2026-10-25T22:30:00Z", berlin(), "2026-10-25"),
    ];
    for (at, zone, expected) in cases {
        let now = at.parse::<Timestamp>().unwrap().to_zoned(zone);
        assert_eq!(settle("today", &now).text, expected, "{at}");
    }
}

#[test]
fn a_change_says_what_was_said_and_what_it_means() {
    let settled = settle("Freeze after Thursday, thaw in two weeks", &noon(TODAY));
    let changes: Vec<_> = settled.changes.iter().map(|c| (c.said.as_str(), c.means.as_str())).collect();
    assert_eq!(changes, [("Thursday", "2026-03-05"), ("in two weeks", "2026-03-16")]);
}

#[test]
fn a_phrase_is_read_beside_what_its_neighbour_has_become() {
    check("am Friday in March3", expect!["am Friday in 2026-03-03"]);
    check("nächster März to März", expect!["2027-03 to März"]);
    check("-- heute heute", expect!["-- 2026-03-02 2026-03-02"]);
    let text = "-- heute heute\nalt: heute";
    let settled = settle_within(text, std::slice::from_ref(&(0..14)), &noon(TODAY));
    assert_eq!(settled.text, "-- 2026-03-02 2026-03-02\nalt: heute");
}

#[test]
fn ambiguous_figures_are_asked_about_and_left() {
    check(
        "Deadline is 5/6.",
        expect![[r#"
        Deadline is 5/6.
        `5/6`: 2026-05-06 or 2026-06-05?"#]],
    );
    check(
        "Due by 03/04/2027 or on 25/12",
        expect![[r#"
        Due by 03/04/2027 or on 2026-12-25
        `03/04/2027`: 2027-03-04 or 2027-04-03?"#]],
    );
    check(
        "Kickoff on Friday, March 5",
        expect![[r#"
        Kickoff on Friday, March 5
        `Friday, March 5`: 2026-03-05 or 2026-03-06?"#]],
    );
    check("Friday, 6/3: demo", expect!["2026-03-06: demo"]);
}

#[test]
fn what_is_not_prose_is_left() {
    for text in [
        "`ship today`",
        "```\ntoday\n```",
        "~~~sh\necho tomorrow\n~~~\n",
        "[[next week]]",
        "[plan](next/today.md)",
        "<https://example.org/today>",
        "https://example.org/a/today?x=tomorrow",
        "see notes/today/plan.md",
        "next_week",
        "today()",
        "$today",
        "{today}",
        "tomorrow-io",
        "the “Friday” build",
        "'next week' filter",
    ] {
        assert_eq!(settle(text, &noon(TODAY)).text, text);
    }
}

#[test]
fn markdown_around_a_phrase_stays() {
    check(
        "- **Friday**: cut\n- _tomorrow_: tag\n> today",
        expect![[r#"
        - **2026-03-06**: cut
        - _2026-03-03_: tag
        > 2026-03-02"#]],
    );
    check(
        "| who | when |\n|---|---|\n| Ana | by Friday |",
        expect![[r#"
        | who | when |
        |---|---|
        | Ana | by 2026-03-06 |"#]],
    );
    check(
        "see [the plan for next week](plan.md)",
        expect!["see [the plan for 2026-W11 (2026-03-09 to 2026-03-15)](plan.md)"],
    );
    check(
        "---\ndeadline: friday\n---\n",
        expect![[r#"
        ---
        deadline: 2026-03-06
        ---
    "#]],
    );
    check(
        "# Friday\n\nFriday we ship",
        expect![[r#"
        # Friday

        2026-03-06 we ship"#]],
    );
}

#[test]
fn only_new_lines_are_settled() {
    let text = "old: today\nnew: today\n";
    let settled = settle_within(text, std::slice::from_ref(&(11..22)), &noon(TODAY));
    assert_eq!(settled.text, "old: today\nnew: 2026-03-02\n");
}

#[test]
fn the_tense_of_the_clause_tells_which_friday() {
    check(
        "On Friday we shipped, on Monday we will ship again",
        expect!["On 2026-02-27 we shipped, on 2026-03-09 we will ship again"],
    );
    check(
        "Am Freitag haben wir deployt und am Montag deployen wir wieder",
        expect!["Am 2026-02-27 haben wir deployt und am 2026-03-09 deployen wir wieder"],
    );
    check(
        "금요일에 배포했고 월요일에 다시 배포한다",
        expect!["2026-02-27에 배포했고 2026-03-09에 다시 배포한다"],
    );
    check(
        "The demo was moved to Friday; das Release wurde auf Freitag verschoben",
        expect!["The demo was moved to 2026-03-06; das Release wurde auf 2026-03-06 verschoben"],
    );
    check(
        "Blocked until Friday. We decided to ship on Tuesday. It was down until Friday.",
        expect!["Blocked until 2026-03-06. We decided to ship on 2026-03-03. It was down until 2026-02-27."],
    );
}

#[test]
fn only_what_counts_from_the_day_it_was_said_is_relative() {
    let text = "Cut tomorrow, ship March 5, pay on the 20th, plan Q3, due 25/12, audit in May";
    let settled = super::super::settle_relative(text, &noon(TODAY));
    assert_eq!(settled.text, text.replace("tomorrow", "2026-03-03"));
}

#[test]
fn long_texts_of_one_piece_end() {
    let pieces = [
        "Friday ",
        "`",
        "<",
        "[[",
        "{",
        "'",
        "“",
        "5/",
        "5.",
        "1 ",
        "next ",
        "the end of ",
        "in 3 ",
        "금요일",
        "다음",
        "- ",
        "Monday to ",
        "March ",
        "\n",
        "a",
        "/",
        "was ",
        "am 5. ",
    ];
    for piece in pieces {
        let text = piece.repeat(40_000 / piece.len());
        settle(&text, &noon(TODAY));
    }
}

/// Words that make phrases, and words around them.
const WORDS: &[&str] = &[
    "today",
    "tomorrow",
    "yesterday",
    "next",
    "last",
    "this",
    "Friday",
    "Mon",
    "Wed",
    "week",
    "weeks",
    "month",
    "quarter",
    "in",
    "on",
    "by",
    "the",
    "end",
    "of",
    "two",
    "3",
    "15th",
    "5",
    "March",
    "May",
    "2027",
    "Q3",
    "ago",
    "within",
    "days",
    "from",
    "to",
    "until",
    "since",
    "every",
    "was",
    "shipped",
    "will",
    "at",
    "3pm",
    "10:30",
    "after",
    "day",
    "weekend",
    "heute",
    "morgen",
    "Morgen",
    "gestern",
    "nächste",
    "nächsten",
    "letzte",
    "Woche",
    "Freitag",
    "am",
    "bis",
    "Ende",
    "März",
    "5.",
    "5.6.",
    "vor",
    "zwei",
    "Tagen",
    "wurde",
    "KW",
    "12",
    "Mo",
    "Do",
    "오늘",
    "내일까지",
    "금요일에",
    "다음",
    "주",
    "달",
    "말",
    "3일",
    "전에",
    "3월",
    "배포했다",
    "이번",
    "지난",
    "5/6",
    "25/12",
    "2026-03-06",
    "2026-03",
    "(",
    ")",
    ",",
    ".",
    "–",
    "-",
    "\n",
    "\n\n- ",
    "we",
    "release",
    "\"",
    "'",
    "`",
    "morning",
    "early",
    "and",
];

/// Words that are no dates, in texts that must not change.
const PLAIN: &[&str] = &[
    "may",
    "march",
    "so",
    "do",
    "we",
    "second",
    "Black Friday",
    "every Friday",
    "Fridays",
    "freitags",
    "v3.5",
    "24/7",
    "1/2 of it",
    "soon",
    "bald",
    "곧",
    "매주 금요일",
    "`today`",
    "2026-03-05",
    "naïve",
    "日本",
    "🙂",
    "a-b",
    "x_y",
    "\n",
    ", ",
    "the last 7 days",
    "die letzten 30 Tage",
    "최근 3일",
    "daily",
];

fn text_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec((prop::sample::select(words), prop::bool::weighted(0.9)), 0..14).prop_map(|words| {
        words.iter().map(|(word, spaced)| format!("{word}{}", if *spaced { " " } else { "" })).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn settling_twice_is_settling_once(text in text_of(WORDS)) {
        let once = settle(&text, &noon(TODAY)).text;
        prop_assert_eq!(&settle(&once, &noon(TODAY)).text, &once, "from {:?}", text);
    }

    #[test]
    fn texts_without_dates_stay_as_they_are(words in prop::collection::vec(prop::sample::select(PLAIN), 0..20)) {
        let text = words.join(" ");
        prop_assert_eq!(&settle(&text, &noon(TODAY)).text, &text);
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        let once = settle(&text, &noon(TODAY)).text;
        prop_assert_eq!(&settle(&once, &noon(TODAY)).text, &once);
    }
}
