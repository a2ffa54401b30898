//! Team memory through a server: the real binary on both sides, and networks and servers that are not what they should be.

mod cuts;
mod hostile;
mod joining;
mod machines;
mod secrets;
mod size;
mod syncing;
mod unasked;
mod world;
