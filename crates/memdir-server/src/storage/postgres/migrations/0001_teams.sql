-- Times are milliseconds since 1970. Hashes are 32 bytes. Names sort by their bytes, as in every other storage.

-- Rows that every write changes leave room for their next version beside them.
CREATE TABLE teams (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name     text COLLATE "C" NOT NULL UNIQUE,
  kind     text NOT NULL CHECK (kind IN ('team', 'own')),
  seq      bigint NOT NULL DEFAULT 0, -- the newest version; never goes back
  purged   bigint NOT NULL DEFAULT 0, -- the newest version of a tombstone that was forgotten
  memories bigint NOT NULL DEFAULT 0,
  bytes    bigint NOT NULL DEFAULT 0, -- of newest and older versions, and of ledgers
  made     bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE members (
  team     bigint NOT NULL REFERENCES teams (id),
  name     text COLLATE "C" NOT NULL,
  joined   bigint NOT NULL,
  memories bigint NOT NULL DEFAULT 0, -- those whose newest version is theirs
  revoked  bigint,
  PRIMARY KEY (team, name)
) WITH (fillfactor = 50);

CREATE TABLE tokens (
  hash    bytea NOT NULL PRIMARY KEY,
  id      text COLLATE "C" NOT NULL UNIQUE,
  team    bigint NOT NULL,
  member  text COLLATE "C" NOT NULL,
  scope   text NOT NULL,
  label   text,
  made    bigint NOT NULL,
  expires bigint,
  revoked bigint,
  FOREIGN KEY (team, member) REFERENCES members (team, name)
);
CREATE INDEX tokens_of ON tokens (team, member);

-- Tokens of the server itself, for its metrics.
CREATE TABLE server_tokens (
  hash    bytea NOT NULL PRIMARY KEY,
  id      text COLLATE "C" NOT NULL UNIQUE,
  label   text,
  made    bigint NOT NULL,
  expires bigint
);

CREATE TABLE invites (
  hash    bytea NOT NULL PRIMARY KEY,
  id      text COLLATE "C" NOT NULL UNIQUE,
  team    bigint NOT NULL REFERENCES teams (id),
  scope   text NOT NULL,
  member  text COLLATE "C",
  made_by text COLLATE "C",
  made    bigint NOT NULL,
  expires bigint NOT NULL,
  done    bigint -- when it was used or withdrawn
);
CREATE INDEX invites_of ON invites (team);

-- The newest version of each memory; a tombstone once it was removed. Its text is in `texts`.
CREATE TABLE memories (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  team    bigint NOT NULL REFERENCES teams (id),
  project text COLLATE "C" NOT NULL,
  path    text COLLATE "C" NOT NULL,
  seq     bigint NOT NULL,
  hash    bytea NOT NULL,
  size    bigint NOT NULL,
  author  text COLLATE "C" NOT NULL,
  at      bigint NOT NULL,
  deleted boolean NOT NULL,
  erased  boolean NOT NULL,
  UNIQUE (team, project, path)
);
CREATE UNIQUE INDEX memories_feed ON memories (team, project, seq);
CREATE INDEX memories_gone ON memories (team, at) WHERE deleted;

-- What was the newest version before.
CREATE TABLE versions (
  memory  bigint NOT NULL REFERENCES memories (id),
  seq     bigint NOT NULL,
  hash    bytea NOT NULL,
  size    bigint NOT NULL,
  author  text COLLATE "C" NOT NULL,
  at      bigint NOT NULL,
  ended   bigint NOT NULL, -- when it ceased to be the newest
  deleted boolean NOT NULL,
  PRIMARY KEY (memory, seq)
);
CREATE INDEX versions_ended ON versions (ended);

-- PostgreSQL leaves the bytes of a removed row in its page, and of a removed key in its index, until something else takes their
-- place. So what can be erased lies in parts that are small enough to be written anew, every byte of them: the texts of all
-- versions, and what the newest ones are found by. All of a memory is in the parts of one number.

CREATE TABLE texts (
  memory bigint NOT NULL,
  seq    bigint NOT NULL,
  text   text NOT NULL,
  PRIMARY KEY (memory, seq)
) PARTITION BY HASH (memory);

CREATE TABLE found (
  memory  bigint NOT NULL PRIMARY KEY,
  team    bigint NOT NULL,
  project text COLLATE "C" NOT NULL,
  length  bigint NOT NULL, -- its words, each as often as it occurs
  words   bigint[] NOT NULL, -- each once, and no two teams have one in common
  counts  smallint[] NOT NULL, -- how often each of them occurs
  meaning smallint[] -- what it is about, where an index for that can be had
) PARTITION BY HASH (memory);

DO $$
BEGIN
  FOR part IN 0..7 LOOP
    EXECUTE format('CREATE TABLE texts_%s PARTITION OF texts FOR VALUES WITH (MODULUS 8, REMAINDER %s)', part, part);
    EXECUTE format('CREATE TABLE found_%s PARTITION OF found FOR VALUES WITH (MODULUS 8, REMAINDER %s)', part, part);
  END LOOP;
END $$;

-- No list of keys that wait to be indexed: a search would read all of it.
CREATE INDEX found_words ON found USING gin (words) WITH (fastupdate = off);

-- Statistics are samples of what is kept, and nobody would take them out again.
ALTER TABLE texts ALTER COLUMN text SET STATISTICS 0;
ALTER TABLE found ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE found ALTER COLUMN counts SET STATISTICS 0;
ALTER TABLE found ALTER COLUMN meaning SET STATISTICS 0;

CREATE TABLE audit (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  team   bigint NOT NULL REFERENCES teams (id),
  at     bigint NOT NULL,
  member text COLLATE "C",
  token  text,
  action text NOT NULL,
  target text NOT NULL,
  seq    bigint,
  hash   bytea
);
CREATE INDEX audit_of ON audit (team, id);

CREATE TABLE ledgers (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  team    bigint NOT NULL REFERENCES teams (id),
  project text COLLATE "C" NOT NULL,
  file    text COLLATE "C" NOT NULL,
  size    bigint NOT NULL,
  UNIQUE (team, project, file)
);

-- A ledger in the pieces it came in.
CREATE TABLE ledger_pieces (
  ledger bigint NOT NULL REFERENCES ledgers (id),
  start  bigint NOT NULL,
  bytes  bytea NOT NULL,
  PRIMARY KEY (ledger, start)
);
