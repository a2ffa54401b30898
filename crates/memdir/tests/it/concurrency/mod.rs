//! Two writers never lose an acknowledged change; a reader never sees half of one (promises K).

mod clock;
mod file_systems;
mod foreign;
mod locks;
mod lost_updates;
mod names;
mod readers;
