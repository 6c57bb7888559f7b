-- 0002_alerts: alerts of several kinds that know their culprits, and the searches for these.

-- Rebuilt, because a device that falls silent has neither repository nor comparison.
CREATE TABLE alert_new (
	id            INTEGER PRIMARY KEY,
	kind          TEXT    NOT NULL DEFAULT 'regression', -- regression creep broken vanished silent
	repo          INTEGER REFERENCES repo(id),     -- NULL: about a device
	device        INTEGER REFERENCES device(id),   -- NULL: about a commit
	branch        TEXT    NOT NULL DEFAULT '',
	target_sha    TEXT    NOT NULL DEFAULT '',
	comparison    INTEGER REFERENCES comparison(id), -- that opened it; NULL none
	state         TEXT    NOT NULL DEFAULT 'open'
	              CHECK (state IN ('open','acknowledged','accepted','resolved','invalid')),
	title         TEXT    NOT NULL DEFAULT '',     -- one line for people
	worst_pct     REAL,                            -- NULL: nothing was lost in per cent
	opened_at     INTEGER NOT NULL,
	changed_at    INTEGER NOT NULL,
	cells         TEXT    NOT NULL,                -- JSON array of {cell, change_pct, borderline, ...}
	grouped       TEXT    NOT NULL DEFAULT '[]',   -- JSON array of {family, direction, phase, kernel, cells, worst_pct}
	culprits      TEXT    NOT NULL DEFAULT '[]',   -- JSON array of {from, to, commits, cells, ...}; [] not known yet
	CHECK (repo IS NOT NULL OR device IS NOT NULL)
) STRICT;
INSERT INTO alert_new (id, repo, branch, target_sha, comparison, state, worst_pct, opened_at, changed_at, cells)
	SELECT id, repo, branch, target_sha, comparison, state, worst_pct, opened_at, changed_at, cells FROM alert;
CREATE TABLE alert_event_new (
	id            INTEGER PRIMARY KEY,
	alert         INTEGER NOT NULL REFERENCES alert_new(id),
	at            INTEGER NOT NULL,
	who           TEXT    NOT NULL,
	state         TEXT    NOT NULL,
	reason        TEXT    NOT NULL DEFAULT ''
) STRICT;
INSERT INTO alert_event_new SELECT id, alert, at, who, state, reason FROM alert_event;
DROP TABLE alert_event;
DROP TABLE alert;
ALTER TABLE alert_new RENAME TO alert;
ALTER TABLE alert_event_new RENAME TO alert_event;
CREATE UNIQUE INDEX alert_of_commit ON alert(repo, target_sha, kind) WHERE repo IS NOT NULL;
CREATE INDEX alert_of_device ON alert(device) WHERE device IS NOT NULL;
CREATE INDEX alert_by_state ON alert(state);
CREATE INDEX alert_by_branch ON alert(repo, branch);
CREATE INDEX alert_event_by_alert ON alert_event(alert);

-- A search over the first parents from good to bad. What was measured stands in comparisons of kind bisect; the next step
-- follows from these, so that nothing else has to be remembered.
CREATE TABLE bisect (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	alert         INTEGER REFERENCES alert(id),    -- that is to name the culprit; NULL: asked for by a person
	origin        TEXT    NOT NULL,                -- alert api
	goal          TEXT    NOT NULL DEFAULT '',     -- regression broken; "" until both ends are measured
	good_sha      TEXT    NOT NULL,
	bad_sha       TEXT    NOT NULL,
	suite         TEXT    NOT NULL DEFAULT '',
	device_kind   TEXT    NOT NULL DEFAULT '',
	cells         TEXT    NOT NULL DEFAULT '',     -- globs of the cells to look at, separated by spaces
	state         TEXT    NOT NULL DEFAULT 'listing'
	              CHECK (state IN ('listing','measuring','done','failed','cancelled')),
	state_why     TEXT    NOT NULL DEFAULT '',
	verdict       TEXT    NOT NULL DEFAULT '',     -- of bad against good
	comparison    INTEGER REFERENCES comparison(id), -- of both ends
	job           INTEGER REFERENCES job(id),      -- that it waits for
	n_jobs        INTEGER NOT NULL DEFAULT 0,
	created_at    INTEGER NOT NULL,
	ended_at      INTEGER,
	culprits      TEXT    NOT NULL DEFAULT '[]'    -- as in alert
) STRICT;
CREATE INDEX bisect_by_state ON bisect(state);
CREATE INDEX bisect_by_alert ON bisect(alert);
CREATE TABLE bisect_commit (
	bisect        INTEGER NOT NULL REFERENCES bisect(id),
	n             INTEGER NOT NULL,                -- 0 is the good end
	sha           TEXT    NOT NULL,
	PRIMARY KEY (bisect, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE bisect_job (
	job           INTEGER PRIMARY KEY REFERENCES job(id),
	bisect        INTEGER NOT NULL REFERENCES bisect(id),
	base_n        INTEGER NOT NULL,
	target_n      INTEGER NOT NULL
) STRICT;
CREATE INDEX bisect_job_by_bisect ON bisect_job(bisect);
-- A measurement of two commits, whoever asked for it.
CREATE INDEX comparison_by_pair ON comparison(repo, target_sha, base_sha);
