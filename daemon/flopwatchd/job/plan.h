/**
 * plan.h - from two commits to the message that asks a worker to compare them.
 *
 * Suite, thresholds and the list of suites come from the base; only inputs and build come from each side's own manifest.
 */
#ifndef FLOPWATCHD_JOB_PLAN_H
#define FLOPWATCHD_JOB_PLAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "flopwatchd/runtime/config.h"
#include "core/protocol/protocol.h"
#include "core/suite/shard.h"
#include "flopwatchd/job/gitread.h"

/** What a job asks for. `ask.subject[0]` is the base, `[1]` the target, `[2]`, where it is neither of them, the reference commit. */
struct plan {
	struct msg_job ask;     /* as sent, but for job, attempt, nonce, seed and device; ask.cell is owned by the plan */
	char base_how[16];      /* merge-base first-parent last-judged last-night given self */
	char suite_name[64];    /* "ffa" */
	char suite_sha[65];     /* of the resolved cells, before cells_glob */
	char suite_origin[256]; /* "installed" or "<repo>@<commit>" */
	/* where the base's provider is named, as the beginning of a message; "" by a person, or none is */
	char provider_place[1024];
	int part;               /* of the suite, set before plan_suite: 0 what a push measures */
	struct suite_size size; /* of the suite; zeros of a benchmark */
	struct buf suite_text;  /* the file as it was read */
	bool on_line;           /* the target is a commit of the upstream branch, measured for its history */
	char line_branch[1024]; /* that branch, percent-encoded; "" unless on_line */
	char reference[65];     /* commit that it is measured against for that; "" none yet */
	bool identical;         /* same input oids and build on both sides, no provider by name, and no selfcheck */
	bool dropped;           /* the target names the base's benchmark no more: its row is removed */
};

void plan_init(struct plan *p);
void plan_fini(struct plan *p);

/** Manifest of a commit, from its .flopwatch.yaml (asked for as a blob) or the defaults. Err: ERR_INVALID its mistakes. */
int plan_manifest(const struct gitread_commit *c, struct manifest *out, struct fw_err *err);
/** Paths in a base's tree where suite `name` may stand, first wins. Shape: path[2][MANIFEST_TEXT_SIZE]. */
void plan_suite_paths(const char *name, char path[2][MANIFEST_TEXT_SIZE]);
/**
 * The text of suite `name`, from a commit's tree (asked for as blobs) or else installed, and its file. 1, 0 there is none such, -1.
 */
int plan_find_suite(const struct config *config, const struct gitread_commit *c, const char *name, struct buf *text,
	char file[1024], bool *installed, struct fw_err *err);
/** Fill subject `i`: role, commit, inputs, build. Err: ERR_INVALID the commit lacks an input, or has a bad one. */
int plan_subject(
	struct plan *p, int i, enum role role, const struct gitread_commit *c, const struct manifest *m, struct fw_err *err);
/**
 * Fill cells, rule, limits and suite_*: suite `name` from the base's tree, else from config->suites_dir.
 * Err: ERR_NOT_FOUND nowhere, ERR_INVALID its mistakes, or no cell matches `cells_glob`.
 */
int plan_suite(struct plan *p, const struct config *config, const char *repo, const struct gitread_commit *base, const char *name,
	const char *cells_glob, struct fw_err *err);
/**
 * As plan_suite, for benchmark `name` of the base's manifest: a program of its own, whose cells are known when it has run. Command,
 * outputs and reader are each side's own; threshold, limits and the use of the GPU are the base's. Where the target has no such benchmark
 * any more, `dropped` is set.
 */
void plan_benchmark(struct plan *p, const struct config *config, const char *repo, const struct benchmark *base,
	const struct manifest *target);
/**
 * What subject `i` runs, from its own manifest; what judges is the base's. After plan_benchmark, which does this for base and target.
 * Err: ERR_INVALID it has no such benchmark.
 */
int plan_run(struct plan *p, int i, const struct manifest *own, struct fw_err *err);
/** The plan measures programs of their own. */
bool plan_is_benchmark(const struct plan *p);
/** Whether a side's provider or configuration was asked for: equal modules then are not known to do the same. */
bool plan_is_named(const struct plan *p);
/** Set `identical` from the subjects and ask.kind. */
void plan_compare(struct plan *p);
/** Something has to run: else what comes out is known already. Nothing is seen of a program of its own but its times, so no profile of one runs. */
bool plan_needs_worker(const struct plan *p);

/** SHA-256 over a subject's input paths and oids, its build command and outputs, and the kind of device. Shape: hex[65]. */
void plan_inputs_hash(const struct msg_subject *s, enum device_kind kind, char hex[65]);

#endif
