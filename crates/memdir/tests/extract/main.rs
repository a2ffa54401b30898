//! Extraction as people meet it: labelled conversations with figures, real file shapes, the path from a turn's end to the
//! inbox, and texts that want to be remembered and must not be.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "figures are for whoever runs the tests")]

mod conversation;
mod figures;
mod hostile;
mod path;
mod shapes;
mod world;
