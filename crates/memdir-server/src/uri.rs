//! Paths and queries as they come in, decoded once.

/// Decodes `%41` and the like; `None` if a `%` is not followed by two digits or the result is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        bytes.push(memdir_core::hash::from_hex(std::str::from_utf8(digits).ok()?)?[0]);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

/// The parameters behind the `?`.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query; `None` if it cannot be decoded.
    pub(crate) fn parse(text: Option<&str>) -> Option<Self> {
        let pairs = text.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(&name.replace('+', " "))?, decode(&value.replace('+', " "))?))
        });
        Some(Self(pairs.collect::<Option<_>>()?))
    }

    /// Returns the first value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns a parameter as a number, or `default` if it is not there; `Err` if it is no number.
    pub(crate) fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number);
        number.ok_or_else(|| format!("`{name}` is no number"))
    }

    /// Says whether a parameter is there and means yes.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some("1" | "true"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_once() {
        assert_eq!(decode("a%20b%252e").as_deref(), Some("a b%2e"));
        assert_eq!(decode("%ED%95%9C.md").as_deref(), Some("한.md"));
        for bad in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_query_gives_its_values() {
        let query = Query::parse(Some("since=12&q=a+b%26c&erase=true&x")).unwrap();
        assert_eq!(query.number("since", 0), Ok(12));
        assert_eq!(query.number("limit", 7), Ok(7));
        assert_eq!(query.get("q"), Some("a b&c"));
        assert!(query.flag("erase") && !query.flag("x"));
        for bad in ["since=", "since=-1", "since=%2B1", "since=99999999999999999999", "since=1.5"] {
            assert!(Query::parse(Some(bad)).unwrap().number("since", 0).is_err(), "{bad}");
        }
        assert!(Query::parse(Some("q=%")).is_none());
    }
}
