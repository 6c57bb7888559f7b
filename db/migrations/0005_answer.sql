-- 0005_answer: answers to POSTs that carried an Idempotency-Key, so that asking twice starts nothing twice.

CREATE TABLE answer (
	key           TEXT    NOT NULL PRIMARY KEY,
	fingerprint   TEXT    NOT NULL,                -- SHA-256 of who asked for what
	status        INTEGER NOT NULL,
	location      TEXT    NOT NULL,
	body          TEXT    NOT NULL,
	at            INTEGER NOT NULL
) STRICT;
CREATE INDEX answer_by_at ON answer(at);
