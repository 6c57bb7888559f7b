/* doc/troubleshooting.md on pages: it is served completely, and a page that shows a message links to the message's section. */
#include "site_fill.h"
#include "site_run.h"

static struct answer page(struct run *run, const char *path)
{
	struct answer a = get(run, path);
	assert_int_equal(a.status, 200);
	return a;
}

static void every_position_is_served(void **state)
{
	struct run *run = *state;
	char line[1024], position[64], wanted[128];
	int n = 0, level;
	struct answer a = page(run, "/troubleshooting");
	FILE *file = fopen("doc/troubleshooting.md", "re");
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		level = (int)strspn(line, "#");
		if (level < 2 || sscanf(line + level, " <a id=\"%63[^\"]\"", position) != 1)
			continue;
		snprintf(wanted, sizeof wanted, "<h%d id=\"%s\">", level, position);
		if (!strstr(a.body, wanted))
			fail_msg("there is no %s", wanted);
		n++;
	}
	fclose(file);
	assert_true(n > 30);
	answer_free(&a);
}

static void its_markdown_is_drawn(void **state)
{
	struct run *run = *state;
	struct answer a = page(run, "/troubleshooting");
	assert_non_null(strstr(a.body, "<h3 id=\"abi\"><code>…: built for ABI …, this is ABI …</code></h3>"));
	assert_non_null(strstr(a.body, "<code>is local, but `listen` accepts other machines"));
	assert_non_null(strstr(a.body, "<pre class=log>options nvidia NVreg_RestrictProfilingToAdminUsers=0</pre>"));
	assert_non_null(strstr(a.body, "(<code>doc/operating.md#tokens-and-roles</code>)"));
	assert_non_null(strstr(a.body, "<em>Self-signed</em> or <em>unable to get local issuer</em>: "));
	assert_null(strstr(a.body, "]("));
	assert_null(strstr(a.body, "```"));
	assert_null(strstr(a.body, "\n#"));
	assert_null(strstr(a.body, "What to do: "));
	answer_free(&a);
}

static void a_message_leads_to_its_position(void **state)
{
	struct run *run = *state;
	static const char lead[] =
		"<p>Fix: <a href=\"/troubleshooting#build-timeout\"><code>…: ran past … s and was ended</code></a></p>";
	(void)fill(run);
	static const char *const lines[] = {
		"build: make: ran past 60 s and was ended (see doc/troubleshooting.md#build-timeout)",
		"base: make: ran past 60 s and was ended (see doc/troubleshooting.md#build-timeout)",
		"see doc/troubleshooting.md#nowhere", "see doc/troubleshooting.md#\"><script>"
	};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		assert_int_equal(store_job_log(run->f->db, 2, 6600 + (int64_t)i, lines[i], &err), 0);
	struct answer a = page(run, "/jobs/2");
	const char *found = strstr(a.body, lead);
	assert_non_null(found);
	assert_null(strstr(found + strlen(lead), "What to do: ")); /* once, and no link to a missing section */
	assert_null(strstr(a.body, "#\"><script>"));
	answer_free(&a);
	a = page(run, "/help");
	assert_null(strstr(a.body, "What to do: "));
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_position_is_served, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(its_markdown_is_drawn, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_message_leads_to_its_position, run_setup, run_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
