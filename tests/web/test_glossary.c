/* The terms of doc/glossary.md on pages: each page links to the entries of the terms that it uses, and to no other. */
#include "site_run.h"

static struct answer page(struct run *run, const char *path)
{
	struct answer a = get(run, path);
	assert_int_equal(a.status, 200);
	return a;
}

static void every_entry_is_served(void **state)
{
	struct run *run = *state;
	char line[4096], wanted[128];
	int n = 0;
	struct answer a = page(run, "/glossary");
	FILE *file = fopen("doc/glossary.md", "re");
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		char reference[64];
		if (sscanf(line, "- <a id=\"%63[^\"]\"", reference) != 1)
			continue;
		snprintf(wanted, sizeof wanted, "<dt id=\"%s\">", reference);
		if (!strstr(a.body, wanted))
			fail_msg("there is no entry %s", reference);
		n++;
	}
	fclose(file);
	assert_true(n > 50);
	assert_null(strstr(a.body, "**"));
	assert_null(strstr(a.body, "`"));
	assert_null(strstr(a.body, ".md"));
	assert_null(strstr(a.body, "id=words"));
	answer_free(&a);
}

static void a_page_leads_to_the_words_that_it_uses(void **state)
{
	struct run *run = *state;
	struct answer a = page(run, "/help");
	const char *foot = strstr(a.body, "<details class=words id=words>");
	assert_non_null(foot);
	assert_non_null(strstr(foot, "<a href=\"/glossary#regression\">regression</a>"));
	assert_non_null(strstr(foot, "<a href=\"/glossary#run\">run</a>"));               /* "runs" */
	assert_non_null(strstr(foot, "<a href=\"/glossary#slow-calls\">slow calls</a>")); /* a term with a space */
	assert_non_null(strstr(foot, "\">removed, added</a>"));                           /* either term */
	assert_null(strstr(foot, "#quarantined"));
	assert_null(strstr(foot, "#manifest"));
	answer_free(&a);
}

/* Names of branches and cells are code, and no terms of a page. */
static void code_is_not_read(void **state)
{
	struct run *run = *state;
	struct answer a = page(run, "/api");
	const char *foot = strstr(a.body, "<details class=words id=words>");
	assert_non_null(strstr(a.body, "<code>/api/v1/calibrat"));
	assert_non_null(foot);
	assert_null(strstr(foot, "#backfill"));
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_entry_is_served, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_page_leads_to_the_words_that_it_uses, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(code_is_not_read, run_setup, run_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
