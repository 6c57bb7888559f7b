/** store_change.h - change points in the history: found, compared directly, placed. Loop only; writes inside the caller's transaction. */
#ifndef DB_STORE_CHANGE_H
#define DB_STORE_CHANGE_H

#include "db/db.h"

struct store_change {
	int64_t id, repo, epoch, comparison; /* comparison 0: none yet */
	char key[160], kind[8], origin[12];  /* kind: step creep; origin: comparison series */
	char before_sha[65], commit_sha[65]; /* last commit of the old level, first of the new one */
	double step;                         /* log ratio of times, positive = slower */
	char state[12];                      /* candidate placing confirmed dropped */
	int tried, points;
	int64_t found_at, decided_at;
};

/** Sets c->id. */
int store_change_insert(struct db *db, struct store_change *c, struct fw_err *err);
int store_change_get(struct db *db, int64_t id, struct store_change *out, struct fw_err *err);
/** Write back commits, step, state, tried, points, comparison, decided_at. */
int store_change_update(struct db *db, const struct store_change *c, struct fw_err *err);

/** Whether a step of this cell is being looked into. 1, 0, -1. */
int store_change_is_open(struct db *db, int64_t epoch, const char *key, struct fw_err *err);
/** An open change point for which no job is under way any more, with an id above `after`. 1, 0, -1. */
int store_change_orphan(struct db *db, int64_t after, struct store_change *out, struct fw_err *err);
/** Place on the line where the newest confirmed step of this cell begins; 0 none. */
int store_change_from(struct db *db, int64_t epoch, const char *key, int64_t *place, struct fw_err *err);
/** Places where the level around a change point begins (0: the line's) and where the next one begins (0: none does), by confirmed steps. */
int store_change_segment(struct db *db, const struct store_change *change, int64_t *from, int64_t *to, struct fw_err *err);
/** Sum of the confirmed steps of this cell in the order of commits, never below 0: the loss that is explained. Log ratio. */
int store_change_explained(struct db *db, int64_t epoch, const char *key, double *step, struct fw_err *err);
/** Whether a step at this commit was dropped when the series had more than `points` points. 1, 0, -1. */
int store_change_is_barred(struct db *db, int64_t epoch, const char *key, const char *commit_sha, int points, struct fw_err *err);
/** Whether creep since this epoch's anchor was told already, in this epoch or an earlier one of the same anchor. 1, 0, -1. */
int store_change_has_creep(struct db *db, int64_t epoch, const char *key, struct fw_err *err);

#endif
