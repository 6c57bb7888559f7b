/** base.h - what is known of a commit of the upstream branch, as a base of later ones. Loop only; reads alone. */
#ifndef DB_STORE_BASE_H
#define DB_STORE_BASE_H

#include "db/sqlite/db.h"

enum store_base_word {
	STORE_BASE_UNKNOWN, /* never compared, or only by a look that is no verdict (quick, some cells, a base that a person gave) */
	STORE_BASE_OPEN,    /* compared, but what it lost has not been told in every cell */
	STORE_BASE_SETTLED /* every cell has its word, so nothing is lost by comparing later commits with this one */
};

/** Comparisons in a row that left a cell undecided; then it is not waited for any longer. */
enum { STORE_BASE_TRIES = 6 };

struct store_base {
	enum store_base_word word;
	char base_sha[65]; /* what it was compared with, where it was */
};

/**
 * Settled is a commit of which one whole comparison on this branch left no cell open. A cell is open where it failed, where
 * its times are not believed, where it was not measured, and also where honest times could not decide: they may hide a loss
 * of about the threshold, which would be in the base for good and never be compared with anything. Measured times alone
 * that stay undecided STORE_BASE_TRIES comparisons in a row end it: such a cell varies too much here, or lies on the threshold,
 * and may not keep all others from a newer base; the history goes on watching it against the reference commit. What was not measured
 * never ends it, but one that the module does no more does once a person has accepted that (alert broken). A cell whose base is broken is no open one: this commit is the first that can be compared with. Of a commit measured
 * against itself only a fault of its own counts, since it has lost nothing.
 * `suite` "": of any. Err: -1.
 */
int store_base_get(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, struct store_base *out,
	struct fw_err *err);
/** Target of the branch's latest comparison that has not failed, other than `but`; "" none. Shape: sha[65]. */
int store_base_last(struct db *db, int64_t repo, const char *branch, const char *but, char *sha, struct fw_err *err);

/** What an earlier commit of the branch showed against the same base. */
struct store_base_told {
	double m; /* log ratio of its time to the base's by pairs, positive slower; 0: nothing significant, or there is none such */
	double decided_m; /* the same of what decided */
	char sha[65];     /* that commit; "" none */
};
/**
 * Several commits are held against one base where those between were open, or came while it was measured. What the newest earlier one
 * of them showed in this cell has been told already; only what goes beyond it is news. Whole comparisons of the branch and suite of `comparison`
 * count. Err: -1.
 */
int store_base_told(struct db *db, int64_t comparison, const char *key, struct store_base_told *out, struct fw_err *err);

#endif
