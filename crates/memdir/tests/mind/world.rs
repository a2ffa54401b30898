//! A sandbox whose user configured a model that a test scripts, over HTTP.

use std::fs;
use std::ops::Deref;

use memdir_testkit::{Invocation, ModelServer, Project, Rule, Sandbox};

/// A repository whose user configured a model that a test scripts.
pub(crate) struct Modelled {
    project: Project,
    pub(crate) server: ModelServer,
}

impl Deref for Modelled {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl Modelled {
    pub(crate) fn new(name: &str, files: &[(&str, &str)], rules: Vec<Rule>) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let project = Project::new(sandbox, name, files).with_env("ANTHROPIC_API_KEY", "k");
        let server = ModelServer::start(rules);
        let url = server.url();
        let args = ["model", "use", "anthropic", "--model", "claude-haiku-4-5", "--base-url", &url];
        project.memdir(&args).ok();
        Self { project, server }
    }
}

/// A sandbox whose user configured a model that a test scripts.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: ModelServer,
}

impl World {
    pub(crate) fn new(rules: Vec<Rule>) -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_memdir"));
        let server = ModelServer::start(rules);
        fs::create_dir_all(sandbox.state()).unwrap();
        let config = format!(
            "[model]\nservice = \"anthropic\"\nname = \"claude-test\"\nbase_url = \"{}\"\nkey_env = \"TEST_KEY\"\n\
             [budget]\nday_usd = 100.0\n",
            server.url()
        );
        fs::write(sandbox.state().join("config.toml"), config).unwrap();
        Self { sandbox, server }
    }

    pub(crate) fn memdir(&self, args: &[&str]) -> Invocation {
        self.sandbox.memdir(args).env("TEST_KEY", "canary-key-5f1e")
    }
}
