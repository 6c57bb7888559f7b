-- Schema version 1. Facts are append-only; verdicts and alerts can be derived from them again.
-- Every `_at` is ms since 1970-01-01 UTC. Hashes are lower-case hex. Names of refs are raw bytes percent-encoded (`name`),
-- next to their readable form (`display`), because git allows any byte in them. doc/schema.md draws the references between tables.

-- ---- watched repositories -------------------------------------------------------------------------------------------

CREATE TABLE repo (
	id             INTEGER PRIMARY KEY,
	name           TEXT    NOT NULL UNIQUE,         -- from the configuration
	url            TEXT    NOT NULL,
	is_local       INTEGER NOT NULL,                -- read directly, without a mirror
	upstream       TEXT    NOT NULL DEFAULT 'main', -- branch whose merge-base is a branch's base
	state          TEXT    NOT NULL DEFAULT 'new',  -- new ok error gone (no longer configured)
	error          TEXT    NOT NULL DEFAULT '',
	fetch_failures INTEGER NOT NULL DEFAULT 0,      -- failed fetches
	fetched_at     INTEGER,
	jobs_started   INTEGER NOT NULL DEFAULT 0,      -- every other one goes to the branch pushed last
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

-- Pull and merge requests that the configuration watches: refs to which anyone may push.
CREATE TABLE pull (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	number        INTEGER NOT NULL,                -- of the forge
	head_sha      TEXT    NOT NULL,                -- newest head that the daemon read
	problem       TEXT    NOT NULL DEFAULT '',     -- why that head has no commit to measure
	seen_at       INTEGER NOT NULL,                -- first time that this head was seen
	UNIQUE (repo, number)
) STRICT;

-- Heads of requests, and the merge results of heads: their manifest, suites and thresholds come from the base, unless `own`.
CREATE TABLE pull_commit (
	repo          INTEGER NOT NULL REFERENCES repo(id),
	sha           TEXT    NOT NULL,
	pull          INTEGER NOT NULL REFERENCES pull(id),
	head_sha      TEXT    NOT NULL,                -- of the merge result; else the commit itself
	own           INTEGER NOT NULL,                -- the head was the tip of one of the repository's branches
	seen_at       INTEGER NOT NULL,
	PRIMARY KEY (repo, sha, pull)
) STRICT, WITHOUT ROWID;

-- A user's permission to measure one head of a request; it holds for no other commit.
CREATE TABLE pull_approval (
	pull          INTEGER NOT NULL REFERENCES pull(id),
	head_sha      TEXT    NOT NULL,
	who           TEXT    NOT NULL,                -- name of the access token, "local", or "bob at github"
	at            INTEGER NOT NULL,
	PRIMARY KEY (pull, head_sha)
) STRICT, WITHOUT ROWID;

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

-- First-parent history of the upstream branch, unmeasured commits included. A force-push marks the commits that it removes as dropped.
CREATE TABLE mainline (
	repo          INTEGER NOT NULL REFERENCES repo(id),
	sha           TEXT    NOT NULL,
	position      INTEGER NOT NULL,                -- increases along the branch
	dropped       INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (repo, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX mainline_by_position ON mainline(repo, position);

-- Commits that a comparison's target contains and its base does not, merged commits included: an accepted alert of one of them also covers
-- this comparison.
CREATE TABLE commit_range (
	repo          INTEGER NOT NULL REFERENCES repo(id),
	base_sha      TEXT    NOT NULL,
	target_sha    TEXT    NOT NULL,
	sha           TEXT    NOT NULL,                -- only the newest commits of a long range
	PRIMARY KEY (repo, base_sha, target_sha, sha)
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_range_holds ON commit_range(repo, sha);

-- ---- devices and environments ---------------------------------------------------------------------------------------

-- Properties that devices must share for their times to be comparable. Queue, calibration and history are per class.
CREATE TABLE device_class (
	id            INTEGER PRIMARY KEY,
	hash          TEXT    NOT NULL UNIQUE,         -- of all that follows
	kind          TEXT    NOT NULL,                -- cuda cpu sim
	model         TEXT    NOT NULL,                -- "NVIDIA H200, 132 SMs, 140 GiB": properties that no setting changes
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
	state_at      INTEGER NOT NULL DEFAULT 0,      -- start of that state; a quarantine alert that a user closed since then does not open again
	driver        TEXT    NOT NULL DEFAULT '',
	toolkit       TEXT    NOT NULL DEFAULT '',
	cudnn         TEXT    NOT NULL DEFAULT '',     -- "9.13.0"; "" not found
	class         INTEGER NOT NULL REFERENCES device_class(id), -- with its current settings
	outlier       TEXT    NOT NULL DEFAULT '',     -- how it deviates from its class; "" it does not
	info          TEXT    NOT NULL DEFAULT '{}',   -- JSON: cores, memory, l2, power limit
	seen_at       INTEGER NOT NULL,
	last_run      INTEGER NOT NULL DEFAULT 0,      -- newest run on it; 0 none
	worker        TEXT    NOT NULL DEFAULT '',     -- that reported it last
	host          TEXT    NOT NULL DEFAULT '',     -- machine name reported by that worker
	on_call       INTEGER NOT NULL DEFAULT 0       -- the worker has it only during an allocation of a scheduler
) STRICT;
CREATE INDEX device_by_class ON device(class);

-- Seconds of throttling during timed runs, by the driver's reason.
CREATE TABLE device_throttle (
	device        INTEGER NOT NULL REFERENCES device(id),
	reason        TEXT    NOT NULL,                -- sw_power_cap hw_slowdown sync_boost sw_thermal hw_thermal hw_power_brake display_clocks
	seconds       REAL    NOT NULL,                -- monotonic
	PRIMARY KEY (device, reason)
) STRICT, WITHOUT ROWID;

-- Seconds that a device was held for comparisons, by step.
CREATE TABLE device_step (
	device        INTEGER NOT NULL REFERENCES device(id),
	step          TEXT    NOT NULL,                -- start context load inputs forward plan reference check warm timed between sustained end program sentinel audit profile
	seconds       REAL    NOT NULL,                -- monotonic
	PRIMARY KEY (device, step)
) STRICT, WITHOUT ROWID;

-- Properties that must be equal for two absolute times to be comparable.
CREATE TABLE environment (
	id            INTEGER PRIMARY KEY,
	class         INTEGER NOT NULL REFERENCES device_class(id),
	hash          TEXT    NOT NULL UNIQUE,         -- of all that follows
	driver        TEXT    NOT NULL,                -- driver, toolkit and power limit are those of the class
	toolkit       TEXT    NOT NULL,
	cudnn         TEXT    NOT NULL DEFAULT '',     -- a provider may be NVIDIA's own attention
	cublas        TEXT    NOT NULL DEFAULT '',
	image         TEXT    NOT NULL DEFAULT '',     -- "debian 12.5, glibc 2.36": the worker's system
	vbios         TEXT    NOT NULL DEFAULT '',
	suite_sha     TEXT    NOT NULL,
	timing        TEXT    NOT NULL,                -- the timing contract as text
	power_limit_w REAL,
	isolation     TEXT    NOT NULL,                -- bwrap none
	first_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX environment_by_class ON environment(class);

CREATE TABLE suite (
	id            INTEGER PRIMARY KEY,
	sha           TEXT    NOT NULL UNIQUE,         -- of the resolved cells
	name          TEXT    NOT NULL,
	text          TEXT    NOT NULL,                -- content of the file
	origin        TEXT    NOT NULL,                -- "installed" or "<repo>@<commit>"
	cells         INTEGER NOT NULL DEFAULT 0,      -- of a sharded suite; else 0
	shards        INTEGER NOT NULL DEFAULT 1,      -- shard 0 on a push, the others off-peak
	nights        INTEGER NOT NULL DEFAULT 0       -- off-peak periods in which all shards are measured once
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

-- ---- jobs -----------------------------------------------------------------------------------------------------------

CREATE TABLE job (
	id               INTEGER PRIMARY KEY,
	repo             INTEGER NOT NULL REFERENCES repo(id),
	branch           TEXT    NOT NULL DEFAULT '',     -- percent-encoded; "" when requested by commit
	target_sha       TEXT    NOT NULL,
	base_sha         TEXT    NOT NULL DEFAULT '',     -- "" until resolved
	base_how         TEXT    NOT NULL DEFAULT '',     -- merge-base first-parent last-judged last-off-peak given self
	base_name        TEXT    NOT NULL DEFAULT '',     -- side as the user named it: a branch or an abbreviated commit
	target_name      TEXT    NOT NULL DEFAULT '',
	base_provider    TEXT    NOT NULL DEFAULT '',     -- "": the module's default; two different providers: kind peer
	target_provider  TEXT    NOT NULL DEFAULT '',
	base_config      TEXT    NOT NULL DEFAULT '',     -- configuration that the user requests of the provider; "": the provider chooses; else: kind config
	target_config    TEXT    NOT NULL DEFAULT '',
	base_toolchain   TEXT    NOT NULL DEFAULT '',     -- folder of the compilers; "": the worker's; else: kind environment
	target_toolchain TEXT    NOT NULL DEFAULT '',
	base_flags       TEXT    NOT NULL DEFAULT '',     -- appended to the compiler's arguments
	target_flags     TEXT    NOT NULL DEFAULT '',
	base_module      TEXT    NOT NULL DEFAULT '',     -- stored module to use; "": build the base
	base_made_by     TEXT    NOT NULL DEFAULT '',     -- toolchain of base_module
	kind             TEXT    NOT NULL DEFAULT 'compare', -- compare selfcheck reference verify backfill calibrate bisect peer config environment import profile
	suite            TEXT    NOT NULL DEFAULT '',     -- name; "" until resolved
	device_kind      TEXT    NOT NULL DEFAULT '',     -- requested kind; "" any
	device_uuid      TEXT    NOT NULL DEFAULT '',     -- requested device; "" any
	device_class     INTEGER REFERENCES device_class(id), -- requested class; NULL any
	threshold_pct    REAL,                            -- overrides the suite's; NULL: the suite's
	quick            INTEGER NOT NULL DEFAULT 0,
	some_cells       INTEGER NOT NULL DEFAULT 0,      -- only the cells of job_cell
	every_cell       INTEGER NOT NULL DEFAULT 0,      -- of a profile: all cells of job_cell instead of the three largest
	shard            INTEGER NOT NULL DEFAULT 0,      -- shard of its suite; 0: the one of a push, which is the whole suite unless it is sharded
	origin           TEXT    NOT NULL,                -- push api retry bisect baseline_period rereference environment trend backfill remeasure import idle again alert off_peak
	priority         INTEGER NOT NULL DEFAULT 0,      -- higher first; api 10, push 0, profile -6
	plan             INTEGER NOT NULL DEFAULT 0,      -- first job of the same request; 0: the request named this suite
	again_of         INTEGER REFERENCES job(id),      -- job that this one retries
	again_at         INTEGER,                         -- due time of its retry; NULL: none
	state            TEXT    NOT NULL DEFAULT 'queued'
	                CHECK (state IN ('queued','assigned','building','checking','measuring',
	                                 'done','failed','cancelled','superseded', 'target_missing')),
	state_why        TEXT    NOT NULL DEFAULT '',
	progress         TEXT    NOT NULL DEFAULT '',     -- JSON: run, cell, step
	attempt          INTEGER NOT NULL DEFAULT 0,      -- assignments to a worker, without those that ended with the daemon
	daemon_ends      INTEGER NOT NULL DEFAULT 0,      -- times that the daemon was killed or crashed while a worker had it
	nonce            TEXT    NOT NULL DEFAULT '',
	device           INTEGER REFERENCES device(id),
	queued_at        INTEGER NOT NULL,
	started_at       INTEGER,
	ended_at         INTEGER
) STRICT;
-- SQLite appends the row's id to every index, so lists in the order of ids need no sorting.
CREATE INDEX job_by_state ON job(state);
CREATE INDEX job_by_branch ON job(repo, branch);
CREATE INDEX job_by_target ON job(repo, target_sha);
CREATE INDEX job_by_plan ON job(plan) WHERE plan > 0;
CREATE INDEX job_by_shard ON job(repo, suite, shard) WHERE shard > 0;
CREATE INDEX job_by_end ON job(ended_at);                  -- jobs that ended in one transaction, such as those that a push supersedes
CREATE INDEX job_served ON job(repo, branch, started_at);  -- least recently served branch
CREATE INDEX job_served_repo ON job(repo, started_at);
CREATE INDEX job_calibrates ON job(repo, device_uuid) WHERE kind = 'calibrate';
CREATE INDEX job_again ON job(again_at) WHERE again_at IS NOT NULL;
CREATE UNIQUE INDEX job_again_of ON job(again_of) WHERE again_of IS NOT NULL;

-- Cells of a job that does not measure its whole suite: keys, or globs over keys.
CREATE TABLE job_cell (
	job           INTEGER NOT NULL REFERENCES job(id),
	n             INTEGER NOT NULL,
	word          TEXT    NOT NULL,
	PRIMARY KEY (job, n)
) STRICT, WITHOUT ROWID;

-- Peers in the manifest of a job's base.
CREATE TABLE job_peer (
	job           INTEGER NOT NULL REFERENCES job(id),
	n             INTEGER NOT NULL,
	word          TEXT    NOT NULL,                -- cudnn@cuda naive
	PRIMARY KEY (job, n)
) STRICT, WITHOUT ROWID;

-- The plan of a resolved job until the job ends: what cannot change any more. Cells, rule and limits are read when the job is sent.
CREATE TABLE job_plan (
	job               INTEGER PRIMARY KEY REFERENCES job(id),
	format            INTEGER NOT NULL,            -- STORE_PLAN_FORMAT of the daemon that wrote it
	sides             TEXT    NOT NULL,            -- JSON: base and target as in the message `job`
	suite_origin      TEXT    NOT NULL,            -- "installed" or "<repo>@<commit>"
	suite_text        TEXT    NOT NULL,            -- "" of an installed suite, whose file may change
	provider_position TEXT    NOT NULL             -- file and line that name the base's provider; "": none do
) STRICT;

-- Sources of a resolved job's sides, until the job ends.
CREATE TABLE job_source (
	job           INTEGER NOT NULL REFERENCES job(id),
	source        TEXT    NOT NULL,                -- SHA-256 over inputs, command and requested compilers
	PRIMARY KEY (job, source)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER job_plan_end AFTER UPDATE OF state ON job WHEN NEW.state IN ('done', 'failed', 'cancelled', 'superseded', 'target_missing') BEGIN
	DELETE FROM job_plan WHERE job = NEW.id;
	DELETE FROM job_source WHERE job = NEW.id;
END;

-- Sources whose module was put into the cache that a worker's allocations share. Where the module is no longer cached, the measuring
-- allocation builds it.
CREATE TABLE cached_build (
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

-- ---- results --------------------------------------------------------------------------------------------------------

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
	device        INTEGER REFERENCES device(id),   -- NULL: nothing ran; the first of several
	identical_by  TEXT    NOT NULL DEFAULT '',     -- "", tree, module, comment
	rows_unknown  INTEGER NOT NULL DEFAULT 0,      -- 1: no run of the benchmark program wrote all rows; its one cell may have the benchmark's name
	verdict       TEXT    NOT NULL,
	n_cells       INTEGER NOT NULL DEFAULT 0,
	n_regressions INTEGER NOT NULL DEFAULT 0,
	worst_pct     REAL,                            -- lowest change of a timed cell, and its key
	worst_key     TEXT    NOT NULL DEFAULT '',
	gpu_s         REAL    NOT NULL DEFAULT 0,      -- seconds the device was held
	wall_s        REAL    NOT NULL DEFAULT 0,
	finished_at   INTEGER NOT NULL,
	is_raw        INTEGER NOT NULL DEFAULT 1,      -- its times are in `sample`, not archived
	etag          TEXT    NOT NULL DEFAULT '',     -- SHA-256 of the body
	-- long values last: a list reads one page per row and no bodies
	rule          TEXT    NOT NULL,                -- JSON: the constants used
	body_len      INTEGER NOT NULL DEFAULT 0,      -- unpacked
	body          BLOB    NOT NULL DEFAULT x''     -- the JSON that the API serves, an LZ4 frame
) STRICT;
CREATE INDEX comparison_by_repo ON comparison(repo);
CREATE INDEX comparison_by_branch ON comparison(repo, branch);
CREATE INDEX comparison_by_verdict ON comparison(verdict);
CREATE INDEX comparison_by_repo_verdict ON comparison(repo, verdict);
CREATE INDEX comparison_by_branch_verdict ON comparison(repo, branch, verdict);
CREATE INDEX comparison_by_target ON comparison(repo, target_sha);
CREATE INDEX comparison_by_pair ON comparison(repo, target_sha, base_sha); -- a measurement of two commits, of any origin
CREATE INDEX comparison_by_finish ON comparison(finished_at);
CREATE INDEX comparison_of_itself ON comparison(device) WHERE kind IN ('selfcheck', 'calibrate');
CREATE INDEX comparison_raw ON comparison(finished_at) WHERE is_raw;       -- comparisons to archive, in order
CREATE INDEX comparison_peer ON comparison(repo, environment) WHERE kind = 'peer';

-- Properties of a cell that are equal in all comparisons.
CREATE TABLE cell_shape (
	id            INTEGER PRIMARY KEY,
	shape         TEXT    NOT NULL,                -- canonical JSON; '' of foreign benchmarks
	line          TEXT    NOT NULL,                -- shared by cells whose times are linear in their pieces
	pieces        REAL    NOT NULL,                -- units of work: unmasked blocks
	baseline      TEXT    NOT NULL,                -- key of the cell that it is shown next to
	UNIQUE (shape, line, pieces, baseline)
) STRICT;

CREATE TABLE cell (
	id               INTEGER PRIMARY KEY,
	comparison       INTEGER NOT NULL REFERENCES comparison(id),
	n                INTEGER NOT NULL,                -- order in the suite
	key              TEXT    NOT NULL,
	-- copied from the comparison, so that one index holds a cell's history
	repo             INTEGER NOT NULL REFERENCES repo(id),
	branch           TEXT    NOT NULL,
	target_sha       TEXT    NOT NULL,
	device           INTEGER REFERENCES device(id),   -- of its first set of runs; NULL: nothing ran
	confirmed_on     INTEGER REFERENCES device(id),   -- of its confirming set; NULL: the same, or no such set
	finished_at      INTEGER NOT NULL,
	-- the content of the key, written by the family: no code parses keys
	cell_shape       INTEGER NOT NULL REFERENCES cell_shape(id),
	suite_group      TEXT    NOT NULL DEFAULT '',     -- table on pages
	title            TEXT    NOT NULL DEFAULT '',     -- title of its row there, without the size
	size             INTEGER NOT NULL DEFAULT 0,      -- orders the cells of one title
	direction        TEXT    NOT NULL DEFAULT '',
	series           TEXT    NOT NULL DEFAULT 'device', -- series that decides
	input_sha        TEXT    NOT NULL DEFAULT '',
	flops            REAL,                            -- useful work of a call, for throughput; NULL: not shown
	bytes            REAL,                            -- moved by a call, for throughput; NULL: not shown
	threshold_pct    REAL    NOT NULL,
	-- estimates over its runs
	m                REAL,                            -- log time ratio of wall time, positive = slower
	m_raw            REAL,                            -- of the raw pairs
	m_code           REAL,                            -- at equal clocks
	se               REAL,
	se_clock         REAL,                            -- standard error of m - m_code, the share that the clock explains
	beta             REAL,
	runs             INTEGER NOT NULL DEFAULT 0,
	samples          INTEGER NOT NULL DEFAULT 0,      -- calls of each side
	base_median_ms   REAL,
	target_median_ms REAL,
	change_pct       REAL,                            -- of throughput, negative = slower
	ci_low_pct       REAL,
	ci_high_pct      REAL,
	mde_pct          REAL,
	tau0             REAL,                            -- calibrated noise between runs; NULL: the rule's
	nu0              REAL,                            -- degrees of freedom of tau0; NULL: tau0 is added to the estimate of the pairs
	underpowered_pct REAL    NOT NULL DEFAULT 0,         -- smallest detectable slowdown, where it exceeds the threshold; 0: it does not
	-- change of the mean call, where slow calls became more or less frequent; NULL: they did not
	mean_m           REAL,                            -- log ratio of the mean call's times
	mean_se          REAL,
	slow_base        REAL,                            -- share of slow calls, of the cell or pooled over the cells of one kernel
	slow_target      REAL,
	slow_longer      REAL,                            -- excess over the typical call, as a share of it, on the side with more slow calls
	-- the verdict, and the change that it is based on, which alerts, bisects and acceptances use
	verdict          TEXT    NOT NULL,
	failure          TEXT    NOT NULL DEFAULT '',     -- class of the failure
	reason           TEXT    NOT NULL DEFAULT '',
	flags            INTEGER NOT NULL DEFAULT 0,      -- bits of daemon/verdict/flag.c
	decided_by       TEXT    NOT NULL DEFAULT '',     -- pairs sustained mean
	decided_m        REAL,
	decided_se       REAL,
	decided_pct      REAL,
	-- position in the history
	baseline_period  INTEGER REFERENCES baseline_period(id),
	held_ms          REAL,                            -- target's median at the baseline period's clock
	point            BLOB,                            -- values of its history page (db/internal.h), including throughput against the reference commit
	UNIQUE (comparison, key)
) STRICT;
-- Covers all values of a history page: ten thousand points are read without the table.
CREATE INDEX cell_history ON cell(key, repo, branch, comparison, device, target_sha, finished_at, target_median_ms, verdict, point);

CREATE TABLE run (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	n             INTEGER NOT NULL,
	set_number    INTEGER NOT NULL,                -- 1, or 2 for the confirming set
	seed          INTEGER NOT NULL,
	UNIQUE (comparison, n)
) STRICT;

-- One side in one series and phase.
CREATE TABLE sample_kind (
	id            INTEGER PRIMARY KEY,
	series        TEXT    NOT NULL,                -- device call phase sustained process
	phase         TEXT    NOT NULL,                -- set in series phase only
	side       TEXT    NOT NULL,                --    base target reference
	UNIQUE (series, phase, side)
) STRICT;

-- Calls of one side of one cell in one run and series. The target's row also holds the run's estimates of the pair and the device check;
-- the estimates outlive the times.
CREATE TABLE sample (
	cell              INTEGER NOT NULL REFERENCES cell(id),
	run               INTEGER NOT NULL REFERENCES run(id),
	kind              INTEGER NOT NULL REFERENCES sample_kind(id),
	n                 INTEGER NOT NULL,
	call_order        TEXT    NOT NULL DEFAULT '',
	d                 REAL,                            -- log time ratio at equal clocks, its variance, and the raw one
	q                 REAL,
	d_raw             REAL,
	z                 REAL,                            -- log ratio of clocks, and its variance
	z_q               REAL,
	beta              REAL,
	beta_q            REAL,
	power_w           REAL,                            -- -1: unknown, in all of these
	temp_c            REAL,
	sm_mhz            REAL,
	reasons           INTEGER,                         -- throttle reasons, bits of NVML
	foreign_processes INTEGER,
	xid               INTEGER,                         -- last XID since the previous reading; 0: none
	ecc               INTEGER,                         -- uncorrected memory errors since then
	energy_j          REAL,
	regime            TEXT,                            -- boost power_limited ""
	ms                BLOB,                            -- float32 [n], in order of pairs; NULL when archived or gone
	mhz               BLOB,                            -- float32 [n] or NULL
	host_us           BLOB,                            -- float32 [n] or NULL
	PRIMARY KEY (cell, run, kind)
) STRICT, WITHOUT ROWID;

-- Position of a comparison's archived times: a frame of samples/MONTH.zst in the database's folder (db/archived.c).
CREATE TABLE archived (
	comparison    INTEGER PRIMARY KEY REFERENCES comparison(id),
	month         TEXT    NOT NULL,                -- "2026-10": month in which the comparison finished
	frame_offset  INTEGER NOT NULL,                -- of the frame's first byte in that file
	bytes         INTEGER NOT NULL
) STRICT;
CREATE INDEX archived_by_position ON archived(month, frame_offset);

-- Slow calls of a cell in one set of runs. Outlives the samples, so that a cell can be judged again together with its group.
CREATE TABLE slow_calls (
	cell           INTEGER NOT NULL REFERENCES cell(id),
	set_number     INTEGER NOT NULL,
	runs           INTEGER NOT NULL,
	calls          INTEGER NOT NULL, -- of one side
	base           INTEGER NOT NULL, -- slow calls
	base_longer    REAL    NOT NULL, -- excess over the typical call, as a share of it: sum, and sum of squares
	base_squares   REAL    NOT NULL,
	base_spread    REAL    NOT NULL, -- slow^2 / calls of each run, summed
	target         INTEGER NOT NULL,
	target_longer  REAL    NOT NULL,
	target_squares REAL    NOT NULL,
	target_spread  REAL    NOT NULL,
	PRIMARY KEY (cell, set_number)
) STRICT, WITHOUT ROWID;

-- Other numbers of a cell: error_ratio, flops_issued, registers, host_us ...
CREATE TABLE metric_name (
	id            INTEGER PRIMARY KEY,
	name          TEXT    NOT NULL,                -- "base.error_ratio"
	unit          TEXT    NOT NULL,
	UNIQUE (name, unit)
) STRICT;
CREATE TABLE metric (
	cell          INTEGER NOT NULL REFERENCES cell(id),
	name          INTEGER NOT NULL REFERENCES metric_name(id),
	n             INTEGER NOT NULL,                -- order of insertion
	value         REAL    NOT NULL,
	PRIMARY KEY (cell, name)
) STRICT, WITHOUT ROWID;

-- Texts or bytes of an owner: graph nodes as JSON, a trace.
CREATE TABLE artifact (
	id            INTEGER PRIMARY KEY,
	owner_kind    TEXT    NOT NULL,                -- cell comparison device
	owner         INTEGER NOT NULL,
	kind          TEXT    NOT NULL,                -- nodes nodes_changed tried kernels notes costs steps place
	sha           TEXT    NOT NULL,
	bytes         BLOB    NOT NULL,
	UNIQUE (owner_kind, owner, kind)
) STRICT;

-- Noise between runs of a cell in one comparison without a change. Queries pool the rows, so that old ones expire.
CREATE TABLE noise (
	id            INTEGER PRIMARY KEY,
	comparison    INTEGER NOT NULL REFERENCES comparison(id),
	repo          INTEGER NOT NULL REFERENCES repo(id),
	environment   INTEGER NOT NULL REFERENCES environment(id),
	key           TEXT    NOT NULL,                -- of the cell
	at            INTEGER NOT NULL,
	itself        INTEGER NOT NULL,                -- 1: compared a module with itself
	alarm         INTEGER NOT NULL,                -- 1: the verdict was regression
	runs          INTEGER NOT NULL,
	freedom       INTEGER NOT NULL,                -- degrees of freedom: runs - 1
	squares       REAL    NOT NULL,                -- of run estimates around their mean
	variance      REAL    NOT NULL                 -- sum of the variances inside runs
) STRICT;
CREATE INDEX noise_of_cell ON noise(environment, key, repo);
CREATE INDEX noise_of_repo ON noise(repo, key);

-- ---- history --------------------------------------------------------------------------------------------------------

-- A period in which all results of a repository are comparable: one environment, and one commit of the upstream branch as reference.
CREATE TABLE baseline_period (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	environment   INTEGER NOT NULL REFERENCES environment(id),
	suite         TEXT    NOT NULL,                -- name
	first_sha     TEXT    NOT NULL DEFAULT '',     -- its first reference commit, which ratios are relative to
	reference_sha TEXT    NOT NULL,                -- current reference commit
	held_mhz      REAL,                            -- clock that held times are scaled to; NULL: unknown
	started_at    INTEGER NOT NULL,
	UNIQUE (repo, environment)
) STRICT;
CREATE INDEX baseline_period_by_suite ON baseline_period(repo, suite);

-- One measurement of a commit against its baseline period's reference commit. A commit's value is the median of its measurements.
CREATE TABLE ratio (
	baseline_period INTEGER NOT NULL REFERENCES baseline_period(id),
	key             TEXT    NOT NULL,                -- of the cell
	target_sha      TEXT    NOT NULL,
	comparison      INTEGER NOT NULL REFERENCES comparison(id),
	x               REAL    NOT NULL,                -- ln (time / time of the reference commit)
	se              REAL    NOT NULL,
	PRIMARY KEY (baseline_period, key, target_sha, comparison)
) STRICT, WITHOUT ROWID;

-- A later reference commit relative to the first one of its baseline period: x is added to ratios measured against it, with its error.
CREATE TABLE reference_link (
	baseline_period INTEGER NOT NULL REFERENCES baseline_period(id),
	reference_sha   TEXT    NOT NULL,
	key             TEXT    NOT NULL,                -- of the cell
	x               REAL    NOT NULL,                -- ln (time / time of the first reference commit)
	se              REAL    NOT NULL,
	comparison      INTEGER NOT NULL REFERENCES comparison(id),
	PRIMARY KEY (baseline_period, reference_sha, key)
) STRICT, WITHOUT ROWID;

-- Latest time of the reference commit on one device, at the baseline period's clock: compares a device with its class.
CREATE TABLE reference_time (
	device          INTEGER NOT NULL REFERENCES device(id),
	baseline_period INTEGER NOT NULL REFERENCES baseline_period(id),
	key             TEXT    NOT NULL,                -- of the cell
	ln_ms           REAL    NOT NULL,                -- ln (time of the first reference commit in ms)
	comparison      INTEGER NOT NULL REFERENCES comparison(id),
	PRIMARY KEY (baseline_period, key, device)
) STRICT, WITHOUT ROWID;
CREATE INDEX reference_time_of_device ON reference_time(device, baseline_period);

-- Latest baseline period of a device.
CREATE TABLE current_baseline (
	device          INTEGER NOT NULL REFERENCES device(id),
	repo            INTEGER NOT NULL REFERENCES repo(id),
	suite           TEXT    NOT NULL,                -- name
	baseline_period INTEGER NOT NULL REFERENCES baseline_period(id),
	PRIMARY KEY (device, repo, suite)
) STRICT, WITHOUT ROWID;

-- The environment of a device changed since its last measurement. One job compares a commit's new build with its stored module (paired),
-- another times the reference commit again (unpaired).
CREATE TABLE environment_change (
	id              INTEGER PRIMARY KEY,
	repo            INTEGER NOT NULL REFERENCES repo(id),
	suite           TEXT    NOT NULL,                -- name
	device          INTEGER NOT NULL REFERENCES device(id),
	baseline_period INTEGER NOT NULL REFERENCES baseline_period(id), -- the period that it ended
	old_hash        TEXT    NOT NULL,                -- of the previous environment
	new_hash        TEXT    NOT NULL,                -- of the new one; '': over before it was measured, or another device measures it
	changed         TEXT    NOT NULL,                -- JSON: [{what, from, to}]
	affects_runs    INTEGER NOT NULL,                -- something changed that affects runs without a build
	paired_job      INTEGER REFERENCES job(id),      -- NULL: no earlier module is stored, or no build changes
	unpaired_job    INTEGER REFERENCES job(id),
	paired          INTEGER REFERENCES comparison(id), -- result of paired_job; NULL: none yet
	unpaired        INTEGER REFERENCES comparison(id),
	alert           INTEGER REFERENCES alert(id),    -- that reports it; NULL: none
	seen_at         INTEGER NOT NULL
) STRICT;
CREATE INDEX environment_change_last ON environment_change(repo, suite, device);
CREATE INDEX environment_change_paired ON environment_change(paired_job) WHERE paired_job IS NOT NULL;
CREATE INDEX environment_change_unpaired ON environment_change(unpaired_job) WHERE unpaired_job IS NOT NULL;

-- Effect of an environment change on one cell.
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
	id              INTEGER PRIMARY KEY,
	repo            INTEGER NOT NULL REFERENCES repo(id),
	baseline_period INTEGER NOT NULL REFERENCES baseline_period(id),
	key             TEXT    NOT NULL,
	kind            TEXT    NOT NULL,                -- step drift
	origin          TEXT    NOT NULL,                -- comparison (found by one comparison), series (found in the history)
	before_sha      TEXT    NOT NULL,                -- last commit of the old level; drift: the reference commit
	commit_sha      TEXT    NOT NULL,                -- first commit of the new level
	step            REAL    NOT NULL,                -- log ratio, positive = slower
	level           REAL,                            -- of the series before it; drift: expected level
	state           TEXT    NOT NULL
	              CHECK (state IN ('candidate', 'placing', 'confirmed', 'dropped')),
	tried           INTEGER NOT NULL DEFAULT 0,      -- pairs of commits compared directly so far
	job             INTEGER REFERENCES job(id),      -- latest job for it; one job may compare several cells
	points          INTEGER NOT NULL DEFAULT 0,      -- points of the series when it was found or dropped
	comparison      INTEGER REFERENCES comparison(id), -- that found or confirmed it
	alert           INTEGER REFERENCES alert(id),    -- that reports it
	found_at        INTEGER NOT NULL,
	decided_at      INTEGER,
	ended_at        INTEGER                          -- later commits compensated it
) STRICT;
CREATE INDEX change_point_by_cell ON change_point(baseline_period, key);
CREATE INDEX change_point_by_key ON change_point(key, repo);
CREATE INDEX change_point_by_job ON change_point(job) WHERE job IS NOT NULL;
CREATE INDEX change_point_by_alert ON change_point(alert) WHERE alert IS NOT NULL;
CREATE INDEX change_point_open ON change_point(state) WHERE state IN ('candidate', 'placing');

-- ---- alerts and bisects ---------------------------------------------------------------------------------------------

CREATE TABLE alert (
	id            INTEGER PRIMARY KEY,
	kind          TEXT    NOT NULL DEFAULT 'regression', -- regression drift failing missing device_offline quarantined environment cost
	repo          INTEGER REFERENCES repo(id),     -- NULL: about a device
	device        INTEGER REFERENCES device(id),   -- NULL: about a commit
	branch        TEXT    NOT NULL DEFAULT '',
	target_sha    TEXT    NOT NULL DEFAULT '',
	changed       TEXT    NOT NULL DEFAULT '',     -- of kind environment: environment_change.changed; of kind cost: its name; '' else
	comparison    INTEGER REFERENCES comparison(id), -- that opened it; NULL none
	state         TEXT    NOT NULL DEFAULT 'open'
	              CHECK (state IN ('open','acknowledged','accepted','resolved','invalid')),
	title         TEXT    NOT NULL DEFAULT '',     -- one line for people
	worst_pct     REAL,                            -- NULL: no slowdown in per cent
	opened_at     INTEGER NOT NULL,
	changed_at    INTEGER NOT NULL,
	cells         TEXT    NOT NULL,                -- JSON array of {cell, change_pct, borderline, ...}
	grouped       TEXT    NOT NULL DEFAULT '[]',   -- JSON array of {family, direction, phase, kernel, cells, worst_pct}
	culprits      TEXT    NOT NULL DEFAULT '[]',   -- JSON array of {from, to, commits, cells, ...}; []: unknown so far
	CHECK (repo IS NOT NULL OR device IS NOT NULL)
) STRICT;
-- Accepted and invalid alerts are not changed any more; a further regression of the same commit opens a separate alert.
CREATE UNIQUE INDEX alert_of_commit ON alert(repo, target_sha, kind, changed) WHERE repo IS NOT NULL AND state NOT IN ('accepted', 'invalid');
CREATE INDEX alert_by_commit ON alert(repo, target_sha, kind);
CREATE INDEX alert_of_device ON alert(device) WHERE device IS NOT NULL;
CREATE INDEX alert_by_state ON alert(state);
CREATE INDEX alert_by_branch ON alert(repo, branch);
CREATE INDEX alert_accepted ON alert(repo, kind) WHERE state = 'accepted'; -- read for every regression
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

-- A bisect over the first parents from good to bad. Its measurements are comparisons of kind bisect; the next step follows from them, so no
-- other state is stored.
CREATE TABLE bisect (
	id            INTEGER PRIMARY KEY,
	repo          INTEGER NOT NULL REFERENCES repo(id),
	alert         INTEGER REFERENCES alert(id),    -- alert that needs the culprit; NULL: requested by a user
	origin        TEXT    NOT NULL,                -- alert api
	goal          TEXT    NOT NULL DEFAULT '',     -- regression failing; "" until both ends are measured
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
-- Cells to measure: keys, or globs over keys.
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

-- ---- profiles -------------------------------------------------------------------------------------------------------

-- A request to explain slower cells: one job without a comparison and a verdict. Its cells are those of the job.
CREATE TABLE profile (
	id            INTEGER PRIMARY KEY,
	job           INTEGER NOT NULL UNIQUE REFERENCES job(id),
	comparison    INTEGER REFERENCES comparison(id), -- that it explains; NULL: the two sides were never compared
	alert         INTEGER REFERENCES alert(id)     -- that requested it; NULL: a user did
) STRICT;
CREATE INDEX profile_by_comparison ON profile(comparison) WHERE comparison IS NOT NULL;
CREATE INDEX profile_by_alert ON profile(alert) WHERE alert IS NOT NULL;

-- Result of one cell, written when the job ends. Most values come from processes that run a branch's code and are not trusted.
CREATE TABLE profile_cell (
	id             INTEGER PRIMARY KEY,
	profile        INTEGER NOT NULL REFERENCES profile(id),
	n              INTEGER NOT NULL,                -- order in the job
	key            TEXT    NOT NULL,
	state          TEXT    NOT NULL CHECK (state IN ('done','identical','unsupported','failed')),
	why            TEXT    NOT NULL DEFAULT '',     -- why not done, or why no better source than `path` was available
	path           TEXT    NOT NULL DEFAULT '',     -- range ncu activity code; "" not done
	tool           TEXT    NOT NULL DEFAULT '',     -- "CUPTI 130001"
	passes         INTEGER NOT NULL DEFAULT 0,      -- replays of a call
	stalls_why     TEXT    NOT NULL DEFAULT '',     -- why stalls are unknown; "" they are known, or no counters were read either
	base_config    TEXT    NOT NULL DEFAULT '',
	target_config  TEXT    NOT NULL DEFAULT '',
	base_tried     TEXT    NOT NULL DEFAULT 'null', -- JSON: {"of", "list": [{"config", "ms"}]} configurations that the provider tried before it chose
	target_tried   TEXT    NOT NULL DEFAULT 'null',
	base_ms        REAL,                            -- medians of the comparison; NULL: it has none
	target_ms      REAL,
	gpu_s          REAL    NOT NULL DEFAULT 0,
	-- the target in the base's configuration, interleaved with both sides; NULL: not tried
	with_config    TEXT,
	with_base_ms   REAL,
	with_target_ms REAL,
	with_ms        REAL,
	UNIQUE (profile, n)
) STRICT;

-- One kernel of one call, as one process of one side ran it.
CREATE TABLE profile_kernel (
	id            INTEGER PRIMARY KEY,
	profile_cell  INTEGER NOT NULL REFERENCES profile_cell(id),
	side          TEXT    NOT NULL,                -- base target
	repeat        INTEGER NOT NULL,                -- process of that side, from 0: differences between two of them are noise
	n             INTEGER NOT NULL,                -- launch order in a call
	phase         TEXT    NOT NULL,
	kernel        TEXT    NOT NULL,
	code_sha      TEXT    NOT NULL,                -- SHA-256 of its machine code; "" unknown
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

-- Differences in the machine code of one kernel.
CREATE TABLE profile_code (
	id            INTEGER PRIMARY KEY,
	profile_cell  INTEGER NOT NULL REFERENCES profile_cell(id),
	base          TEXT    NOT NULL,                -- name of the kernel on each side; "" absent
	target        TEXT    NOT NULL,
	what          TEXT    NOT NULL,                -- same renamed rescheduled changed added removed differs
	opcodes       TEXT    NOT NULL,                -- JSON: [[opcode, count in the base, count in the target]], the largest difference first
	base_takes    TEXT    NOT NULL,                -- JSON: registers, local_bytes, shared_bytes, ctas_per_sm; -1 unknown
	target_takes  TEXT    NOT NULL,
	-- JSON: {samples, lines: [[offset, samples, most frequent stall, samples of that stall, instruction]]}, most samples first; NULL: that
	-- side was not sampled
	base_stalls   TEXT,
	target_stalls TEXT,
	hunks_len     INTEGER NOT NULL,                -- unpacked
	hunks         BLOB    NOT NULL                 -- diff for display, an LZ4 frame
) STRICT;
CREATE INDEX profile_code_by_cell ON profile_code(profile_cell);

-- Diagnostics of ptxas that differ between the builds of the two sides, read from their logs.
CREATE TABLE profile_diagnostic (
	profile       INTEGER NOT NULL REFERENCES profile(id),
	n             INTEGER NOT NULL,                -- kind serial first
	change        TEXT    NOT NULL CHECK (change IN ('new','more','fewer','gone')),
	kind          TEXT    NOT NULL,                -- serial setmaxnreg spills other
	code          TEXT    NOT NULL,                -- C7512; "" none
	kernel        TEXT    NOT NULL,                -- "" the message names none
	what          TEXT    NOT NULL,
	PRIMARY KEY (profile, n)
) STRICT, WITHOUT ROWID;

-- Causes of a cell's difference, the largest first.
CREATE TABLE cause (
	profile_cell  INTEGER NOT NULL REFERENCES profile_cell(id),
	rank          INTEGER NOT NULL,
	code          TEXT    NOT NULL,                -- instructions spills dram config ...
	kernel        TEXT    NOT NULL,                -- "" no single kernel
	explained_ms  REAL    NOT NULL,
	of_ms         REAL    NOT NULL,                -- the whole difference
	confidence    TEXT    NOT NULL,                -- exact measured follows seen open
	sentence      TEXT    NOT NULL,
	PRIMARY KEY (profile_cell, rank)
) STRICT, WITHOUT ROWID;

-- ---- notifications and access ---------------------------------------------------------------------------------------

-- Notifications to send, written in the transaction of the verdict. A newer one about the same subject (the status of a commit) supersedes
-- an older one that was not sent yet.
CREATE TABLE outbox (
	id            INTEGER PRIMARY KEY,
	message_id    TEXT    NOT NULL UNIQUE,         -- webhook-id of every attempt
	kind          TEXT    NOT NULL,                -- webhook status note comment approval
	target        TEXT    NOT NULL,                -- name of the receiver or repository in the configuration
	subject       TEXT    NOT NULL DEFAULT '',     -- of notifications of which only the newest counts
	payload       TEXT    NOT NULL,                -- JSON
	state         TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting','sent','failed','superseded')),
	attempts      INTEGER NOT NULL DEFAULT 0,      -- since it was written or sent again by a user
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
	status        INTEGER NOT NULL,                -- HTTP status; 0 no response
	error         TEXT    NOT NULL                 -- '' delivered
) STRICT;
CREATE INDEX outbox_attempt_of ON outbox_attempt(outbox);

-- Events for /events and the event page: job.*, alert.*, device.*, baseline_period.*
CREATE TABLE event (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	at            INTEGER NOT NULL,
	kind          TEXT    NOT NULL,
	payload       TEXT    NOT NULL                 -- JSON
) STRICT;

-- Webhooks received, so that a replayed one starts nothing.
CREATE TABLE webhook_seen (
	id            TEXT    NOT NULL PRIMARY KEY,    -- delivery id of the forge
	at            INTEGER NOT NULL
) STRICT;

-- Responses to POSTs with an Idempotency-Key, so that a repeated request starts nothing twice.
CREATE TABLE idempotency_key (
	key           TEXT    NOT NULL PRIMARY KEY,
	fingerprint   TEXT    NOT NULL,                -- SHA-256 of token and request
	status        INTEGER NOT NULL,
	location      TEXT    NOT NULL,
	body          TEXT    NOT NULL,
	at            INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_key_by_at ON idempotency_key(at);

-- Access tokens, required once other machines can reach the daemon. Only hashes are stored.
CREATE TABLE token (
	id            INTEGER PRIMARY KEY,
	name          TEXT    NOT NULL UNIQUE,
	hash          TEXT    NOT NULL UNIQUE,         -- SHA-256 of the token, which is 256 random bits
	scope         TEXT    NOT NULL CHECK (scope IN ('read','trigger','admin')),
	made_by       TEXT    NOT NULL DEFAULT '',     -- token that its creator used; '' unknown
	created_at    INTEGER NOT NULL,
	used_at       INTEGER,                         -- to the hour
	revoked_at    INTEGER,
	expires_at    INTEGER                          -- NULL: never
) STRICT;

-- Requests of users that may have changed something, without their contents; rows older than 400 days are deleted.
CREATE TABLE audit (
	id            INTEGER PRIMARY KEY,
	at            INTEGER NOT NULL,
	who           TEXT    NOT NULL,                -- name of the token; local: a user of the daemon's machine
	path          TEXT    NOT NULL,                -- "/api/v1/alerts/3/accept"
	status        INTEGER NOT NULL                 -- of the answer
) STRICT;

-- Browser sessions opened with a token.
CREATE TABLE session (
	hash          TEXT    NOT NULL PRIMARY KEY,
	token         INTEGER NOT NULL REFERENCES token(id),
	expires_at    INTEGER NOT NULL
) STRICT;

-- ---- counters -------------------------------------------------------------------------------------------------------
-- /metrics reads these tables, so that its cost does not grow with the history.

-- Rows of a table by state.
CREATE TABLE counted (
	what          TEXT    NOT NULL,                -- jobs comparisons alerts notifications
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

-- Comparisons with peers, requested configurations and toolchains judge no commit, so they are not counted.
CREATE TRIGGER counted_comparison AFTER INSERT ON comparison WHEN NEW.kind NOT IN ('peer', 'config', 'environment') BEGIN
	INSERT INTO counted VALUES ('comparisons', NEW.verdict, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_comparison_verdict AFTER UPDATE OF verdict ON comparison WHEN NEW.kind NOT IN ('peer', 'config', 'environment') AND NEW.verdict <> OLD.verdict BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'comparisons' AND label = OLD.verdict;
	INSERT INTO counted VALUES ('comparisons', NEW.verdict, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_comparison_gone AFTER DELETE ON comparison WHEN OLD.kind NOT IN ('peer', 'config', 'environment') BEGIN
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
	INSERT INTO counted VALUES ('notifications', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_outbox_state AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'notifications' AND label = OLD.state;
	INSERT INTO counted VALUES ('notifications', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER counted_outbox_gone AFTER DELETE ON outbox BEGIN
	UPDATE counted SET n = n - 1 WHERE what = 'notifications' AND label = OLD.state;
END;

-- Histogram of the durations of done and failed jobs: each in the smallest bound that holds it. Monotonic.
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

-- Comparisons of equal builds on a device, and the false alarms among them.
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

-- last_run never decreases: judging an older comparison again must not set it back.
CREATE TRIGGER device_measured AFTER UPDATE OF verdict ON comparison WHEN NEW.environment IS NOT NULL BEGIN
	UPDATE device SET last_run = max(last_run, coalesce((SELECT max(l.id) FROM run l WHERE l.comparison = NEW.id
		AND EXISTS (SELECT 1 FROM cell x CROSS JOIN sample t ON t.cell = x.id AND t.run = l.id
			CROSS JOIN sample_kind k ON k.id = t.kind WHERE x.comparison = NEW.id AND k.side = 'target')), 0))
		WHERE id = NEW.device;
END;
