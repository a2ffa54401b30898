//! The lists of words, to be read and added to by people.

/// Words that, next to a key, make it one that opens something.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const OPENING: &[&str] = &[
    "api", "secret", "access", "private", "auth", "encryption", "encrypt", "signing", "sign", "license",
    "licence", "account", "master", "app", "application", "admin", "service", "deploy", "deployment",
    "client", "server", "shared", "write", "live", "prod", "jwt", "hmac", "aes", "subscription", "function",
    "host", "sas", "project", "personal", "bot", "webhook", "cookie", "session", "crypt", "root", "root-api",
    "developer", "dev", "staging", "integration", "ingest", "ingestion", "upload", "user", "consumer",
    "storage", "decryption", "symmetric", "vault", "backup", "fernet", "rest", "management", "team", "org",
    "sdk", "security", "login", "activation",
];

/// Words that, next to a key or token, make it harmless.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const HARMLESS: &[&str] = &[
    "change", "lock", "request", "pagination", "cursor", "resume", "fencing", "usage", "unit", "public",
    "pub", "publishable", "primary", "foreign", "partition", "sort", "cache", "object", "map", "dict",
    "translation", "i18n", "idempotency", "registry", "hash", "row", "unique", "composite", "lookup", "index",
    "group", "routing", "dedup", "etag", "range", "answer", "arrow", "enter", "escape", "shortcut", "hot",
    "sorting", "query", "redis", "page", "next", "continuation",
    "sync", "csrf", "xsrf", "cancel", "cancellation", "max", "min", "eos", "bos", "pad", "sep", "mask", "unk",
    "stop", "design", "input", "output", "prompt", "total", "num", "eth", "erc20", "no", "missing",
    "invalid", "expired", "public-", "s3", "fingerprint", "known", "ssh-public", "verify", "verification",
    "natural", "surrogate", "meta", "metadata", "locale", "storage-", "react",
   
];

/// Words that take the secret away when they follow it in a name.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const TAKING: &[&str] = &[
    "field", "file", "path", "dir", "name", "names", "id", "ids", "url", "uri", "endpoint", "type", "types",
    "length", "len", "min", "max", "policy", "reset", "expiry", "expires", "expiration", "ttl", "ref", "arn",
    "count", "limit", "limits", "label", "placeholder", "hint", "required", "input", "env", "var", "prompt",
    "rotation", "manager", "version", "date", "at", "store", "provider", "service", "class", "format",
    "regex", "pattern", "rules", "rule", "error", "errors", "validator", "strength", "age", "scheme",
    "algorithm", "alg", "size", "bits", "usage", "budget", "window", "bucket", "izer", "izers", "iser",
    "ization", "board", "word", "words", "note", "notes", "frame", "stroke", "press", "down", "up", "code",
    "codes", "event", "events", "map", "ring", "chain", "space", "column", "generator", "handler", "helper",
    "util", "utils", "scanner", "scanning", "sauce", "santa", "box", "ary", "aries", "less", "ly", "er", "ed",
    "ing", "enger", "port", "ive", "through", "or", "ority", "orization", "entication", "enticate",
    "enticated", "enticator", "orize", "orized", "hentication", "s3", "header", "param", "parameter",
    "prefix", "suffix", "source", "location", "mount", "volume", "key_ref", "title", "text", "description",
    "help", "callback", "listener", "change", "changed", "updated", "created", "visible", "toggle", "check",
    "checker", "match", "confirm", "confirmation", "attempts", "retries", "timeout", "duration", "lifetime",
    "holder", "server",
    "hash", "hashes", "hashed", "digest", "hasher", "fingerprint",
];

/// Words that may follow the secret word in a name and take nothing away.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const TRAILING: &[&str] = &[
    "prod", "production", "staging", "stage", "dev", "development", "test", "live", "local", "value", "data",
    "string", "b64", "base64", "plain", "plaintext", "clear", "admin", "default", "old", "new", "primary",
    "secondary", "current", "previous", "main", "backup", "base", "hex", "raw", "enc", "pem", "secret", "key",
    "token", "ro", "rw", "read", "write", "readonly", "user", "root", "db", "api", "app", "eu", "us",
    "global", "shared", "ci", "stdin", "const", "constant", "literal", "s", "bytes", "bot",
    "svc", "client", "github", "gitlab", "aws", "gcp", "azure", "slack", "stripe", "openai", "anthropic",
];

/// Words that stand where a value would, or belong to an ordinary sentence.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const ORDINARY: &[&str] = &[
    "password", "passwd", "passwort", "kennwort", "passphrase", "pass", "pwd", "secret", "token", "key",
    "apikey", "api-key", "api_key", "string", "str", "text", "varchar", "bytes", "number", "int", "integer",
    "bool", "boolean", "none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "empty",
    "optional", "required", "mandatory", "hidden", "hashed", "encrypted", "stored", "disabled", "enabled",
    "default", "prompt", "ask", "reset", "changed", "expired", "invalid", "wrong", "incorrect", "correct",
    "missing", "unknown", "forgotten", "unset", "todo", "tbd", "fixme", "test", "testing", "admin", "root",
    "guest", "user", "username", "foo", "bar", "baz", "foobar", "hello", "world", "value", "input", "here",
    "there", "see", "not", "never", "always", "only", "also", "kept", "used", "needed", "set", "sent", "read",
    "written", "shared", "rotated", "managed", "generated", "derived", "valid", "refreshed", "protected",
    "private", "public", "plain", "plaintext", "cleartext", "auto", "inherit", "abc123", "qwerty", "letmein",
    "secret123", "password1", "password123", "pass123", "test123", "123456", "postgres", "mysql", "geheim",
    "gespeichert", "erforderlich", "leer", "pflicht", "steht", "wird", "muss", "liegt", "basic", "bearer",
    "digest", "oauth", "oauth2", "jwt", "self", "this", "redacted", "removed", "masked", "anonymous",
    "nobody", "minioadmin", "changeit", "pw", "p@ssw0rd", "passw0rd",
];

/// Parts that make a value a stand-in wherever they occur in it.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const STAND_INS: &[&str] = &[
    "example", "placeholder", "changeme", "change-me", "change_me", "change-this", "change_this", "redacted",
    "your-", "your_", "yourpass", "yourtoken", "yourkey", "yourapi", "yoursecret", "your ", "replace-",
    "replace_", "replaceme", "replace with", "insert-", "insert_", "dummy", "fake-", "fake_", "faketoken",
    "-fake", "_fake", "sample", "todo", "fixme", "not-a-real", "notreal", "not_real", "goes-here",
    "goes_here", "-here", "_here", "here>", "my-secret", "my_secret", "mysecret", "my-token", "my_token",
    "mytoken", "my-api", "my_api", "my-password", "my_password", "mypassword", "dein-", "dein_", "deine-",
    "ihr-", "여기", "입력", "foobar", "lorem", "asdf", "abcdefgh", "12345678", "01234567", "deadbeef", "cafebabe",
    "super-secret", "supersecret", "super_secret", "the-token", "some-", "some_", "any-", "test-token",
    "test_token", "test-key", "test_key", "test-secret", "testtoken", "hidden", "masked", "mock-", "mock_",
    "_mock", "stub", "secret-here", "<", "beispiel", "platzhalter", "ejemplo", "exemple", "xxx-", "-xxx",
    "redigiert", "aaaaaaaa", "not-secret", "notasecret", "not-a-", "unused", "null", "undefined", "none-",
];

/// What says that the value is elsewhere.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const REFERENCES: &[&str] = &[
    "%s", "%d", "os.environ", "process.env", "getenv", "env::", "env[", "env.", "env:", "secrets.",
    "secrets[", "vault:", "op://", "arn:", "ssm:", "config.", "settings.", "import.meta", "keyring",
    "keychain", "getpass", "input(", "read_file", "enc[", "sops", "resolve:", "data.", "var.", "local.",
    "module.", "self.", "this.", "props.", "ctx.", "req.", "request.", "params.", "options.", "opts.",
    "args.", "func(", "lambda", "=>", "secretsmanager", "parameter-store", "akv", "secretref",
];

/// Technical terms that mix letters and digits, or dress up as a password.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const TECHNICAL: &[&str] = &[
    "base64", "base32", "base64url", "sha1", "sha2", "sha3", "sha256", "sha384", "sha512", "sha", "md5",
    "oauth2", "oauth", "utf8", "utf", "x509", "pkcs1", "pkcs8", "pkcs12", "ed25519", "ed448", "x25519",
    "rs256", "rs512", "hs256", "hs512", "es256", "es384", "http2", "http3", "http1", "k8s", "s3", "ec2",
    "argon2", "argon2id", "argon2i", "1password", "bcrypt", "scrypt", "pbkdf2", "rsa", "rsa2048", "rsa4096",
    "aes", "aes128", "aes256", "hmac", "jwt", "totp", "fido2", "u2f", "webauthn", "tls1", "tls", "ssl", "rfc",
    "iso", "ipv4", "ipv6", "i18n", "l10n", "a11y", "auth0", "web3", "h2", "p256", "secp256k1", "secp256r1",
    "gpt4", "gpt", "python3", "es6", "es2020", "v1", "v2", "v3", "u8", "u16", "u32", "u64", "i32", "i64",
    "uint8", "uint32", "int32", "int64", "bit", "bits", "bytes", "chars", "characters", "encoded", "hashed",
    "based", "only", "signed", "hex", "ascii", "q1", "q2", "q3", "q4", "pkce", "oidc", "saml2", "crc32",
    "blake2", "blake3", "zeichen", "mfa", "2fa", "env", "yaml", "json", "toml", "sql", "api",
];

/// The words that samples are made of: `securePassword123`, `my-redis-password`, `test_token_1`.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const SAMPLE_WORDS: &[&str] = &[
    "password", "passwort", "passwd", "pass", "secret", "token", "apikey", "api", "key", "my", "your", "test",
    "secure", "super", "strong", "wrong", "invalid", "valid", "correct", "hashed", "hash", "another", "redis",
    "db", "database", "admin", "user", "default", "dummy", "mock", "new", "old", "the", "this", "is", "a",
    "some", "very", "long", "value", "string", "here", "app", "root", "mysql", "postgres", "client", "access",
    "auth", "bearer", "jwt", "refresh", "session", "private", "public", "example", "sample", "fake", "random",
    "change", "me", "please", "mein", "geheimes", "geheim", "plain", "text", "encrypted", "local", "dev",
    "service", "hello", "world", "foo", "bar", "abc", "xyz", "for", "testing", "not", "real", "signing",
    "webhook", "hidden", "temp", "temporary", "initial", "first", "second", "one", "two", "generated",
    "expired", "bad", "good", "weak", "short", "id", "name", "of", "to", "in", "use", "put", "set", "insert",
    "enter", "replace", "with", "own", "and", "or", "goes", "it", "mykey", "account", "login", "email",
    "stored", "safe", "safely", "cookie", "keyboard", "cat",
    "clear", "ghp", "gho", "sk", "glpat", "xoxb", "akia", "live", "prod",
];

/// Words that follow a secret's name in a sentence and make it a property of it.
#[rustfmt::skip] // as many words a line as fit
pub(in crate::secrets) const ATTRIBUTES: &[&str] = &[
    "id", "ids", "name", "names", "field", "fields", "file", "files", "path", "url", "uri", "type", "types", "length",
    "policy", "reset", "service", "manager", "vault", "endpoint", "header", "prefix", "format", "bucket", "limit",
    "limits", "budget", "count", "counts", "rotation", "hash", "hashes", "fingerprint", "expiry", "ttl", "size",
    "scope", "scopes", "usage", "lifetime", "prompt", "column", "strength", "hint", "page", "screen", "form",
    "vocabulary", "vocab", "embedding", "embeddings", "stream", "table",
];
