//! A host's own model, lent to the call that is being answered.
//!
//! A host that speaks the handshake may offer to have its model asked (`sampling`). It shows its user what is asked, and may
//! refuse; then the call is answered as if there were no model. Newer hosts have no such request, and are not asked. What is
//! asked goes through the caps, the breaker and the book like every other question.
#![expect(
    deprecated,
    reason = "the protocol has no other way to a host's model, and hosts still offer this one"
)]

use std::fmt;
use std::time::Duration;

use memdir_mind::model::{ModelError, Opened, Sampling};
use rmcp::model::{CreateMessageRequestParams, SamplingMessage};
use rmcp::service::{Peer, RequestContext, RoleServer, ServiceError};
use tokio::runtime::Handle;

/// A host asks its user, who may think about it; hosts themselves do not wait much longer for a tool.
const PATIENCE: Duration = Duration::from_secs(50);

/// A way to the model of the host that calls.
#[derive(Clone)]
pub(super) struct Lent {
    peer: Peer<RoleServer>,
    runtime: Handle,
    host: String,
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Lent {
    /// Returns the way to the host's model, if the host said that it lends it.
    pub(super) fn of(request: &RequestContext<RoleServer>, host: &str) -> Option<Self> {
        let info = request.peer.peer_info()?;
        info.capabilities.sampling.as_ref()?;
        Some(Self { peer: request.peer.clone(), runtime: Handle::current(), host: host.to_owned() })
    }

    /// Returns it as a model. It must not be asked on a thread that talks to the host.
    pub(super) fn model(&self) -> Opened {
        let lent = self.clone();
        let ask = move |system: &str, prompt: &str, most: u32| lent.ask(system, prompt, most);
        Box::new(Sampling::new(&self.host, ask))
    }

    fn ask(&self, system: &str, prompt: &str, most: u32) -> Result<String, ModelError> {
        let mut asked = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], most);
        if !system.is_empty() {
            asked = asked.with_system_prompt(system);
        }
        let answer = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, self.peer.create_message(asked)).await });
        let late = || ModelError::Unreachable("the host did not answer in time".to_owned());
        let result = answer.map_err(|_| late())?.map_err(|err| refused(&err))?;
        let blocks = result.message.content.into_vec();
        Ok(blocks.iter().filter_map(|block| block.as_text()).map(|text| text.text.as_str()).collect())
    }
}

fn refused(err: &ServiceError) -> ModelError {
    match err {
        ServiceError::McpError(err) => ModelError::Refused(super::server::short(&err.message)),
        err => ModelError::Unreachable(err.to_string()),
    }
}
