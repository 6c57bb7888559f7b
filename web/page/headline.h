/** notification.h - a comparison in one line of a list: the cell that its verdict is about, how many are like it, and what failed. */
#ifndef WEB_PAGE_HEADLINE_H
#define WEB_PAGE_HEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "verdict/verdict.h"
#include "db/db.h"

struct headline {
	int64_t comparison; /* 0: there is nothing to tell */
	char key[256], title[48], direction[16], failure[32], reason[512];
	int64_t size;
	int n, alike, cells;
	double threshold_pct, change_pct, low_pct, high_pct;
};

/** Read it; `comparison` 0 gives one that says nothing. Err: the database. */
int reported_read(struct db *db, int64_t comparison, struct headline *out, struct fw_err *err);
/** Read what is told of one cell, by its key. */
int reported_of(struct db *db, int64_t comparison, const char *cell, struct headline *out, struct fw_err *err);
/** "6 of 20: keep 0.2, block 64 backward", of a failure what failed and why, of an undecided cell why it is not decided; a line of its own below the verdict. */
void reported_why(struct buf *out, const struct headline *t, enum verdict verdict);
/** The change with its interval below, of an undecided one that it is not decided; `pct` where the cell has none. */
void headline_change(struct buf *out, const struct headline *t, enum verdict verdict, double pct);

#endif
