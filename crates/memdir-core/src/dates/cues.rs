//! The small words around a phrase that decide what it means, or that it means no day at all.
//!
//! Written folded, by language: English, German, Korean.

/// A set of words, in the order of [`SETS`]. There is room for 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// Before a phrase, at most three words away: it happens again and again.
    Recurring,
    /// Anywhere in the sentence, the same.
    Usually,
    /// Before a phrase: somewhere near it.
    Vague,
    /// Behind a Korean phrase, the same.
    VagueBehind,
    /// Before a phrase: some day of that name, none in particular.
    Indefinite,
    /// Before a phrase: it points at something else than today.
    Elsewhere,
    /// Before a number of days: not exactly so many.
    Roughly,
    /// Words before a weekday that make a name of it.
    NameBefore,
    /// Words behind a weekday or month that make a name of it.
    NameBehind,
    /// A condition: spans of time in such a sentence begin when it comes true.
    Condition,
    /// What may stand before a month, a short weekday or a number, so that it is a date.
    Before,
    /// Events that have a date.
    Event,
    /// Before a number with a slash: it counts something.
    Counted,
    /// What may follow "the 15th" when it is a day.
    BehindNth,
    /// Parts of a day, which stay as they are.
    Part,
    /// The same in the plural or as a habit: again and again.
    Parts,
    /// Time zones: a clock time in one of them is not the user's.
    Zone,
    /// Particles that may be glued to a Korean phrase.
    Particle,
    /// Korean words that may stand before a span that counts from today.
    KoreanAdverb,
    /// Words that say nothing about the tense: prepositions, articles.
    Filler,
    /// Conjunctions: a new clause begins.
    Conjunction,
    /// English: now or later.
    EnglishOpen,
    /// English: what was, said by a verb that cannot mean anything else.
    EnglishPast,
    /// English: participles of irregular verbs.
    EnglishParticiple,
    /// English: participles that are also the verb itself; they count behind "have" only.
    EnglishUnmarked,
    /// English words in -ed that are no past.
    EnglishNotPast,
    /// Verbs that set a date: what follows lies ahead.
    Arrange,
    /// English: verbs of saying. What is said has a tense of its own.
    Speech,
    English,
    GermanOpen,
    GermanPast,
    GermanHave,
    GermanBe,
    /// Participles that "sein" makes a past of.
    GermanGone,
    German,
    /// What follows the figures of a Korean hour.
    KoreanHour,
    /// What follows its minutes.
    KoreanMinute,
}

pub(super) const SETS: &[&str] = &[
    // Recurring
    "every each any most per jeder jede jeden jedes jedem alle allen pro 매주 매달 매월 매년 매일 매분기 격주 격월 매번 매 \
     최근 최대 약",
    // Usually
    "always usually normally typically generally regularly recurring immer stets \
     ueblicherweise normalerweise meist meistens jeweils regel grundsaetzlich regelmaessig 항상 보통 늘 대개 \
     언제나 정기적",
    // Vague
    "early late mid middle around approximately roughly circa ca anfang mitte gegen etwa ungefaehr later \
     대략 spaet",
    // VagueBehind
    "초 초순 중순 하순 초반 중반 후반 쯤 경 즈음 무렵 전후 마다 첫째 둘째 셋째 넷째 마지막",
    // Indefinite
    "a an some no another either one ein eine einem einen einer kein keinen keinem irgendeinen irgendeinem 어느 어떤",
    // Elsewhere
    "following previous same preceding folgenden folgende folgender selben gleichen darauffolgenden",
    // Roughly
    "about around roughly approximately almost nearly over than least most only under to some ~ etwa ungefaehr circa ca \
     or oder bis fast knapp als ueber mindestens hoechstens rund gut 약 거의 대략 최소 최대 every last past next half halben halbes",
    // NameBefore
    "black cyber summer good easter palm ash super patch casual giving fat holy maundy shrove bloody taco man gruener",
    // NameBehind
    "ag gmbh inc ltd llc corp se kg co afternoons mornings evenings nights abends morgens nachmittags",
    // Condition
    "if when whenever once unless wenn sobald falls policy richtlinie 정책 규정 원칙",
    // Before
    "in on by until till before after since from during through to for this next last due starting ending between \
     around between both im am bis ab seit vor nach vom von zum zu ueber auf fuer gegen zwischen durch den dem",
    // Event
    "deadline due date meet meets birthday deploy deploys treffen release launch freeze demo review meeting cutover migration kickoff rollout ship ships delivery \
     expires expiry starts ends begins opens closes beginnt endet startet cutoff appointment call invoice release audit go live renewal termin frist abgabe lieferung start \
     abnahme stichtag faellig besprechung rechnung 마감 마감일 출시 출시일 배포 배포일 회의 기한 납기 시행 발표 미팅 일정 데모 \
     릴리스 오픈 제출",
    // Counted
    "page step part score ratio chapter phase task version shard node only rated about item question slide level test \
     tests build attempt round seite schritt teil aufgabe kapitel stufe 단계 페이지 버전 점수 비율 progress coverage rating result votes completion done passed fortschritt ergebnis stand 진행률 진척",
    // BehindNth
    "and or but at we i you they he she it the this because if when so then as is was will for in with to until \
     through that which after before there our all",
    // Part
    "morning afternoon evening night noon midday lunchtime morgen vormittag mittag nachmittag abend nacht frueh \
     오전 오후 아침 저녁 밤 새벽 점심 정오",
    // Parts
    "mornings afternoons evenings nights morgens vormittags mittags nachmittags abends nachts",
    // Zone
    "utc gmt est edt pst pdt cst cdt mst mdt cet cest bst ist jst kst et pt ct mt z mez mesz",
    // Particle
    "까지 에 부터 은 는 이 가 을 를 도 의 만 로 으로 와 과 랑 이나 나 엔 에는 에도 까지는 까지도 까지만 부터는 이다 입니다 임 \
     이고 이며 이면 면 이라 라 이라고 라고 이에요 예요 이야 야 다 전 후 뒤 이후 이전 중 안 내 동안 께 자 자로 인 인데 까진 부턴 \
     에서 하고 이랑 보다 처럼 밖에 에만 이었다 였다 였는데 이었는데 오전 오후 아침 저녁 밤 새벽 점심 정오 이지만 지만 \
     부로 부 자 이라도 라도 이죠 죠 이지 이었습니다 였습니다 이었어요 였어요 이었음 였음 이었고 였고 이었으며 였으며 이었지만 \
     였지만 이라서 라서 이니 이니까 니까 에야",
    // KoreanAdverb
    "이미 벌써 바로 딱 정확히 아마 또 그럼 그리고 지금 이제 우리 저희 대략 다시 먼저",
    // Filler
    "on by until till since before after from at to for in the this that already also just late early of \
     am bis seit vom im der den dem die das zum ab nach vor schon auch erst 이미 벌써",
    // Conjunction
    "and but so because while then whereas although und aber weil denn sondern waehrend obwohl doch",
    // EnglishOpen
    "will ll won shall must should need needs can may might would is are am be going plan plans let todo want wants \
     please do does don doesn has have re expect expects due starts ends begins goes ship ships",
    // EnglishPast
    "was were wasn weren had did didn went broke ran made found saw came took gave said told sent built lost fell wrote \
     met began became held kept left led paid sold stood thought understood won spoke chose drove drew ate flew froze \
     grew hid knew rose threw woke wore got forgot caught brought bought taught felt meant slept spent dealt blew sank \
     rang swore shook stole tore sought fought crept hung heard fed fled bit slid struck stuck swept wound spun shot",
    // EnglishParticiple
    "been done gone broken written frozen taken given seen chosen driven flown fallen known shown thrown grown begun \
     sent built made found lost held kept left met paid said sold told won got gotten forgotten hidden spoken stolen \
     worn risen drawn",
    // EnglishUnmarked
    "become come run set put cut hit shut let read split spread",
    // EnglishNotPast
    "need feed seed speed embed red bed shed sched exceed proceed succeed indeed unneeded hundred sacred naked wed \
     weed breed bleed greed deed united related based limited detailed advanced nested distributed embedded",
    // Arrange
    "scheduled planned expected slated targeted estimated anticipated postponed rescheduled deferred supposed moved \
     pushed delayed shifted extended slipped booked aiming decided agreed geplant angesetzt verschoben vertagt terminiert \
     vorgesehen verlegt anberaumt",
    // Speech
    "said told mentioned announced confirmed promised reported noted thought wrote asked requested suggested warned \
     explained insisted hoped wanted",
    // English
    "the is are was were we will must be to and or of for with by until has have not this that it our should from no",
    // GermanOpen
    "wird werden muss muessen soll sollen sollte sollten kann koennen darf duerfen will wollen moechte bitte wuerde \
     koennte muesste werde",
    // GermanPast
    "war waren warst wurde wurden hatte hatten gab ging gingen kam kamen lief liefen fiel fielen brach brachen stand \
     blieb begann begannen fand fanden nahm schrieb sah traf trafen rief sprach verlor stieg schlug konnte konnten \
     musste mussten wollte wollten hiess liess hielt zog zogen bekam entschied entstand verschwand",
    // GermanHave
    "habe hast hat haben habt",
    // GermanBe
    "ist sind bin seid",
    // GermanGone
    "gegangen gefallen ausgefallen gekommen abgestuerzt passiert erschienen gestartet geworden gewesen gelaufen umgezogen \
     gescheitert geblieben abgelaufen eingetreten aufgetreten ausgelaufen geschehen entstanden verschwunden worden \
     durchgelaufen weggefallen ausgestiegen gewechselt eingestiegen angekommen",
    // German
    "der die das und ist sind am bis im den dem des ein eine wir nicht mit fuer auf wird muss ab zum zur von vor nach \
     oder gilt kein keine auch ist war wurde haben hat seit",
    // KoreanHour
    "시",
    // KoreanMinute
    "분 반",
];
