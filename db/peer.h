/**
 * peer.h - comparisons of kind peer: both sides are one commit, and the base runs a peer's provider. Finds the pending ones, the measured
 * ones, and those that relate another comparison to a peer.
 *
 * Only whole ones count (not quick, all cells) whose target is the module's default provider. Absent numbers are NAN.
 */
#ifndef DB_PEER_H
#define DB_PEER_H

#include "verdict/verdict.h"
#include "db/db.h"

/* ---- pending comparisons ----------------------------------------------------------------------------------------------- */

/**
 * The newest whole comparison of a branch with one suite on one class that has a device in state ok. Texts are valid inside the
 * callback.
 */
struct store_peer_target {
	int64_t comparison, environment, device_class;
	const char *target_sha, *module_sha, *suite, *device_kind;
	const char *peers; /* of its base's manifest */
};
typedef void store_peer_target_fn(void *arg, const struct store_peer_target *row);
/** `branch` is percent-encoded. Skips targets without a module and benchmark programs. */
int store_peer_targets(
	struct db *db, int64_t repo, const char *branch, store_peer_target_fn *each, void *arg, struct fw_err *err);

/**
 * Whether a comparison of this commit with `provider` was requested on this class, or its module was measured in this
 * environment. 1, 0, -1.
 */
int store_peer_known(
	struct db *db, int64_t repo, const struct store_peer_target *target, const char *provider, struct fw_err *err);

/** Store the peers of a job's base manifest. */
int store_peer_names(struct db *db, int64_t job, const char *peers, struct fw_err *err);

/* ---- measured comparisons ----------------------------------------------------------------------------------------------- */

/** Relation of a comparison with a peer to another comparison. */
enum store_peer_basis {
	STORE_PEER_PAIRED,  /* it timed the other's target */
	STORE_PEER_CHAINED, /* it timed the other's base */
	STORE_PEER_SCALED,  /* it timed another module in the same environment */
};

struct store_peer_source {
	int64_t comparison;
	enum store_peer_basis basis;
	char provider[48], target_sha[65];
};
enum { STORE_PEER_SOURCES_MAX = 24 };

/**
 * Comparisons with peers that relate `comparison` to a peer: for each provider the newest of each basis, best basis first,
 * providers by name. A comparison with a peer is its own source. Shape: out[STORE_PEER_SOURCES_MAX]. How many, -1.
 */
int store_peer_sources(struct db *db, int64_t comparison, struct store_peer_source *out, struct fw_err *err);

struct store_peer_cell {
	double m, ci_low_pct, ci_high_pct; /* of the default provider relative to the peer */
	double base_ms, held_base_ms;      /* the peer's time, and its time at the baseline period's clock, where known */
};
/** One cell of a comparison with a peer. 1, 0 it has no times, -1. */
int store_peer_cell(struct db *db, int64_t comparison, const char *key, struct store_peer_cell *out, struct fw_err *err);

/** Target's time at the clock of its baseline period. Units: ms; NAN unknown. */
int store_peer_held_ms(struct db *db, int64_t cell, double *ms, struct fw_err *err);

enum { STORE_PEER_READERS_MAX = 32 };
/** Newest other comparisons of which `peer` is a paired or chained source. Shape: ids[STORE_PEER_READERS_MAX]. How many, -1. */
int store_peer_readers(struct db *db, int64_t peer, int64_t *ids, struct fw_err *err);

/* ---- views --------------------------------------------------------------------------------------------------------------- */

struct view_peer {
	int64_t comparison, job, finished_at;
	const char *repo, *suite, *provider, *commit, *subject, *device, *device_kind, *device_name;
	enum verdict verdict;
	bool current;       /* newest of this repository, suite, device and provider */
	int cells, timed;   /* of the suite; with times */
	double geomean_pct; /* of the peer's speed, over timed cells */
};
typedef void view_peer_fn(void *arg, const struct view_peer *row);
/** Current rows first, then the others, newest first; repo and device NULL or "": any. At most `limit`. */
int view_peers(struct db *db, const char *repo, const char *device, int limit, view_peer_fn *each, void *arg, struct fw_err *err);

/** Peers of the base manifest of a branch's newest finished job. 1, 0, -1. */
int store_peer_named(struct db *db, int64_t repo, const char *branch, char *peers, size_t size, struct fw_err *err);

#endif
