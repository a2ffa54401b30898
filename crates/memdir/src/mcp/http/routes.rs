//! The routes of the HTTP server and what each asks for, in one table. What is not in it does not exist.

/// One thing that can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// The method.
    pub(crate) method: &'static str,
    /// The path, exactly.
    pub(crate) path: &'static str,
    /// What it asks for.
    pub(crate) needs: Needs,
}

/// What a route asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: it tells nothing.
    Nothing,
    /// A token. With one that may only read, tools that write refuse.
    Token,
}

/// The routes. Only `POST` has an effect.
pub(crate) const ROUTES: [Route; 4] = [
    Route { method: "GET", path: "/health", needs: Needs::Nothing },
    Route { method: "DELETE", path: "/mcp", needs: Needs::Token },
    Route { method: "GET", path: "/mcp", needs: Needs::Token },
    Route { method: "POST", path: "/mcp", needs: Needs::Token },
];
