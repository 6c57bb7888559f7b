-- The tables of flopwatch, version 1. Facts are append-only; verdicts and alerts can be derived from them again.
-- Every `_at` is ms since 1970-01-01 UTC. Hashes are lower-case hex. Names of refs are raw bytes percent-encoded (`name`),
-- beside their readable form (`display`), because git allows any byte in them. doc/schema.md draws how the tables hang together.

-- ---- what is watched ------------------------------------------------------------------------------------------------

CREATE TABLE repo (
	id             INTEGER PRIMARY KEY,
	name           TEXT    NOT NULL UNIQUE,         -- from the configuration
	url            TEXT    NOT NULL,
	is_local       INTEGER NOT NULL,                -- read in place, no mirror
	upstream       TEXT    NOT NULL DEFAULT 'main', -- branch whose merge-base is a branch's base
	state          TEXT    NOT NULL DEFAULT 'new',  -- new ok error gone (no longer configured)
	error          TEXT    NOT NULL DEFAULT '',
	fetch_failures INTEGER NOT NULL DEFAULT 0,      -- how often it could not be read
	fetched_at     INTEGER,
	turns          INTEGER NOT NULL DEFAULT 0,      -- jobs of it that were begun: every other one goes to who came last
	created_at     INTEGER NOT NULL
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

CREATE TABLE git_commit (
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

-- The upstream branch along its first parents, also commits that were never measured. A force-push drops what it cuts off.
CREATE TABLE mainline (
	repo          INTEGER NOT NULL REFERENCES repo(id),
	sha           TEXT    NOT NULL,
	place         INTEGER NOT NULL,                -- grows along the branch
	dropped       INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (repo, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX mainline_by_place ON mainline(repo, place);

-- ---- what measures --------------------------------------------------------------------------------------------------

-- What devices have to share for figures of one to stand beside those of another. Queue, calibration and history belong to it.
CREATE TABLE device_class (
	id            INTEGER PRIMARY KEY,
	hash          TEXT    NOT NULL UNIQUE,         -- of all that follows
	kind          TEXT    NOT NULL,                -- cuda cpu sim
	model         TEXT    NOT NULL,                -- "NVIDIA H200, 132 SMs, 140 GiB": what no setting changes
	power_limit_w REAL    NOT NULL,                -- 0: unknown
	driver        TEXT    NOT NULL,
	toolkit       TEXT    NOT NULL
) STRICT;
CREATE INDEX device_class_by_model ON device_class(model);

CREATE TABLE device (
	id            INTEGER PRIMARY KEY,
	uuid          TEXT    NOT NULL UNIQUE,
	kind          TEXT    NOT NULL,                -- cuda cpu sim
	name          TEXT    NOT NULL,
	state         TEXT    NOT NULL DEFAULT 'ok',   -- ok paused quarantined absent
	state_why     TEXT    NOT NULL DEFAULT '',
	state_at      INTEGER NOT NULL DEFAULT 0,      -- when it came into that state; what people answered since is not told again
	driver        TEXT    NOT NULL DEFAULT '',
	toolkit       TEXT    NOT NULL DEFAULT '',
	cudnn         TEXT    NOT NULL DEFAULT '',     -- "9.13.0"; "" none was found
	class         INTEGER NOT NULL REFERENCES device_class(id), -- as it is set up now
	stands_out    TEXT    NOT NULL DEFAULT '',     -- in what it does not fit its class; "" it fits
	info          TEXT    NOT NULL DEFAULT '{}',   -- JSON: cores, memory, l2, power limit
	seen_at       INTEGER NOT NULL,
	last_launch   INTEGER NOT NULL DEFAULT 0,      -- the newest that measured on it; 0 none
	worker        TEXT    NOT NULL DEFAULT '',     -- that last said it has it
	host          TEXT    NOT NULL DEFAULT '',     -- the machine that it is in, as that worker calls it
	on_call       INTEGER NOT NULL DEFAULT 0       -- the worker has it only while a scheduler gives it
) STRICT;
CREATE INDEX device_by_class ON device(class);

-- How long a device's clocks were held back while something was timed on it, by the reason that its driver gave.
CREATE TABLE device_throttle (
	device        INTEGER NOT NULL REFERENCES device(id),
	reason        TEXT    NOT NULL,                -- sw_power_cap hw_slowdown sync_boost sw_thermal hw_thermal hw_power_brake display_clocks
	seconds       REAL    NOT NULL,                -- only ever grows
	PRIMARY KEY (device, reason)
) STRICT, WITHOUT ROWID;

-- What must stay equal for two absolute figures to be comparable.
CREATE TABLE environment (
	id            INTEGER PRIMARY KEY,
	class         INTEGER NOT NULL REFERENCES device_class(id),
	hash          TEXT    NOT NULL UNIQUE,         -- of all that follows
	driver        TEXT    NOT NULL,                -- these and the power limit are its class's
	toolkit       TEXT    NOT NULL,
	cudnn         TEXT    NOT NULL DEFAULT '',     -- a provider may be NVIDIA's own attention
	cublas        TEXT    NOT NULL DEFAULT '',
	image         TEXT    NOT NULL DEFAULT '',     -- "debian 12.5, glibc 2.36": what the worker's system is
	vbios         TEXT    NOT NULL DEFAULT '',
	suite_sha     TEXT    NOT NULL,
	timing        TEXT    NOT NULL,                -- the timing contract in words
	power_limit_w REAL,
	isolation     TEXT    NOT NULL,                -- bwrap none
	first_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX environment_by_class ON environment(class);

CREATE TABLE suite (
	id            INTEGER PRIMARY KEY,
	sha           TEXT    NOT NULL UNIQUE,         -- of the resolved cells
	name          TEXT    NOT NULL,
	text          TEXT    NOT NULL,                -- the file as it was read
	origin        TEXT    NOT NULL,                -- "installed" or "<repo>@<commit>"
	cells         INTEGER NOT NULL DEFAULT 0,      -- of a suite that is measured in parts; else 0
	parts         INTEGER NOT NULL DEFAULT 1,      -- part 0 on a push, the others at night
	nights        INTEGER NOT NULL DEFAULT 0       -- in which all of them are to be measured
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

-- ---- what is to be measured -----------------------------------------------------------------------------------------

CREATE TABLE job (
	id              INTEGER PRIMARY KEY,
	repo            INTEGER NOT NULL REFERENCES repo(id),
	branch          TEXT    NOT NULL DEFAULT '',     -- percent-encoded; "" when asked for by commit
	target_sha      TEXT    NOT NULL,
	base_sha        TEXT    NOT NULL DEFAULT '',     -- "" until resolved
	base_how        TEXT    NOT NULL DEFAULT '',     -- merge-base first-parent last-judged last-night given self
	base_name       TEXT    NOT NULL DEFAULT '',     -- what a person called the sides: a branch, or the beginning of a commit
	target_name     TEXT    NOT NULL DEFAULT '',
	base_provider   TEXT    NOT NULL DEFAULT '',     -- "": the module's default; a comparison of two providers is of kind peer
	target_provider TEXT    NOT NULL DEFAULT '',
	base_config     TEXT    NOT NULL DEFAULT '',     -- what a person wants its provider to run; "": it chooses. Such a comparison is of kind pinned
	target_config   TEXT    NOT NULL DEFAULT '',
	base_toolchain  TEXT    NOT NULL DEFAULT '',     -- folder of compilers that builds it; "": the worker's own. Such a comparison is of kind environment
	target_toolchain TEXT   NOT NULL DEFAULT '',
	base_flags      TEXT    NOT NULL DEFAULT '',     -- words that its compilers get last
	target_flags    TEXT    NOT NULL DEFAULT '',
	base_module     TEXT    NOT NULL DEFAULT '',     -- that was built before and is taken as it was kept; "": it is built
	base_made_by    TEXT    NOT NULL DEFAULT '',     -- toolchain that built it
	kind            TEXT    NOT NULL DEFAULT 'change', -- change selfcheck anchor verify backfill calibrate bisect peer pinned environment import profile
	suite           TEXT    NOT NULL DEFAULT '',     -- name; "" until resolved
	device_kind     TEXT    NOT NULL DEFAULT '',     -- wanted kind; "" any
	device_uuid     TEXT    NOT NULL DEFAULT '',     -- wanted device; "" any
	device_class    INTEGER REFERENCES device_class(id), -- wanted class; NULL any
	threshold_pct   REAL,                            -- in place of the suite's; NULL: the suite's
	quick           INTEGER NOT NULL DEFAULT 0,
	some_cells      INTEGER NOT NULL DEFAULT 0,      -- only those that job_cell names
	every_cell      INTEGER NOT NULL DEFAULT 0,      -- of a profile: all of these, instead of the three largest
	part            INTEGER NOT NULL DEFAULT 0,      -- of its suite: 0 what a push measures, all of most suites
	origin          TEXT    NOT NULL,                -- push api retry bisect epoch environment trend backfill remeasure import idle again alert night
	priority        INTEGER NOT NULL DEFAULT 0,      -- higher first; api 10, push 0, profile -6
	plan            INTEGER NOT NULL DEFAULT 0,      -- first job of those asked for together; 0: this suite alone was asked for
	change_point    INTEGER,                         -- the one that asked for it
	again_of        INTEGER REFERENCES job(id),      -- the one that this asks again
	again_at        INTEGER,                         -- when it is to be asked again; NULL: it is not
	state           TEXT    NOT NULL DEFAULT 'queued'
	                CHECK (state IN ('queued','sent','building','checking','measuring',
	                                 'done','failed','cancelled','superseded','gone')),
	state_why       TEXT    NOT NULL DEFAULT '',
	progress        TEXT    NOT NULL DEFAULT '',     -- JSON: launch, cell, step
	attempt         INTEGER NOT NULL DEFAULT 0,
	nonce           TEXT    NOT NULL DEFAULT '',
	device          INTEGER REFERENCES device(id),
	queued_at       INTEGER NOT NULL,
	started_at      INTEGER,
	ended_at        INTEGER
) STRICT;
-- Every index ends in the row's id by itself, so lists "newest first" need no sorting.
CREATE INDEX job_by_state ON job(state);
CREATE INDEX job_by_branch ON job(repo, branch);
CREATE INDEX job_by_target ON job(repo, target_sha);
CREATE INDEX job_by_plan ON job(plan) WHERE plan > 0;
CREATE INDEX job_by_part ON job(repo, suite, part) WHERE part > 0;
CREATE INDEX job_by_end ON job(ended_at);                  -- what ended in one transaction, such as all that a push has superseded
CREATE INDEX job_by_change_point ON job(change_point) WHERE change_point IS NOT NULL;
CREATE INDEX job_served ON job(repo, branch, started_at);  -- who was served longest ago
CREATE INDEX job_served_repo ON job(repo, started_at);
CREATE INDEX job_calibrates ON job(repo, device_uuid) WHERE kind = 'calibrate';
CREATE INDEX job_again ON job(again_at) WHERE again_at IS NOT NULL;
CREATE UNIQUE INDEX job_again_of ON job(again_of) WHERE again_of IS NOT NULL;

-- Which cells a job is about, where it is about some: keys, or globs over them.
CREATE TABLE job_cell (
	job           INTEGER NOT NULL REFERENCES job(id),
	n             INTEGER NOT NULL,
	word          TEXT    NOT NULL,
	PRIMARY KEY (job, n)
) STRICT, WITHOUT ROWID;

-- Peers that the manifest of a job's base names.
CREATE TABLE job_peer (
	job           INTEGER NOT NULL REFERENCES job(id),
	n             INTEGER NOT NULL,
	word          TEXT    NOT NULL,                -- cudnn@cuda naive
	PRIMARY KEY (job, n)
) STRICT, WITHOUT ROWID;

-- What a job's sides are built from, where builds have allocations of their own, until it has ended. No row: nobody has looked yet.
CREATE TABLE job_source (
	job           INTEGER NOT NULL REFERENCES job(id),
	source        TEXT    NOT NULL,                -- SHA-256 over inputs, command and compilers wished for; "" always
	PRIMARY KEY (job, source)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER job_source_end AFTER UPDATE OF state ON job WHEN NEW.state IN ('done', 'failed', 'cancelled', 'superseded', 'gone') BEGIN
	DELETE FROM job_source WHERE job = NEW.id;
END;

-- Sources whose module lies in the cache that a worker's allocations share. It may be gone: then it is built where it is measured.
CREATE TABLE kept_build (
	worker        TEXT    NOT NULL,
	source        TEXT    NOT NULL,                -- as in job_source
	made_by       TEXT    NOT NULL,                -- compilers, system and isolation of the machine that built it
	used_at       INTEGER NOT NULL,
	PRIMARY KEY (worker, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_log (
	id            INTEGER PRIMARY KEY,
	job           INTEGER NOT NULL REFERENCES job(id),
	at            INTEGER NOT NULL,
	line          TEXT    NOT NULL
) STRICT;
CREATE INDEX job_log_by_job ON job_log(job);

-- ---- what was measured ----------------------------------------------------------------------------------------------

CREATE TABLE comparison (
	id            INTEGER PRIMARY KEY,
	job           INTEGER NOT NULL UNIQUE REFERENCES job(id),
	repo          INTEGER NOT NULL REFERENCES repo(id),
	branch        TEXT    NOT NULL DEFAULT '',
	kind          TEXT    NOT NULL,                -- as the job's
	base_sha      TEXT    NOT NULL,
	base_how      TEXT    NOT NULL DEFAULT '',
	target_sha    TEXT    NOT NULL,
	base_build    INTEGER REFERENCES build(id),
	target_build  INTEGER REFERENCES build(id),
	suite         INTEGER NOT NULL REFERENCES suite(id),
	environment   INTEGER REFERENCES environment(id), -- NULL: nothing ran
	device        INTEGER REFERENCES device(id),   -- likewise; of several the first
	identical_by  TEXT    NOT NULL DEFAULT '',     -- "", tree, module
	verdict       TEXT    NOT NULL,
	n_cells       INTEGER NOT NULL DEFAULT 0,
	n_regressions INTEGER NOT NULL DEFAULT 0,
	worst_pct     REAL,                            -- lowest change of a timed cell, and that cell
	worst_key     TEXT    NOT NULL DEFAULT '',
	gpu_s         REAL    NOT NULL DEFAULT 0,      -- seconds the device was held
	wall_s        REAL    NOT NULL DEFAULT 0,
	finished_at   INTEGER NOT NULL,
	is_raw        INTEGER NOT NULL DEFAULT 1,      -- its times are in `sample`
	etag          TEXT    NOT NULL DEFAULT '',     -- SHA-256 of the body
	-- long values last: lists then read one page a row and never the bodies
	rule          TEXT    NOT NULL,                -- JSON: the constants used
	body_len      INTEGER NOT NULL DEFAULT 0,      -- unpacked
	body          BLOB    NOT NULL DEFAULT x''     -- the JSON that the API serves, a frame of LZ4
) STRICT;
CREATE INDEX comparison_by_repo ON comparison(repo);
CREATE INDEX comparison_by_branch ON comparison(repo, branch);
CREATE INDEX comparison_by_verdict ON comparison(verdict);
CREATE INDEX comparison_by_repo_verdict ON comparison(repo, verdict);
CREATE INDEX comparison_by_branch_verdict ON comparison(repo, branch, verdict);
CREATE INDEX comparison_by_target ON comparison(repo, target_sha);
CREATE INDEX comparison_by_pair ON comparison(repo, target_sha, base_sha); -- a measurement of two commits, whoever asked for it
CREATE INDEX comparison_by_finish ON comparison(finished_at);
CREATE INDEX comparison_of_itself ON comparison(device) WHERE kind IN ('selfcheck', 'calibrate');
CREATE INDEX comparison_raw ON comparison(finished_at) WHERE is_raw;       -- what is to be archived, in its order
CREATE INDEX comparison_peer ON comparison(repo, environment) WHERE kind = 'peer';

-- What a case is, the same in every comparison of it. Written once.
CREATE TABLE form (
	id            INTEGER PRIMARY KEY,
	shape         TEXT    NOT NULL,                -- canonical JSON; '' of foreign benchmarks
	line          TEXT    NOT NULL,                -- what cells share whose times lie on a line over their pieces
	pieces        REAL    NOT NULL,                -- that the work consists of: kept blocks
	baseline      TEXT    NOT NULL,                -- key of the cell beside which it is shown
	UNIQUE (shape, line, pieces, baseline)
) STRICT;

CREATE TABLE cell (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	n             INTEGER NOT NULL,                -- order in the suite
	key           TEXT    NOT NULL,
	-- copied from the comparison, because a cell's history is one walk through one index
	repo          INTEGER NOT NULL REFERENCES repo(id),
	branch        TEXT    NOT NULL,
	target_sha    TEXT    NOT NULL,
	device        INTEGER REFERENCES device(id),   -- that its first set was timed on; NULL: nothing ran
	confirmed_on  INTEGER REFERENCES device(id),   -- that its confirming set was timed on; NULL: on the same, or there is none
	finished_at   INTEGER NOT NULL,
	-- what the key says, since nobody parses keys; its family has said it
	form          INTEGER NOT NULL REFERENCES form(id),
	suite_group   TEXT    NOT NULL DEFAULT '',     -- the table it is shown in
	title         TEXT    NOT NULL DEFAULT '',     -- of its row there, without the size
	size          INTEGER NOT NULL DEFAULT 0,      -- the number that grows along cells of one title
	direction     TEXT    NOT NULL DEFAULT '',
	series        TEXT    NOT NULL DEFAULT 'device', -- the one that decides
	input_sha     TEXT    NOT NULL DEFAULT '',
	flops         REAL,                            -- useful, by which it is shown to be fast; NULL where it is not
	bytes         REAL,                            -- likewise
	threshold_pct REAL    NOT NULL,
	-- what its launches say
	m             REAL,                            -- log time ratio of wall time, positive = slower
	m_raw         REAL,                            -- of the raw pairs
	m_code        REAL,                            -- at equal clocks
	se            REAL,
	se_clock      REAL,                            -- how well the rest is known, which is what the branch does to the clock
	beta          REAL,
	launches      INTEGER NOT NULL DEFAULT 0,
	samples       INTEGER NOT NULL DEFAULT 0,      -- calls of each side
	base_median_ms   REAL,
	target_median_ms REAL,
	change_pct    REAL,                            -- of throughput, negative = slower
	ci_low_pct    REAL,
	ci_high_pct   REAL,
	mde_pct       REAL,
	tau0          REAL,                            -- calibrated; NULL: the rule's
	nu0           REAL,                            -- in how many launches tau0 was seen; NULL: it comes beside what pairs say
	blind_pct     REAL NOT NULL DEFAULT 0,         -- cannot see its threshold, only losses above this; 0: sees
	-- the change of the mean call, where slow calls became more or less frequent; NULL: they are as before
	mean_m        REAL,                            -- log ratio of the mean call's times
	mean_se       REAL,
	slow_base     REAL,                            -- share of calls that are slow, of the cell or of those that run the same kernel together
	slow_target   REAL,
	slow_longer   REAL,                            -- than the typical call, as a share of it, on the side that has more of them
	-- what was decided, and the change that the verdict stands for: alerts, searches and acceptances go by it
	verdict       TEXT    NOT NULL,
	failure       TEXT    NOT NULL DEFAULT '',     -- class when failed
	reason        TEXT    NOT NULL DEFAULT '',
	flags         INTEGER NOT NULL DEFAULT 0,      -- bits of daemon/core/verdict/flag.h
	decided_by    TEXT    NOT NULL DEFAULT '',     -- pairs sustained mean
	decided_m     REAL,
	decided_se    REAL,
	decided_pct   REAL,
	-- its place in the history
	epoch         INTEGER REFERENCES epoch(id),
	held_ms       REAL,                            -- target's median at the epoch's clock
	point         BLOB,                            -- what its history shows (db/store/cell_columns.h), throughput against the anchor's there alone
	UNIQUE (comparison, key)
) STRICT;
-- Holds all that a history shows: ten thousand points without one look into the table.
CREATE INDEX cell_history ON cell(key, repo, branch, comparison, device, target_sha, finished_at, target_median_ms, verdict, point);

CREATE TABLE launch (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	n             INTEGER NOT NULL,
	set_number    INTEGER NOT NULL,                -- 1, or 2 for the confirming set
	seed          INTEGER NOT NULL,
	UNIQUE (comparison, n)
) STRICT;

-- What is timed: one subject in one series and phase. Written once.
CREATE TABLE sample_kind (
	id            INTEGER PRIMARY KEY,
	series        TEXT    NOT NULL,                -- device call phase sustained process
	phase         TEXT    NOT NULL,                -- of series phase; "" of the others
	subject       TEXT    NOT NULL,                -- role: base target anchor
	UNIQUE (series, phase, subject)
) STRICT;

-- One subject's calls of one cell in one launch and series. What the launch says of the pair, and what the device was seen doing,
-- stand on the target's row; the estimates outlive the times.
CREATE TABLE sample (
	cell          INTEGER NOT NULL REFERENCES cell(id),
	launch        INTEGER NOT NULL REFERENCES launch(id),
	kind          INTEGER NOT NULL REFERENCES sample_kind(id),
	n             INTEGER NOT NULL,
	call_order    TEXT    NOT NULL DEFAULT '',
	d             REAL,                            -- log time ratio at equal clocks, its variance, and the raw one
	q             REAL,
	d_raw         REAL,
	z             REAL,                            -- log ratio of clocks, and its variance
	z_q           REAL,
	beta          REAL,
	beta_q        REAL,
	power_w       REAL,                            -- -1: unknown, in all of these
	temp_c        REAL,
	sm_mhz        REAL,
	reasons       INTEGER,                         -- why clocks were held back, bits of NVML
	foreign_processes INTEGER,
	xid           INTEGER,                         -- last one since the reading before; 0: none
	ecc           INTEGER,                         -- memory errors since then that were not corrected
	energy_j      REAL,
	regime        TEXT,                            -- boost power_limited ""
	ms            BLOB,                            -- float32 [n], in order of pairs; NULL when archived or gone
	mhz           BLOB,                            -- float32 [n] or NULL
	host_us       BLOB,                            -- float32 [n] or NULL
	PRIMARY KEY (cell, launch, kind)
) STRICT, WITHOUT ROWID;

-- Where a comparison's times are that are no longer in `sample`: a frame of samples/MONTH.zst, beside the database (db/archive/archived.h).
CREATE TABLE archived (
	comparison    INTEGER PRIMARY KEY REFERENCES comparison(id),
	month         TEXT    NOT NULL,                -- "2026-10": in which it finished
	at            INTEGER NOT NULL,                -- the frame's first byte in that file
	bytes         INTEGER NOT NULL
) STRICT;
CREATE INDEX archived_by_place ON archived(month, at);

-- What was counted of a cell's slow calls in one set of launches. Outlives the samples, so that a cell can be judged again beside its group.
CREATE TABLE slow_calls (
	cell           INTEGER NOT NULL REFERENCES cell(id),
	set_number     INTEGER NOT NULL,
	launches       INTEGER NOT NULL,
	calls          INTEGER NOT NULL, -- of each side
	base           INTEGER NOT NULL, -- slow ones
	base_longer    REAL    NOT NULL, -- by what share they are longer than the typical call: sum, and sum of squares
	base_squares   REAL    NOT NULL,
	base_spread    REAL    NOT NULL, -- slow^2 / calls of each launch, summed
	target         INTEGER NOT NULL,
	target_longer  REAL    NOT NULL,
	target_squares REAL    NOT NULL,
	target_spread  REAL    NOT NULL,
	PRIMARY KEY (cell, set_number)
) STRICT, WITHOUT ROWID;

-- Any other number of a cell: error_ratio, flops_issued, registers, host_us ... Its name is written once.
CREATE TABLE metric_name (
	id            INTEGER PRIMARY KEY,
	name          TEXT    NOT NULL,                -- "base.error_ratio"
	unit          TEXT    NOT NULL,
	UNIQUE (name, unit)
) STRICT;
CREATE TABLE metric (
	cell          INTEGER NOT NULL REFERENCES cell(id),
	name          INTEGER NOT NULL REFERENCES metric_name(id),
	n             INTEGER NOT NULL,                -- in the order in which they were found
	value         REAL    NOT NULL,
	PRIMARY KEY (cell, name)
) STRICT, WITHOUT ROWID;

-- Text or bytes that belong to a thing: graph nodes as JSON, a trace.
CREATE TABLE artifact (
	id            INTEGER PRIMARY KEY,
	owner_kind    TEXT    NOT NULL,                -- cell comparison device
	owner         INTEGER NOT NULL,
	kind          TEXT    NOT NULL,                -- nodes nodes_changed tried notes costs place
	sha           TEXT    NOT NULL,
	bytes         BLOB    NOT NULL,
	UNIQUE (owner_kind, owner, kind)
) STRICT;

-- What a comparison says of how a cell's launches scatter where nothing changed. Pooled when it is asked for, so that it ages and can be
-- forgotten.
CREATE TABLE scatter (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	repo          INTEGER NOT NULL REFERENCES repo(id),
	environment   INTEGER NOT NULL REFERENCES environment(id),
	key           TEXT    NOT NULL,                -- of the cell
	at            INTEGER NOT NULL,
	itself        INTEGER NOT NULL,                -- a module with itself
	alarm         INTEGER NOT NULL,                -- which called the cell a regression
	launches      INTEGER NOT NULL,
	freedom       INTEGER NOT NULL,                -- launches less one
	squares       REAL    NOT NULL,                -- of launch estimates around their mean
	variance      REAL    NOT NULL                 -- sum of the variances inside launches
) STRICT;
CREATE INDEX scatter_of_cell ON scatter(environment, key, repo);
CREATE INDEX scatter_of_repo ON scatter(repo, key);

-- ---- history --------------------------------------------------------------------------------------------------------

-- A stretch of time in which the figures of a repository stand beside each other: one environment, and one commit of the
-- upstream branch that everything in it is measured against.
CREATE TABLE epoch (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	environment   INTEGER NOT NULL REFERENCES environment(id),
	suite         TEXT    NOT NULL,                -- name
	first_sha     TEXT    NOT NULL DEFAULT '',     -- the anchor that it began with, which its ratios are stated against
	anchor_sha    TEXT    NOT NULL,                -- that commits are measured against now
	held_mhz      REAL,                            -- clock that held figures are stated at; NULL: none known
	started_at    INTEGER NOT NULL,
	UNIQUE (repo, environment)
) STRICT;
CREATE INDEX epoch_by_suite ON epoch(repo, suite);

-- One measurement of a commit against its epoch's anchor. A commit's value is the median of its measurements.
CREATE TABLE ratio (
	epoch         INTEGER NOT NULL REFERENCES epoch(id),
	key           TEXT    NOT NULL,                -- of the cell
	target_sha    TEXT    NOT NULL,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	x             REAL    NOT NULL,                -- ln (time / time of the anchor)
	se            REAL    NOT NULL,
	PRIMARY KEY (epoch, key, target_sha, comparison)
) STRICT, WITHOUT ROWID;

-- A later anchor against the first one of its epoch: ratios measured against it are moved by x, and carry its error.
CREATE TABLE anchor_link (
	epoch         INTEGER NOT NULL REFERENCES epoch(id),
	anchor_sha    TEXT    NOT NULL,
	key           TEXT    NOT NULL,                -- of the cell
	x             REAL    NOT NULL,                -- ln (time / time of the first anchor)
	se            REAL    NOT NULL,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	PRIMARY KEY (epoch, anchor_sha, key)
) STRICT, WITHOUT ROWID;

-- What the anchor of an epoch last took on one device, at the epoch's clock: by it a device is held against its class.
CREATE TABLE anchor_time (
	device        INTEGER NOT NULL REFERENCES device(id),
	epoch         INTEGER NOT NULL REFERENCES epoch(id),
	key           TEXT    NOT NULL,                -- of the cell
	ln_ms         REAL    NOT NULL,                -- of the first anchor
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	PRIMARY KEY (epoch, key, device)
) STRICT, WITHOUT ROWID;
CREATE INDEX anchor_time_of_device ON anchor_time(device, epoch);

-- In which epoch a device measured last.
CREATE TABLE standing (
	device        INTEGER NOT NULL REFERENCES device(id),
	repo          INTEGER NOT NULL REFERENCES repo(id),
	suite         TEXT    NOT NULL,                -- name
	epoch         INTEGER NOT NULL REFERENCES epoch(id),
	PRIMARY KEY (device, repo, suite)
) STRICT, WITHOUT ROWID;

-- What is around a device is not what it was when it measured last. A commit is built anew beside the module that it had, and the anchor is
-- timed again.
CREATE TABLE environment_change (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	suite         TEXT    NOT NULL,                -- name
	device        INTEGER NOT NULL REFERENCES device(id),
	epoch         INTEGER NOT NULL REFERENCES epoch(id), -- that it ended
	was_hash      TEXT    NOT NULL,                -- of what was around the device
	is_hash       TEXT    NOT NULL,                -- and is; '': it was over before it was measured, or another device measures it
	changed       TEXT    NOT NULL,                -- JSON: [{what, from, to}]
	is_outside    INTEGER NOT NULL,                -- something changed that no build can show
	paired_job    INTEGER REFERENCES job(id),      -- NULL: no module of before is known, or no build changes
	unpaired_job  INTEGER REFERENCES job(id),
	paired        INTEGER REFERENCES comparison(id), -- that measured it; NULL: not yet
	unpaired      INTEGER REFERENCES comparison(id),
	alert         INTEGER REFERENCES alert(id),    -- that tells of it; NULL: none
	seen_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX environment_change_last ON environment_change(repo, suite, device);
CREATE INDEX environment_change_paired ON environment_change(paired_job) WHERE paired_job IS NOT NULL;
CREATE INDEX environment_change_unpaired ON environment_change(unpaired_job) WHERE unpaired_job IS NOT NULL;

-- What such a change did to one cell.
CREATE TABLE environment_effect (
	key           TEXT    NOT NULL,                -- of the cell
	change        INTEGER NOT NULL REFERENCES environment_change(id),
	is_paired     INTEGER NOT NULL,
	change_pct    REAL    NOT NULL,                -- of throughput, negative = slower
	ci_low_pct    REAL,                            -- NULL: not paired
	ci_high_pct   REAL,
	before_ms     REAL,
	after_ms      REAL,
	PRIMARY KEY (key, change, is_paired)
) STRICT, WITHOUT ROWID;

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
	level         REAL,                            -- of the series before it; creep: what was expected
	state         TEXT    NOT NULL
	              CHECK (state IN ('candidate', 'placing', 'confirmed', 'dropped')),
	tried         INTEGER NOT NULL DEFAULT 0,      -- pairs of commits compared directly so far
	points        INTEGER NOT NULL DEFAULT 0,      -- of the series when it was found, or dropped
	comparison    INTEGER REFERENCES comparison(id), -- that saw or confirmed it
	alert         INTEGER REFERENCES alert(id),    -- that tells of it
	found_at      INTEGER NOT NULL,
	decided_at    INTEGER,
	ended_at      INTEGER                          -- later commits made up for it
) STRICT;
CREATE INDEX change_point_by_cell ON change_point(epoch, key);
CREATE INDEX change_point_by_key ON change_point(key, repo);
CREATE INDEX change_point_by_alert ON change_point(alert) WHERE alert IS NOT NULL;
CREATE INDEX change_point_open ON change_point(state) WHERE state IN ('candidate', 'placing');

-- ---- alerts and searches --------------------------------------------------------------------------------------------

CREATE TABLE alert (
	id            INTEGER PRIMARY KEY,
	kind          TEXT    NOT NULL DEFAULT 'regression', -- regression creep broken vanished silent quarantined environment
	repo          INTEGER REFERENCES repo(id),     -- NULL: about a device
	device        INTEGER REFERENCES device(id),   -- NULL: about a commit
	branch        TEXT    NOT NULL DEFAULT '',
	target_sha    TEXT    NOT NULL DEFAULT '',
	changed       TEXT    NOT NULL DEFAULT '',     -- around the code, as its environment_change has it; '' nothing: one of a commit
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
-- What people have answered for stays as they saw it; a further loss of the same commit has an alert of its own.
CREATE UNIQUE INDEX alert_of_commit ON alert(repo, target_sha, kind, changed) WHERE repo IS NOT NULL AND state NOT IN ('accepted', 'invalid');
CREATE INDEX alert_by_commit ON alert(repo, target_sha, kind);
CREATE INDEX alert_of_device ON alert(device) WHERE device IS NOT NULL;
CREATE INDEX alert_by_state ON alert(state);
CREATE INDEX alert_by_branch ON alert(repo, branch);
CREATE INDEX alert_by_comparison ON alert(comparison) WHERE comparison IS NOT NULL;

CREATE TABLE alert_event (
	id            INTEGER PRIMARY KEY,
	alert         INTEGER NOT NULL REFERENCES alert(id),
	at            INTEGER NOT NULL,
	who           TEXT    NOT NULL,
	state         TEXT    NOT NULL,
	reason        TEXT    NOT NULL DEFAULT ''
) STRICT;
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
-- The cells to look at: keys, or globs over them.
CREATE TABLE bisect_cell (
	bisect        INTEGER NOT NULL REFERENCES bisect(id),
	n             INTEGER NOT NULL,
	word          TEXT    NOT NULL,
	PRIMARY KEY (bisect, n)
) STRICT, WITHOUT ROWID;
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

-- ---- why ------------------------------------------------------------------------------------------------------------

-- What was asked for to find out why cells lost: one job, which makes no comparison and no verdict. Its cells are those of the job.
CREATE TABLE profile (
	id            INTEGER PRIMARY KEY,
	job           INTEGER NOT NULL UNIQUE REFERENCES job(id),
	comparison    INTEGER REFERENCES comparison(id), -- that it explains; NULL: these two sides were never compared
	alert         INTEGER REFERENCES alert(id)     -- that asked for it; NULL: a person did
) STRICT;
CREATE INDEX profile_by_comparison ON profile(comparison) WHERE comparison IS NOT NULL;
CREATE INDEX profile_by_alert ON profile(alert) WHERE alert IS NOT NULL;

-- What came of one cell, written when the job ends. Most of it was said by processes that run a branch's code.
CREATE TABLE profile_cell (
	id            INTEGER PRIMARY KEY,
	profile       INTEGER NOT NULL REFERENCES profile(id),
	n             INTEGER NOT NULL,                -- order in the job
	key           TEXT    NOT NULL,
	state         TEXT    NOT NULL CHECK (state IN ('done','identical','unsupported','failed')),
	why           TEXT    NOT NULL DEFAULT '',     -- why not done, or why nothing better than `path` could be read
	path          TEXT    NOT NULL DEFAULT '',     -- range ncu activity code; "" not done
	tool          TEXT    NOT NULL DEFAULT '',     -- "CUPTI 130001"
	passes        INTEGER NOT NULL DEFAULT 0,      -- replays of a call
	stalls_why    TEXT    NOT NULL DEFAULT '',     -- why it is not known where warps wait; "" it is, or nothing was counted either
	base_config   TEXT    NOT NULL DEFAULT '',
	target_config TEXT    NOT NULL DEFAULT '',
	base_tried    TEXT    NOT NULL DEFAULT 'null', -- JSON: {"of", "list": [{"config", "ms"}]} that the provider tried before it chose
	target_tried  TEXT    NOT NULL DEFAULT 'null',
	base_ms       REAL,                            -- medians of the comparison; NULL: it has none
	target_ms     REAL,
	gpu_s         REAL    NOT NULL DEFAULT 0,
	-- the target in the base's configuration, beside both as they are; NULL: not tried
	with_config   TEXT,
	with_base_ms  REAL,
	with_target_ms REAL,
	with_ms       REAL,
	UNIQUE (profile, n)
) STRICT;

-- One kernel of one call, as one process of one side ran it.
CREATE TABLE profile_kernel (
	id            INTEGER PRIMARY KEY,
	profile_cell  INTEGER NOT NULL REFERENCES profile_cell(id),
	side          TEXT    NOT NULL,                -- base target
	repeat        INTEGER NOT NULL,                -- which process of that side, from 0: what two of them differ in is noise
	n             INTEGER NOT NULL,                -- place in launch order of a call
	phase         TEXT    NOT NULL,
	kernel        TEXT    NOT NULL,
	code_sha      TEXT    NOT NULL,                -- of its machine code; "" unknown
	ms            REAL,                            -- NULL: unknown
	grid          TEXT    NOT NULL,                -- "132 1 1"
	block         TEXT    NOT NULL,
	registers     INTEGER NOT NULL,
	local_bytes   INTEGER NOT NULL,
	shared_bytes  INTEGER NOT NULL,
	ctas_per_sm   INTEGER NOT NULL,                -- 0 unknown
	UNIQUE (profile_cell, side, repeat, n)
) STRICT;
CREATE TABLE profile_value (
	kernel        INTEGER NOT NULL REFERENCES profile_kernel(id),
	name          INTEGER NOT NULL REFERENCES metric_name(id),
	value         REAL    NOT NULL,
	PRIMARY KEY (kernel, name)
) STRICT, WITHOUT ROWID;

-- What the machine code of one kernel differs in.
CREATE TABLE profile_code (
	id            INTEGER PRIMARY KEY,
	profile_cell  INTEGER NOT NULL REFERENCES profile_cell(id),
	base          TEXT    NOT NULL,                -- the kernel on each side; "" it is not there
	target        TEXT    NOT NULL,
	what          TEXT    NOT NULL,                -- same renamed rescheduled changed added removed differs
	opcodes       TEXT    NOT NULL,                -- JSON: [[opcode, times in the base, times in the target]], the biggest difference first
	base_takes    TEXT    NOT NULL,                -- JSON: registers, local_bytes, shared_bytes, ctas_per_sm; -1 unknown
	target_takes  TEXT    NOT NULL,
	-- JSON: {samples, lines: [[offset, samples, what most of them waited for, how many those are, instruction]]}, the most first; NULL:
	-- that side was not sampled
	base_stalls   TEXT,
	target_stalls TEXT,
	hunks_len     INTEGER NOT NULL,                -- unpacked
	hunks         BLOB    NOT NULL                 -- lines for people, packed by zlib
) STRICT;
CREATE INDEX profile_code_by_cell ON profile_code(profile_cell);

-- What ptxas complained of while it built one side, and not, or less, while it built the other: read out of the builds' logs.
CREATE TABLE profile_complaint (
	profile       INTEGER NOT NULL REFERENCES profile(id),
	n             INTEGER NOT NULL,                -- serial products first
	change        TEXT    NOT NULL CHECK (change IN ('new','more','fewer','gone')),
	kind          TEXT    NOT NULL,                -- serial setmaxnreg spills other
	code          TEXT    NOT NULL,                -- C7512; "" none
	kernel        TEXT    NOT NULL,                -- "" the line names none
	what          TEXT    NOT NULL,
	PRIMARY KEY (profile, n)
) STRICT, WITHOUT ROWID;

-- What explains the difference of a cell, the most of it first.
CREATE TABLE cause (
	profile_cell  INTEGER NOT NULL REFERENCES profile_cell(id),
	rank          INTEGER NOT NULL,
	code          TEXT    NOT NULL,                -- instructions spills dram config ...
	kernel        TEXT    NOT NULL,                -- "" none in particular
	explained_ms  REAL    NOT NULL,
	of_ms         REAL    NOT NULL,                -- the whole difference
	confidence    TEXT    NOT NULL,                -- exact measured follows seen open
	sentence      TEXT    NOT NULL,
	PRIMARY KEY (profile_cell, rank)
) STRICT, WITHOUT ROWID;

-- ---- telling, and being asked ---------------------------------------------------------------------------------------

-- What is to be told outside, written in the verdict's own transaction. A newer word about the same subject (the status of a commit)
-- takes the place of an older one that still waits.
CREATE TABLE outbox (
	id            INTEGER PRIMARY KEY,
	message_id    TEXT    NOT NULL UNIQUE,         -- webhook-id of every attempt
	kind          TEXT    NOT NULL,                -- webhook status note
	target        TEXT    NOT NULL,                -- name of the receiver or repository in the configuration
	subject       TEXT    NOT NULL DEFAULT '',     -- what it is about, where only the newest word counts
	payload       TEXT    NOT NULL,                -- JSON
	state         TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting','sent','failed','superseded')),
	attempts      INTEGER NOT NULL DEFAULT 0,      -- since it was written or asked for again
	next_at       INTEGER NOT NULL,
	last_error    TEXT    NOT NULL DEFAULT '',
	created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_due ON outbox(state, next_at);
CREATE INDEX outbox_subject ON outbox(kind, target, subject) WHERE subject <> '';

CREATE TABLE outbox_attempt (
	id            INTEGER PRIMARY KEY,
	outbox        INTEGER NOT NULL REFERENCES outbox(id) ON DELETE CASCADE,
	at            INTEGER NOT NULL,
	duration_ms   INTEGER NOT NULL,
	status        INTEGER NOT NULL,                -- HTTP; 0 no answer
	error         TEXT    NOT NULL                 -- '' delivered
) STRICT;
CREATE INDEX outbox_attempt_of ON outbox_attempt(outbox);

-- What changed, for /events and for people: job.*, alert.*, device.*, epoch.*
CREATE TABLE event (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	at            INTEGER NOT NULL,
	kind          TEXT    NOT NULL,
	payload       TEXT    NOT NULL                 -- JSON
) STRICT;

-- Webhooks that came in, so that a replay starts nothing.
CREATE TABLE webhook_seen (
	id            TEXT    NOT NULL PRIMARY KEY,    -- as the forge calls the delivery
	at            INTEGER NOT NULL
) STRICT;

-- Answers to POSTs that carried an Idempotency-Key, so that asking twice starts nothing twice.
CREATE TABLE idempotency_key (
	key           TEXT    NOT NULL PRIMARY KEY,
	fingerprint   TEXT    NOT NULL,                -- SHA-256 of who asked for what
	status        INTEGER NOT NULL,
	location      TEXT    NOT NULL,
	body          TEXT    NOT NULL,
	at            INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_key_by_at ON idempotency_key(at);

-- Who may ask, once others than this machine can reach the daemon. Only hashes are kept.
CREATE TABLE token (
	id            INTEGER PRIMARY KEY,
	name          TEXT    NOT NULL UNIQUE,
	hash          TEXT    NOT NULL UNIQUE,         -- SHA-256 of the token, which is 256 random bits
	scope         TEXT    NOT NULL CHECK (scope IN ('read','trigger','admin')),
	made_by       TEXT    NOT NULL DEFAULT '',     -- the token that its maker showed; '' nobody knows
	created_at    INTEGER NOT NULL,
	used_at       INTEGER,                         -- to the hour
	revoked_at    INTEGER
) STRICT;

-- A browser that logged in with a token.
CREATE TABLE session (
	hash          TEXT    NOT NULL PRIMARY KEY,
	token         INTEGER NOT NULL REFERENCES token(id),
	expires_at    INTEGER NOT NULL
) STRICT;

-- ---- what is counted ------------------------------------------------------------------------------------------------
-- /metrics says these as they are, so that it costs the same however long the history is.

-- Rows of a table by the state that they are in.
CREATE TABLE counted (
	what          TEXT    NOT NULL,                -- jobs comparisons alerts deliveries
	label         TEXT    NOT NULL,
	n             INTEGER NOT NULL,
	PRIMARY KEY (what, label)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER counted_job AFTER INSERT ON job BEGIN
	INSERT INTO counted VALUES ('jobs', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_job_state AFTER UPDATE OF state ON job WHEN NEW.state <> OLD.state BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'jobs' AND label = OLD.state;
	INSERT INTO counted VALUES ('jobs', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_job_gone AFTER DELETE ON job BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'jobs' AND label = OLD.state;
END;

-- A loss against a peer, or of a configuration that somebody wanted to see, is nobody's.
CREATE TRIGGER counted_comparison AFTER INSERT ON comparison WHEN NEW.kind NOT IN ('peer', 'pinned', 'environment') BEGIN
	INSERT INTO counted VALUES ('comparisons', NEW.verdict, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_comparison_verdict AFTER UPDATE OF verdict ON comparison WHEN NEW.kind NOT IN ('peer', 'pinned', 'environment') AND NEW.verdict <> OLD.verdict BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'comparisons' AND label = OLD.verdict;
	INSERT INTO counted VALUES ('comparisons', NEW.verdict, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_comparison_gone AFTER DELETE ON comparison WHEN OLD.kind NOT IN ('peer', 'pinned', 'environment') BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'comparisons' AND label = OLD.verdict;
END;

CREATE TRIGGER counted_alert AFTER INSERT ON alert BEGIN
	INSERT INTO counted VALUES ('alerts', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_alert_state AFTER UPDATE OF state ON alert WHEN NEW.state <> OLD.state BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'alerts' AND label = OLD.state;
	INSERT INTO counted VALUES ('alerts', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_alert_gone AFTER DELETE ON alert BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'alerts' AND label = OLD.state;
END;

CREATE TRIGGER counted_outbox AFTER INSERT ON outbox BEGIN
	INSERT INTO counted VALUES ('deliveries', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_outbox_state AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'deliveries' AND label = OLD.state;
	INSERT INTO counted VALUES ('deliveries', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_outbox_gone AFTER DELETE ON outbox BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'deliveries' AND label = OLD.state;
END;

-- How long jobs took, done or failed: each in the smallest bound that holds it. Only ever grows.
CREATE TABLE job_duration (
	bound_s       REAL    NOT NULL PRIMARY KEY,    -- 9e999: any
	n             INTEGER NOT NULL,
	sum_s         REAL    NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO job_duration VALUES (1, 0, 0), (5, 0, 0), (15, 0, 0), (30, 0, 0), (60, 0, 0), (120, 0, 0), (300, 0, 0), (600, 0, 0), (1800, 0, 0),
	(3600, 0, 0), (9e999, 0, 0);
CREATE TRIGGER job_duration_end AFTER UPDATE OF state ON job WHEN NEW.state IN ('done', 'failed') AND OLD.state NOT IN ('done', 'failed')
	AND NEW.started_at IS NOT NULL AND NEW.ended_at >= NEW.started_at BEGIN
	UPDATE job_duration SET n = n + 1, sum_s = sum_s + (NEW.ended_at - NEW.started_at) / 1000.0
		WHERE bound_s = (SELECT min(bound_s) FROM job_duration WHERE bound_s >= (NEW.ended_at - NEW.started_at) / 1000.0);
END;

-- Comparisons of equal builds on a device, and those of them that would have alerted.
CREATE TABLE self_check (
	device        INTEGER NOT NULL PRIMARY KEY REFERENCES device(id),
	comparisons   INTEGER NOT NULL,
	alarms        INTEGER NOT NULL,
	last_at       INTEGER NOT NULL
) STRICT;
CREATE TRIGGER self_check_new AFTER INSERT ON comparison WHEN NEW.kind IN ('selfcheck', 'calibrate') AND NEW.environment IS NOT NULL BEGIN
	INSERT INTO self_check VALUES (NEW.device, 1, NEW.n_regressions > 0, NEW.finished_at)
		ON CONFLICT DO UPDATE SET comparisons = comparisons + 1, alarms = alarms + excluded.alarms, last_at = max(last_at, excluded.last_at);
END;
CREATE TRIGGER self_check_judged AFTER UPDATE OF n_regressions ON comparison
	WHEN NEW.kind IN ('selfcheck', 'calibrate') AND (NEW.n_regressions > 0) <> (OLD.n_regressions > 0) BEGIN
	UPDATE self_check SET alarms = alarms + (NEW.n_regressions > 0) - (OLD.n_regressions > 0)
		WHERE device = NEW.device;
END;

-- By the newest comparison that measured on it: judging an older one again does not bring that back.
CREATE TRIGGER device_measured AFTER UPDATE OF verdict ON comparison WHEN NEW.environment IS NOT NULL BEGIN
	UPDATE device SET last_launch = max(last_launch, coalesce((SELECT max(l.id) FROM launch l WHERE l.comparison = NEW.id
		AND EXISTS (SELECT 1 FROM cell x CROSS JOIN sample t ON t.cell = x.id AND t.launch = l.id
			CROSS JOIN sample_kind k ON k.id = t.kind WHERE x.comparison = NEW.id AND k.subject = 'target')), 0))
		WHERE id = NEW.device;
END;
