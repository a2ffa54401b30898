//! Where the gateway listens, and where it may send what it is given: the table `[gateway]` of the user's settings.
//!
//! Requests of clients carry keys, so only the user's own file says where they go. A repository that names an upstream is told that
//! it is not for it to decide, as with everything else.

use std::collections::BTreeMap;

/// What the gateway is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewaySettings {
    /// `gateway.listen`: the address, if none is given on the command line.
    pub listen: Option<String>,
    /// `gateway.memory`: whether requests are read at all; without it they pass as they come.
    pub memory: bool,
    /// `gateway.token`: whether programs of the same user need the token too.
    pub always_token: bool,
    /// `gateway.max_streams`: how many requests are answered at a time.
    pub max_streams: u32,
    /// `gateway.summaries`: whether a conversation's own model sums it up before it is shortened.
    pub has_model_summaries: bool,
    /// `gateway.memory_tool`: whether calls of the memory tool are answered by the vault, and not by the client.
    pub serves_memory_tool: bool,
    /// `[gateway.upstreams.NAME]`: services beside the vendors, or other addresses of theirs.
    pub upstreams: BTreeMap<String, UpstreamSettings>,
}

/// A service that requests may go to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpstreamSettings {
    /// `url`: where it is.
    pub url: Option<String>,
    /// `private`: its name may lead into a private network, and it need not be encrypted.
    pub private: bool,
    /// `key`: the key in our care that goes with every request.
    pub key: Option<String>,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self {
            listen: None,
            memory: true,
            always_token: false,
            max_streams: 2_048,
            has_model_summaries: false,
            serves_memory_tool: false,
            upstreams: BTreeMap::new(),
        }
    }
}

/// Parts of paths that are somebody else's already.
const TAKEN: [&str; 6] = ["v1", "v1beta", "v1alpha", "api", "upload", "__memdir"];

/// Takes a setting of the table; none if it is in another. The inner value says why it has no effect.
pub(super) fn take(
    gateway: &mut GatewaySettings,
    key: &str,
    value: &toml::Value,
) -> Option<Option<&'static str>> {
    let below = key.strip_prefix("gateway.")?;
    let refused = match (below, value) {
        ("listen", toml::Value::String(address)) => {
            gateway.listen = Some(address.clone());
            None
        }
        ("memory", toml::Value::Boolean(memory)) => {
            gateway.memory = *memory;
            None
        }
        ("token", toml::Value::String(word)) => match word.as_str() {
            "always" | "others" => {
                gateway.always_token = word == "always";
                None
            }
            _ => Some("is neither `always` nor `others`"),
        },
        ("max_streams", toml::Value::Integer(n)) => match u32::try_from(*n) {
            Ok(max) if (1..=100_000).contains(&max) => {
                gateway.max_streams = max;
                None
            }
            _ => Some("is not 1 to 100000"),
        },
        ("summaries", toml::Value::String(word)) => match word.as_str() {
            "model" | "rules" => {
                gateway.has_model_summaries = word == "model";
                None
            }
            _ => Some("is neither `model` nor `rules`"),
        },
        ("memory_tool", toml::Value::String(word)) => match word.as_str() {
            "vault" | "client" => {
                gateway.serves_memory_tool = word == "vault";
                None
            }
            _ => Some("is neither `vault` nor `client`"),
        },
        ("listen" | "memory" | "token" | "max_streams" | "summaries" | "memory_tool", _) => {
            Some("has a value of the wrong kind")
        }
        _ => match below.strip_prefix("upstreams.") {
            Some(rest) => take_upstream(&mut gateway.upstreams, rest, value),
            None => Some("is unknown"),
        },
    };
    Some(refused)
}

fn take_upstream(
    upstreams: &mut BTreeMap<String, UpstreamSettings>,
    key: &str,
    value: &toml::Value,
) -> Option<&'static str> {
    let Some((name, field)) = key.split_once('.') else { return Some("is not a table") };
    if !is_name(name) {
        return Some("has a name that is not a-z, 0-9 and `-`, or that is part of an interface");
    }
    let upstream = upstreams.entry(name.to_owned()).or_default();
    match (field, value) {
        ("url", toml::Value::String(url)) => upstream.url = Some(url.clone()),
        ("private", toml::Value::Boolean(private)) => upstream.private = *private,
        ("key", toml::Value::String(key)) if is_name(key) => upstream.key = Some(key.clone()),
        ("url" | "private" | "key", _) => return Some("has a value of the wrong kind"),
        _ => return Some("is unknown"),
    }
    None
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&name.len()) && name.bytes().all(is_plain) && !TAKEN.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::UserSettings;
    use super::*;

    fn read(text: &str) -> (GatewaySettings, Vec<String>) {
        let (settings, ignored) = UserSettings::parse(text.as_bytes(), "config.toml");
        (
            settings.gateway,
            ignored.into_iter().map(|ignored| format!("{} {}", ignored.key, ignored.why)).collect(),
        )
    }

    #[test]
    fn the_user_says_where_requests_go() {
        let (gateway, ignored) = read(
            "[gateway]\nlisten = \"127.0.0.1:4738\"\nmemory = false\ntoken = \"always\"\nmax_streams = 10\nsummaries = \"model\"\nmemory_tool = \"vault\"\n\
             [gateway.upstreams.local]\nurl = \"http://10.0.0.7:8000\"\nprivate = true\nkey = \"local\"\n",
        );
        assert_eq!(ignored, Vec::<String>::new());
        assert!(!gateway.memory && gateway.always_token && gateway.max_streams == 10);
        assert!(gateway.has_model_summaries && gateway.serves_memory_tool);
        let local = UpstreamSettings {
            url: Some("http://10.0.0.7:8000".to_owned()),
            private: true,
            key: Some("local".to_owned()),
        };
        assert_eq!(gateway.upstreams, BTreeMap::from([("local".to_owned(), local)]));
    }

    #[test]
    fn what_is_not_understood_is_told() {
        let (gateway, ignored) = read(
            "[gateway]\nmemory = 1\nmax_streams = 0\ntoken = \"never\"\ncolour = \"red\"\n\
             [gateway.upstreams.v1]\nurl = \"https://a\"\n[gateway.upstreams.a]\nkey = \"../x\"\nport = 1\n",
        );
        assert_eq!(ignored.len(), 7, "{ignored:?}");
        assert_eq!(
            gateway,
            GatewaySettings {
                upstreams: BTreeMap::from([("a".to_owned(), UpstreamSettings::default())]),
                ..Default::default()
            }
        );
    }
}
