//! The words that judgement hangs on: what is called a secret, what only sounds so, what stands in for a value.
//!
//! Words are kept in lower case. A name such as `DB_PASSWORD_FILE` is read word by word; what follows the secret word
//! may take the secret away (a file name is none), what precedes it may say what kind of key it is.

mod lists;

pub(super) use lists::REFERENCES;
use lists::{ATTRIBUTES, HARMLESS, OPENING, ORDINARY, SAMPLE_WORDS, STAND_INS, TAKING, TECHNICAL, TRAILING};

/// How much a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    /// A key of some sort: the value must look drawn by lot.
    Key,
    /// A token or secret.
    Token,
    /// A password: people make them, so they may be short and plain.
    Password,
}

/// The beginnings that make us look around, and what they promise.
pub(super) const STEMS: &[(&str, Promise)] = &[
    ("passw", Promise::Password),
    ("passphrase", Promise::Password),
    ("passcode", Promise::Password),
    ("pass", Promise::Password),
    ("pwd", Promise::Password),
    ("pw", Promise::Password),
    ("psk", Promise::Password),
    ("kennwort", Promise::Password),
    ("비밀번호", Promise::Password),
    ("패스워드", Promise::Password),
    ("비번", Promise::Password),
    ("암호", Promise::Password),
    ("パスワード", Promise::Password),
    ("密码", Promise::Password),
    ("密碼", Promise::Password),
    ("口令", Promise::Password),
    ("contraseña", Promise::Password),
    ("mot de passe", Promise::Password),
    ("senha", Promise::Password),
    ("wachtwoord", Promise::Password),
    ("hasło", Promise::Password),
    ("пароль", Promise::Password),
    ("secret", Promise::Token),
    ("token", Promise::Token),
    ("credential", Promise::Token),
    ("geheimnis", Promise::Token),
    ("토큰", Promise::Token),
    ("시크릿", Promise::Token),
    ("トークン", Promise::Token),
    ("令牌", Promise::Token),
    ("jeton", Promise::Token),
    ("auth", Promise::Key),
    ("creds", Promise::Token),
    ("zugangsdaten", Promise::Token),
    ("key", Promise::Key),
    ("schlüssel", Promise::Key),
    ("키", Promise::Key),
    ("キー", Promise::Key),
    ("密钥", Promise::Token),
    ("clé", Promise::Key),
    ("clave", Promise::Key),
    ("signature", Promise::Key),
    ("salt", Promise::Key),
    ("_pat", Promise::Token),
    ("dsn", Promise::Key),
];

/// Says whether a part of a value is a technical term.
pub(super) fn is_technical(part: &[u8]) -> bool {
    let lower = part.to_ascii_lowercase();
    TECHNICAL.iter().any(|term| term.as_bytes() == lower)
}

/// Says whether a word that follows a secret's name makes it a property of it.
pub(super) fn is_attribute(word: &[u8]) -> bool {
    ATTRIBUTES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// Says whether a name is or ends with the word "pass": `pass`, `two-pass`.
pub(super) fn ends_with_pass(name: &[u8]) -> bool {
    name.rsplit(|byte| *byte == b'-').next().is_some_and(|word| word.eq_ignore_ascii_case(b"pass"))
}

/// Says whether a value is an ordinary word that no one would call a secret.
pub(super) fn is_ordinary(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let trimmed = lower.strip_suffix(b".").unwrap_or(&lower);
    ORDINARY.iter().any(|word| word.as_bytes() == trimmed)
}

/// Says whether a value is made of sample words only, numbers aside: nobody draws such a value by lot.
fn is_made_of_samples(lower: &[u8]) -> bool {
    let letters: Vec<u8> = lower.iter().copied().filter(|byte| byte.is_ascii_alphabetic()).collect();
    let n_digits = lower.iter().filter(|byte| byte.is_ascii_digit()).count();
    let has_marks = lower.iter().any(|byte| b"!@#$%^&*?~".contains(byte));
    if is_leet(lower) {
        return true;
    }
    if letters.len() < 4 || letters.len() > 60 || n_digits > 4 || (has_marks && n_digits > 0) {
        return false;
    }
    is_cut_into_samples(&letters)
}

/// Says whether a value is a sample word with digits for letters, and nothing else: `s3cr3t`, `p4ssw0rd`.
fn is_leet(lower: &[u8]) -> bool {
    let plain = |byte: &u8| match byte {
        b'4' | b'@' => b'a',
        b'3' => b'e',
        b'0' => b'o',
        b'1' => b'i',
        b'5' | b'$' => b's',
        b'7' => b't',
        other => *other,
    };
    let letters: Vec<u8> = lower.iter().map(plain).filter(|byte| !matches!(byte, b'-' | b'_')).collect();
    letters.len() >= 4 && letters.iter().all(u8::is_ascii_alphabetic) && is_cut_into_samples(&letters)
}

/// Says whether letters are sample words, one after the other.
fn is_cut_into_samples(letters: &[u8]) -> bool {
    // Which beginnings can be cut so.
    let mut reached = vec![false; letters.len() + 1];
    reached[0] = true;
    for at in 0..letters.len() {
        if reached[at] {
            for word in SAMPLE_WORDS.iter().filter(|word| letters[at..].starts_with(word.as_bytes())) {
                reached[at + word.len()] = true;
            }
        }
    }
    reached[letters.len()]
}

/// Says whether a value says of itself that it is none.
pub(super) fn means_placeholder(value: &[u8]) -> bool {
    if is_ordinary(value) || is_made_of_samples(&value.to_ascii_lowercase()) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    // What was drawn by lot may hold four letters that make a word; five hold none.
    let is_long = value.len() > 48 && super::value::is_random(value);
    STAND_INS
        .iter()
        .any(|part| (!is_long || part.len() > 5) && super::value::contains(&lower, part.as_bytes()))
}

/// Reads what a name promises: `DB_PASSWORD` a password, `TOKEN_URL` nothing. `before` are the words that stand
/// before it in a sentence.
pub(super) fn promise(name: &str, before: &[String]) -> Option<Promise> {
    let words = split(name);
    let (at, promise) = words.iter().enumerate().rev().find_map(|(at, word)| Some((at, of_word(word)?)))?;
    let following = &words[at + 1..];
    if following.iter().any(|word| TAKING.contains(&word.as_str())) {
        return None;
    }
    // `passwordHasher`: what it is now, we cannot say; the value has to speak for itself.
    let is_known =
        |word: &String| word.len() <= 2 || word.parse::<u32>().is_ok() || TRAILING.contains(&word.as_str());
    let promise = if following.iter().all(is_known) { promise } else { Promise::Key };
    let earlier = &words[..at];
    let is_public = |word: &String| matches!(word.as_str(), "public" | "pub" | "publishable");
    if promise != Promise::Password && earlier.iter().any(is_public) {
        return None;
    }
    let last = earlier.last().or_else(|| before.last()).map(String::as_str);
    if promise != Promise::Password && last.is_some_and(|word| HARMLESS.contains(&word)) {
        return None;
    }
    if promise == Promise::Key {
        let joined = words[at].strip_suffix("key").is_some_and(|word| OPENING.contains(&word));
        let opens = |word: &String| OPENING.contains(&word.as_str()) || of_word(word).is_some();
        // `admin key`, but not the admin of two words ago.
        let near = earlier.iter().rev().take(3).chain(before.iter().rev().take(2)).any(opens);
        return Some(if joined || near { Promise::Token } else { Promise::Key });
    }
    Some(promise)
}

fn of_word(word: &str) -> Option<Promise> {
    match word {
        "password" | "passwords" | "passwd" | "passwort" | "passphrase" | "passcode" | "pass" | "pwd"
        | "pw" | "psk" | "kennwort" | "userpass" | "dbpass" | "rootpass" | "adminpass" | "mypass"
        | "pword" | "passwörter" | "senha" | "wachtwoord" | "contraseña" | "passe" | "hasło" | "пароль"
        | "adminpw" | "rootpw" | "bindpw" | "pgpassword" | "dbpassword" | "userpassword" | "requirepass"
        | "smtppass" | "cleartextpassword" | "dbpasswd" | "dbpwd" | "pswd" | "psw" | "passkey" => {
            Some(Promise::Password)
        }
        "secret" | "secrets" | "token" | "tokens" | "credential" | "credentials" | "creds" | "geheimnis"
        | "jeton" | "authtoken" | "accesstoken" | "apitoken" | "clientsecret" | "apisecret"
        | "zugangsdaten" | "pat" | "secretkey" | "accesskey" | "privatekey" | "refreshtoken"
        | "bearertoken" | "idtoken" | "appsecret" | "sharedsecret" | "secretaccesskey" | "authkey"
        | "bottoken" | "apitokens" | "sessiontoken" | "deploytoken" | "signingkey" | "encryptionkey"
        | "masterkey" | "accountkey" | "licensekey" | "writekey" => Some(Promise::Token),
        "key" | "keys" | "apikey" | "apikeys" | "auth" | "schlüssel" | "clé" | "clave" | "salt"
        | "appkey" | "dsn" | "api-schlüssel" => Some(Promise::Key),
        _ if word.ends_with("password")
            || word.ends_with("passwort")
            || word.ends_with("passwd")
            || word.ends_with("kennwort") =>
        {
            Some(Promise::Password)
        }
        _ if word.ends_with("token") || word.ends_with("secret") => Some(Promise::Token),
        _ if word.ends_with("schlüssel")
            || (word.ends_with("key") && OPENING.contains(&word.trim_end_matches("key"))) =>
        {
            Some(Promise::Key)
        }
        _ => of_syllables(word),
    }
}

/// Reads scripts that write particles onto the word.
fn of_syllables(word: &str) -> Option<Promise> {
    const PASSWORD: &[&str] = &["비밀번호", "비번", "패스워드", "암호", "パスワード", "密码", "密碼", "口令"];
    const TOKEN: &[&str] = &["토큰", "시크릿", "トークン", "令牌", "密钥", "비밀키", "비밀 키"];
    const KEY: &[&str] = &["키", "キー"];
    // Encryption, ciphertext, cryptography, currency: they begin like "password".
    const OTHER: &[&str] = &["암호화", "암호문", "암호학"];
    let any = |words: &[&str]| words.iter().any(|part| word.contains(part));
    if word.is_ascii() || any(OTHER) {
        None
    } else if any(PASSWORD) {
        Some(Promise::Password)
    } else if any(TOKEN) {
        Some(Promise::Token)
    } else {
        any(KEY).then_some(Promise::Key)
    }
}

/// Splits a name into lower-case words at separators and capitals.
pub(super) fn split(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let begins = c.is_uppercase()
            && at > 0
            && (chars[at - 1].is_lowercase()
                || (chars[at - 1].is_uppercase()
                    && chars.get(at + 1).is_some_and(|next| next.is_lowercase())));
        if !c.is_alphanumeric() || begins {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_promises() {
        for (name, before, wanted) in [
            ("DB_PASSWORD", "", Some(Promise::Password)),
            ("apiKey", "", Some(Promise::Token)),
            ("key", "api", Some(Promise::Token)),
            ("key", "cache", None),
            ("key", "the", Some(Promise::Key)),
            ("TOKEN_URL", "", None),
            ("password_field", "", None),
            ("비밀번호는", "", Some(Promise::Password)),
            ("AWS_SECRET_ACCESS_KEY", "", Some(Promise::Token)),
            ("tokenizer", "", None),
            ("publicKey", "", None),
            ("bypass", "", None),
        ] {
            assert_eq!(promise(name, &split(before)), wanted, "{name}");
        }
    }
}
