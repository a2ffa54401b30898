//! What of a word counts when two sentences are compared: its stem, and one word for those that say the same.
//!
//! The stems need not be words, and the dictionary is small: it holds what rules of software projects are about.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::korean::PARTICLES;

/// Takes the endings of inflection away, in English and German alike: the stems need not be words.
pub(super) fn stem(word: &str) -> &str {
    let n_chars = word.chars().count();
    for ending in [
        "ations", "ation", "ings", "ing", "ungen", "ung", "ies", "ied", "ten", "ers", "ed", "es", "er", "en",
        "em", "et", "ly", "s", "e", "n", "t", "y",
    ] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= 4.max(n_chars / 2)
        {
            return stem;
        }
    }
    word
}

/// Makes one word of those that say the same in a rule.
pub(super) fn same(stem: &str) -> String {
    let whole = GROUPS.whole.get(stem).copied();
    // No beginning in the tables is longer, and a word may be a megabyte that somebody pasted.
    let ends = stem.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= GROUPS.longest);
    let open = ends.filter_map(|end| GROUPS.open.get(&stem[..end]).copied());
    // Of several groups the one that is listed first.
    let group = open.chain(whole).min();
    group.map_or(stem, |group| first_of(SAME[group])).to_owned()
}

fn first_of(group: &str) -> &str {
    group.split_ascii_whitespace().next().unwrap_or_default().trim_end_matches('*')
}

/// The groups by their words, and by the beginnings of words.
struct Groups {
    whole: HashMap<&'static str, usize>,
    open: HashMap<&'static str, usize>,
    /// The longest of those beginnings, in bytes.
    longest: usize,
}

static GROUPS: LazyLock<Groups> = LazyLock::new(|| {
    let mut groups = Groups { whole: HashMap::new(), open: HashMap::new(), longest: 0 };
    for (at, group) in SAME.iter().enumerate() {
        for word in group.split_ascii_whitespace() {
            match word.strip_suffix('*') {
                Some(open) => groups.open.entry(open).or_insert(at),
                None => groups.whole.entry(word).or_insert(at),
            };
        }
    }
    groups.longest = groups.open.keys().map(|open| open.len()).max().unwrap_or_default();
    groups
});

/// Words that say the same in a rule, in English and in German: a team may write its rules in one language and its
/// notes in the other. `*` stands for any ending.
const SAME: [&str; 49] = [
    "table* tabelle*",
    "script* skript*",
    "unit* einheit*",
    "pr prs pull request requests",
    "wrap* einwickel* eingewickel* umhüll*",
    "use using used uses verwend* nutz* benutz* nimm nehm*",
    "run runs running execut* ausführ* laufen lass",
    "write writ written wrote schreib* geschrieb*",
    "commit* eincheck*",
    "db databas* datenbank*",
    "dependenc* abhängigk* librar* bibliothek*",
    "prefer* favor* favour* bevorzug*",
    "change chang* edit* modif* änder* alter* bearbeit*",
    "delete delet* remov* lösch* entfern*",
    "create creat* add add* hinzufüg* neu neue neuen introduc* anleg* angeleg*",
    "before befor prior vor bevor ahead vorher",
    "test tests testing getest* testet",
    "boot* hochfahr* startup",
    "heap*",
    "upper* uppercas* capital* großgeschrieb* großbuchstab*",
    "money geld* amount* betrag beträg*",
    "store stor* save sav* speicher* ableg* gespeicher* persist*",
    "cent*",
    "float* gleitkomma*",
    "integer* ganzzahl* int",
    "endpoint* endpunkt*",
    "integration* integrationstest*",
    "local* lokal*",
    "time zeit* timestamp* zeitstempel* uhrzeit*",
    "convert* umrechn* umwandel* konvert*",
    "rollout* ausroll* ausgeroll*",
    "ask* frag* nachfrag*",
    "secret* geheim* credential* passwor*",
    "file* datei*",
    "branch* zweig*",
    "name nam* benenn* benannt* heiß*",
    "message* nachricht* meldung*",
    "format* formatier*",
    "text* texte",
    "error* fehler*",
    "comment* kommentar*",
    "function* funktion*",
    "queue* warteschlange*",
    "consumer* konsument* verbrauch*",
    "idempot*",
    "access* zugriff* zugegriff* zugreif*",
    "push* gepusht hochlad*",
    "merge* zusammenführ*",
    "doc* dokument*",
];

/// Korean words of our trade by their beginnings, each with the word that [`same`] makes of its translation.
const KOREAN: &str = "커밋=commit 푸시=push 머지=merge 브랜치=branch 테스트=test 로그=log 데이터베이스=db 디비=db 의존성=dependenc \
     라이브러리=dependenc 파일=file 함수=function 에러=error 오류=error 주석=comment 메시지=message 이름=name \
     저장=store 사용=use 쓰지=use 써야=use 실행=run 돌리=run 돌려=run 추가=create 생성=create 삭제=delete \
     수정=change 편집=change 변경=change 전에=before 시간=time 문서=doc 비밀=secret 금액=money 정수=integer \
     모듈=modul 포맷=format 환자=patien 고객=customer 마이그레이션=migr 엔드포인트=endpoint 화면=scre 물어=ask";

pub(super) fn in_english(word: &str) -> Option<&'static str> {
    let mut pairs = KOREAN.split_ascii_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.find(|(korean, _)| word.starts_with(korean)).map(|(_, english)| english)
}

/// Takes the ending of a Korean word away, so that politeness and particles do not count.
pub(super) fn without_ending(word: &str) -> &str {
    const POLITE: [&str; 14] = [
        "해주세요",
        "주세요",
        "하세요",
        "합니다",
        "습니다",
        "입니다",
        "됩니다",
        "십시오",
        "한다",
        "된다",
        "이다",
        "해요",
        "하기",
        "해야",
    ];
    const PLAIN: [&str; 4] = ["다", "요", "지", "고"];
    let mut endings = POLITE.iter().chain(PARTICLES).chain(&PLAIN);
    let ending = endings.find_map(|ending| word.strip_suffix(ending));
    ending.filter(|stem| stem.chars().count() >= 1).unwrap_or(word)
}
