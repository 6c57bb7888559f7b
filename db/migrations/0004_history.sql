-- 0004_history: what main's commits are measured against over time, steps in that series, and what comparisons of a module with
-- itself say about a device.

ALTER TABLE job ADD COLUMN device_uuid TEXT NOT NULL DEFAULT ''; -- wanted device; "" any
ALTER TABLE job ADD COLUMN threshold_pct REAL;                   -- in place of the suite's; NULL: the suite's
ALTER TABLE job ADD COLUMN change_point INTEGER;                 -- the one that asked for it

-- The upstream branch along its first parents, also commits that were never measured. A force-push drops what it cuts off.
CREATE TABLE line (
	repo          INTEGER NOT NULL REFERENCES repo(id),
	sha           TEXT    NOT NULL,
	place         INTEGER NOT NULL,                -- grows along the branch
	dropped       INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (repo, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX line_by_place ON line(repo, place);

-- A stretch of time in which the figures of a repository stand beside each other: one environment, and one commit of the
-- upstream branch that everything in it is measured against.
CREATE TABLE epoch (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	environment   INTEGER NOT NULL REFERENCES environment(id),
	suite         TEXT    NOT NULL,                -- name
	anchor_sha    TEXT    NOT NULL,
	held_mhz      REAL,                            -- clock that held figures are stated at; NULL: none known
	started_at    INTEGER NOT NULL,
	UNIQUE (repo, environment)
) STRICT;
CREATE INDEX epoch_by_suite ON epoch(repo, suite);

-- One measurement of a commit against its epoch's anchor. A commit's value is the median of its measurements.
CREATE TABLE ratio (
	id            INTEGER PRIMARY KEY,
	epoch         INTEGER NOT NULL REFERENCES epoch(id),
	key           TEXT    NOT NULL,                -- of the cell
	target_sha    TEXT    NOT NULL,
	x             REAL    NOT NULL,                -- ln (time / time of the anchor)
	se            REAL    NOT NULL,
	comparison    INTEGER NOT NULL REFERENCES comparison(id)
) STRICT;
CREATE INDEX ratio_series ON ratio(epoch, key, target_sha, x);

CREATE TABLE change_point (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	epoch         INTEGER NOT NULL REFERENCES epoch(id),
	key           TEXT    NOT NULL,
	kind          TEXT    NOT NULL,                -- step creep
	origin        TEXT    NOT NULL,                -- comparison (seen at once), series (found by looking back)
	before_sha    TEXT    NOT NULL,                -- last commit of the old level (creep: the anchor)
	commit_sha    TEXT    NOT NULL,                -- first of the new one
	step          REAL    NOT NULL,                -- log ratio, positive = slower
	state         TEXT    NOT NULL
	              CHECK (state IN ('candidate', 'placing', 'confirmed', 'dropped')),
	tried         INTEGER NOT NULL DEFAULT 0,      -- pairs of commits compared directly so far
	points        INTEGER NOT NULL DEFAULT 0,      -- of the series when it was found, or dropped
	comparison    INTEGER REFERENCES comparison(id), -- that saw or confirmed it
	found_at      INTEGER NOT NULL,
	decided_at    INTEGER
) STRICT;
CREATE INDEX change_point_by_cell ON change_point(epoch, key);
CREATE INDEX change_point_open ON change_point(state) WHERE state IN ('candidate', 'placing');
CREATE INDEX job_by_change_point ON job(change_point) WHERE change_point IS NOT NULL;

-- Scatter of a cell between launches of equal builds, pooled over comparisons of one environment.
CREATE TABLE calibration (
	id            INTEGER PRIMARY KEY,
	environment   INTEGER NOT NULL REFERENCES environment(id),
	key           TEXT    NOT NULL,
	comparisons   INTEGER NOT NULL DEFAULT 0,      -- of a module with itself
	alarms        INTEGER NOT NULL DEFAULT 0,      -- of them called a regression
	launches      INTEGER NOT NULL DEFAULT 0,
	freedom       INTEGER NOT NULL DEFAULT 0,      -- launches less comparisons
	squares       REAL    NOT NULL DEFAULT 0,      -- of launch estimates around their comparison's mean
	variance      REAL    NOT NULL DEFAULT 0,      -- sum of the variances inside launches
	tau           REAL    NOT NULL DEFAULT 0,      -- scatter that pairing leaves between launches, log ratio
	mde_pct       REAL    NOT NULL DEFAULT 0,      -- smallest loss that all launches of a set would call
	blind         INTEGER NOT NULL DEFAULT 0,      -- cannot see its threshold
	updated_at    INTEGER NOT NULL,
	UNIQUE (environment, key)
) STRICT;
CREATE INDEX comparison_self ON comparison(environment, n_regressions) WHERE kind IN ('selfcheck', 'calibrate');

ALTER TABLE cell ADD COLUMN epoch INTEGER REFERENCES epoch(id);
ALTER TABLE cell ADD COLUMN held_ms REAL;                        -- target's median at the epoch's clock
ALTER TABLE cell ADD COLUMN anchor_change_pct REAL;              -- throughput against the anchor's
ALTER TABLE cell ADD COLUMN anchor_ci_low_pct REAL;
ALTER TABLE cell ADD COLUMN anchor_ci_high_pct REAL;
ALTER TABLE cell ADD COLUMN tau0 REAL;                           -- calibrated; NULL: the rule's
ALTER TABLE cell ADD COLUMN blind_pct REAL NOT NULL DEFAULT 0; -- cannot see its threshold, only losses above this; 0: sees

DROP INDEX cell_history;
CREATE INDEX cell_history ON cell(key, repo, branch, comparison, device, target_sha, finished_at, flops, base_median_ms,
	target_median_ms, change_pct, ci_low_pct, ci_high_pct, verdict, borderline, epoch, held_ms, anchor_change_pct,
	anchor_ci_low_pct, anchor_ci_high_pct);
