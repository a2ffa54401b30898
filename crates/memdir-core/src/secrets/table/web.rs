//! Secrets inside URLs, connection strings and query parameters.

use crate::secrets::rule::{Check, Rule, pattern};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    pattern("connection-string-password", "URL with a password", &["://"], (16, 220), r#"[A-Za-z][A-Za-z0-9+.-]{1,24}://[^\s:/?#@"'`<>|]{0,80}:([^\s/"'`<>|]{2,120})@[A-Za-z0-9_.\[{$%-]"#).checked(Check::Human),
    pattern("connection-string-password-encoded", "URL with a password", &["://"], (16, 220), r#"[A-Za-z][A-Za-z0-9+.-]{1,24}://[A-Za-z0-9_.%+-]{1,60}:([^\s"'`<>|@?#]{4,80})@[A-Za-z0-9_.-]+[:/?]"#).checked(Check::Human),
    pattern("jdbc-oracle-password", "JDBC URL with a password", &["jdbc:oracle:"], (0, 120), r"(?i)jdbc:oracle:[a-z]+:[A-Za-z0-9_]+/([^\s@/]{3,60})@").checked(Check::Human),
    pattern("azure-sas-signature", "Azure shared access signature", &["sig="], (2, 110), r"(?i)[?&;]sig=([A-Za-z0-9%+/=]{40,100})"),
    pattern("aws-signed-url", "Signed AWS URL", &["X-Amz-Signature"], (0, 90), r"(?i)X-Amz-Signature=([a-f0-9]{64})"),
    pattern("aws-security-token", "AWS security token", &["X-Amz-Security-Token"], (0, 1400), r"(?i)X-Amz-Security-Token[=:]\s*([A-Za-z0-9%+/=]{80,})"),
    pattern("gcs-signed-url", "Signed Google storage URL", &["X-Goog-Signature"], (0, 600), r"(?i)X-Goog-Signature=([a-f0-9]{64,})"),
    pattern("cloudfront-signature", "Signed CloudFront URL", &["Key-Pair-Id="], (500, 40), r"[?&]Signature=([A-Za-z0-9_~-]{100,})"),
    pattern("url-query-secret", "Secret in a URL", &["api_key=", "apikey=", "access_token=", "auth_token=", "token=", "client_secret=", "private_token=", "key="], (24, 140), r"(?i)[?&;](?:[a-z_]{0,20}(?:api_?key|token|secret|key))=([A-Za-z0-9_.~+/=-]{16,120})"),
    pattern("sidekiq-sensitive-url", "Gem server credentials", &["gems.contribsys.com", "enterprise.contribsys.com"], (40, 0), r"(?i)//([a-f0-9]{8}:[a-f0-9]{8})@(?:gems|enterprise)\.contribsys\.com").checked(Check::Human),
];
