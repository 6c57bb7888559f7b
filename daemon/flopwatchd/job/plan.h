/**
 * plan.h - the message that asks a worker to compare two commits. Suite, thresholds and the list of suites come from the base;
 * each side's own manifest defines only its inputs and build.
 */
#ifndef FLOPWATCHD_JOB_PLAN_H
#define FLOPWATCHD_JOB_PLAN_H

#include <stdbool.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "flopwatchd/config/config.h"
#include "protocol/protocol.h"
#include "model/shard.h"
#include "flopwatchd/watch/gitread.h"

/** The content of a job. `ask.subject[0]` is the base, `[1]` the target, `[2]` the reference commit if it is neither. */
struct plan {
	struct msg_job request; /* as sent, except job, attempt, nonce, seed and device; the plan owns ask.cell */
	char base_how[16];      /* merge-base first-parent last-judged last-night given self */
	char suite_name[64];    /* "ffa" */
	char suite_sha[65];     /* of the resolved cells, before cells_glob */
	char suite_origin[256]; /* "installed" or "<repo>@<commit>" */
	/* position of the base's provider, as the start of a message; "": set by a user, or there is none */
	char provider_position[1024];
	int part;               /* shard of the suite, set before plan_suite; 0: the cells that a push measures */
	struct suite_size size; /* of the suite; zeros for a benchmark */
	struct buf suite_text;  /* the file as read */
	bool on_line;           /* the target is an upstream commit, measured for the history */
	char line_branch[1024]; /* percent-encoded; "" unless on_line */
	char reference[65];     /* reference commit of that history; "": none yet */
	bool identical;         /* equal input oids and builds on both sides, no named provider, and not a selfcheck */
	bool dropped;           /* the target no longer has the base's benchmark: its row is removed */
};

void plan_init(struct plan *p);
void plan_fini(struct plan *p);

/** Read a commit's manifest from its .flopwatch.yaml (requested as a blob), or the defaults. Err: ERR_INVALID its mistakes. */
int plan_manifest(const struct gitread_commit *c, struct manifest *out, struct fw_err *err);
/** Paths of suite `name` in a base's tree; the first that exists counts. Shape: path[2][MANIFEST_TEXT_SIZE]. */
void plan_suite_paths(const char *name, char path[2][MANIFEST_TEXT_SIZE]);
/** Read suite `name` and its file name from a commit's tree, else from the installed ones. 1, 0 it does not exist, -1. */
int plan_find_suite(const struct config *config, const struct gitread_commit *c, const char *name, struct buf *text,
	char file[1024], bool *installed, struct fw_err *err);
/** Fill subject `i`: role, commit, inputs, build. Err: ERR_INVALID the commit lacks an input or has an invalid one. */
int plan_subject(
	struct plan *p, int i, enum role role, const struct gitread_commit *c, const struct manifest *m, struct fw_err *err);
/**
 * Fill cells, rule, limits and suite_* from suite `name` of the base's tree, else of config->suites_dir. Err: ERR_NOT_FOUND;
 * ERR_INVALID its mistakes, or no cell matches `cells_glob`.
 */
int plan_suite(struct plan *p, const struct config *config, const char *repo, const struct gitread_commit *base, const char *name,
	const char *cells_glob, struct fw_err *err);
/**
 * As plan_suite, for benchmark `name` of the base's manifest, whose cells are known after its run. Command, outputs and reader
 * are each side's own; threshold, limits and GPU use are the base's. Sets `dropped` if the target no longer has the benchmark.
 */
void plan_benchmark(struct plan *p, const struct config *config, const char *repo, const struct benchmark *base,
	const struct manifest *target);
/**
 * Fill the command of subject `i` from its own manifest; the base's settings judge. Call it after plan_benchmark, which fills
 * base and target. Err: ERR_INVALID the manifest has no such benchmark.
 */
int plan_run(struct plan *p, int i, const struct manifest *own, struct fw_err *err);
bool plan_is_benchmark(const struct plan *p);
/** True if a provider or configuration was requested for a side: equal modules then need not behave equally. */
bool plan_is_named(const struct plan *p);
void plan_compare(struct plan *p);
/** True if something must run; otherwise the result is known. A benchmark shows nothing but times, so it has no profile. */
bool plan_needs_worker(const struct plan *p);

/** SHA-256 over a subject's input paths and oids, its build command and outputs, and the device kind. Shape: hex[65]. */
void plan_inputs_hash(const struct msg_subject *s, enum device_kind kind, char hex[65]);

#endif
