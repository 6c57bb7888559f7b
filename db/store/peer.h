/**
 * peer.h - comparisons of kind peer: both sides are one commit, the base by a provider that is a yardstick. What is to be
 * measured so, what was, and which of it tells how fast some other comparison's sides are beside a peer.
 *
 * Only whole ones count (not quick, no cells left out), whose target is the module's default provider. Absent numbers are NAN.
 */
#ifndef DB_STORE_PEER_H
#define DB_STORE_PEER_H

#include "core/verdict/verdict.h"
#include "db/sqlite/db.h"

/* ---- what is to be measured -------------------------------------------------------------------------------------------- */

/** The newest whole comparison of a branch with one suite on one class of devices of which one can run. Texts are valid inside the callback. */
struct store_peer_target {
	int64_t comparison, environment, device_class;
	const char *target_sha, *module_sha, *suite, *device_kind;
	const char *peers; /* that its base's manifest named */
};
typedef void store_peer_target_fn(void *arg, const struct store_peer_target *row);
/** `branch` is percent-encoded. Nothing for a target that was not built, and for programs of their own. */
int store_peer_targets(
	struct db *db, int64_t repo, const char *branch, store_peer_target_fn *each, void *arg, struct fw_err *err);

/** Whether this commit was asked to be measured beside `provider` on this class, or its module was in this environment. 1, 0, -1. */
int store_peer_known(
	struct db *db, int64_t repo, const struct store_peer_target *target, const char *provider, struct fw_err *err);

/** Keep with a job what its base's manifest says of peers. */
int store_peer_names(struct db *db, int64_t job, const char *peers, struct fw_err *err);

/* ---- what was ----------------------------------------------------------------------------------------------------------- */

/** How a comparison against a peer stands to another comparison. */
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
 * Comparisons against peers that say something about `comparison`: for each provider the newest of each basis, best basis first,
 * providers by name. One against a peer is its own source. Shape: out[STORE_PEER_SOURCES_MAX]. How many, -1.
 */
int store_peer_sources(struct db *db, int64_t comparison, struct store_peer_source *out, struct fw_err *err);

struct store_peer_cell {
	double m, ci_low_pct, ci_high_pct; /* of the default provider against the peer */
	double base_ms, held_base_ms;      /* the peer's time, and that at the clock of the baseline period, where one is known */
};
/** One cell of a comparison against a peer. 1, 0 it has no times there, -1. */
int store_peer_cell(struct db *db, int64_t comparison, const char *key, struct store_peer_cell *out, struct fw_err *err);

/** Target's time at the clock of its baseline period. Units: ms; NAN where none is known. */
int store_peer_held_ms(struct db *db, int64_t cell, double *ms, struct fw_err *err);

enum { STORE_PEER_READERS_MAX = 32 };
/** Newest comparisons, others than `peer`, that it is a paired or chained source of. Shape: ids[STORE_PEER_READERS_MAX]. How many, -1. */
int store_peer_readers(struct db *db, int64_t peer, int64_t *ids, struct fw_err *err);

/* ---- for people --------------------------------------------------------------------------------------------------------- */

struct view_peer {
	int64_t comparison, job, finished_at;
	const char *repo, *suite, *provider, *commit, *subject, *device, *device_kind, *device_name;
	enum verdict verdict;
	bool current;       /* newest of this repository, suite, device and provider */
	int cells, timed;   /* of the suite; with figures */
	double geomean_pct; /* of the peer's speed, over timed cells */
};
typedef void view_peer_fn(void *arg, const struct view_peer *row);
/** The current ones, then the others, newest first; repo and device NULL or "": any. At most `limit`. */
int view_peers(struct db *db, const char *repo, const char *device, int limit, view_peer_fn *each, void *arg, struct fw_err *err);

/** Peers that the newest finished job of a branch knows of its base's manifest. 1, 0, -1. */
int store_peer_named(struct db *db, int64_t repo, const char *branch, char *peers, size_t size, struct fw_err *err);

#endif
