//! What is forgotten is gone, what is off is off, what is ours is only ours (promises F).

mod audit;
mod erase;
mod export;
mod modes;
mod off;
