//! Tells paths, addresses, names of code, numbers and words apart by their letters.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word of a language.
    Word,
    /// A name as code has it: `snake_case`, `camelCase`, `a::b`, `f()`.
    Identifier,
    /// A path or a file name.
    Path,
    /// An address on the web, with or without its scheme.
    Url,
    /// A code span that is a command or anything else with spaces in it.
    Command,
    /// A number, a version, a percentage, a share such as `3/8`.
    Number,
    /// A day such as `2026-03-05`.
    Day,
    /// `#12`, `INGEST-42`, `PR#7`.
    Ticket,
    /// `#channel`.
    Channel,
    /// A commit's hash.
    Commit,
    /// Anything else that is no letter.
    Mark,
}

/// Inside a code span plain words are names.
pub(super) fn kind_of_code(text: &str) -> Kind {
    match kind_of(text) {
        Kind::Number if text.contains('/') => Kind::Path,
        Kind::Channel | Kind::Mark => Kind::Identifier,
        _ if text.contains(char::is_whitespace) => Kind::Command,
        kind => kind,
    }
}

/// Tells what a piece of text without spaces is.
pub(super) fn kind_of(chunk: &str) -> Kind {
    let ascii = chunk.is_ascii();
    if is_url(chunk) {
        kind_of_url(chunk)
    } else if is_day(chunk) {
        Kind::Day
    } else if let Some(rest) = chunk.strip_prefix('#') {
        match rest.chars().next() {
            Some(c) if c.is_ascii_digit() => Kind::Ticket,
            Some(c) if c.is_alphabetic() => Kind::Channel,
            _ => Kind::Mark,
        }
    } else if is_number(chunk) {
        Kind::Number
    } else if ascii && is_ticket(chunk) {
        Kind::Ticket
    } else if is_path(chunk) {
        Kind::Path
    } else if ascii && is_commit(chunk) {
        Kind::Commit
    } else if is_identifier(chunk) {
        Kind::Identifier
    } else if chunk.contains(char::is_alphanumeric) {
        Kind::Word
    } else {
        Kind::Mark
    }
}

const SITES: &[&str] = &[
    ".com",
    ".org",
    ".net",
    ".io",
    ".dev",
    ".internal",
    ".corp",
    ".local",
    ".de",
    ".kr",
    ".ai",
    ".app",
    ".cloud",
    ".intern",
    ".lan",
    ".eu",
    ".co",
    ".example",
];

/// An address inside a repository's host says what git or the tree say.
fn kind_of_url(chunk: &str) -> Kind {
    let holds = |parts: &[&str]| parts.iter().any(|part| chunk.contains(part));
    if holds(&["/commit/", "/commits/", "/pull/", "/merge_requests/", "/compare/"]) {
        Kind::Commit
    } else if holds(&["/blob/", "/tree/", "/raw/"]) {
        Kind::Path
    } else {
        Kind::Url
    }
}

fn is_url(chunk: &str) -> bool {
    let mail = chunk.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    if mail || chunk.contains("://") || chunk.starts_with("www.") {
        return true;
    }
    let host = chunk.split(['/', ':']).next().unwrap_or(chunk);
    let named = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    let site = SITES.iter().any(|site| host.len() > site.len() && host.ends_with(site));
    named && site && host.matches('.').count() >= 1 && !chunk.contains("()")
        || (host == "localhost" && chunk.len() > host.len())
}

fn is_day(chunk: &str) -> bool {
    let digits: Vec<&str> = chunk.split(['-', '.', '/']).collect();
    let numbers =
        digits.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    numbers && digits.len() == 3 && (digits[0].len() == 4 || digits[2].len() == 4)
}

fn is_number(chunk: &str) -> bool {
    let body = chunk.strip_prefix(['v', 'V', '~', '$', '€', '<', '>']).unwrap_or(chunk);
    let starts = body.starts_with(|c: char| c.is_ascii_digit());
    starts
        && body
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '/' | '%' | 'x' | '-' | '–' | ':'))
}

/// `INGEST-42`: capitals, a dash, digits.
fn is_ticket(chunk: &str) -> bool {
    chunk.split_once('-').is_some_and(|(key, number)| {
        key.len() >= 2
            && key.bytes().all(|byte| byte.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && !matches!(key, "UTF" | "SHA" | "ISO" | "COVID" | "RFC" | "AES" | "HTTP" | "GPT")
    })
}

const EXTENSIONS: &[&str] = &[
    "rs", "py", "ts", "tsx", "js", "jsx", "mjs", "go", "java", "kt", "rb", "c", "h", "cc", "cpp", "hpp",
    "cs", "php", "swift", "md", "mdx", "toml", "yaml", "yml", "json", "jsonl", "lock", "sh", "sql", "html",
    "css", "scss", "vue", "svelte", "txt", "cfg", "ini", "env", "proto", "graphql", "tf", "gradle", "xml",
    "csv", "ipynb", "ex", "exs", "dart", "lua", "zig", "snap",
];

fn is_path(chunk: &str) -> bool {
    let plain = chunk.trim_end_matches("()");
    let name = plain.rsplit('/').next().unwrap_or(plain);
    let file = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let extension = extension.split(':').next().unwrap_or(extension);
        EXTENSIONS.contains(&extension) && stem.chars().all(|c| c.is_alphanumeric() || "._-*[]".contains(c))
    });
    let named = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || "._-*{}[]<>@$~".contains(c));
    let slashes = plain.contains('/') && plain.len() > 1 && plain.split('/').all(named);
    let dotfile =
        plain.starts_with('.') && plain.len() > 2 && plain[1..].chars().all(|c| c.is_ascii_lowercase());
    file || dotfile || (slashes && is_path_with_slashes(plain))
}

/// `and/or`, `CI/CD`, `read/write` are words; `src/api`, `./x`, `docs/`, `a/b/c` are paths.
fn is_path_with_slashes(plain: &str) -> bool {
    let parts: Vec<&str> = plain.split('/').collect();
    let lower = plain.chars().all(|c| !c.is_ascii_uppercase());
    let rooted = plain.starts_with(['/', '.', '~', '@', '$']) || plain.ends_with('/');
    let folders = [
        "src",
        "lib",
        "docs",
        "doc",
        "test",
        "tests",
        "crates",
        "packages",
        "apps",
        "app",
        "cmd",
        "internal",
        "pkg",
        "scripts",
        "config",
        "api",
        "web",
        "server",
        "client",
        "components",
        "db",
        "tools",
        "bin",
        "infra",
        "deploy",
    ];
    rooted
        || parts.len() > 2 && lower
        || folders.contains(&parts[0])
        || parts.iter().any(|part| part.contains(['_', '.', '*']))
}

fn is_commit(chunk: &str) -> bool {
    (7..=40).contains(&chunk.len())
        && chunk.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && chunk.bytes().any(|byte| byte.is_ascii_digit())
        && chunk.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn is_identifier(chunk: &str) -> bool {
    let ascii = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '(' | ')' | '$' | '-' | '<' | '>')
    };
    if !chunk.chars().all(ascii) || !chunk.contains(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let snake = chunk.contains('_') && !chunk.starts_with('-');
    let scoped = chunk.contains("::") || chunk.contains("()") || chunk.starts_with("--");
    let dotted = chunk.split('.').count() > 1
        && chunk.split('.').all(|part| part.len() > 1 && part.starts_with(|c: char| c.is_ascii_lowercase()));
    snake || scoped || dotted || is_camel(chunk)
}

/// `camelCase` or `PascalCase` with two humps, but no `GitHub`, `PostgreSQL` or `iOS`.
fn is_camel(chunk: &str) -> bool {
    const NAMES: &[&str] = &[
        "github",
        "gitlab",
        "postgresql",
        "typescript",
        "javascript",
        "graphql",
        "openapi",
        "devops",
        "mysql",
        "sqlite",
        "mongodb",
        "dynamodb",
        "clickhouse",
        "bigquery",
        "pagerduty",
        "newrelic",
        "circleci",
        "teamcity",
        "fastapi",
        "nextjs",
        "websocket",
        "websockets",
        "youtube",
        "linkedin",
        "macos",
        "ios",
        "ipados",
        "oauth",
        "restful",
        "servicenow",
        "sharepoint",
        "onedrive",
        "openai",
        "launchdarkly",
        "opensearch",
        "elasticsearch",
        "rabbitmq",
        "jetbrains",
        "intellij",
        "webstorm",
        "pycharm",
        "vscode",
        "neovim",
        "powershell",
        "ebay",
        "iphone",
        "latex",
        "readme",
        "changelog",
        "wordpress",
        "datadog",
        "bitbucket",
        "youtrack",
        "microservice",
        "pytorch",
        "tensorflow",
        "numpy",
        "cockroachdb",
        "influxdb",
        "timescaledb",
        "couchdb",
        "planetscale",
        "docusign",
        "docusaurus",
        "hubspot",
        "salesforce",
        "paypal",
        "cloudflare",
        "cloudwatch",
        "statuspage",
    ];
    let letters = chunk.chars().all(|c| c.is_ascii_alphanumeric());
    let humps = chunk
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    letters && humps.count() >= 1 && chunk.len() > 5 && !NAMES.contains(&chunk.to_ascii_lowercase().as_str())
}
