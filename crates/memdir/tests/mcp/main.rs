//! The memory hub as hosts see it: the real binary, spoken to over its standard streams and over sockets.
//!
//! [`host::Host`] is a small host of both lifecycles of the protocol. `tools` has the behaviours of the hub, `memory` the exact
//! sentences of the memory tool, `hostile` what must not get through, `http` the door, `load` many sessions at once, `sampling` hosts that lend their model.
#![expect(clippy::unwrap_used, reason = "a test reports by panicking")]
#![expect(clippy::print_stderr, reason = "figures are for whoever runs the tests")]

mod host;
mod hostile;
mod http;
mod load;
mod memory;
mod off;
mod sampling;
mod tools;
