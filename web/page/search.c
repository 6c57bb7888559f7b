/* Search: a commit, or an id such as C32, J32 or A3, leads directly to its page; other terms find branches and cells. */
#include "web/page/internal.h"

#include <strings.h>

enum { FOUND_MAX = 200, NAMES_MAX = 100000 };

struct search {
	struct site *site;
	struct buf *out;
	const char *words;
	int found, commits;
	char sha[65];
	struct {
		int64_t id;
		char name[128];
	} repo[64];
	int n_repos, n_left; /* n_left: repositories that were not searched */
	const char *in;      /* name of the repository that is being searched */
};

static void take_commit(void *arg, const struct view_commit *row)
{
	struct search *s = arg;
	s->commits++;
	snprintf(s->sha, sizeof s->sha, "%s", row->sha);
}

static void take_repo(void *arg, const struct view_repo *row)
{
	struct search *s = arg;
	if (strcmp(row->state, "gone") == 0)
		return;
	if (s->n_repos == 64) {
		s->n_left++;
		return;
	}
	s->repo[s->n_repos].id = row->id;
	snprintf(s->repo[s->n_repos++].name, sizeof s->repo[0].name, "%s", row->name);
}

static bool holds(const char *text, const char *words)
{
	size_t len = strlen(words);
	for (const char *at = text; *at; at++)
		if (strncasecmp(at, words, len) == 0)
			return true;
	return false;
}

static void branch_hit(void *arg, const char *name, const char *display, const char *subject)
{
	struct search *s = arg;
	if ((!holds(display, s->words) && !holds(subject, s->words)) || s->found++ >= FOUND_MAX)
		return;
	emit_format(s->out, "<li>branch <a href=\"/comparisons?repo=%s&amp;branch=%s\">%s</a> %s</li>", s->in, name, display,
		subject);
}

static void cell_hit(void *arg, const char *key)
{
	struct search *s = arg;
	if (!holds(key, s->words) || s->found++ >= FOUND_MAX)
		return;
	emit_raw(s->out, "<li>cell ");
	layout_cell_link(s->out, s->in, "", key);
	emit_raw(s->out, "</li>");
}

/* Find the address of the only object that the terms identify; "": none, or several. */
static int find_only_result(struct search *s, char *location, size_t size, struct fw_err *err)
{
	static const struct {
		const char *what, *path;
	} kinds[] = { { "comparison", "comparisons" }, { "job", "jobs" }, { "alert", "alerts" }, { "bisect", "bisects" } };
	size_t len = strlen(s->words), digits = strspn(s->words, "0123456789abcdef");
	if (len >= 4 && len == digits && view_commits(s->site->db, s->words, 2, take_commit, s, err))
		return -1;
	if (s->commits)
		snprintf(location, size, "/commits/%s", s->commits == 1 ? s->sha : s->words);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !*location; i++)
		if (answer_id(s->words, kinds[i].what) >= 0)
			snprintf(location, size, "/%s/%lld", kinds[i].path, (long long)answer_id(s->words, kinds[i].what));
	return 0;
}

int page_search(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *requested = http_query(r, "q");
	char words[128];
	snprintf(words, sizeof words, "%s", requested ? requested + strspn(requested, " ") : "");
	for (size_t n = strlen(words); n && words[n - 1] == ' ';)
		words[--n] = '\0';
	struct search s = { .site = site, .out = &response->body, .words = words };
	if (find_only_result(&s, response->location, sizeof response->location, err) != 0)
		return -1;
	if (response->location[0]) {
		response->status = 303;
		return 0;
	}
	layout_begin(response, "Search", "", NULL);
	emit_format(s.out, "<p class=lead>%s</p><ul>", words);
	int result = view_repos(site->db, take_repo, &s, err);
	for (int i = 0; result == 0 && words[0] && i < s.n_repos; i++) {
		s.in = s.repo[i].name;
		result = view_branch_names(site->db, s.repo[i].id, NAMES_MAX, branch_hit, &s, err);
		if (result == 0)
			result = view_cell_keys(site->db, s.repo[i].name, NULL, cell_hit, &s, err);
	}
	emit_raw(s.out, "</ul>");
	if (s.found > FOUND_MAX)
		emit_rawf(s.out, "<p>%d of %d; type more of the name.</p>", FOUND_MAX, s.found);
	if (s.n_left)
		emit_rawf(s.out, "<p>%d more repositor%s not searched.</p>", s.n_left, s.n_left == 1 ? "y was" : "ies were");
	if (s.found == 0)
		layout_empty(s.out, "", "Nothing found.",
			"Search for a commit by four or more of its digits, a comparison, job or alert by its number (C32, J32, A3), a branch or a cell by a substring of its "
			"name.");
	return layout_end(response, NULL, result);
}
