//! The document that describes the server to other programs, built from the table of routes.
//!
//! Paths, needs and statuses come from [`ROUTES`]; the forms of bodies are in `openapi/schemas.json`, written by hand beside the wire
//! types. Tests hold real answers against it.

use memdir_core::team::wire::{MAX_CHANGES, MAX_WAIT, PROTOCOL};
use serde_json::{Map, Value, json};

use crate::routes::{Endpoint, Needs, ROUTES, Route, Takes};

/// The forms of bodies.
const SCHEMAS: &str = include_str!("openapi/schemas.json");

/// Returns the document.
pub(crate) fn document() -> String {
    let mut paths = Map::new();
    for route in &ROUTES {
        // OpenAPI knows no parameter for the rest of a path; that it may have slashes is in its description.
        let path = route.path.replace("{*", "{");
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[route.method.to_ascii_lowercase()] = operation(route);
    }
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "memdir team server",
            "version": format!("{}+protocol.{PROTOCOL}", env!("CARGO_PKG_VERSION")),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    });
    document.to_string()
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": format!("{:?}", route.endpoint),
        "summary": route.summary,
        "parameters": parameters(route),
        "responses": responses(route),
    });
    if route.needs != Needs::Nothing {
        operation["security"] = json!([{ "token": [] }]);
    }
    if let Some((kind, schema)) = request_body(route) {
        operation["requestBody"] = json!({ "required": true, "content": { kind: { "schema": schema } } });
    }
    operation
}

/// Returns every status that a route may answer with.
pub(crate) fn statuses(route: &Route) -> Vec<u16> {
    let mut statuses = [route.succeeds, route.fails, &[400, 403, 411, 413, 426, 500, 503]].concat();
    if route.needs != Needs::Nothing || route.endpoint == Endpoint::Join {
        statuses.push(401);
    }
    if matches!(route.needs, Needs::Token(_)) {
        statuses.push(429);
    }
    if route.path.contains('{') {
        statuses.push(404);
    }
    if route.takes != Takes::Nothing {
        statuses.extend([408, 415]);
    }
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

fn responses(route: &Route) -> Value {
    let mut responses = Map::new();
    for status in statuses(route) {
        let (description, content) = if route.succeeds.contains(&status) {
            ("done", success(route.endpoint, status))
        } else {
            ("refused", Some(("application/json", reference("ErrorBody"))))
        };
        let mut response = json!({ "description": description });
        if let Some((kind, schema)) = content {
            response["content"] = json!({ kind: { "schema": schema } });
        }
        responses.insert(status.to_string(), response);
    }
    Value::Object(responses)
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn list(name: &str) -> Value {
    json!({ "type": "array", "items": reference(name) })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn success(endpoint: Endpoint, status: u16) -> Option<(&'static str, Value)> {
    if matches!(status, 204 | 304) {
        return None;
    }
    let schema = match endpoint {
        Endpoint::Health | Endpoint::Ready | Endpoint::Metrics => return Some(("text/plain", text())),
        Endpoint::GetMemory | Endpoint::Version => return Some(("text/markdown", text())),
        Endpoint::ReadLedger => return Some(("application/x-ndjson", text())),
        Endpoint::OpenApi => json!({ "type": "object" }),
        Endpoint::Join => reference("Joined"),
        Endpoint::Me => reference("Me"),
        Endpoint::Team => reference("TeamInfo"),
        Endpoint::Members => list("MemberInfo"),
        Endpoint::Invites => list("InviteInfo"),
        Endpoint::Invite => reference("Invited"),
        Endpoint::Tokens => list("TokenInfo"),
        Endpoint::MakeToken => reference("TokenMade"),
        Endpoint::Projects => list("ProjectInfo"),
        Endpoint::Changes => reference("Changes"),
        Endpoint::Batch => reference("BatchReply"),
        Endpoint::PutMemory | Endpoint::DeleteMemory => reference("Current"),
        Endpoint::Versions => list("VersionInfo"),
        Endpoint::Search => reference("Hits"),
        Endpoint::Audit => reference("Audit"),
        Endpoint::Ledgers => list("LedgerInfo"),
        Endpoint::AppendLedger => reference("Appended"),
        Endpoint::RevokeMember | Endpoint::WithdrawInvite | Endpoint::RevokeToken => return None,
    };
    Some(("application/json", schema))
}

fn request_body(route: &Route) -> Option<(&'static str, Value)> {
    let schema = match route.endpoint {
        Endpoint::Join => reference("JoinRequest"),
        Endpoint::Invite => reference("InviteRequest"),
        Endpoint::MakeToken => reference("TokenRequest"),
        Endpoint::Batch => reference("Batch"),
        Endpoint::PutMemory => return Some(("text/markdown", text())),
        Endpoint::AppendLedger => return Some(("application/x-ndjson", text())),
        _ => return None,
    };
    Some(("application/json", schema))
}

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = route.path.split('/').filter_map(path_parameter).collect();
    let number = |name: &str, most: u64| json!({ "name": name, "in": "query", "schema": { "type": "integer", "minimum": 0, "maximum": most } });
    let flag = |name: &str| json!({ "name": name, "in": "query", "schema": { "enum": ["0", "1", "true", "false"] } });
    let string = |name: &str, place: &str, is_required: bool| json!({ "name": name, "in": place, "required": is_required, "schema": text() });
    const CURSOR: u64 = 1 << 53;
    match route.endpoint {
        Endpoint::Changes => parameters.extend([
            number("since", CURSOR),
            number("limit", MAX_CHANGES as u64),
            number("wait", MAX_WAIT),
            flag("text"),
        ]),
        Endpoint::Search => parameters.extend([
            string("q", "query", true),
            string("project", "query", false),
            number("limit", 100),
        ]),
        Endpoint::Audit => parameters.extend([number("since", CURSOR), number("limit", 1_000)]),
        Endpoint::ReadLedger | Endpoint::AppendLedger => parameters.push(number("offset", CURSOR)),
        Endpoint::GetMemory => parameters.push(string("If-None-Match", "header", false)),
        Endpoint::PutMemory => {
            parameters.extend([string("If-Match", "header", false), string("If-None-Match", "header", false)])
        }
        Endpoint::DeleteMemory => parameters.extend([string("If-Match", "header", false), flag("erase")]),
        _ => {}
    }
    parameters
}

fn path_parameter(segment: &str) -> Option<Value> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    let name = name.strip_prefix('*').unwrap_or(name);
    let (schema, description) = match name {
        "seq" => (json!({ "type": "integer", "minimum": 0 }), "a version"),
        "path" => {
            (json!({ "type": "string", "pattern": "\\.md$" }), "the path of a memory; may have slashes")
        }
        "id" => (json!({ "type": "string", "pattern": "^[0-9a-f]{16}$" }), "what a listing calls it"),
        _ => (json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9._-]*$", "maxLength": 100 }), "a name"),
    };
    Some(
        json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_described_and_every_form_exists() {
        let document: Value = serde_json::from_str(&document()).unwrap();
        for route in &ROUTES {
            let path = route.path.replace("{*", "{");
            let operation = &document["paths"][&path][route.method.to_ascii_lowercase()];
            assert_eq!(operation["summary"], route.summary, "{} {}", route.method, route.path);
            assert_eq!(operation.get("security").is_some(), route.needs != Needs::Nothing, "{path}");
        }
        let text = document.to_string();
        let names = text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
        for name in names {
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
    }
}
