/* report.c - culprits as text and JSON. */
#include "flopwatchd/bisect/bisect.h"

#include <math.h>
#include <stdio.h>

/* A few runs cannot support more digits. */
#define PROBABILITY_SHOWN 0.9999

struct culprit {
	char from[65], to[65];
	int commits, skipped;
	bool confirmed;
	double change_pct, probability; /* probability NAN: unknown */
	int64_t comparison;
};

/** The caller writes `cells`. */
static int write_culprit(struct db *db, struct jsonw *j, int64_t repo, const struct culprit *c, struct fw_err *err)
{
	struct store_commit commit = { .subject = "" };
	struct fw_err why = { 0 };
	if (store_commit_get(db, repo, c->to, &commit, &why) && why.code != ERR_NOT_FOUND)
		return err_set(err, why.code, "%s", why.text);
	jsonw_format(j, "from=%s to=%s commits=%d skipped=%d subject=%s author=%s confirmed=%i change_pct=%g probability=%g",
		c->from, c->to, c->commits, c->skipped, commit.subject, commit.author, c->confirmed, c->change_pct,
		c->probability);
	if (c->comparison)
		jsonw_kv_int(j, "comparison", c->comparison);
	else
		jsonw_kv_null(j, "comparison");
	return 0;
}

static int count_skipped(const struct bisect_search *s, const struct bisect_finding *f)
{
	int n = 0;
	for (int i = f->from + 1; i < f->to; i++)
		n += s->track[f->track[0]].point[i].state == BISECT_SKIPPED;
	return n;
}

static int fill_culprit(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *f, struct culprit *out, struct fw_err *err)
{
	*out = (struct culprit){ .commits = f->to - f->from,
		.skipped = count_skipped(s, f),
		.confirmed = f->confirmed,
		.change_pct = s->certain ? NAN : f->change_pct,
		.probability = f->probability,
		.comparison = f->comparison };
	return store_bisect_sha(db, b->id, f->from, out->from, err) || store_bisect_sha(db, b->id, f->to, out->to, err) ? -1 : 0;
}

int bisect_report_json(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, struct buf *out, struct fw_err *err)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_array(&j);
	for (int i = 0; i < n; i++) {
		struct culprit c;
		jsonw_object(&j);
		if (fill_culprit(db, b, s, &findings[i], &c, err) || write_culprit(db, &j, b->repo, &c, err))
			return -1;
		jsonw_format(&j, "cells=[");
		for (int k = 0; k < findings[i].n_tracks; k++)
			jsonw_string(&j, s->track[findings[i].track[k]].key);
		jsonw_format(&j, "] }");
	}
	jsonw_array_end(&j);
	return out->failed ? err_set(err, ERR_FULL, "the culprits of bisect %lld do not fit", (long long)b->id) : 0;
}

/** Write the probability into the line. Returns the result of snprintf. */
static int write_probability(const struct culprit *c, char *out, size_t size)
{
	if (c->probability > PROBABILITY_SHOWN)
		return snprintf(out, size, ", named with probability above %.4f", PROBABILITY_SHOWN);
	if (isfinite(c->probability))
		return snprintf(out, size, ", named with probability %.4f", c->probability);
	return c->confirmed ? snprintf(out, size, "%s", "")
			    : snprintf(out, size, ", but the measurements do not confirm a commit");
}

int bisect_report_line(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, char *out, size_t size, struct fw_err *err)
{
	size_t at = (size_t)snprintf(out, size, "%s", n ? "culprit: " : "no culprit was found");
	for (int i = 0; i < n && at < size; i++) {
		struct culprit c;
		struct store_commit commit = { .subject = "" };
		struct fw_err unknown = { 0 };
		char slowdown[32] = "";
		if (fill_culprit(db, b, s, &findings[i], &c, err))
			return -1;
		if (isfinite(c.change_pct))
			snprintf(slowdown, sizeof slowdown, " (%+.1f %%)", c.change_pct);
		(void)store_commit_get(db, b->repo, c.to, &commit, &unknown); /* name the commit even without a subject */
		if (c.commits == 1)
			at += (size_t)snprintf(
				out + at, size - at, "%s%.12s %.80s%s", i ? "; " : "", c.to, commit.subject, slowdown);
		else
			at += (size_t)snprintf(out + at, size - at, "%sone of %d commits after %.12s up to %.12s%s%s",
				i ? "; " : "", c.commits, c.from, c.to, slowdown,
				c.skipped ? ", those between could not be measured" : "");
		if (at < size)
			at += (size_t)write_probability(&c, out + at, size - at);
	}
	return 0;
}

int bisect_report_only(struct db *db, const struct store_comparison *c, double worst_pct, const char *cells_json, struct buf *out,
	struct fw_err *err)
{
	struct culprit only = {
		.commits = 1, .confirmed = true, .change_pct = worst_pct, .probability = NAN, .comparison = c->id
	};
	struct store_commit target;
	struct fw_err unknown = { 0 };
	struct jsonw j;
	size_t i;
	if (store_commit_get(db, c->repo, c->target_sha, &target, &unknown) || strcmp(target.first_parent, c->base_sha) != 0)
		return 0;
	snprintf(only.from, sizeof only.from, "%s", c->base_sha);
	snprintf(only.to, sizeof only.to, "%s", c->target_sha);
	jsonw_init(&j, out);
	jsonw_format(&j, "[ {");
	int result = write_culprit(db, &j, c->repo, &only, err);
	json_t *cell, *cells = json_loads(cells_json, 0, NULL);
	jsonw_format(&j, "cells=[");
	json_array_foreach(cells, i, cell)
	{
		const char *key = json_string_value(json_object_get(cell, "cell"));
		jsonw_string(&j, key ? key : "");
	}
	json_decref(cells);
	jsonw_format(&j, "] } ]");
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the culprit of an alert does not fit");
	return result ? -1 : 1;
}

int bisect_report_range(struct db *db, int64_t repo, const char *from_sha, const char *to_sha, int commits, int skipped,
	double change_pct, int64_t comparison, const char *cell, struct buf *out, struct fw_err *err)
{
	struct culprit c = { .commits = commits,
		.skipped = skipped,
		.confirmed = comparison != 0,
		.change_pct = change_pct,
		.probability = NAN,
		.comparison = comparison };
	struct jsonw j;
	snprintf(c.from, sizeof c.from, "%s", from_sha);
	snprintf(c.to, sizeof c.to, "%s", to_sha);
	jsonw_init(&j, out);
	jsonw_format(&j, "[ {");
	int result = write_culprit(db, &j, repo, &c, err);
	jsonw_format(&j, "cells=[ %s ] } ]", cell);
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the culprit of an alert does not fit");
	return result;
}
