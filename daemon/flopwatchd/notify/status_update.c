#include "flopwatchd/notify/internal.h"

#include <stdio.h>

#include "db/db.h"
#include "lib/lib.h"

enum { PAYLOAD_MAX = 64 << 10 };

int status_update_enqueue(struct db *db, const char *repo, const struct status_update *word, int64_t now_ms, struct fw_err *err)
{
	char context[80], subject[160];
	struct buf text;
	struct jsonw j;
	snprintf(context, sizeof context, "flopwatch%s%.64s", word->suite[0] ? "/" : "", word->suite);
	snprintf(subject, sizeof subject, "%.64s %s", word->sha, context);
	buf_init(&text, PAYLOAD_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_string(&j, "sha", word->sha);
	jsonw_kv_string(&j, "state", word->state);
	jsonw_kv_string(&j, "context", context);
	jsonw_kv_string(&j, "description", word->description);
	jsonw_kv_string(&j, "page", word->page);
	jsonw_object_end(&j);
	int result = text.failed ? err_set(err, ERR_FULL, "the status of commit %.12s does not fit", word->sha)
				 : store_outbox_replace(db, "status", repo, subject, text.data, now_ms, err);
	buf_fini(&text);
	return result;
}

const char *status_update_of(enum verdict v)
{
	switch (v) {
	case VERDICT_REGRESSION:
	case VERDICT_FAILED:
		return "failure";
	case VERDICT_REJECTED:
		return "error";
	case VERDICT_UNDECIDED:
	case VERDICT_NOT_COMPARABLE:
	case VERDICT_REMOVED: /* set by no commit: see verdict/verdict.c */
	case VERDICT_ADDED:
	case VERDICT_UNSUPPORTED:
		return "neutral";
	default:
		return "success";
	}
}
