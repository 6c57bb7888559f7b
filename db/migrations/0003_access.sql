-- 0003_access: who may ask, once others than this machine can reach the daemon. Only hashes are kept.

CREATE TABLE token (
	id            INTEGER PRIMARY KEY,
	name          TEXT    NOT NULL UNIQUE,
	hash          TEXT    NOT NULL UNIQUE,         -- SHA-256 of the token, which is 256 random bits
	scope         TEXT    NOT NULL CHECK (scope IN ('read','trigger','admin')),
	created_at    INTEGER NOT NULL,
	used_at       INTEGER,                         -- to the hour
	revoked_at    INTEGER
) STRICT;

-- A browser that logged in with a token.
CREATE TABLE session (
	hash          TEXT    NOT NULL PRIMARY KEY,
	token         INTEGER NOT NULL REFERENCES token(id),
	expires_at    INTEGER NOT NULL
) STRICT;
