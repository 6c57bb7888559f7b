-- 0025_vouched: whose word a token stands on. Where nobody has to show a token (access: local), nobody can vouch for a new one.
ALTER TABLE token ADD COLUMN made_by TEXT NOT NULL DEFAULT '';   -- the token that its maker showed; '' nobody knows
