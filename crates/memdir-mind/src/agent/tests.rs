//! The sub-agent without a process around it.
