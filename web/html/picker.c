#include "web/html/html.h"

#include <strings.h>

struct choosing {
	struct buf *out;
	const char *chosen;
	int n;
};

enum { OPTIONS_MAX = 200 }; /* a longer list is not usable: the user types the name of a branch */

static void repo_option(void *arg, const struct view_repo *row)
{
	struct choosing *c = arg;
	if (strcmp(row->state, "gone") != 0 || (c->chosen && strcmp(c->chosen, row->name) == 0))
		layout_option(c->out, row->name, NULL, c->chosen);
}

int picker_repo(struct buf *out, struct db *db, const char *chosen, bool any, struct fw_err *err)
{
	struct choosing c = { out, chosen, 0 };
	emit_raw(out, "<label>Repository <select name=repo data-go>");
	if (any)
		layout_option(out, "", "all", chosen);
	int result = view_repos(db, repo_option, &c, err);
	emit_raw(out, "</select></label>");
	return result;
}

static void branch_option(void *arg, const char *name, const char *display, const char *subject)
{
	(void)display;
	(void)subject;
	struct choosing *c = arg;
	c->n++;
	struct buf text;
	buf_init(&text, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&text, name);
	layout_option(c->out, name, text.data, c->chosen);
	buf_fini(&text);
}

int picker_branch(struct buf *out, struct db *db, const char *repo, const char *name, const char *label, const char *chosen,
	const char *none, struct fw_err *err)
{
	struct buf options;
	struct choosing c = { &options, chosen, 0 };
	int64_t id;
	if (!repo || !*repo)
		return 0;
	if (view_repo_id(db, repo, &id, err) != 0)
		return -1;
	buf_init(&options, 4 << 20);
	if (none)
		layout_option(&options, "", none, chosen);
	int result = view_branch_names(db, id, OPTIONS_MAX + 1, branch_option, &c, err);
	if (c.n > OPTIONS_MAX) {
		emit_format(out, "<label>%-s <input name=%-s value=\"%s\" placeholder=\"%-s\"></label>", label, name,
			chosen ? chosen : "", none ? none : "its name");
	} else {
		emit_rawf(out, "<label>%s <select name=%s data-go>", label, name);
		buf_append(out, options.data, options.len);
		emit_raw(out, "</select></label>");
	}
	out->failed |= options.failed;
	buf_fini(&options);
	return result;
}

void picker_since(struct buf *out, const char *const known[8], const char *chosen)
{
	bool is_known = false;
	emit_raw(out, "<label>Since <select name=since data-go>");
	for (int i = 0; i < 8; i += 2) {
		layout_option(out, known[i], known[i + 1], chosen);
		is_known |= strcmp(known[i], chosen) == 0;
	}
	if (!is_known)
		layout_option(out, chosen, NULL, chosen);
	emit_raw(out, "</select></label>");
}

static bool holds(const char *text, const char *word, size_t len)
{
	for (; *text; text++)
		if (strncasecmp(text, word, len) == 0)
			return true;
	return false;
}

static bool holds_all(const char *text, const char *words)
{
	while (*(words += strspn(words, " "))) {
		size_t len = strcspn(words, " ");
		if (!holds(text, words, len))
			return false;
		words += len;
	}
	return true;
}

static void take_cell(void *arg, const char *key)
{
	struct picker_cells *c = arg;
	if (!holds_all(key, c->words))
		return;
	c->found++;
	c->is_one |= strcmp(key, c->words) == 0;
	c->len += strlen(key);
	if (c->len > c->bytes)
		return;
	c->given++;
	c->each(c->arg, key);
}

int picker_cells(struct db *db, const char *repo, const char *branch, struct picker_cells *c, struct fw_err *err)
{
	c->found = c->given = 0;
	c->is_one = false;
	c->len = 0;
	return view_cell_keys(db, repo, branch, take_cell, c, err);
}
