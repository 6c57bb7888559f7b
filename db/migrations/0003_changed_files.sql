-- Files that differ between the two commits of a benchmark program's comparison: they replace a profile, which no program has by itself.
CREATE TABLE changed_files (
	repo          INTEGER NOT NULL REFERENCES repo(id),
	base_sha      TEXT    NOT NULL,
	target_sha    TEXT    NOT NULL,
	files         INTEGER NOT NULL,                -- number of all
	paths         TEXT    NOT NULL,                -- JSON: the first of them
	PRIMARY KEY (repo, base_sha, target_sha)
) STRICT, WITHOUT ROWID;
