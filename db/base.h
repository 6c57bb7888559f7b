/** base.h - whether a commit of the upstream branch can be the base of later commits. Loop only; reads only. */
#ifndef DB_BASE_H
#define DB_BASE_H

#include "db/db.h"

enum store_base_word {
	STORE_BASE_UNKNOWN, /* never compared, or only by a job without a verdict of the commit (quick, some cells, a given base) */
	STORE_BASE_OPEN,    /* compared, with cells whose verdict is open */
	STORE_BASE_SETTLED /* every cell has a verdict, so later commits can be compared with this one and no regression is missed */
};

/** Undecided comparisons in a row after which a cell no longer keeps its commit open. */
enum { STORE_BASE_TRIES = 6 };

struct store_base {
	enum store_base_word word;
	char base_sha[65]; /* base of its comparison; "" none */
};

/**
 * A commit is settled if one whole comparison on this branch left no cell open. A cell is open if it failed, was rejected, was not measured
 * or is undecided: undecided times may hide a regression of about the threshold, which a later comparison against this commit could not
 * find. A measured cell that stays undecided in STORE_BASE_TRIES comparisons in a row counts as settled, since its noise or a change close
 * to the threshold must not keep all other cells from a newer base; the history still compares it with the reference commit. An unmeasured
 * cell stays open until a user accepts the alert of kind failing. A cell whose base failed is not open: this commit is its first usable
 * base. Of a commit measured against itself only failures of the target count.
 * `suite` "": of any. Err: -1.
 */
int store_base_get(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, struct store_base *out,
	struct fw_err *err);
/** Target of the branch's latest comparison that did not fail, other than `but`; "" none. Shape: sha[65]. */
int store_base_last(struct db *db, int64_t repo, const char *branch, const char *but, char *sha, struct fw_err *err);

/** Change of one cell in an earlier commit of the branch against the same base. */
struct store_base_reported {
	double m; /* log ratio of its time to the base's by pairs, positive slower; 0: not significant, or no such commit */
	double decided_m; /* log ratio that the verdict is based on */
	char sha[65];     /* of the commit; "" none */
};
/**
 * Several commits are compared with one base where the commits between were open or came during the measurement. The change of this cell in
 * the newest earlier commit was reported already, so only the difference is new. Whole comparisons of the branch and suite of `comparison`
 * count. Err: -1.
 */
int store_base_reported(struct db *db, int64_t comparison, const char *key, struct store_base_reported *out, struct fw_err *err);

#endif
