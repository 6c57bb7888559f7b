-- 0009_fetches: how often a repository could not be read, for those who watch the daemon.
ALTER TABLE repo ADD COLUMN fetch_failures INTEGER NOT NULL DEFAULT 0;
