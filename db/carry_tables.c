/*
 * carry_tables.c - table by table, from the tables of commit 91174416 to the current ones.
 *
 * Ids do not change, because frames of the archive next to the database refer to cells, runs and kinds by them. Sentences
 * (state_why, reason, title) are copied unchanged. Names after `SELECT` and `old.` are those of 91174416, and must not follow
 * later renames.
 */
#include "db/internal.h"

/* clang-format off */

/* The columns are the same, in the same order. */
#define SAME(table) { #table, "INSERT INTO main." #table " SELECT * FROM old." #table }

#define JOB_KIND(column) \
	"CASE " column " WHEN 'change' THEN 'compare' WHEN 'anchor' THEN 'reference' WHEN 'pinned' THEN 'config' ELSE " column " END"
#define ALERT_KIND(column) \
	"CASE " column " WHEN 'creep' THEN 'drift' WHEN 'broken' THEN 'failing' WHEN 'vanished' THEN 'missing' " \
	"WHEN 'silent' THEN 'device_offline' ELSE " column " END"

#define BASE_HOW "iif(base_how = 'last-night', 'last-off-peak', base_how)"

#define JOB_REQUEST(base_how) \
	"id, repo, branch, target_sha, base_sha, " base_how ", base_name, target_name, base_provider, target_provider, base_config, " \
	"target_config, base_toolchain, target_toolchain, base_flags, target_flags, base_module, base_made_by, "
#define JOB_SUITE \
	"suite, device_kind, device_uuid, device_class, threshold_pct, quick, some_cells, every_cell, "
#define JOB_AGAIN "priority, plan, again_of, again_at, "
#define JOB_TIMES "nonce, device, queued_at, started_at, ended_at"

#define COMPARISON_SIDES(base_how) \
	"base_sha, " base_how ", target_sha, base_build, target_build, suite, environment, device, identical_by, verdict, n_cells, " \
	"n_regressions, worst_pct, worst_key, gpu_s, wall_s, finished_at, is_raw, "

#define CELL_WHICH "id, comparison, n, key, repo, branch, target_sha, device, confirmed_on, finished_at, "
#define CELL_REQUEST \
	"suite_group, title, size, direction, series, input_sha, flops, bytes, threshold_pct, m, m_raw, m_code, se, se_clock, beta, "
#define CELL_RESULT_COLUMNS \
	"samples, base_median_ms, target_median_ms, change_pct, ci_low_pct, ci_high_pct, mde_pct, tau0, nu0, "
#define CELL_DECIDED \
	"mean_m, mean_se, slow_base, slow_target, slow_longer, verdict, failure, reason, flags, decided_by, decided_m, decided_se, " \
	"decided_pct, "

#define SAMPLE_VALUES \
	"kind, n, call_order, d, q, d_raw, z, z_q, beta, beta_q, power_w, temp_c, sm_mhz, reasons, foreign_processes, xid, ecc, " \
	"energy_j, regime, ms, mhz, host_us"
#define SLOW_CALLS_VALUES \
	"calls, base, base_longer, base_squares, base_spread, target, target_longer, target_squares, target_spread"
#define NOISE_WHICH "id, comparison, repo, environment, key, at, itself, alarm, "

#define ENVIRONMENT_CHANGE_REST "paired_job, unpaired_job, paired, unpaired, alert, seen_at"
#define CHANGE_POINT_REST \
	"origin, before_sha, commit_sha, step, level, state, tried, points, comparison, alert, found_at, decided_at, ended_at"

const struct carry_table carry_tables[] = {
	{ "repo",
	  "INSERT INTO main.repo (id, name, url, is_local, upstream, state, error, fetch_failures, fetched_at, jobs_started, created_at) "
	  "SELECT id, name, url, is_local, upstream, state, error, fetch_failures, fetched_at, turns, created_at FROM old.repo" },
	SAME(branch_tip),
	SAME(git_commit),
	SAME(mainline),
	SAME(device_class),
	{ "device",
	  "INSERT INTO main.device (id, uuid, kind, name, state, state_why, state_at, driver, toolkit, cudnn, class, outlier, info, "
	  "seen_at, last_run, worker, host, on_call) SELECT id, uuid, kind, name, iif(state = 'canary', 'health_check', state), "
	  "state_why, state_at, driver, toolkit, cudnn, class, stands_out, info, seen_at, last_launch, worker, host, on_call "
	  "FROM old.device" },
	SAME(device_throttle),
	SAME(environment),
	SAME(suite),
	SAME(build),
	{ "job",
	  "INSERT INTO main.job (" JOB_REQUEST("base_how") "kind, " JOB_SUITE "shard, origin, " JOB_AGAIN "state, state_why, progress, attempt, " JOB_TIMES ") "
	  "SELECT " JOB_REQUEST(BASE_HOW) JOB_KIND("kind") ", " JOB_SUITE "part, "
	  "CASE origin WHEN 'epoch' THEN 'baseline_period' WHEN 'reanchor' THEN 'rereference' WHEN 'night' THEN 'off_peak' ELSE origin END, " JOB_AGAIN
	  "CASE state WHEN 'sent' THEN 'assigned' WHEN 'gone' THEN 'target_missing' ELSE state END, state_why, today(progress), "
	  "attempt, " JOB_TIMES " FROM old.job ORDER BY id" },
	SAME(job_cell),
	SAME(job_peer),
	SAME(job_source),
	{ "cached_build",
	  "INSERT INTO main.cached_build (worker, source, made_by, used_at) SELECT worker, source, made_by, used_at FROM old.kept_build" },
	SAME(job_log),
	{ "comparison", /* bodies, and their ETags, are written after all cells */
	  "INSERT INTO main.comparison (id, job, repo, branch, kind, " COMPARISON_SIDES("base_how") "rule) "
	  "SELECT id, job, repo, branch, " JOB_KIND("kind") ", " COMPARISON_SIDES(BASE_HOW) "today(rule) FROM old.comparison ORDER BY id" },
	{ "cell_shape",
	  "INSERT INTO main.cell_shape (id, shape, line, pieces, baseline) SELECT id, shape, line, pieces, baseline FROM old.form" },
	{ "cell",
	  "INSERT INTO main.cell (" CELL_WHICH "cell_shape, " CELL_REQUEST "runs, " CELL_RESULT_COLUMNS "underpowered_pct, " CELL_DECIDED
	  "baseline_period, held_ms, point) SELECT " CELL_WHICH "form, " CELL_REQUEST "launches, " CELL_RESULT_COLUMNS "blind_pct, " CELL_DECIDED
	  "epoch, held_ms, point FROM old.cell ORDER BY id" },
	{ "run",
	  "INSERT INTO main.run (id, comparison, n, set_number, seed) SELECT id, comparison, n, set_number, seed FROM old.launch" },
	{ "sample_kind",
	  "INSERT INTO main.sample_kind (id, series, phase, side) "
	  "SELECT id, series, phase, iif(subject = 'anchor', 'reference', subject) FROM old.sample_kind" },
	{ "sample",
	  "INSERT INTO main.sample (cell, run, " SAMPLE_VALUES ") SELECT cell, launch, " SAMPLE_VALUES " FROM old.sample" },
	SAME(archived),
	{ "slow_calls",
	  "INSERT INTO main.slow_calls (cell, set_number, runs, " SLOW_CALLS_VALUES ") "
	  "SELECT cell, set_number, launches, " SLOW_CALLS_VALUES " FROM old.slow_calls" },
	{ "metric_name",
	  "INSERT INTO main.metric_name (id, name, unit) "
	  "SELECT id, iif(name = 'sustained.launches', 'sustained.runs', name), unit FROM old.metric_name" },
	SAME(metric),
	SAME(artifact),
	{ "noise",
	  "INSERT INTO main.noise (" NOISE_WHICH "runs, freedom, squares, variance) "
	  "SELECT " NOISE_WHICH "launches, freedom, squares, variance FROM old.scatter" },
	{ "baseline_period",
	  "INSERT INTO main.baseline_period (id, repo, environment, suite, first_sha, reference_sha, held_mhz, started_at) "
	  "SELECT id, repo, environment, suite, first_sha, anchor_sha, held_mhz, started_at FROM old.epoch" },
	{ "ratio",
	  "INSERT INTO main.ratio (baseline_period, key, target_sha, comparison, x, se) "
	  "SELECT epoch, key, target_sha, comparison, x, se FROM old.ratio" },
	{ "reference_link",
	  "INSERT INTO main.reference_link (baseline_period, reference_sha, key, x, se, comparison) "
	  "SELECT epoch, anchor_sha, key, x, se, comparison FROM old.anchor_link" },
	{ "reference_time",
	  "INSERT INTO main.reference_time (device, baseline_period, key, ln_ms, comparison) "
	  "SELECT device, epoch, key, ln_ms, comparison FROM old.anchor_time" },
	{ "current_baseline",
	  "INSERT INTO main.current_baseline (device, repo, suite, baseline_period) SELECT device, repo, suite, epoch FROM old.standing" },
	{ "environment_change",
	  "INSERT INTO main.environment_change (id, repo, suite, device, baseline_period, old_hash, new_hash, changed, affects_runs, "
	  ENVIRONMENT_CHANGE_REST ") SELECT id, repo, suite, device, epoch, was_hash, is_hash, changed, is_outside, "
	  ENVIRONMENT_CHANGE_REST " FROM old.environment_change" },
	SAME(environment_effect),
	{ "change_point", /* old: a job refers to the change point that requested it; new: a change point to its latest job */
	  "INSERT INTO main.change_point (id, repo, baseline_period, key, kind, job, " CHANGE_POINT_REST ") "
	  "SELECT id, repo, epoch, key, iif(kind = 'creep', 'drift', kind), "
	  "(SELECT max(j.id) FROM old.job j WHERE j.change_point = c.id), " CHANGE_POINT_REST " FROM old.change_point c" },
	{ "alert",
	  "INSERT INTO main.alert (id, kind, repo, device, branch, target_sha, changed, comparison, state, title, worst_pct, opened_at, "
	  "changed_at, cells, grouped, culprits) SELECT id, " ALERT_KIND("kind") ", repo, device, branch, target_sha, changed, "
	  "comparison, state, title, worst_pct, opened_at, changed_at, today(cells), grouped, culprits FROM old.alert ORDER BY id" },
	SAME(alert_event),
	{ "bisect",
	  "INSERT INTO main.bisect (id, repo, alert, origin, goal, good_sha, bad_sha, suite, device_kind, state, state_why, verdict, "
	  "comparison, job, n_jobs, created_at, ended_at, culprits) SELECT id, repo, alert, origin, "
	  "iif(goal = 'broken', 'failing', goal), good_sha, bad_sha, suite, device_kind, state, state_why, verdict, comparison, job, "
	  "n_jobs, created_at, ended_at, culprits FROM old.bisect" },
	SAME(bisect_cell),
	SAME(bisect_commit),
	SAME(bisect_job),
	SAME(profile),
	SAME(profile_cell),
	SAME(profile_kernel),
	SAME(profile_value),
	SAME(profile_code),
	{ "profile_diagnostic",
	  "INSERT INTO main.profile_diagnostic (profile, n, change, kind, code, kernel, what) "
	  "SELECT profile, n, change, kind, code, kernel, what FROM old.profile_complaint" },
	SAME(cause),
	{ "outbox", /* pending notifications are sent with the names that receivers expect now */
	  "INSERT INTO main.outbox (id, message_id, kind, target, subject, payload, state, attempts, next_at, last_error, created_at) "
	  "SELECT id, message_id, kind, target, subject, today(payload), state, attempts, next_at, last_error, created_at "
	  "FROM old.outbox ORDER BY id" },
	SAME(outbox_attempt),
	{ "event",
	  "INSERT INTO main.event (id, at, kind, payload) SELECT id, at, CASE kind WHEN 'epoch.started' THEN 'baseline_period.started' "
	  "WHEN 'epoch.anchored' THEN 'baseline_period.reference_set' WHEN 'epoch.reanchored' THEN 'baseline_period.reference_moved' "
	  "ELSE kind END, today(payload) FROM old.event ORDER BY id" },
	/* ids of deleted events are not used again: clients request the events after the last id that they received */
	{ "event", "DELETE FROM main.sqlite_sequence" },
	{ "event", "INSERT INTO main.sqlite_sequence SELECT * FROM old.sqlite_sequence" },
	SAME(webhook_seen),
	{ "idempotency_key",
	  "INSERT INTO main.idempotency_key (key, fingerprint, status, location, body, at) "
	  "SELECT key, fingerprint, status, location, today(body), at FROM old.idempotency_key" },
	{ "token", "INSERT INTO main.token (id, name, hash, scope, made_by, created_at, used_at, revoked_at) SELECT id, name, hash, "
		   "scope, made_by, created_at, used_at, revoked_at FROM old.token" },
	{ "session", "INSERT INTO main.session (hash, token, expires_at) SELECT hash, token, expires_at FROM old.session" },
	/*
	 * triggers filled `counted` while rows were inserted. The tables below count deleted rows, too, or rows that no INSERT
	 * counts.
	 */
	{ "job_duration", "DELETE FROM main.job_duration" },
	SAME(job_duration),
	{ "self_check", "DELETE FROM main.self_check" },
	SAME(self_check),
	{ NULL, NULL },
};
