//! Samples of the rules that are patterns: a text to find, a text to pass over.
//!
//! What stands in `<{…}>` is a pattern from which the value is drawn, so no secret stands here.

use super::Draw;

/// A value as people make them.
const HUMAN: &str = "[a-z]{5}[0-9]{2}[A-Z]{3}";

/// Id, what must be found, what must not.
#[rustfmt::skip] // one row a line
const SAMPLES: &[(&str, &str, &str)] = &[
    ("slack-webhook-url", "https://hooks.slack.com/services/<{T[A-Z0-9]{9}/B[A-Z0-9]{10}/[A-Za-z0-9]{24}}>", "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
    ("discord-webhook-url", "https://discord.com/api/webhooks/<{[1-9][0-9]{17}/[A-Za-z0-9_-]{68}}>", "POST /api/webhooks/{id}/{token}"),
    ("discord-bot-token", "discord bot <{N[A-Za-z0-9]{24}[.][A-Za-z0-9]{6}[.][A-Za-z0-9_-]{38}}>", "discord is where we talk"),
    ("telegram-bot-api-token", "the bot is <{[1-9][0-9]{9}:AA[A-Za-z0-9_-]{33}}>", "ratio 12:AA"),
    ("microsoft-teams-webhook", "https://acme.webhook.office.com/webhookb2/<{[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}@[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}}>", "https://acme.webhook.office.com/webhookb2/..."),
    ("zapier-webhook-url", "https://hooks.zapier.com/hooks/catch/<{[1-9][0-9]{6}/[a-z]3[a-z]7[a-z]{3}}>", "https://hooks.zapier.com/hooks/catch/"),
    ("make-webhook-url", "https://hook.eu1.make.com/<{[a-z0-9]{32}}>", "https://www.make.com/en/help"),
    ("ifttt-webhook-url", "https://maker.ifttt.com/trigger/door/with/key/<{[A-Za-z0-9_-]{22}}>", "https://maker.ifttt.com/trigger/door/with/key/"),
    ("google-chat-webhook", "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=k&token=<{[A-Za-z0-9_-]{43}}>", "https://chat.googleapis.com/v1/spaces/AAAA/messages"),
    ("gcp-service-account", "{\"private_key_id\": \"<{[0-9a-f]{40}}>\"}", "{\"private_key_id\": \"\"}"),
    ("gcp-hmac-secret", "id <{GOOG1E[A-Z0-9]{57}}>", "GOOG1E ids are long"),
    ("azure-ad-client-secret", "secret <{[A-Za-z0-9]{3}8Q~[A-Za-z0-9_.-]{34}}>", "values contain 8Q~ in the middle"),
    ("azure-devops-pat", "pat <{[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}}>", "tokens contain AZDO now"),
    ("azure-storage-key", "AccountName=x;AccountKey=<{[A-Za-z0-9+/]{86}}>==", "AccountKey=<account-key>;"),
    ("azure-function-key", "code <{[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9]{6}}>==", "keys contain AzFu"),
    ("azure-search-key", "admin <{[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}}>", "keys contain AzSe"),
    ("azure-container-registry-key", "pull with <{[A-Za-z0-9]{42}[+]ACR[A-Za-z0-9]{6}}>", "keys contain +ACR"),
    ("azure-cosmosdb-key", "cosmos <{[A-Za-z0-9]{76}ACDb[A-Za-z0-9]{6}}>", "keys contain ACDb"),
    ("digitalocean-spaces-key", "spaces <{DO00[A-Z0-9]{16}}>", "DO00 marks ids"),
    ("flyio-access-token", "fly <{fm2_[A-Za-z0-9+/]{90}}>", "tokens begin with fm2_ now"),
    ("curl-auth-user", "curl -u ben:<{HUMAN}> https://acme.io", "curl -u \"$USER:$PASS\" https://acme.io"),
    ("mysql-command-password", "mysql -uroot -p<{HUMAN}> shop", "mysql -uroot -p shop"),
    ("sshpass-password", "sshpass -p '<{HUMAN}>' ssh root@host", "sshpass -p \"$PASS\" ssh root@host"),
    ("login-command-password", "docker login -u ben -p <{HUMAN}> images.acme.example", "docker login --password-stdin images.acme.example"),
    ("sqlcmd-password", "sqlcmd -S db -U sa -P <{HUMAN}>", "sqlcmd -S db -E"),
    ("redis-command-password", "redis-cli -h cache -a <{HUMAN}>", "redis-cli -h cache ping"),
    ("redis-requirepass", "requirepass <{HUMAN}>", "requirepass $PASS"),
    ("htpasswd-command", "htpasswd -b users ben <{HUMAN}>", "htpasswd -c users ben"),
    ("piped-password", "echo '<{HUMAN}>' | docker login --password-stdin", "echo \"$PASS\" | docker login --password-stdin"),
    ("ldap-command-password", "ldapsearch -D cn=x -w <{HUMAN}> -b dc=y", "ldapsearch -D cn=x -W -b dc=y"),
    ("smb-command-password", "smbclient //nas/x -U ben%<{HUMAN}>", "smbclient //nas/x -U ben"),
    ("net-use-password", "net use Z: \\\\nas\\x /user:ben <{HUMAN}>", "net use Z: \\\\nas\\x /user:ben *"),
    ("rdp-command-password", "xfreerdp /v:host /u:ben /p:<{HUMAN}>", "xfreerdp /v:host /u:ben"),
    ("openssl-password", "openssl rsa -passin pass:<{HUMAN}>", "openssl rsa -passin env:PASS"),
    ("keytool-password", "keytool -storepass <{HUMAN}> -list", "keytool -storepass changeit -list"),
    ("vault-login", "vault login <{s[.][A-Za-z0-9]{24}}>", "vault login -method=oidc"),
    ("netrc-password", "machine acme.io login ben password <{HUMAN}>", "machine acme.io login ben"),
    ("pgpass-password", "db.acme.io:5432:app:svc:<{HUMAN}>", "hostname:5432:database:username:password"),
    ("docker-config-auth", "{\"auths\":{\"x\":{\"auth\":\"<{[A-Za-z0-9+/]{40}}>\"}}}", "{\"auth\": \"\"}"),
    ("wifi-passphrase", "psk=\"<{HUMAN}>\"", "psk=\"\""),
    ("network-device-password", "enable secret 5 <{HUMAN}>", "enable secret level"),
    ("kubectl-literal", "kubectl create secret generic x --from-literal=a=<{HUMAN}>", "--from-literal=a=$A"),
    ("sql-user-password", "CREATE USER x WITH PASSWORD '<{HUMAN}>';", "CREATE USER x WITH PASSWORD '<password>';"),
    ("user-slash-password", "login: ben / <{HUMAN}>!", "login: user / password"),
    ("ansible-password", "ansible_become_pass: <{HUMAN}>", "ansible_become_pass: \"{{ vault_pass }}\""),
    ("user-password-at-host", "go to ben:<{HUMAN}>@files.acme.io", "write to ben@files.acme.io"),
    ("login-with-password", "log in as ben with <{HUMAN}>#4", "log in as ben with your account"),
    ("tool-password", "zip -P <{HUMAN}> a.zip b", "zip -r a.zip b"),
    ("generic-password", "the password is <{HUMAN}>!", "the password is required"),
    ("generic-api-key", "api_key = \"<{[A-Za-z0-9]{32}}>\"", "api_key = settings.api_key"),
    ("asana-access-token", "asana 1/<{[1-9][0-9]{15}:[0-9a-f]{32}}>", "section 1/12"),
    ("maxmind-license-key", "geo <{[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk}>", "keys end with _mmk"),
    ("hashicorp-tf-api-token", "tf <{[A-Za-z0-9]{14}[.]atlasv1[.][A-Za-z0-9]{64}}>", "tokens contain .atlasv1. in the middle"),
    ("vault-legacy-token", "the vault root is <{s[.][A-Za-z0-9]{24}}>", "the vault is sealed"),
    ("vault-unseal-key", "Unseal Key 1: <{[A-Za-z0-9+/]{44}}>", "Unseal Key 1: keep it safe"),
    ("harness-api-key", "key <{pat[.][A-Za-z0-9]{22}[.][a-z0-9]{24}[.][A-Za-z0-9]{20}}>", "a pat. on the back"),
    ("jwt", "call it with eyJhbGciOiJIUzI1NiJ9.<{eyJ[A-Za-z0-9]{40}[.][A-Za-z0-9_-]{43}}>", "eyJhbGciOi….eyJzdWIi….sig"),
    ("otpauth-secret", "otpauth://totp/acme:ben?secret=<{[A-Z2-7]{32}}>&issuer=acme", "otpauth://totp/acme:ben"),
    ("otp-seed", "the totp seed is <{[A-Z2-7]{32}}>", "the totp seed is shown once"),
    ("basic-auth", "Authorization: Basic <{YmVuOk[A-Za-z0-9]{25}}>", "Authorization: Basic realm"),
    ("bearer-token", "Authorization: Bearer <{[A-Za-z0-9_-]{40}}>", "Authorization: Bearer $TOKEN"),
    ("authorization-token", "Authorization: token <{[0-9a-f]{40}}>", "Authorization: token $TOKEN"),
    ("session-cookie", "Cookie: sessionid=<{[a-z0-9]{32}}>; theme=dark", "Cookie: theme=dark"),
    ("password-hash", "ben:$2y$10$<{[A-Za-z0-9]{53}}>", "bcrypt hashes begin with $2y$10$"),
    ("unix-password-hash", "root:$6$<{[A-Za-z0-9]{12}[$][A-Za-z0-9]{86}}>:19000:0", "sha512 hashes begin with $6$"),
    ("htpasswd-hash", "ben:$apr1$<{[A-Za-z0-9]{8}[$][A-Za-z0-9]{22}}>", "hashes begin with $apr1$"),
    ("modern-password-hash", "$argon2id$v=19$m=65536,t=3,p=4$<{[A-Za-z0-9]{22}[$][A-Za-z0-9]{43}}>", "$argon2id$v=19$ is the default"),
    ("ntlm-hash", "ben:500:<{[0-9a-f]{32}:[0-9a-f]{32}}>:::", "a:b:::"),
    ("private-key", "-----BEGIN RSA PRIVATE <{KEY-----\\n[A-Za-z0-9+/]{64}\\n[A-Za-z0-9+/]{64}\\n-----END RSA PRIVATE KEY}>-----", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"),
    ("putty-private-key", "PuTTY-User-<{Key-File-3: ssh-ed25519\\nPrivate-Lines: 1\\n[A-Za-z0-9+/]{48}\\nPrivate-MAC: [0-9a-f]{64}}>", "PuTTY-User-Key-File-3 is the format"),
    ("ssh-private-key-body", "b3BlbnNzaC1rZXktdjEA<{[A-Za-z0-9+/]{120}}>", "the body begins with b3BlbnNzaC1rZXktdjEA"),
    ("wireguard-private-key", "PrivateKey = <{[A-Za-z0-9+/]{43}}>=", "PrivateKey = <key>"),
    ("jwk-private-key", "{\"kty\":\"EC\",\"d\":\"<{[A-Za-z0-9_-]{43}}>\"}", "{\"kty\":\"EC\",\"x\":\"abc\"}"),
    ("kubeconfig-client-key", "client-key-data: <{[A-Za-z0-9+/]{120}}>", "client-key-data: REDACTED"),
    ("rsa-xml-private-key", "<RSAKeyValue><D><{[A-Za-z0-9+/]{80}}></D></RSAKeyValue>", "<RSAKeyValue></RSAKeyValue>"),
    ("nostr-private-key", "nostr <{nsec1[a-z0-9]{58}}>", "keys begin with nsec1"),
    ("solana-keypair", "keypair: <{\\[([1-9][0-9],){63}[1-9][0-9]\\]}>", "keypair: [1, 2, 3]"),
    ("mnemonic-phrase", "seed phrase: <{([a-z]{5} ){11}[a-z]{5}}>", "seed phrase: never share it"),
    ("mailgun-signing-key", "mailgun <{[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}}>", "mailgun is our sender"),
    ("mailchimp-api-key", "list <{[0-9a-f]{32}-us14}>", "us-east and -us regions"),
    ("fcm-server-key", "fcm <{[A-Za-z0-9_-]{11}:APA91[A-Za-z0-9_-]{134}}>", "keys contain :APA91 in the middle"),
    ("google-app-password", "app password: <{[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}}>", "app password: make one in your account"),
    ("new-relic-license-key", "nr <{[0-9a-f]{36}NRAL}>", "keys end with NRAL"),
    ("npmrc-auth-token", "//npm.acme.io/:_authToken=<{[A-Za-z0-9]{40}}>", "//npm.acme.io/:_authToken=${NPM_TOKEN}"),
    ("nuget-config-password", "<add key=\"ClearTextPassword\" value=\"<{HUMAN}>\" />", "<add key=\"ClearTextPassword\" value=\"%PAT%\" />"),
    ("ethereum-private-key", "private key: 0x<{[0-9a-f]{64}}>", "private key: 0x..."),
    ("bitcoin-wif-key", "bitcoin wallet <{K[1-9A-HJ-NP-Za-km-z]{51}}>", "bitcoin is volatile"),
    ("extended-private-key", "wallet <{xprv[1-9A-HJ-NP-Za-km-z]{107}}>", "xprv keys are secret"),
    ("connection-string-password", "postgres://app:<{HUMAN}>@db.acme.io/app", "postgres://user:password@host/db"),
    ("connection-string-password-encoded", "mysql://app:<{HUMAN}>/x@db.acme.io/app", "mysql://app@db.acme.io/app"),
    ("jdbc-oracle-password", "jdbc:oracle:thin:app/<{HUMAN}>@db:1521/x", "jdbc:oracle:thin:@db:1521/x"),
    ("azure-sas-signature", "https://x.blob.core.windows.net/c?sv=2022&sig=<{[A-Za-z0-9]{43}}>%3D", "https://x.io/?sig=on"),
    ("aws-signed-url", "https://b.s3.amazonaws.com/k?X-Amz-Signature=<{[0-9a-f]{64}}>", "the X-Amz-Signature parameter"),
    ("aws-security-token", "x?X-Amz-Security-Token=<{[A-Za-z0-9+/]{200}}>", "the X-Amz-Security-Token parameter"),
    ("gcs-signed-url", "x?X-Goog-Signature=<{[0-9a-f]{256}}>", "the X-Goog-Signature parameter"),
    ("cloudfront-signature", "x?Expires=1&Signature=<{[A-Za-z0-9_~-]{344}}>&Key-Pair-Id=K2", "x?Key-Pair-Id=K2"),
    ("url-query-secret", "https://x.io/a?access_token=<{[A-Za-z0-9]{32}}>", "https://x.io/a?token=abc"),
    ("sidekiq-sensitive-url", "https://<{[0-9a-f]{8}:[0-9a-f]{8}}>@gems.contribsys.com/", "https://gems.contribsys.com/"),
];

fn row(id: &str) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    SAMPLES.iter().filter(move |row| row.0 == id)
}

/// Returns what a rule must find, with values drawn anew.
pub(super) fn positives(id: &str, draw: &mut Draw) -> Vec<String> {
    row(id).map(|(_, text, _)| fill(text, draw)).collect()
}

/// Returns what a rule must pass over.
pub(super) fn negatives(id: &str) -> Vec<String> {
    row(id).map(|(_, _, text)| (*text).to_owned()).collect()
}

/// Draws a value for each hole of a text.
pub(super) fn fill(text: &str, draw: &mut Draw) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<{") {
        let (pattern, tail) = after.split_once("}>").expect("a hole ends");
        filled.push_str(before);
        filled.push_str(&draw.text(if pattern == "HUMAN" { HUMAN } else { pattern }));
        rest = tail;
    }
    filled + rest
}
