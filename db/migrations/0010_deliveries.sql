-- Deliveries with an id of their own, which every attempt carries, and a row for each attempt. A newer word about the same
-- subject (the status of a commit) takes the place of an older one that still waits.
CREATE TABLE outbox_new (
	id            INTEGER PRIMARY KEY,
	message_id    TEXT    NOT NULL UNIQUE,         -- webhook-id of every attempt
	kind          TEXT    NOT NULL,                -- webhook status note
	target        TEXT    NOT NULL,                -- name of the receiver or repository in the configuration
	subject       TEXT    NOT NULL DEFAULT '',     -- what it is about, where only the newest word counts
	payload       TEXT    NOT NULL,                -- JSON
	state         TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting','sent','failed','superseded')),
	attempts      INTEGER NOT NULL DEFAULT 0,      -- since it was written or asked for again
	next_at       INTEGER NOT NULL,
	last_error    TEXT    NOT NULL DEFAULT '',
	created_at    INTEGER NOT NULL
) STRICT;
INSERT INTO outbox_new (id, message_id, kind, target, payload, state, attempts, next_at, last_error, created_at)
	SELECT id, 'msg_' || lower(hex(randomblob(16))), kind, target, payload, state, attempts, next_at, last_error, created_at
	FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_new RENAME TO outbox;
CREATE INDEX outbox_due ON outbox(state, next_at);
CREATE INDEX outbox_subject ON outbox(kind, target, subject) WHERE subject <> '';

CREATE TABLE outbox_attempt (
	id            INTEGER PRIMARY KEY,
	outbox        INTEGER NOT NULL REFERENCES outbox(id) ON DELETE CASCADE,
	at            INTEGER NOT NULL,
	duration_ms   INTEGER NOT NULL,
	status        INTEGER NOT NULL,                -- HTTP; 0 no answer
	error         TEXT    NOT NULL                 -- '' delivered
) STRICT;
CREATE INDEX outbox_attempt_of ON outbox_attempt(outbox);
