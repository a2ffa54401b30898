//! Tells what was meant where a shape alone does not: the password of a URL in a manual, a word after a flag.

use super::value::{self, Makeup};
use super::words;

/// Says whether a value that a pattern found is more than an example or a reference.
pub(super) fn is_meant(rule: &str, value: &[u8], whole: &[u8]) -> bool {
    match rule {
        "connection-string-password" | "connection-string-password-encoded" | "jdbc-oracle-password" => {
            is_url_password(value, whole)
        }
        "basic-auth" => is_basic(value),
        "bearer-token"
        | "authorization-token"
        | "session-cookie"
        | "url-query-secret"
        | "npmrc-auth-token"
        | "docker-config-auth" => {
            !value::is_reference(value)
                && (value::is_random(value) || value::is_uuid(value) || is_base64_pair(value))
        }
        "user-slash-password" => is_pair(value),
        "user-password-at-host" => value::is_passwordish(value) && !value::is_reference(value),
        "login-with-password" => is_marked(value),
        "tool-password" | "network-device-password" => {
            is_command_password(value) && (value::is_passwordish(value) || value::is_random(value))
        }
        "azure-storage-key" | "wireguard-private-key" => value::is_random(value),
        "google-app-password" => !value::is_placeholder(value),
        "pgpass-password" | "netrc-password" | "wifi-passphrase" | "ansible-password"
        | "redis-requirepass" => !value::is_reference(value) && Makeup::of(value).letters() > 0,
        "curl-auth-user"
        | "mysql-command-password"
        | "sshpass-password"
        | "login-command-password"
        | "sqlcmd-password"
        | "redis-command-password"
        | "htpasswd-command"
        | "piped-password"
        | "ldap-command-password"
        | "smb-command-password"
        | "net-use-password"
        | "rdp-command-password"
        | "openssl-password"
        | "keytool-password"
        | "kubectl-literal"
        | "sql-user-password"
        | "nuget-config-password" => is_command_password(value),
        _ => true,
    }
}

fn is_url_password(value: &[u8], whole: &[u8]) -> bool {
    let user = user_of(whole);
    // `postgres:postgres@`, `guest:guest@`: what every manual has.
    if value.eq_ignore_ascii_case(user)
        || value.starts_with(b"$")
        || value.starts_with(b"%") && value.ends_with(b"%")
    {
        return false;
    }
    let port = value.iter().all(u8::is_ascii_digit);
    !port && !value.contains(&b'{') && !value.starts_with(b"//")
}

fn user_of(whole: &[u8]) -> &[u8] {
    let start = memchr::memmem::find(whole, b"://").map_or(0, |at| at + 3);
    let len = whole[start..].iter().position(|byte| *byte == b':').unwrap_or(0);
    &whole[start..start + len]
}

/// Says whether a value is `user:password` in base64, as the header has it.
fn is_basic(value: &[u8]) -> bool {
    let is_pair =
        super::view::decode_base64(value).is_some_and(|plain| plain.is_ascii() && plain.contains(&b':'));
    is_base64_pair(value) || (!is_pair && value.len() >= 20 && value::is_random(value))
}

fn is_base64_pair(value: &[u8]) -> bool {
    let Some(plain) = super::view::decode_base64(value) else { return false };
    let Some(colon) = plain.iter().position(|byte| *byte == b':') else { return false };
    let is_text = plain.iter().all(u8::is_ascii_graphic);
    is_text && colon > 0 && plain.len() > colon + 3 && !value::is_placeholder(&plain[colon + 1..])
}

/// Says whether `user / password` is a pair of the two.
fn is_pair(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|byte| matches!(byte, b'/' | b':')) else { return false };
    let (user, password) = (value[..at].trim_ascii(), value[at + 1..].trim_ascii());
    let is_spaced = value.get(at + 1) == Some(&b' ') && Makeup::of(password).digits > 0;
    let is_marked = is_spaced
        || password.iter().any(|byte| b"!@#$%^&*".contains(byte))
        || Makeup::of(password).turns >= 2;
    Makeup::of(user).turns == 0
        && !words::is_technical(user)
        && value::is_passwordish(password)
        && is_marked
        && !value::is_placeholder(password)
        && !value::is_reference(password)
        && !password.contains(&b'/')
}

/// Says whether a word is so unlike a word that it can only be a password.
fn is_marked(value: &[u8]) -> bool {
    let makeup = Makeup::of(value);
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"!@#$%^&*?~_-+".contains(byte);
    value::has_mark(value)
        && makeup.digits > 0
        && makeup.letters() > 3
        && value.iter().all(is_plain)
        && !value.starts_with(b"@")
        && value::is_passwordish(value)
}

fn is_command_password(value: &[u8]) -> bool {
    let is_port = value.len() <= 5 && value.iter().all(u8::is_ascii_digit);
    !is_port
        && !value::is_reference(value)
        && !value.starts_with(b"$")
        && !value.starts_with(b"-")
        && !value.starts_with(b"\\")
}
