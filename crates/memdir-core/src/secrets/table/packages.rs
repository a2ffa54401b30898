//! Package registries.

use crate::secrets::rule::{Check, Rule, named, pattern, token};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    token("npm-access-token", "npm token", &["npm_"], "[A-Za-z0-9]{30,44}").checked(Check::Crc32Base62),
    pattern("npmrc-auth-token", "npm registry token", &["_authToken", "_auth", "_password"], (0, 260), r#"(?:_authToken|_auth|_password)\s*[= ]\s*['"]?([A-Za-z0-9+/=_.-]{8,})"#),
    token("pypi-upload-token", "PyPI token", &["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"], "[A-Za-z0-9_-]{50,}"),
    token("rubygems-api-token", "RubyGems key", &["rubygems_"], "[a-f0-9]{48}"),
    token("crates-io-token", "Cargo registry token", &["cio"], "[A-Za-z0-9]{32}"),
    token("nuget-api-key", "NuGet key", &["oy2"], "[a-z0-9]{43}"),
    token("docker-pat", "Docker Hub token", &["dckr_pat_", "dckr_oat_"], "[A-Za-z0-9_-]{20,40}"),
    token("clojars-api-token", "Clojars token", &["CLOJARS_"], "[a-f0-9]{60}"),
    token("artifactory-api-key", "Artifactory key", &["AKCp"], "[A-Za-z0-9]{64,75}"),
    token("artifactory-reference-token", "Artifactory reference token", &["cmVmdGtu"], "[A-Za-z0-9]{50,64}"),
    named("jfrog-api-key", "JFrog key", &["jfrog", "artifactory"], "[A-Za-z0-9]{64,73}"),
    token("packagist-token", "Packagist token", &["packagist_uut_", "packagist_ack_", "packagist_org_"], "[a-f0-9]{40,80}"),
    named("cloudsmith-entitlement", "Cloudsmith key", &["cloudsmith"], "[a-f0-9]{40}|[A-Za-z0-9]{16}"),
    pattern("nuget-config-password", "NuGet feed password", &["ClearTextPassword"], (0, 90), r#"(?i)ClearTextPassword"\s+value\s*=\s*"([^"\s]{4,80})""#).checked(Check::Human),
];
