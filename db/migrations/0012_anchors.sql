-- 0012_anchors: an anchor that lies far away gives way to a nearer one; a loss that the history found ends when a later commit made up
-- for it.

ALTER TABLE epoch ADD COLUMN first_sha TEXT NOT NULL DEFAULT ''; -- the anchor that it began with, which its ratios are stated against
UPDATE epoch SET first_sha = anchor_sha;

-- A later anchor against the first one of its epoch: ratios measured against it are moved by x, and carry its error.
CREATE TABLE chain (
	epoch         INTEGER NOT NULL REFERENCES epoch(id),
	anchor_sha    TEXT    NOT NULL,
	key           TEXT    NOT NULL,                -- of the cell
	x             REAL    NOT NULL,                -- ln (time / time of the first anchor)
	se            REAL    NOT NULL,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	PRIMARY KEY (epoch, anchor_sha, key)
) STRICT, WITHOUT ROWID;

ALTER TABLE change_point ADD COLUMN alert INTEGER REFERENCES alert(id); -- that tells of it
ALTER TABLE change_point ADD COLUMN level REAL;                         -- of the series before it; creep: what was expected
ALTER TABLE change_point ADD COLUMN ended_at INTEGER;                   -- later commits made up for it
CREATE INDEX change_point_by_alert ON change_point(alert) WHERE alert IS NOT NULL;
CREATE INDEX change_point_by_key ON change_point(key, repo);
