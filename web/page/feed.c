/* Atom feeds (RFC 4287) of alerts and of comparisons, newest first. */
#include "web/page/internal.h"

#include <math.h>

enum { ENTRIES = 50 };

struct feed {
	struct buf entries;
	char origin[600]; /* "https://bench.example.org" */
	char host[300];   /* host name, for ids */
	const char *repo; /* repository of the alerts; NULL: every one */
	int64_t updated_at;
};

static void begin(struct feed *f, const struct site *site, struct http_request *r)
{
	const char *host = http_header(r, "Host");
	buf_init(&f->entries, 4 << 20);
	if (site->public_url && *site->public_url)
		snprintf(f->origin, sizeof f->origin, "%s", site->public_url);
	else
		snprintf(f->origin, sizeof f->origin, "http%s://%s", site->tls ? "s" : "", host ? host : "localhost");
	const char *name = strstr(f->origin, "://") + 3;
	snprintf(f->host, sizeof f->host, "%.*s", (int)strcspn(name, ":/["), name);
	if (!f->host[0])
		snprintf(f->host, sizeof f->host, "localhost");
}

static void time_of(struct buf *out, const char *element, int64_t utc_ms)
{
	char text[32];
	clock_format(utc_ms, text);
	emit_rawf(out, "<%s>%s</%s>", element, text, element);
}

/* Write an entry up to its title, whose text the caller writes next. */
static void entry(struct feed *f, const char *kind, int64_t id, const char *page, int64_t updated_at)
{
	struct buf *out = &f->entries;
	if (updated_at > f->updated_at)
		f->updated_at = updated_at;
	emit_format(out, "<entry><id>tag:%s,2026:flopwatch/%s/%lld</id>", f->host, kind, (long long)id);
	time_of(out, "updated", updated_at);
	emit_format(out, "<link rel=\"alternate\" type=\"text/html\" href=\"%s%s\"/><title>", f->origin, page);
}

static void put_branch(struct buf *out, const char *repo, const char *branch)
{
	struct buf shown;
	buf_init(&shown, (size_t)4 * BRANCH_KEY_MAX);
	branch_text(&shown, branch);
	emit_text(out, repo);
	if (*branch)
		emit_format(out, " %s", shown.data);
	buf_fini(&shown);
}

static void finish(struct feed *f, struct http_response *response, const char *title, const char *path)
{
	struct buf *out = &response->body;
	response->type = "application/atom+xml; charset=utf-8";
	emit_format(out,
		"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">"
		"<id>tag:%s,2026:flopwatch%s</id><title>flopwatch: %s</title>",
		f->host, path, title);
	time_of(out, "updated", f->updated_at);
	emit_format(out,
		"<author><name>flopwatch</name></author><link rel=\"self\" type=\"application/atom+xml\" href=\"%s%s\"/>\n",
		f->origin, path);
	buf_append(out, f->entries.data, f->entries.len);
	emit_raw(out, "</feed>\n");
	out->failed |= f->entries.failed;
	buf_fini(&f->entries);
}

static void alert_entry(void *arg, const struct view_alert *row)
{
	struct feed *f = arg;
	struct buf *out = &f->entries;
	char page[64];
	if (f->repo && *f->repo && strcmp(f->repo, row->repo) != 0)
		return;
	snprintf(page, sizeof page, "/alerts/%lld", (long long)row->id);
	entry(f, "alert", row->id, page, row->changed_at);
	emit_format(out, "%s{name} %s: ", alertkind_name(row->kind), alertstate_name(row->state));
	if (*row->device)
		emit_text(out, row->device);
	else
		put_branch(out, row->repo, row->branch);
	emit_raw(out, "</title>");
	time_of(out, "published", row->opened_at);
	emit_format(out, "<summary>%s", row->title);
	if (isfinite(row->worst_pct))
		emit_rawf(out, ", worst %+.2f %%", row->worst_pct);
	if (*row->target)
		emit_rawf(out, ", commit %.12s ", row->target);
	emit_format(out, "%s</summary></entry>\n", row->subject);
}

static void comparison_entry(void *arg, const struct view_comparison *row)
{
	struct feed *f = arg;
	struct buf *out = &f->entries;
	char page[64];
	if (jobkind_is_side_by_side(row->kind)) /* subscribers follow commits, not comparisons of two implementations */
		return;
	snprintf(page, sizeof page, "/comparisons/%lld", (long long)row->id);
	entry(f, "comparison", row->id, page, row->finished_at);
	emit_format(out, "%s: ", verdict_name(row->verdict));
	put_branch(out, row->repo, row->branch);
	emit_format(out, " %-.12s, suite %s</title><summary>%s: %d of %d cells slower than %-.12s", row->target, row->suite,
		row->subject, row->regressions, row->cells, row->base);
	if (isfinite(row->best_pct))
		emit_rawf(out, ", best %+.2f %%", row->best_pct);
	else if (isfinite(row->worst_pct))
		emit_rawf(out, ", worst %+.2f %%", row->worst_pct);
	emit_raw(out, "</summary></entry>\n");
}

int feed_alerts(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct feed f = { .repo = http_query(r, "repo") };
	begin(&f, site, r);
	int result = view_alerts(site->db, NULL, 0, ENTRIES, alert_entry, &f, err);
	finish(&f, response, "alerts", "/alerts.atom");
	return result;
}

int feed_comparisons(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct feed f = { 0 };
	char key[BRANCH_KEY_MAX];
	struct view_filter filter = { .repo = http_query(r, "repo"), .branch = scope_branch(r, key), .limit = ENTRIES };
	begin(&f, site, r);
	int result = view_comparisons(site->db, &filter, comparison_entry, &f, err);
	finish(&f, response, "comparisons", "/comparisons.atom");
	return result;
}
