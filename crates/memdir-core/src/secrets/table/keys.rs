//! Private keys in the forms that people paste.

use crate::secrets::rule::{Check, Rule, pattern, token};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    pattern("private-key", "Private key", &["-----BEGIN"], (0, 16_000), r#"(?s)(-----BEGIN[ A-Z0-9_-]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\\A-Za-z0-9+/=:,.;"'>|#*()-]{60,}?(?:-----END[ A-Z0-9_-]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z))"#).checked(Check::Block),
    pattern("putty-private-key", "PuTTY private key", &["PuTTY-User-Key-File"], (0, 8000), r"(?s)(PuTTY-User-Key-File-[23]:.{20,}?Private-(?:MAC|Hash):\s*[a-f0-9]{40,64})").checked(Check::Block),
    token("age-secret-key", "age secret key", &["AGE-SECRET-KEY-1"], "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,60}"),
    pattern("ssh-private-key-body", "OpenSSH private key body", &["b3BlbnNzaC1rZXktdjEA"], (0, 6000), r"(b3BlbnNzaC1rZXktdjEA[A-Za-z0-9+/=\s]{100,})").checked(Check::Block),
    pattern("wireguard-private-key", "WireGuard private key", &["PrivateKey", "PresharedKey"], (0, 64), r"(?:PrivateKey|PresharedKey)\s*=\s*([A-Za-z0-9+/]{42,43}=)"),
    pattern("jwk-private-key", "Private JSON web key", &["\"kty\""], (600, 3000), r#""d"\s*:\s*"([A-Za-z0-9_-]{40,})""#),
    pattern("kubeconfig-client-key", "Kubernetes client key", &["client-key-data"], (0, 6000), r#"client-key-data['"]?\s*:\s*['"]?([A-Za-z0-9+/]{40,}={0,2})"#),
    pattern("rsa-xml-private-key", "RSA key in XML", &["<RSAKeyValue>"], (0, 3000), r"(?s)<RSAKeyValue>.{0,1500}?<D>([A-Za-z0-9+/=\s]{40,})</D>").checked(Check::Block),
    pattern("nostr-private-key", "Nostr private key", &["nsec1"], (0, 62), r"\b(nsec1[a-z0-9]{58})\b"),
    pattern("solana-keypair", "Solana keypair", &["keypair", "solana", "secret_key"], (0, 420), r"(?i:keypair|solana|secret_?key)[^\n\[]{0,40}(\[\s*(?:[0-9]{1,3}\s*,\s*){63}[0-9]{1,3}\s*\])").checked(Check::Block),
    pattern("mnemonic-phrase", "Recovery phrase", &["mnemonic", "seed phrase", "recovery phrase", "seed_phrase"], (0, 320), r#"(?i)(?:mnemonic|(?:seed|recovery)[ _]phrase)[^\n]{0,24}?[:='"`]\s*['"`]?((?:[a-z]{3,8} ){11}(?:[a-z]{3,8} ){0,12}[a-z]{3,8})\b"#).checked(Check::Block),
];
