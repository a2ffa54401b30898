//! Who somebody is: sign-in, sessions, one-time codes.

use crate::secrets::rule::{Check, Rule, named, pattern, token};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    pattern("jwt", "JSON web token", &["eyJ", "ey0"], (0, 4000), r"\b(ey[A-Za-z0-9_-]{15,}\.ey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})").checked(Check::Jwt),
    named("okta-access-token", "Okta token", &["okta"], "00[A-Za-z0-9_-]{40}"),
    named("auth0-client-secret", "Auth0 secret", &["auth0"], "[A-Za-z0-9_-]{64}"),
    token("okta-ssws-token", "Okta token", &["SSWS 00", "SSWS+00"], "[A-Za-z0-9_-]{38,42}"),
    token("authress-service-client-access-key", "Authress key", &["sc_", "ext_", "scauth_", "authress_"], "[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.acc[_-][a-z0-9-]{10,32}\\.[A-Za-z0-9+/_=-]{30,120}"),
    token("clerk-machine-key", "Clerk machine key", &["ak_live_", "mt_live_"], "[A-Za-z0-9]{24,80}"),
    token("stytch-secret", "Stytch secret", &["secret-live-", "secret-test-"], "[A-Za-z0-9_=-]{36}"),
    pattern("otpauth-secret", "One-time password seed", &["otpauth://"], (0, 220), r"(?i)otpauth://[^\s?]{0,120}\?(?:[^\s#]{0,80}&)?secret=([A-Z2-7]{12,80}=*)"),
    pattern("otp-seed", "One-time password seed", &["totp", "2fa", "mfa", "authenticator"], (0, 110), r#"(?i)(?:totp|2fa|mfa|authenticator)[^\n]{0,50}?(?:seed|secret|key)[^\n]{0,14}?[ =:'"`]([A-Z2-7]{16,64})\b"#),
    pattern("basic-auth", "Basic credentials", &["basic "], (0, 160), r#"(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})(?:[^A-Za-z0-9+/=]|\z)"#),
    pattern("bearer-token", "Bearer token", &["bearer ", "bearer%20", "bearer+"], (0, 1200), r#"(?i)\bbearer(?:\s+|%20|\+)([A-Za-z0-9_~+/.=-]{16,})"#),
    pattern("authorization-token", "Authorization header", &["authorization"], (0, 300), r#"(?i)authorization['"]?\s*[:=,]\s*['"]?(?:token|apikey|api-key|key|splunk|ssws|genie-?key|discord|bot|negotiate)[ =:]+['"]?([A-Za-z0-9_~+/.=:-]{16,})"#),
    pattern("session-cookie", "Session cookie", &["cookie"], (0, 400), r#"(?i)cookie['"]?\s*[:=]\s*['"]?[^\n]{0,160}?(?:sess|sid|auth|jwt|token|login|remember)[a-z0-9_.-]{0,24}=([A-Za-z0-9_%+/.:=-]{16,})"#),
    pattern("password-hash", "Password hash", &["$2a$", "$2b$", "$2y$"], (0, 62), r"(\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53})"),
    pattern("unix-password-hash", "Unix password hash", &["$1$", "$5$", "$6$", "$y$", "$7$", "$gy$"], (0, 170), r"(\$(?:1|5|6|7|y|gy)\$(?:rounds=[0-9]+\$)?[./A-Za-z0-9]{1,24}\$[./A-Za-z0-9]{20,90}(?:\$[./A-Za-z0-9]{20,60})?)"),
    pattern("htpasswd-hash", "htpasswd hash", &["$apr1$", "{SHA}", "{SSHA}"], (0, 60), r"(\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22})|\{S?SHA\}([A-Za-z0-9+/]{27,44}={0,2})"),
    pattern("modern-password-hash", "Password hash", &["$argon2", "$scrypt$", "pbkdf2_sha"], (0, 220), r"(\$argon2(?:id|i|d)\$v=[0-9]+\$m=[0-9]+,t=[0-9]+,p=[0-9]+\$[A-Za-z0-9+/]{8,64}\$[A-Za-z0-9+/]{20,100}|pbkdf2_sha[0-9]+\$[0-9]+\$[A-Za-z0-9]{6,40}\$[A-Za-z0-9+/]{28,100}=*)"),
    pattern("ntlm-hash", "NTLM hash", &[":::", "aad3b435b51404ee"], (80, 40), r"\b([A-Fa-f0-9]{32}:[A-Fa-f0-9]{32}):::"),
    token("memdir-token", "memdir team token", &["mdt_"], "[a-f0-9]{64}"),
    token("memdir-invite", "memdir team invitation", &["mdi_"], "[a-f0-9]{48}"),
];
