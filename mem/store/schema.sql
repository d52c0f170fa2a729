-- The store of mem, as the first migration makes it. Instants are ISO 8601 texts in UTC with microseconds and Z.
-- Every table that operations change carries changed_at and event_id, the event that wrote the present row; migrations.py
-- gives each of them a table of versions and the trigger that fills it.

CREATE TABLE store_info (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The stores that rows and events came from; number 1 is this one.
CREATE TABLE origins (
  id  INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE
) STRICT;

-- The audit log. One operation, one event; the chain runs per origin over everything but the free texts, which enter
-- as salted digests, so that erasing a text and its salt leaves the chain whole.
CREATE TABLE events (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  uid       TEXT NOT NULL UNIQUE,
  origin_id INTEGER NOT NULL REFERENCES origins (id),
  sequence  INTEGER NOT NULL,
  at        TEXT NOT NULL,
  operation TEXT NOT NULL,
  actor     TEXT NOT NULL,
  client    TEXT,
  session   TEXT,
  subjects  TEXT NOT NULL DEFAULT '[]',
  detail    TEXT NOT NULL DEFAULT '{}',
  texts     TEXT NOT NULL DEFAULT '{}',
  previous  BLOB NOT NULL,
  hash      BLOB NOT NULL,
  UNIQUE (origin_id, sequence)
) STRICT;

CREATE TABLE projects (
  id         INTEGER PRIMARY KEY,
  uid        TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT;

-- What a project is recognised by: the git common directories of its clones on this machine, or their remote.
CREATE TABLE project_roots (
  root       TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  remote     TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE entities (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  uid          TEXT NOT NULL UNIQUE,
  origin_id    INTEGER NOT NULL REFERENCES origins (id),
  name         TEXT NOT NULL,
  key          TEXT NOT NULL,
  type         TEXT NOT NULL,
  aliases      TEXT NOT NULL DEFAULT '[]',
  project      TEXT,
  summary      TEXT,
  status       TEXT NOT NULL DEFAULT 'active',
  merged_into  INTEGER REFERENCES entities (id),
  text_hash    BLOB,
  extra        TEXT NOT NULL DEFAULT '{}',
  recorded_at  TEXT NOT NULL,
  changed_at   TEXT NOT NULL,
  event_id     INTEGER NOT NULL REFERENCES events (id)
) STRICT;
CREATE UNIQUE INDEX entities_live ON entities (ifnull(project, ''), type, key) WHERE status = 'active';
CREATE INDEX entities_text ON entities (text_hash);

CREATE TABLE sessions (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  uid          TEXT NOT NULL UNIQUE,
  origin_id    INTEGER NOT NULL REFERENCES origins (id),
  client       TEXT,
  host_session TEXT,
  project      TEXT,
  started_at   TEXT NOT NULL,
  ended_at     TEXT,
  end_reason   TEXT,
  tasks        TEXT NOT NULL DEFAULT '[]',
  extra        TEXT NOT NULL DEFAULT '{}',
  changed_at   TEXT NOT NULL,
  event_id     INTEGER NOT NULL REFERENCES events (id)
) STRICT;
CREATE INDEX sessions_host ON sessions (host_session);

-- Everything remembered is one row here; the kind says what it is.
CREATE TABLE memories (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  uid             TEXT NOT NULL UNIQUE,
  origin_id       INTEGER NOT NULL REFERENCES origins (id),
  kind            TEXT NOT NULL CHECK (kind IN ('learning', 'decision', 'observation', 'summary')),
  title           TEXT,
  content         TEXT NOT NULL,
  rationale       TEXT,
  alternatives    TEXT,
  category        TEXT NOT NULL,
  level           TEXT NOT NULL CHECK (level IN ('meta_knowledge', 'semi_abstract', 'concrete_trace')),
  layer           TEXT NOT NULL CHECK (layer IN ('working', 'short_term', 'long_term', 'permanent')),
  importance      INTEGER NOT NULL CHECK (importance BETWEEN 0 AND 10),
  confidence      REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  project         TEXT,
  entity_id       INTEGER REFERENCES entities (id),
  session_id      INTEGER REFERENCES sessions (id),
  tags            TEXT NOT NULL DEFAULT '[]',
  source          TEXT,
  client          TEXT,
  status          TEXT NOT NULL CHECK (status IN ('proposed', 'active', 'archived', 'superseded', 'rejected')),
  status_reason   TEXT,
  status_at       TEXT,
  trust           TEXT NOT NULL DEFAULT 'unverified' CHECK (trust IN ('unverified', 'verified', 'disputed')),
  trust_reason    TEXT,
  verified_at     TEXT,
  verified_by     TEXT,
  event_time      TEXT,
  valid_from      TEXT,
  valid_to        TEXT,
  expires_at      TEXT,
  superseded_by   INTEGER REFERENCES memories (id),
  compressed_from TEXT NOT NULL DEFAULT '[]',
  fingerprint     BLOB NOT NULL CHECK (length(fingerprint) = 32),
  text_hash       BLOB NOT NULL CHECK (length(text_hash) = 32),
  extra           TEXT NOT NULL DEFAULT '{}',
  recorded_at     TEXT NOT NULL,
  changed_at      TEXT NOT NULL,
  event_id        INTEGER NOT NULL REFERENCES events (id)
) STRICT;
CREATE UNIQUE INDEX memories_live ON memories (ifnull(project, ''), kind, ifnull(entity_id, 0), fingerprint)
  WHERE status = 'active';
CREATE INDEX memories_fingerprint ON memories (fingerprint);
CREATE INDEX memories_text ON memories (text_hash);
CREATE INDEX memories_project ON memories (project, status, recorded_at);
CREATE INDEX memories_entity ON memories (entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX memories_session ON memories (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_successor ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memories_expiry ON memories (expires_at) WHERE status = 'active' AND expires_at IS NOT NULL;

CREATE TABLE relations (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  uid         TEXT NOT NULL UNIQUE,
  origin_id   INTEGER NOT NULL REFERENCES origins (id),
  from_id     INTEGER NOT NULL REFERENCES entities (id),
  to_id       INTEGER NOT NULL REFERENCES entities (id),
  type        TEXT NOT NULL,
  weight      REAL NOT NULL DEFAULT 1.0,
  valid_from  TEXT,
  valid_to    TEXT,
  status      TEXT NOT NULL DEFAULT 'active',
  extra       TEXT NOT NULL DEFAULT '{}',
  recorded_at TEXT NOT NULL,
  changed_at  TEXT NOT NULL,
  event_id    INTEGER NOT NULL REFERENCES events (id)
) STRICT;
CREATE INDEX relations_from ON relations (from_id);
CREATE INDEX relations_to ON relations (to_id);

-- Profile and goal; a cleared value is NULL, so that its history stays.
CREATE TABLE settings (
  key        TEXT NOT NULL,
  project    TEXT NOT NULL DEFAULT '',
  value      TEXT,
  origin_id  INTEGER NOT NULL REFERENCES origins (id),
  changed_at TEXT NOT NULL,
  event_id   INTEGER NOT NULL REFERENCES events (id),
  PRIMARY KEY (key, project)
) STRICT;

-- What was rejected or forgotten. A tombstone and its lifting are one row; '' stands for every project and no entity.
CREATE TABLE tombstones (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  uid         TEXT NOT NULL UNIQUE,
  origin_id   INTEGER NOT NULL REFERENCES origins (id),
  entity_uid  TEXT NOT NULL DEFAULT '',
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
  project     TEXT NOT NULL DEFAULT '',
  memory_uid  TEXT,
  reason      TEXT,
  recorded_at TEXT NOT NULL,
  lifted_at   TEXT,
  changed_at  TEXT NOT NULL,
  event_id    INTEGER NOT NULL REFERENCES events (id),
  UNIQUE (entity_uid, fingerprint, project)
) STRICT;
CREATE INDEX tombstones_fingerprint ON tombstones (fingerprint);

-- How often a memory was handed out, per store that counted; outside the versions, since it says nothing of truth.
CREATE TABLE usage (
  memory_id        INTEGER NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  origin_id        INTEGER NOT NULL REFERENCES origins (id),
  recalls          INTEGER NOT NULL DEFAULT 0,
  last_recalled_at TEXT,
  restated         INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (memory_id, origin_id)
) STRICT, WITHOUT ROWID;

-- What a recall considered and showed, without its words.
CREATE TABLE recall_traces (
  id        TEXT PRIMARY KEY,
  at        TEXT NOT NULL,
  operation TEXT NOT NULL,
  client    TEXT,
  session   TEXT,
  project   TEXT,
  mode      TEXT NOT NULL,
  degraded  TEXT NOT NULL DEFAULT '[]',
  total     INTEGER NOT NULL,
  signals   TEXT NOT NULL DEFAULT '{}',
  shown     TEXT NOT NULL DEFAULT '[]',
  withheld  TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;
CREATE INDEX recall_traces_at ON recall_traces (at);

-- Rows of other memories' files that have no counterpart here, kept to be exported unchanged.
CREATE TABLE "foreign" (
  id         INTEGER PRIMARY KEY,
  source     TEXT NOT NULL,
  table_name TEXT NOT NULL,
  row        TEXT NOT NULL,
  digest     BLOB NOT NULL,
  UNIQUE (source, table_name, digest)
) STRICT;

-- The embedding models whose vectors are here. The mean belongs to the model and never changes by itself.
CREATE TABLE models (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  dimensions INTEGER NOT NULL,
  mean       BLOB,
  active     INTEGER NOT NULL DEFAULT 0 CHECK (active IN (0, 1)),
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX models_active ON models (active) WHERE active = 1;

-- Raw vectors, little-endian Float32, by the hash of the text; identical texts share theirs.
CREATE TABLE embeddings (
  id        INTEGER PRIMARY KEY,
  model_id  INTEGER NOT NULL REFERENCES models (id),
  text_hash BLOB NOT NULL CHECK (length(text_hash) = 32),
  piece     INTEGER NOT NULL,
  vector    BLOB NOT NULL,
  UNIQUE (model_id, text_hash, piece)
) STRICT;

-- The pieces of live rows that the derived vector index holds under the same number.
CREATE TABLE indexed_pieces (
  id           INTEGER PRIMARY KEY,
  owner        TEXT NOT NULL CHECK (owner IN ('memory', 'entity')),
  owner_id     INTEGER NOT NULL,
  embedding_id INTEGER NOT NULL REFERENCES embeddings (id),
  project      INTEGER NOT NULL
) STRICT;
CREATE INDEX indexed_pieces_owner ON indexed_pieces (owner, owner_id);
CREATE INDEX indexed_pieces_embedding ON indexed_pieces (embedding_id);

-- Words of the live rows; the text is folded before it goes in and is not kept here.
CREATE VIRTUAL TABLE memories_fts USING fts5 (
  title, content, context,
  content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE memories_terms USING fts5vocab (memories_fts, row);
CREATE VIRTUAL TABLE memories_postings USING fts5vocab (memories_fts, instance);

-- How long each indexed text is, and in which project (0: none), so that BM25 counts within what is searched.
CREATE TABLE memories_lengths (
  id      INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  length  INTEGER NOT NULL
) STRICT;
CREATE INDEX memories_lengths_project ON memories_lengths (project, length);

-- Sums of the raw vectors of live pieces by project (0: none), as little-endian Float64.
CREATE TABLE centroids (
  project INTEGER PRIMARY KEY,
  pieces  INTEGER NOT NULL,
  total   BLOB NOT NULL
) STRICT;
CREATE VIRTUAL TABLE entities_fts USING fts5 (
  name, summary, context,
  content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
