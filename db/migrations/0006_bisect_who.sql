-- User who requested the bisect, as in audit; '': an alert needs it, or it is older than this column.
ALTER TABLE bisect ADD COLUMN who TEXT NOT NULL DEFAULT '';
