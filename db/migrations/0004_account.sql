-- Users who logged in at the OpenID Connect provider. Name and scope are those of their token, which no program can send.
CREATE TABLE account (
	id            INTEGER PRIMARY KEY,
	token         INTEGER NOT NULL UNIQUE REFERENCES token(id),
	issuer        TEXT    NOT NULL,
	subject       TEXT    NOT NULL,                -- the provider's id of the user
	refresh       TEXT    NOT NULL,                -- refresh token, encrypted (lib/seal.c); '': none
	checked_at    INTEGER NOT NULL,                -- last time that the provider sent the groups
	tried_at      INTEGER NOT NULL,                -- last request for them
	UNIQUE (issuer, subject)
) STRICT;
CREATE INDEX session_by_token ON session(token);
