//! Who is asked, and with whose key.

use std::fs;

use memdir_store::place::settings::UserSettings;

use super::*;

fn settings(toml: &str) -> ModelSettings {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("config.toml"), format!("[model]\n{toml}")).unwrap();
    let (settings, ignored) = UserSettings::load(temp.path());
    assert!(ignored.is_empty(), "{ignored:?}");
    settings.model
}

fn env(home: &Path, vars: &[(&str, &str)], shipped: &[(&str, &str)]) -> Env {
    let vars: Vec<_> =
        vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let shipped = shipped.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Env::new(home, vars, shipped)
}

fn why(settings: &ModelSettings, env: &Env) -> String {
    open(settings, env, Purpose::Large).err().unwrap().to_string()
}

#[test]
fn nobody_is_configured_by_default() {
    let temp = tempfile::tempdir().unwrap();
    let none = open(&ModelSettings::default(), &env(temp.path(), &[], &[]), Purpose::Small);
    assert_eq!(none.err(), Some(ModelError::None));
}

#[test]
fn a_service_has_a_model_for_each_purpose_and_one_name_does_for_both() {
    let temp = tempfile::tempdir().unwrap();
    let env = env(temp.path(), &[("ANTHROPIC_API_KEY", "k")], &[]);
    let name = |toml: &str, purpose| open(&settings(toml), &env, purpose).unwrap().name().to_owned();
    assert_ne!(name("service = 'anthropic'", Purpose::Small), name("service = 'anthropic'", Purpose::Large));
    assert_eq!(name("service = 'anthropic'\nname = 'm'", Purpose::Small), "m");
    assert_eq!(name("service = 'anthropic'\nname = 'm'\nsmall = 's'", Purpose::Small), "s");
    assert_eq!(name("service = 'chat'\nname = 'local'", Purpose::Large), "local");
}

#[test]
fn s19_a_key_comes_from_the_named_variable_or_our_care_or_the_usual_one() {
    let temp = tempfile::tempdir().unwrap();
    let exposed =
        |toml: &str, env: &Env| key(&settings(toml), env).unwrap().map(|key| key.expose().to_owned());
    let none = env(temp.path(), &[], &[]);
    assert!(why(&settings("service = 'openai'"), &none).contains("OPENAI_API_KEY"));
    assert_eq!(exposed("service = 'chat'", &none), None);
    let usual = env(temp.path(), &[("OPENAI_API_KEY", "usual"), ("MINE", "mine")], &[]);
    assert_eq!(exposed("service = 'openai'", &usual).as_deref(), Some("usual"));
    keys::keep(temp.path(), "openai", &Secret::new("kept").unwrap()).unwrap();
    assert_eq!(exposed("service = 'openai'", &usual).as_deref(), Some("kept"));
    assert_eq!(exposed("service = 'openai'\nkey_env = 'MINE'", &usual).as_deref(), Some("mine"));
    assert!(why(&settings("service = 'openai'\nkey_env = 'GONE'"), &usual).contains("GONE"));
}

#[test]
fn s19_a_repository_gives_no_key_no_proxy_and_no_program() {
    let temp = tempfile::tempdir().unwrap();
    let theirs = [("ANTHROPIC_API_KEY", "theirs"), ("HTTPS_PROXY", "http://evil:1"), ("PATH", "/evil")];
    let env = env(temp.path(), &theirs, &theirs);
    assert!(why(&settings("service = 'anthropic'"), &env).contains("no key"));
    assert!(env.variables().proxies().unwrap().is_empty());
    assert!(why(&settings("service = 'claude'"), &env).contains("not installed"));
    let certificates =
        self::env(temp.path(), &[("ANTHROPIC_API_KEY", "mine")], &[("SSL_CERT_FILE", "/evil")]);
    assert!(why(&settings("service = 'anthropic'"), &certificates).contains("SSL_CERT_FILE"));
}

#[test]
fn proxies_are_those_of_the_users_variables() {
    let temp = tempfile::tempdir().unwrap();
    let n = |vars: &[(&str, &str)]| env(temp.path(), vars, &[]).variables().proxies().unwrap().len();
    assert_eq!(n(&[]), 0);
    assert_eq!(n(&[("https_proxy", "http://p:3128"), ("NO_PROXY", "localhost")]), 1);
    assert_eq!(
        n(&[("HTTPS_PROXY", "http://p:3128"), ("http_proxy", "http://p:3128"), ("ALL_PROXY", "http://p:1")]),
        3
    );
    assert_eq!(n(&[("HTTP_PROXY", "http://p:3128")]), 0, "a caller of a server can set it");
}

#[test]
fn an_address_that_a_key_must_not_be_sent_to_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let env = env(temp.path(), &[("ANTHROPIC_API_KEY", "k")], &[]);
    let why = why(&settings("service = 'anthropic'\nbase_url = 'http://api.example.com'"), &env);
    assert!(why.contains("https"), "{why}");
}

#[test]
fn programs_are_found_on_the_path_and_not_in_the_working_directory() {
    let temp = tempfile::tempdir().unwrap();
    let program = temp.path().join("claude");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let path = |path: &str| env(temp.path(), &[("PATH", path)], &[]);
    let here = temp.path().to_str().unwrap();
    assert_eq!(find_program("claude", &path(here)), None, "it cannot be run");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find_program("claude", &path(&format!("/nowhere:{here}"))), Some(program));
    assert_eq!(find_program("claude", &path(".:")), None);
}
