-- 0001_init: the tables of flopwatch. Facts are append-only; verdicts and alerts can be derived from them again.
-- Every `_at` is ms since 1970-01-01 UTC. Hashes are lower-case hex. Names of refs are raw bytes percent-encoded (`name`),
-- beside their readable form (`display`), because git allows any byte in them.

CREATE TABLE repo (
	id            INTEGER PRIMARY KEY,
	name          TEXT    NOT NULL UNIQUE,         -- from the configuration
	url           TEXT    NOT NULL,
	is_local      INTEGER NOT NULL,                -- read in place, no mirror
	upstream      TEXT    NOT NULL DEFAULT 'main', -- branch whose merge-base is a branch's base
	state         TEXT    NOT NULL DEFAULT 'new',  -- new ok error gone (no longer configured)
	error         TEXT    NOT NULL DEFAULT '',
	fetched_at    INTEGER,
	created_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE branch_tip (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	name          TEXT    NOT NULL,                -- without refs/heads/
	display       TEXT    NOT NULL,
	commit_sha    TEXT    NOT NULL,
	watched       INTEGER NOT NULL,                -- matches the globs
	gone          INTEGER NOT NULL DEFAULT 0,      -- deleted in git
	seen_at       INTEGER NOT NULL,                -- first time this tip was seen
	UNIQUE (repo, name)
) STRICT;

-- `commit` is a keyword
CREATE TABLE commit_ (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	sha           TEXT    NOT NULL,
	tree          TEXT    NOT NULL,
	first_parent  TEXT    NOT NULL DEFAULT '',
	author        TEXT    NOT NULL DEFAULT '',
	subject       TEXT    NOT NULL DEFAULT '',
	committed_at  INTEGER NOT NULL,
	UNIQUE (repo, sha)
) STRICT;

CREATE TABLE device (
	id            INTEGER PRIMARY KEY,
	uuid          TEXT    NOT NULL UNIQUE,
	kind          TEXT    NOT NULL,                -- cuda cpu sim
	name          TEXT    NOT NULL,
	state         TEXT    NOT NULL DEFAULT 'ok',   -- ok paused quarantined absent
	state_why     TEXT    NOT NULL DEFAULT '',
	driver        TEXT    NOT NULL DEFAULT '',
	toolkit       TEXT    NOT NULL DEFAULT '',
	info          TEXT    NOT NULL DEFAULT '{}',   -- JSON: cores, memory, l2, power limit
	seen_at       INTEGER NOT NULL
) STRICT;

-- What must stay equal for two absolute figures to be comparable.
CREATE TABLE environment (
	id            INTEGER PRIMARY KEY,
	device        INTEGER NOT NULL REFERENCES device(id),
	hash          TEXT    NOT NULL UNIQUE,         -- of all that follows
	driver        TEXT    NOT NULL,
	toolkit       TEXT    NOT NULL,
	suite_sha     TEXT    NOT NULL,
	timing        TEXT    NOT NULL,                -- the timing contract in words
	power_limit_w REAL,
	isolation     TEXT    NOT NULL,                -- bwrap none
	first_at      INTEGER NOT NULL
) STRICT;

CREATE TABLE suite (
	id            INTEGER PRIMARY KEY,
	sha           TEXT    NOT NULL UNIQUE,         -- of the resolved cells
	name          TEXT    NOT NULL,
	text          TEXT    NOT NULL,                -- the file as it was read
	origin        TEXT    NOT NULL                 -- "installed" or "<repo>@<commit>"
) STRICT;

CREATE TABLE build (
	id            INTEGER PRIMARY KEY,
	inputs_hash   TEXT    NOT NULL,                -- tree oids + command + device kind
	toolchain     TEXT    NOT NULL,
	device_kind   TEXT    NOT NULL,
	module_sha    TEXT    NOT NULL DEFAULT '',     -- "" when it failed
	state         TEXT    NOT NULL,                -- ok failed
	exit_status   INTEGER NOT NULL DEFAULT 0,
	exit_signal   INTEGER NOT NULL DEFAULT 0,
	detail        TEXT    NOT NULL DEFAULT '',
	log           BLOB    NOT NULL DEFAULT x'',    -- capped, head and tail
	duration_ms   INTEGER NOT NULL DEFAULT 0,
	built_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX build_by_inputs ON build(inputs_hash, toolchain);

CREATE TABLE job (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	branch        TEXT    NOT NULL DEFAULT '',     -- percent-encoded; "" when asked for by commit
	target_sha    TEXT    NOT NULL,
	base_sha      TEXT    NOT NULL DEFAULT '',     -- "" until resolved
	base_how      TEXT    NOT NULL DEFAULT '',     -- merge-base first-parent last-judged given self
	kind          TEXT    NOT NULL DEFAULT 'change', -- change selfcheck anchor peer bisect
	suite         TEXT    NOT NULL DEFAULT '',     -- name; "" until resolved
	device_kind   TEXT    NOT NULL DEFAULT '',     -- wanted kind; "" any
	cells_glob    TEXT    NOT NULL DEFAULT '',     -- only these cells
	quick         INTEGER NOT NULL DEFAULT 0,
	origin        TEXT    NOT NULL,                -- push api retry
	priority      INTEGER NOT NULL DEFAULT 0,      -- higher first; api 10, push 0
	state         TEXT    NOT NULL DEFAULT 'queued'
	              CHECK (state IN ('queued','sent','building','checking','measuring',
	                               'done','failed','cancelled','superseded','gone')),
	state_why     TEXT    NOT NULL DEFAULT '',
	progress      TEXT    NOT NULL DEFAULT '',     -- JSON: launch, cell, step
	attempt       INTEGER NOT NULL DEFAULT 0,
	nonce         TEXT    NOT NULL DEFAULT '',
	device        INTEGER REFERENCES device(id),
	comparison    INTEGER REFERENCES comparison(id),
	queued_at     INTEGER NOT NULL,
	started_at    INTEGER,
	ended_at      INTEGER
) STRICT;
-- Every index ends in the row's id by itself, so lists "newest first" need no sorting.
CREATE INDEX job_by_state ON job(state);
CREATE INDEX job_by_branch ON job(repo, branch);
CREATE INDEX job_by_target ON job(repo, target_sha);
CREATE INDEX job_served ON job(repo, branch, started_at);  -- who was served longest ago
CREATE INDEX job_served_repo ON job(repo, started_at);

CREATE TABLE job_log (
	id            INTEGER PRIMARY KEY,
	job           INTEGER NOT NULL REFERENCES job(id),
	at            INTEGER NOT NULL,
	line          TEXT    NOT NULL
) STRICT;
CREATE INDEX job_log_by_job ON job_log(job);

CREATE TABLE comparison (
	id            INTEGER PRIMARY KEY,
	job           INTEGER NOT NULL UNIQUE REFERENCES job(id),
	repo          INTEGER NOT NULL REFERENCES repo(id),
	branch        TEXT    NOT NULL DEFAULT '',
	kind          TEXT    NOT NULL,                -- change anchor peer selfcheck bisect
	base_sha      TEXT    NOT NULL,
	base_how      TEXT    NOT NULL DEFAULT '',
	target_sha    TEXT    NOT NULL,
	base_build    INTEGER REFERENCES build(id),
	target_build  INTEGER REFERENCES build(id),
	suite         INTEGER NOT NULL REFERENCES suite(id),
	environment   INTEGER REFERENCES environment(id), -- NULL: nothing ran
	identical_by  TEXT    NOT NULL DEFAULT '',     -- "", tree, module
	verdict       TEXT    NOT NULL,
	n_cells       INTEGER NOT NULL DEFAULT 0,
	n_regressions INTEGER NOT NULL DEFAULT 0,
	worst_pct     REAL,                            -- lowest change of a timed cell, and that cell
	worst_key     TEXT    NOT NULL DEFAULT '',
	gpu_s         REAL    NOT NULL DEFAULT 0,      -- seconds the device was held
	wall_s        REAL    NOT NULL DEFAULT 0,
	finished_at   INTEGER NOT NULL,
	etag          TEXT    NOT NULL DEFAULT '',     -- SHA-256 of body
	-- long values last: lists then read one page a row and never the bodies
	rule          TEXT    NOT NULL,                -- JSON: the constants used
	body          BLOB    NOT NULL DEFAULT x''     -- the JSON that the API serves
) STRICT;
CREATE INDEX comparison_by_repo ON comparison(repo);
CREATE INDEX comparison_by_branch ON comparison(repo, branch);
CREATE INDEX comparison_by_verdict ON comparison(verdict);
CREATE INDEX comparison_by_repo_verdict ON comparison(repo, verdict);
CREATE INDEX comparison_by_branch_verdict ON comparison(repo, branch, verdict);
CREATE INDEX comparison_by_target ON comparison(repo, target_sha);
CREATE INDEX comparison_by_finish ON comparison(finished_at);

CREATE TABLE cell (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	n             INTEGER NOT NULL,                -- order in the suite
	key           TEXT    NOT NULL,
	-- copied from the comparison, because a cell's history is one walk through one index
	repo          INTEGER NOT NULL REFERENCES repo(id),
	branch        TEXT    NOT NULL,
	target_sha    TEXT    NOT NULL,
	device        INTEGER REFERENCES device(id),   -- NULL: nothing ran
	finished_at   INTEGER NOT NULL,
	-- what the key says, since nobody parses keys
	group_        TEXT    NOT NULL DEFAULT '',     -- dense block_sparse: the table it is shown in
	mask          TEXT    NOT NULL DEFAULT '',
	direction     TEXT    NOT NULL DEFAULT '',
	seqlen        INTEGER NOT NULL DEFAULT 0,
	block         INTEGER NOT NULL DEFAULT 0,
	sparsity_ratio REAL   NOT NULL DEFAULT 0,
	series        TEXT    NOT NULL DEFAULT 'device', -- the one that decides
	input_sha     TEXT    NOT NULL DEFAULT '',
	flops         REAL,                            -- useful; NULL for foreign benchmarks
	threshold_pct REAL    NOT NULL,
	m             REAL,                            -- log time ratio, positive = slower
	m_raw         REAL,                            -- without the clock adjustment
	se            REAL,
	beta          REAL,
	launches      INTEGER NOT NULL DEFAULT 0,
	samples       INTEGER NOT NULL DEFAULT 0,      -- calls of each side
	base_median_ms   REAL,
	target_median_ms REAL,
	change_pct    REAL,                            -- of throughput, negative = slower
	ci_low_pct    REAL,
	ci_high_pct   REAL,
	mde_pct       REAL,
	verdict       TEXT    NOT NULL,
	failure       TEXT    NOT NULL DEFAULT '',     -- class when failed
	reason        TEXT    NOT NULL DEFAULT '',
	borderline    INTEGER NOT NULL DEFAULT 0,
	tail          INTEGER NOT NULL DEFAULT 0,
	UNIQUE (comparison, key)
) STRICT;
-- Holds every column that a history shows: ten thousand points without one look into the table.
CREATE INDEX cell_history ON cell(key, repo, branch, comparison, device, target_sha, finished_at, flops, base_median_ms,
	target_median_ms, change_pct, ci_low_pct, ci_high_pct, verdict, borderline);

CREATE TABLE launch (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	n             INTEGER NOT NULL,
	set_          INTEGER NOT NULL,                -- 1, or 2 for the confirming set
	seed          INTEGER NOT NULL,
	UNIQUE (comparison, n)
) STRICT;

-- One subject's calls of one cell in one launch and series. (d, q) stand on the target's row and outlive the raw blob.
CREATE TABLE sample (
	id            INTEGER PRIMARY KEY,
	launch        INTEGER NOT NULL REFERENCES launch(id),
	cell          INTEGER NOT NULL REFERENCES cell(id),
	subject       TEXT    NOT NULL,                -- role
	series        TEXT    NOT NULL,                -- device call phase sustained
	phase         TEXT    NOT NULL DEFAULT '',
	n             INTEGER NOT NULL,
	ms            BLOB,                            -- float32 [n], in order of pairs; NULL when thinned
	mhz           BLOB,                            -- float32 [n] or NULL
	host_us       BLOB,                            -- float32 [n] or NULL
	order_        TEXT    NOT NULL DEFAULT '',
	d             REAL,
	q             REAL,
	d_raw         REAL,                            -- d without the clock adjustment
	guard         TEXT    NOT NULL DEFAULT '',     -- JSON
	UNIQUE (launch, cell, subject, series, phase)
) STRICT;
CREATE INDEX sample_by_cell ON sample(cell, series);
CREATE INDEX sample_raw ON sample(launch) WHERE ms IS NOT NULL; -- what thinning has still to do

-- Any other number of a thing: error_ratio, flops_issued, registers, host_us ...
CREATE TABLE metric (
	id            INTEGER PRIMARY KEY,
	owner_kind    TEXT    NOT NULL,                -- cell build comparison device
	owner         INTEGER NOT NULL,
	name          TEXT    NOT NULL,                -- "base.error_ratio"
	unit          TEXT    NOT NULL,
	value         REAL    NOT NULL,
	UNIQUE (owner_kind, owner, name)
) STRICT;

-- Text or bytes that belong to a thing: graph nodes as JSON, a trace.
CREATE TABLE artifact (
	id            INTEGER PRIMARY KEY,
	owner_kind    TEXT    NOT NULL,
	owner         INTEGER NOT NULL,
	kind          TEXT    NOT NULL,                -- nodes
	sha           TEXT    NOT NULL,
	bytes         BLOB    NOT NULL,
	UNIQUE (owner_kind, owner, kind)
) STRICT;

CREATE TABLE alert (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	branch        TEXT    NOT NULL DEFAULT '',
	target_sha    TEXT    NOT NULL,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	state         TEXT    NOT NULL DEFAULT 'open'
	              CHECK (state IN ('open','acknowledged','accepted','resolved','invalid')),
	cells         TEXT    NOT NULL,                -- JSON array of {cell, change_pct, borderline}
	worst_pct     REAL    NOT NULL,
	opened_at     INTEGER NOT NULL,
	changed_at    INTEGER NOT NULL,
	UNIQUE (repo, target_sha)
) STRICT;
CREATE INDEX alert_by_state ON alert(state);
CREATE INDEX alert_by_branch ON alert(repo, branch);

CREATE TABLE alert_event (
	id            INTEGER PRIMARY KEY,
	alert         INTEGER NOT NULL REFERENCES alert(id),
	at            INTEGER NOT NULL,
	who           TEXT    NOT NULL,
	state         TEXT    NOT NULL,
	reason        TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX alert_event_by_alert ON alert_event(alert);

-- Deliveries, written in the verdict's own transaction.
CREATE TABLE outbox (
	id            INTEGER PRIMARY KEY,
	kind          TEXT    NOT NULL,                -- webhook status
	target        TEXT    NOT NULL,                -- name of the receiver in the configuration
	payload       TEXT    NOT NULL,                -- JSON
	state         TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting','sent','failed')),
	attempts      INTEGER NOT NULL DEFAULT 0,
	next_at       INTEGER NOT NULL,
	last_error    TEXT    NOT NULL DEFAULT '',
	created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_due ON outbox(state, next_at);

-- What changed, for /events and for people: job.*, alert.*, device.*, epoch.*
CREATE TABLE event (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	at            INTEGER NOT NULL,
	kind          TEXT    NOT NULL,
	payload       TEXT    NOT NULL                 -- JSON
) STRICT;

-- Webhook deliveries seen, so that a replay starts nothing.
CREATE TABLE delivery (
	id            TEXT    NOT NULL PRIMARY KEY,
	at            INTEGER NOT NULL
) STRICT;
