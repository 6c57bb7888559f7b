-- What a session's log-out at the OpenID Connect provider needs, encrypted (lib/seal.c); '': the provider has no log-out.
ALTER TABLE session ADD COLUMN log_out TEXT NOT NULL DEFAULT '';
