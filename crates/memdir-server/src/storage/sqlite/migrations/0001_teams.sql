-- Times are milliseconds since 1970. Hashes are 32 bytes.

CREATE TABLE teams (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL UNIQUE,
  kind     TEXT NOT NULL CHECK (kind IN ('team', 'own')),
  seq      INTEGER NOT NULL DEFAULT 0, -- the newest version; never goes back
  purged   INTEGER NOT NULL DEFAULT 0, -- the newest version of a tombstone that was forgotten
  memories INTEGER NOT NULL DEFAULT 0,
  bytes    INTEGER NOT NULL DEFAULT 0, -- of newest and older versions, and of ledgers
  made     INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  team     INTEGER NOT NULL REFERENCES teams (id),
  name     TEXT NOT NULL,
  joined   INTEGER NOT NULL,
  memories INTEGER NOT NULL DEFAULT 0, -- those whose newest version is theirs
  revoked  INTEGER,
  PRIMARY KEY (team, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  hash    BLOB NOT NULL PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  team    INTEGER NOT NULL,
  member  TEXT NOT NULL,
  scope   TEXT NOT NULL,
  label   TEXT,
  made    INTEGER NOT NULL,
  expires INTEGER,
  revoked INTEGER,
  FOREIGN KEY (team, member) REFERENCES members (team, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_of ON tokens (team, member);

-- Tokens of the server itself, for its metrics.
CREATE TABLE server_tokens (
  hash    BLOB NOT NULL PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  label   TEXT,
  made    INTEGER NOT NULL,
  expires INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE invites (
  hash    BLOB NOT NULL PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  team    INTEGER NOT NULL REFERENCES teams (id),
  scope   TEXT NOT NULL,
  member  TEXT,
  made_by TEXT,
  made    INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  done    INTEGER -- when it was used or withdrawn
) STRICT, WITHOUT ROWID;
CREATE INDEX invites_of ON invites (team);

-- The newest version of each memory; a tombstone once it was removed.
CREATE TABLE memories (
  id      INTEGER PRIMARY KEY,
  team    INTEGER NOT NULL REFERENCES teams (id),
  project TEXT NOT NULL,
  path    TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  size    INTEGER NOT NULL,
  author  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  erased  INTEGER NOT NULL,
  text    TEXT,
  words   TEXT, -- what it is found by; kept because the index wants it back when it changes
  place   TEXT GENERATED ALWAYS AS ('t' || team || ' t' || team || 'p' || hex(project)) VIRTUAL,
  UNIQUE (team, project, path),
  UNIQUE (team, seq)
) STRICT;
CREATE INDEX memories_feed ON memories (team, project, seq);
CREATE INDEX memories_gone ON memories (at) WHERE deleted = 1;

-- What was the newest version before.
CREATE TABLE versions (
  memory  INTEGER NOT NULL REFERENCES memories (id),
  seq     INTEGER NOT NULL,
  hash    BLOB NOT NULL,
  size    INTEGER NOT NULL,
  author  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  ended   INTEGER NOT NULL, -- when it ceased to be the newest
  deleted INTEGER NOT NULL,
  text    TEXT,
  PRIMARY KEY (memory, seq)
) STRICT;
CREATE INDEX versions_ended ON versions (ended);

CREATE VIRTUAL TABLE found USING fts5 (place, words, content = 'memories', content_rowid = 'id', tokenize = 'ascii');
INSERT INTO found (found, rank) VALUES ('secure-delete', 1);

CREATE TABLE audit (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  team   INTEGER NOT NULL REFERENCES teams (id),
  at     INTEGER NOT NULL,
  member TEXT,
  token  TEXT,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  seq    INTEGER,
  hash   BLOB
) STRICT;
CREATE INDEX audit_of ON audit (team, id);

CREATE TABLE ledgers (
  id      INTEGER PRIMARY KEY,
  team    INTEGER NOT NULL REFERENCES teams (id),
  project TEXT NOT NULL,
  file    TEXT NOT NULL,
  size    INTEGER NOT NULL,
  UNIQUE (team, project, file)
) STRICT;

-- A ledger in the pieces it came in.
CREATE TABLE ledger_pieces (
  ledger INTEGER NOT NULL REFERENCES ledgers (id),
  start  INTEGER NOT NULL,
  bytes  BLOB NOT NULL,
  PRIMARY KEY (ledger, start)
) STRICT;
