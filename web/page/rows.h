/** rows.h - the rows of a profile as they become what is shown. For why.c. */
#ifndef WEB_PAGE_ROWS_H
#define WEB_PAGE_ROWS_H

#include "db/diagnostic.h"
#include "db/view_profile.h"
#include "web/page/why.h"

/** What reads one cell into `w`, which owns all that is kept. */
struct cause_rows {
	struct db *db;
	struct why *w;
	const struct why_of *of;
	int64_t cell; /* 0: not found yet */
	size_t room;  /* of the list that is read */
	int64_t *kernel_id;
	const char *state_why; /* of the profile's job */
	bool failed;           /* out of memory */
};

/** Memory that lives as long as r->w. NULL: there is none, and r->failed. */
void *rows_keep(struct cause_rows *r, size_t len);
/** A copy of a text; "" for NULL, and where there is no memory. */
const char *rows_text(struct cause_rows *r, const char *text);
void rows_forget(struct why *w);

/* Callbacks of the views; their `arg` is the struct cause_rows. */
view_profile_fn rows_take_head;
view_profile_cell_fn rows_take_cell;
view_cause_fn rows_take_cause;
view_profile_kernel_fn rows_take_kernel;
view_profile_code_fn rows_take_code;
view_profile_diagnostic_fn rows_take_diagnostic;

/** The values of the kernel at `at`, which was taken before. Err: the database's. */
int rows_read_values(struct cause_rows *r, size_t at, struct fw_err *err);

#endif
