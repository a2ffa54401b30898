//! What rules find in conversations, and what they leave.
