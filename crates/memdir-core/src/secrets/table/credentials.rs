//! Credential files and commands that carry a password; the two general rules close the list.

use crate::secrets::rule::{Check, Rule, pattern};

#[rustfmt::skip] // one row a line
pub(super) const RULES: &[Rule] = &[
    pattern("curl-auth-user", "Credentials of a curl command", &["curl", "wget", "http "], (0, 420), r#"(?i)\b(?:curl|wget|https?)\b[^\n|]{0,300}?\s(?:-u|--user|-U|--proxy-user|-a)[ =]?['"]?[A-Za-z0-9_.@+-]{1,60}:([^\s'"]{3,100})"#).checked(Check::Human),
    pattern("mysql-command-password", "Password of a database command", &["mysql", "mysqldump", "mysqladmin", "mariadb"], (0, 220), r#"\b(?:mysql(?:dump|admin|import|show|sh)?|mariadb(?:-dump|-admin)?)\b[^\n|;]{0,160}?\s-p['"]?([^\s'"-][^\s'"]{2,60})"#).checked(Check::Human),
    pattern("sshpass-password", "Password of sshpass", &["sshpass"], (0, 110), r#"sshpass\s+(?:-[a-oq-z]\s*\S*\s+)?-p\s*(?:'([^'\n]{2,80})'|"([^"\n]{2,80})"|([^\s'"]{2,80}))"#).checked(Check::Human),
    pattern("login-command-password", "Password of a login command", &["docker login", "podman login", "az login", "oc login", "helm registry login", "cf login", "mongosh", "mongo ", "mongodump", "mongorestore", "rabbitmqadmin", "sqlcmd", "bcp ", "impacket", "psexec", "vncviewer", "lftp", "snowsql", "kinit"], (0, 260), r#"(?i)\b(?:login|mongosh|mongo|mongodump|mongorestore|rabbitmqadmin|sqlcmd|bcp|psexec|lftp|snowsql)\b[^\n|]{0,200}?\s(?:-p[ =]?|--password[ =])(?:'([^'\n]{3,100})'|"([^"\n]{3,100})"|([^\s'"-][^\s'"]{2,100}))"#).checked(Check::Human),
    pattern("sqlcmd-password", "Password of sqlcmd", &["sqlcmd", "bcp "], (0, 200), r#"\b(?:sqlcmd|bcp)\b[^\n|]{0,160}?\s-P\s*['"]?([^\s'"-][^\s'"]{2,80})"#).checked(Check::Human),
    pattern("redis-command-password", "Password of redis-cli", &["redis-cli"], (0, 160), r#"redis-cli\b[^\n|]{0,110}?\s(?:-a|--pass)[ =]['"]?([^\s'"-][^\s'"]{2,80})"#).checked(Check::Human),
    pattern("redis-requirepass", "Redis password", &["requirepass", "masterauth"], (0, 110), r#"\b(?:requirepass|masterauth)['"]?[ \t=:]+['"]?([^\s'"]{4,100})"#).checked(Check::Human),
    pattern("htpasswd-command", "Password of htpasswd", &["htpasswd"], (0, 160), r#"htpasswd\s+(?:-[A-Za-z]+\s+)*-[A-Za-z]*b[A-Za-z]*\s+(?:\S+\s+)?\S+\s+['"]?([^\s'"]{3,80})"#).checked(Check::Human),
    pattern("piped-password", "Password piped into a command", &["password-stdin", "sudo -S", "passwd", "--with-token", "--stdin", "login"], (160, 30), r#"(?:echo|printf)\s+(?:-n\s+)?(?:'([^'\n]{3,100})'|"([^"\n]{3,100})"|([^\s'"|]{3,100}))\s*\|\s*(?:[^\n|]{0,80}password-stdin|sudo\s+-S|chpasswd|passwd|[^\n|]{0,60}--with-token|[^\n|]{0,60}--stdin|[^\n|]{0,60}login)"#).checked(Check::Human),
    pattern("ldap-command-password", "Password of an LDAP command", &["ldap"], (0, 220), r#"ldap(?:search|modify|add|delete|passwd|whoami)\b[^\n|]{0,160}?\s-w\s*['"]?([^\s'"-][^\s'"]{2,80})"#).checked(Check::Human),
    pattern("smb-command-password", "Password of an SMB command", &["smbclient", "rpcclient", "mount.cifs", "smbmap"], (0, 200), r#"(?:smbclient|rpcclient|smbmap)\b[^\n|]{0,140}?\s-U\s*['"]?[A-Za-z0-9_.\\/-]{1,50}%([^\s'"]{3,80})"#).checked(Check::Human),
    pattern("net-use-password", "Password of net use", &["net use", "cmdkey"], (0, 180), r#"(?i)(?:net use\b[^\n]{0,100}?/user:\S+\s+([^\s/*]\S{2,60})|cmdkey\b[^\n]{0,100}?/pass:(\S{3,60}))"#).checked(Check::Human),
    pattern("rdp-command-password", "Password of an RDP command", &["xfreerdp", "rdesktop", "wfreerdp"], (0, 200), r#"(?:[xw]freerdp|rdesktop)\b[^\n|]{0,140}?\s(?:/p:|-p\s*)['"]?([^\s'"]{3,80})"#).checked(Check::Human),
    pattern("openssl-password", "Password of an openssl command", &["pass:"], (16, 90), r#"(?:pass(?:in|out)?|-k|-K)[ =]['"]?pass:([^\s'"]{3,80})"#).checked(Check::Human),
    pattern("keytool-password", "Keystore password", &["storepass", "keypass", "srcstorepass"], (6, 90), r#"(?i)-(?:src|dest)?(?:store|key)pass[ =]['"]?([^\s'"$-][^\s'"]{3,60})"#).checked(Check::Human),
    pattern("vault-login", "Vault login", &["vault login", "VAULT_TOKEN"], (0, 160), r#"(?:vault login(?: -\S+)*|VAULT_TOKEN=)\s*['"]?((?:hv[sb]|[sb])\.[A-Za-z0-9_-]{20,120})"#),
    pattern("netrc-password", "netrc password", &["machine "], (0, 260), r"\bmachine\s+\S+\s+(?:login|account|user)\s+\S+\s+password\s+(\S{3,100})").checked(Check::Human),
    pattern("pgpass-password", "pgpass line", &[":5432:", ":5433:", ":6432:", ":*:"], (80, 160), r"(?m)^[A-Za-z0-9_.*-]{1,80}:(?:[0-9]{2,5}|\*):[A-Za-z0-9_.*-]{1,60}:[A-Za-z0-9_.*-]{1,60}:(\S{3,100})\s*$").checked(Check::Human),
    pattern("docker-config-auth", "Docker registry credentials", &["\"auth\"", "\"identitytoken\""], (0, 420), r#""(?:auth|identitytoken)"\s*:\s*"([A-Za-z0-9+/_.-]{8,}={0,2})""#),
    pattern("wifi-passphrase", "Wi-Fi passphrase", &["psk=", "wpa-psk", "wpa_passphrase", "wifi", "wi-fi", "wlan"], (0, 120), r#"(?i)(?:\bpsk|wpa-psk|wpa_passphrase)\s*[=: ]\s*"?([^\s"]{8,64})"#).checked(Check::Human),
    pattern("network-device-password", "Switch or router password", &["enable secret", "enable password", "username "], (0, 140), r"(?m)^\s*(?:enable|username \S+(?: privilege [0-9]+)?) (?:secret|password) (?:[0-9] )?(\S{4,80})").checked(Check::Human),
    pattern("kubectl-literal", "Literal of a Kubernetes secret", &["--from-literal"], (0, 140), r#"--from-literal[ =]['"]?[A-Za-z0-9_.-]{1,60}=['"]?([^\s'"]{4,120})"#).checked(Check::Human),
    pattern("sql-user-password", "Password in an SQL statement", &["identified by", "with password", "password '"], (0, 120), r#"(?i)(?:identified\s+(?:with\s+\S+\s+)?by|(?:with\s+)?(?:encrypted\s+)?password)\s+'([^'\n]{4,80})'"#).checked(Check::Human),
    pattern("user-slash-password", "User and password as a pair", &["login", "log in", "logs in", "sign in", "credentials", "creds", "basic auth", "anmelden", "zugang", "로그인"], (0, 120), r#"(?i:basic auth|log(?:s|ged)?[ -]?in|sign in|cred(?:ential)?s|anmelden|zugang(?:sdaten)?|로그인)[^\n]{0,50}?[\s:'"`(]([A-Za-z][A-Za-z0-9_.@-]{1,40}(?: ?/ ?|:)[A-Za-z0-9!@#$%^&*_+=.-]{6,60})"#).checked(Check::Human),
    pattern("ansible-password", "Ansible become password", &["ansible_"], (0, 110), r#"ansible_(?:become_|ssh_|sudo_)?pass(?:word)?['"]?\s*[:=]\s*['"]?([^\s'"{!]{4,80})"#).checked(Check::Human),
    pattern("user-password-at-host", "User and password before a host", &["@"], (80, 48), r#"(?:^|[\s'"`(/\\])[A-Za-z][A-Za-z0-9._-]{1,30}:([^\s:@/'"`<>]{6,60})@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"#).checked(Check::Human),
    pattern("login-with-password", "Password in a sentence", &["log in", "logs in", "login", "logged in", "sign in", "signs in", "anmelden", "einloggen"], (0, 110), r#"(?i)(?:log(?:s|ged)? ?in|signs? in|anmelden|einloggen)[^\n]{0,50}?\b(?:with|using|mit)\s+['"`]?([^\s'"`]{8,60})"#).checked(Check::Human),
    pattern("tool-password", "Password of a command", &["zip", "7z", "rar ", "openssl", "net user", "useradd", "usermod", "chpasswd", "pdftk", "qpdf", "cryptsetup", "nmcli", "ipmitool", "kafka", "mosquitto"], (0, 200), r#"\b(?:zip\b[^\n|]{0,80}?\s-P\s*|(?:7z[a-z]?|un?rar)\b[^\n|]{0,80}?\s-h?p|openssl\b[^\n|]{0,120}?\s-k\s+|net user \S+ |user(?:add|mod)\b[^\n|]{0,60}?\s-p\s*|ipmitool\b[^\n|]{0,80}?\s-P\s*|mosquitto_[ps]ub\b[^\n|]{0,80}?\s-P\s*)['"]?([^\s'"-][^\s'"]{4,60})"#).checked(Check::Human),
    pattern("generic-password", "Password", &[], (0, 0), ""),
    pattern("generic-api-key", "Key, token or secret", &[], (0, 0), ""),
];
