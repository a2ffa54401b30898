//! Words that matter when two memories are compared, as tables: what denies, what tells of a change, what names a place.
//!
//! All words are in lower case. Tables are short on purpose: a word that is in none of them counts as itself.

/// Words that deny a sentence.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "not", "no", "never", "none", "nor", "neither", "cannot", "without", "dont", "cant", "wont", "doesnt", "isnt", "arent",
    "shouldnt", "mustnt", "avoid", "stop", "forbidden", "disallowed",
    "nicht", "kein", "keine", "keinen", "keiner", "keinem", "nie", "niemals", "ohne", "verboten",
    "ne", "pas", "jamais", "sans", "nunca", "sin", "jamás", "não", "sem", "не", "нет", "никогда", "без",
];

/// Words after which something named is no longer so.
#[rustfmt::skip]
const DENIERS: &[&str] = &["from", "instead", "longer", "replaced", "replaces", "dropped", "retired", "removed", "left",
    "statt", "mehr", "von", "abgelöst", "ersetzt", "replacing"];

/// Words that tell of a change.
#[rustfmt::skip]
const CHANGES: &[&str] = &[
    "now", "longer", "anymore", "moved", "move", "moves", "switched", "switch", "switches", "migrated", "migrate", "replaced",
    "replaces", "replacing", "instead", "changed", "change", "changes", "raised", "raise", "lowered", "increased", "decreased", "reduced", "bumped", "upgraded", "updated",
    "postponed", "rescheduled", "shifted", "extended", "new", "newly", "since", "dropped", "retired",
    "jetzt", "nun", "mehr", "umgestellt", "gewechselt", "geändert", "erhöht", "gesenkt", "verschoben", "ersetzt", "abgelöst",
    "statt", "neu", "neue", "neuer", "seit", "künftig", "ab", "inzwischen", "verlegt", "umgezogen",
    "이제", "변경", "대신", "더이상", "옮겼다", "바뀌었다", "연기",
];

/// Words that say little by themselves: what is done with anything, and what is said of anything.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "use", "used", "uses", "using", "run", "runs", "running", "ran", "happen", "happens", "go", "goes", "going", "set", "sets", "keep",
    "kept", "keeps", "take", "takes", "make", "makes", "made", "have", "has", "need", "needs", "needed", "must", "should", "shall", "live",
    "lives", "listen", "listens", "work", "works", "get", "gets", "put", "allow", "allows", "allowed", "fine", "ok", "okay",
    "permitted", "always", "ever", "every", "each", "all", "any", "only", "please", "currently", "today", "then", "there",
    "here", "we", "our", "us", "team", "project", "want", "wants", "prefer", "prefers", "preferred", "sit", "sits", "is", "are", "at",
    "on", "in", "out", "via", "through", "per", "up", "to", "than", "that", "so", "also", "still", "again", "back", "done", "do", "does",
    "find", "found", "held", "hold", "holds", "stay", "stays", "start", "starts", "begin", "begins", "time", "thing", "way", "rule", "instead", "rather", "over", "long", "means", "mean",
    "gilt", "laufen", "läuft", "nutzen", "nutzt", "verwenden", "verwendet", "benutzen", "immer", "alle", "jede", "jeder", "jeden",
    "wir", "unser", "unsere", "muss", "müssen", "soll", "sollen", "liegt", "liegen", "ist", "sind", "wird", "werden", "dürfen", "erlaubt", "steht", "beginnt", "findet", "zeit",
];

/// Words that say of which of several like things a sentence speaks. One that only one of two sentences has tells them apart.
#[rustfmt::skip]
const QUALIFIERS: &[&str] = &[
    "staging", "stage", "production", "prod", "dev", "development", "local", "locally", "test", "qa", "ci", "preview", "sandbox", "canary",
    "demo", "eu", "us", "asia", "ios", "android", "windows", "linux", "macos", "mac", "frontend", "backend", "web", "mobile",
    "desktop", "client", "server", "unit", "integration", "e2e", "smoke", "debug", "release", "nightly", "weekly", "daily",
    "hourly", "monthly", "internal", "external", "public", "private", "primary", "replica", "secondary", 
    "upload", "download", "inbound", "outbound", "admin", "guest", "free", "paid", "enterprise", "legacy", "beta", "alpha",
    "cold", "warm", "soft", "hard", "min", "max", "minimum", "maximum", "north", "south", "east", "west", "blue",
    "green", "inner", "outer", 
    "lokal", "produktion", "intern", "extern", "öffentlich", "nächtlich", "wöchentlich", "täglich", "mobil",
];

/// Words before a number that make a name of it: the second of several.
#[rustfmt::skip]
const NUMBERED: &[&str] = &[
    "sprint", "phase", "step", "ticket", "issue", "pr", "pull", "shard", "node", "milestone", "week", "quarter", "chapter", "rfc",
    "adr", "room", "floor", "team", "incident", "case", "option", "tier", "level", "stage", "zone", "region", "worker", "replica",
    "table", "slot", "board", "dashboard", "group", "epic", "story", "task", "request", "page", "part", "section", "kw", "raum", "etage",
    "schritt", "stufe", "gruppe", "bug", "vlan", "rack", "line", "zeile", "channel", "cluster", "bucket", "partition", "queue", "area", "iso", "din",
];

/// Programs and systems that have versions: a number after one of them is its version.
#[rustfmt::skip]
const VERSIONED: &[&str] = &[
    "node", "nodejs", "node.js", "java", "jdk", "openjdk", "python", "php", "ruby", "rails", "django", "laravel", "spring", "go", "rust", "swift", "kotlin", "scala", "perl",
    "elixir", "erlang", "otp", "react", "vue", "angular", "svelte", "typescript", "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "kafka", "elasticsearch",
    "opensearch", "kubernetes", "terraform", "ansible", "gradle", "maven", "xcode", "gcc", "clang", "llvm", "ubuntu", "debian", "fedora", "alpine", "windows", "macos",
    "ios", "android", "chrome", "firefox", "safari", "unity", "unreal", "godot", ".net", "dotnet", "net",
];

/// Says whether a number after the word, written so, is a version. A node is a machine, Node is a program.
pub(super) fn is_versioned(word: &str, is_capital: bool) -> bool {
    VERSIONED.contains(&word) && (is_capital || !matches!(word, "node" | "go" | "net" | "spring" | "windows"))
}

/// Words for what one person or team does at a time.
#[rustfmt::skip]
const ROLES: &[&str] = &[
    "owner", "owns", "lead", "leads", "contact", "call", "on-call", "oncall", "maintainer", "maintains", "responsible", "charge", "manager", "manages", "head", "heads", "captain",
    "deputy", "sponsor", "chair", "chairs", "zuständig", "verantwortlich", "ansprechpartner", "ansprechpartnerin", "leiter", "leiterin", "leitet", "rufbereitschaft",
];

/// Says whether a word tells of a role that one has at a time.
pub(super) fn is_role(word: &str) -> bool {
    ROLES.contains(&word)
}

/// Says whether the word joins a role or a thing with who or what it is.
pub(super) fn is_answer(word: &str) -> bool {
    matches!(word, "is" | "ist" | "are" | "sind" | "has" | "hat" | "bleibt")
}

/// Says whether a sentence with the word speaks of one among several.
pub(super) fn is_beside(word: &str) -> bool {
    matches!(
        word,
        "also"
            | "too"
            | "both"
            | "auch"
            | "additionally"
            | "another"
            | "second"
            | "copy"
            | "mirror"
            | "or"
            | "oder"
    )
}

/// Says whether a word tells where something is that is in one place.
pub(super) fn is_site(word: &str) -> bool {
    matches!(
        word,
        "stored" | "hosted" | "located" | "based" | "kept" | "held" | "deployed" | "gespeichert" | "gehostet"
    )
}

/// Words of reports: what happened on one day and what happened on another are two reports.
#[rustfmt::skip]
const REPORTS: &[&str] = &[
    "incident", "incidents", "outage", "outages", "postmortem", "retro", "retrospective", "meeting", "standup", "hotfix", "downtime", "audit",
    "workshop", "interview", "demo", "review", "survey", "sync", "visit", "pentest", "drill", "ausfall", "vorfall", "störung", "besprechung", "termin", "treffen", "장애", "회의",
    "protokoll", "happened", "failed", "broke", "crashed", "was", "were", "war", "wurde",
];

/// Things of which a project has one at a time: whoever says another says the contrary.
#[rustfmt::skip]
const EXCLUSIVE: &[&[&str]] = &[
    &["tabs", "spaces"], &["npm", "yarn", "pnpm", "bun"], &["squash", "rebase", "merge"], &["enabled", "disabled"],
    &["on", "off"], &["required", "optional"], &["sync", "async"], &["light", "dark"], &["single", "double"],
    &["postgres", "postgresql", "mysql", "mariadb", "sqlite"], &["jest", "vitest", "mocha"], &["pip", "poetry", "uv", "conda"],
    &["jenkins", "github", "gitlab", "circleci", "buildkite"], &["slack", "teams", "mattermost", "discord"],
    &["camelcase", "snake_case", "kebab-case"], &["rest", "graphql", "grpc"], &["mandatory", "voluntary"],
    &["black", "ruff", "yapf"], &["prettier", "biome", "dprint"], &["aktiviert", "deaktiviert"], &["jira", "linear", "trello", "asana"],
    &["english", "german", "french", "spanish"], &["englisch", "deutsch"], &["weekly", "daily", "monthly", "hourly", "nightly"],
    &["dev", "staging"], &["approve", "reject"], &["redis", "memcached"], &["kafka", "rabbitmq", "nats"], &["make", "just"],
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"], &["ascending", "descending"], &["local", "remote"],
    &["notion", "confluence", "wiki"], &["docker", "podman"], &["helm", "kustomize"], &["terraform", "pulumi"], &["datadog", "grafana", "newrelic"],
    &["aws", "gcp", "azure"], &["webpack", "vite", "rollup", "esbuild"], &["mandatory", "optional"], &["public", "private"], &["wöchentlich", "täglich", "monatlich"],
];

#[rustfmt::skip]
const WEEKDAYS: &[&[&str]] = &[
    &["monday", "mondays", "montag", "montags", "월요일"], &["tuesday", "tuesdays", "dienstag", "dienstags", "화요일"],
    &["wednesday", "wednesdays", "mittwoch", "mittwochs", "수요일"], &["thursday", "thursdays", "donnerstag", "donnerstags", "목요일"],
    &["friday", "fridays", "freitag", "freitags", "금요일"], &["saturday", "saturdays", "samstag", "samstags", "토요일"],
    &["sunday", "sundays", "sonntag", "sonntags", "일요일"],
];

#[rustfmt::skip]
const NUMBERS: &[(&str, &str)] = &[
    ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5"), ("six", "6"), ("seven", "7"), ("eight", "8"),
    ("nine", "9"), ("ten", "10"), ("twelve", "12"), ("fifteen", "15"), ("twenty", "20"), ("thirty", "30"), ("sixty", "60"), ("hundred", "100"),
    ("zwei", "2"), ("drei", "3"), ("vier", "4"), ("fünf", "5"), ("sechs", "6"), ("sieben", "7"), ("acht", "8"), ("neun", "9"), ("zehn", "10"),
    ("fifty", "50"), ("forty", "40"), ("ninety", "90"), ("zwölf", "12"), ("zwanzig", "20"), ("dreißig", "30"), ("eleven", "11"),
];

/// Says whether a word denies its sentence.
pub(super) fn is_negation(word: &str) -> bool {
    word.ends_with("n't") || word.ends_with("n’t") || NEGATIONS.contains(&word)
}

/// Says whether what follows the word is no longer so.
pub(super) fn is_denier(word: &str) -> bool {
    DENIERS.contains(&word) || is_negation(word)
}

/// Says whether a word tells of a change.
pub(super) fn is_change(word: &str) -> bool {
    CHANGES.contains(&word)
}

/// Says whether a word says little by itself.
pub(super) fn is_plain(word: &str) -> bool {
    PLAIN.contains(&word)
}

/// Says whether a word tells like things apart.
pub(super) fn is_qualifier(word: &str) -> bool {
    QUALIFIERS.contains(&word)
}

/// Says whether a number after the word is a name.
pub(super) fn is_numbered(word: &str) -> bool {
    NUMBERED.contains(&word)
}

/// Says whether a word is of a report about something that happened.
pub(super) fn is_report(word: &str) -> bool {
    REPORTS.contains(&word)
}

/// Says whether two words cannot both be so.
pub(super) fn exclude_each_other(a: &str, b: &str) -> bool {
    a != b && EXCLUSIVE.iter().any(|group| group.contains(&a) && group.contains(&b))
}

/// Returns the English name of the day of the week that a word means.
pub(super) fn weekday(word: &str) -> Option<&'static str> {
    WEEKDAYS.iter().find(|names| names.contains(&word)).map(|names| names[0])
}

/// Returns the number that a word means.
pub(super) fn number(word: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, digits)| *digits)
}

/// Short words and the long ones that they stand for.
#[rustfmt::skip]
const ALIASES: &[(&str, &str)] = &[
    ("db", "database"), ("dbs", "database"), ("databases", "database"), ("repo", "repository"), ("repos", "repository"), ("prod", "production"),
    ("config", "configuration"), ("configs", "configuration"), ("docs", "documentation"), ("doc", "documentation"), ("env", "environment"), ("auth", "authentication"),
    ("k8s", "kubernetes"), ("pg", "postgres"), ("postgresql", "postgres"), ("perf", "performance"), ("msg", "message"), ("msgs", "message"),
    ("deps", "dependency"), ("dependencies", "dependency"), ("deploys", "deploy"), ("deployment", "deploy"), ("deployments", "deploy"), ("js", "javascript"),
    ("ts", "typescript"), ("pr", "request"), ("prs", "request"), ("mocking", "mock"), ("mocked", "mock"), ("mocks", "mock"), ("stub", "mock"), ("stubs", "mock"), ("tests", "test"), ("testing", "test"),
    ("app", "application"), ("apps", "application"), ("param", "parameter"), ("params", "parameter"), ("dir", "directory"), ("folder", "directory"),
    ("folders", "directory"), ("admins", "admin"), ("credentials", "secret"), ("secrets", "secret"), ("answers", "answer"), ("reply", "answer"),
    ("replies", "answer"), ("responses", "answer"), ("short", "brief"), ("concise", "brief"), ("terse", "brief"), ("branches", "branch"), ("actual", "real"), ("genuine", "real"),
];

/// Returns the word that stands for itself and its short forms.
pub(super) fn canonical(word: &str) -> &str {
    ALIASES.iter().find(|(short, _)| *short == word).map_or(word, |(_, long)| long)
}

/// Words of file names that say how a file is kept and not what it is about.
#[rustfmt::skip]
const FILING: &[&str] = &[
    "new", "old", "now", "day", "date", "days", "window", "time", "moved", "update", "updated", "note", "notes", "info", "policy", "rule", "current", "latest", "version",
    "upgrade", "change", "changed", "setting", "settings", "count", "ok", "no", "yes", "on", "off", "limit", "default", "misc", "again", "fix", "decision", "fact", "copy",
    "neu", "alt", "regel", "uhrzeit", "beginn",
];

/// Says whether a word of a file name tells nothing of what the file is about.
pub(super) fn is_filing(word: &str) -> bool {
    FILING.contains(&word)
}

/// Words for what is measured: a number after one of them is its value.
#[rustfmt::skip]
const MEASURED: &[&str] = &[
    "port", "limit", "size", "timeout", "version", "max", "min", "quota", "retries", "level", "ttl", "threshold", "count", "capacity", "budget",
    "age", "weight", "width", "depth", "height", "priority", "about", "least", "most", "under", "over", "above", "below", "exactly", "roughly", "almost",
    "contrast", "rate", "percent", "score", "grade", "extension", "limited", "price", "rund", "etwa", "höchstens", "mindestens", "allows", "equals",
];

/// Says whether a number after the word is a value of it.
pub(super) fn is_measured(word: &str) -> bool {
    MEASURED.contains(&word)
}
