/* Changes by users over HTTP: jobs, devices, bisects and alerts. */
#include "site_fill.h"

/* Sent as browsers do: they prefer a page. */
#define PLAIN_FORM "Content-Type: application/x-www-form-urlencoded\r\n"
#define PAGE_FORM  PLAIN_FORM "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static void test_job_post(void **state)
{
	struct run *run = *state;
	struct answer a = post(run, "/api/v1/jobs",
		"{\"repo\":\"kernels\",\"base\":\"main\",\"target\":\"x\",\"suite\":\"ffa\",\"device\":\"cuda\",\"cells\":\"*/"
		"full/*\","
		"\"quick\":true}");
	assert_int_equal(a.status, 201);
	assert_string_equal(header_of(&a, "Location"), "/api/v1/jobs/4711");
	json_t *root = json_of(&a);
	assert_int_equal(int_at(root, "id"), 4711);
	assert_string_equal(text_at(root, "state"), "queued");
	json_decref(root);
	assert_string_equal(run->requested.what, "enqueue kernels main x ffa cuda */full/* 1\n");
	run->requested.what[0] = '\0';
	a = post(run, "/api/v1/jobs", "{\"repo\":\"kernels\",\"target\":\"x\",\"base\":null}");
	assert_int_equal(a.status, 201);
	answer_free(&a);
	assert_string_equal(run->requested.what, "enqueue kernels - x - - - 0\n");
	run->requested.what[0] = '\0';
	a = request_with(
		run, "POST", "/api/v1/jobs", PAGE_FORM, "repo=kernels&base=main&target=x", 31); /* from a page, back to one */
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "/jobs/4711");
	answer_free(&a);
	run->requested.what[0] = '\0';
	static const struct {
		const char *body, *says;
	} wrong[] = {
		{ "", "repo and target are required" },
		{ "{}", "repo and target are required" },
		{ "{\"repo\":\"kernels\"}", "repo and target are required" },
		{ "[]", "must be a JSON object" },
		{ "{\"repo\":", "is not JSON: line 1" },
		{ "{\"repo\":\"a\",\"repo\":\"b\",\"target\":\"x\"}", "is not JSON" },
		{ "{\"repo\":7,\"target\":\"x\"}", "key repo is unknown, of the wrong type" },
		{ "{\"repo\":\"a\",\"target\":\"x\",\"quick\":\"yes\"}", "key quick" },
		{ "{\"repo\":\"a\",\"target\":\"x\",\"cell\":\"*\"}", "key cell " },
		{ "{\"repo\":\"a\xff\",\"target\":\"x\"}", "is not JSON" },
		{ "{\"repo\":\"a\\u0000b\",\"target\":\"x\"}", "is not JSON" },
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_problem(post(run, "/api/v1/jobs", wrong[i].body), 400, wrong[i].says);
	/* a page of another site can send these types without asking first */
	static const char *const types[] = { "text/plain", "multipart/form-data; boundary=a", "application/jso" };
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		char headers[128];
		snprintf(headers, sizeof headers, "Content-Type: %s\r\n", types[i]);
		assert_problem(request_with(run, "POST", "/api/v1/jobs", headers, "{}", 2), 415, "send JSON");
	}
	struct buf large;
	buf_init(&large, 1 << 20);
	for (int i = 0; i < 70000; i++)
		buf_putc(&large, ' ');
	assert_problem(post(run, "/api/v1/jobs", large.data), 413, "64 KiB");
	buf_clear(&large);
	buf_puts(&large, "{\"repo\":\"");
	for (int i = 0; i < 2000; i++)
		buf_putc(&large, 'a');
	buf_puts(&large, "\",\"target\":\"x\"}");
	assert_problem(post(run, "/api/v1/jobs", large.data), 400, "key repo is unknown, of the wrong type or too long");
	buf_fini(&large);
	assert_string_equal(run->requested.what, "");
}

/* A number is one from 1 on, as JSON or in a form; anything else is refused by its name. */
static void test_numbers(void **state)
{
	static const char *const wrong[] = { "0", "-1", "2147483648", "\"7\"", "7.5", "null", "true" };
	struct run *run = *state;
	struct answer a = post(run, "/api/v1/profiles", "{\"alert\":2147483647}");
	assert_int_equal(a.status, 201);
	answer_free(&a);
	assert_non_null(strstr(run->requested.what, "alert=2147483647"));
	a = request_with(run, "POST", "/api/v1/profiles", PAGE_FORM, "alert=7", 7);
	answer_free(&a);
	assert_non_null(strstr(run->requested.what, "alert=7"));
	run->requested.what[0] = '\0';
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		char body[64];
		snprintf(body, sizeof body, "{\"alert\":%s}", wrong[i]);
		assert_problem(
			post(run, "/api/v1/profiles", body), 400, "key alert is unknown, of the wrong type or out of range");
	}
	assert_string_equal(run->requested.what, "");
}

static void test_daemon_refuses(void **state)
{
	static const struct {
		enum err_code code;
		int status;
	} codes[] = { { ERR_NOT_FOUND, 404 }, { ERR_INVALID, 400 }, { ERR_CONFLICT, 409 }, { ERR_FULL, 503 }, { ERR_BUSY, 503 },
		{ ERR_IO, 503 }, { ERR_INTERNAL, 500 } };
	struct run *run = *state;
	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
		run->requested.refuse = (struct fw_err){ .code = codes[i].code, .text = "because <of> \"this\"" };
		assert_problem(
			post(run, "/api/v1/jobs", "{\"repo\":\"a\",\"target\":\"b\"}"), codes[i].status, "because <of> \"this\"");
		assert_problem(post(run, "/api/v1/jobs/3/cancel", ""), codes[i].status, "because");
		assert_problem(post(run, "/api/v1/jobs/3/retry", ""), codes[i].status, "because");
		assert_problem(post(run, "/api/v1/devices/sim-0/pause", ""), codes[i].status, "because");
	}
}

static void test_job_and_device_verbs(void **state)
{
	struct run *run = *state;
	struct answer a = post(run, "/api/v1/jobs/3/cancel", "");
	json_t *root = json_of(&a);
	assert_string_equal(text_at(root, "state"), "cancelled");
	json_decref(root);
	a = post(run, "/api/v1/jobs/3/retry", "");
	assert_int_equal(a.status, 201);
	root = json_of(&a);
	assert_int_equal(int_at(root, "id"), 1003);
	json_decref(root);
	a = post(run, "/api/v1/devices/sim-0/pause", "");
	root = json_of(&a);
	assert_true(json_is_true(json_object_get(root, "paused")));
	json_decref(root);
	/* from the page's own form: back to the page */
	a = request_with(run, "POST", "/api/v1/devices/sim-0/resume", PAGE_FORM, "", 0);
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "/devices");
	answer_free(&a);
	assert_string_equal(run->requested.what, "cancel 3 local\nretry 3\npause sim-0 local\nresume sim-0 local\n");
	assert_problem(post(run, "/api/v1/jobs/x/cancel", ""), 404, "the address of a job needs its number");
	/* a page of another site cannot do it */
	a = request_with(run, "POST", "/api/v1/jobs/3/cancel", "Origin: http://evil.example\r\n", "", 0);
	assert_problem(a, 403, "not from other sites");
	assert_null(strstr(run->requested.what, "resume sim-0 local\ncancel"));
}

static void test_bisects(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	struct store_bisect b = {
		.repo = f->repo, .origin = "api", .goal = "regression", .suite = "ffa", .cells = "a/forward b/*", .who = "noor"
	};
	snprintf(b.good_sha, sizeof b.good_sha, "%s", fixture_sha(1));
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", fixture_sha(9));
	ok(db_begin(f->db, &err));
	ok(store_bisect_insert(f->db, &b, 1000, &err));
	ok(store_bisect_commit(f->db, b.id, 0, b.good_sha, &err));
	ok(store_bisect_commit(f->db, b.id, 8, b.bad_sha, &err));
	ok(db_commit(f->db, &err));
	json_t *root = get_json(run, "/api/v1/bisects/1");
	assert_string_equal(text_at(root, "state"), "listing");
	assert_int_equal(int_at(root, "commits"), 8);
	assert_string_equal(text_at(root, "who"), "noor");
	assert_string_equal(json_string_value(json_array_get(json_object_get(root, "cells"), 1)), "b/*");
	assert_true(json_is_null(json_object_get(root, "ended_at")));
	json_decref(root);
	root = get_json(run, "/api/v1/bisects?repo=kernels&limit=1");
	assert_int_equal(json_array_size(json_object_get(root, "items")), 1);
	json_decref(root);
	assert_problem(get(run, "/api/v1/bisects/2"), 404, "there is no bisect 2");
	struct answer a = post(run, "/api/v1/bisects", "{\"repo\":\"a\",\"good\":\"b\",\"bad\":\"c\",\"cells\":\"*/forward\"}");
	assert_int_equal(a.status, 201);
	assert_string_equal(header_of(&a, "Location"), "/api/v1/bisects/5");
	answer_free(&a);
	assert_problem(post(run, "/api/v1/bisects", "{\"repo\":\"a\",\"good\":\"b\"}"), 400, "repo, good and bad are required");
	assert_problem(post(run, "/api/v1/bisects", "{\"repo\":\"a\",\"quick\":true}"), 400, "key quick is unknown");
	a = post(run, "/api/v1/bisects/5/cancel", "");
	assert_int_equal(a.status, 200);
	answer_free(&a);
	assert_string_equal(run->requested.what, "bisect a b..c suite= cells=*/forward by local\ncancel bisect 5 local\n");
}

/* Names that users read in lists, pages and comments contain no invisible characters. */
static void test_import_of_hidden_names(void **state)
{
	struct run *run = *state;
	static const char *const rows[] = { "{\"cell\":\"a\\u001b[31mb\",\"ms\":1}", "{\"cell\":\"a\\nb\",\"ms\":1}",
		"{\"cell\":\"a\\u202eb\",\"ms\":1}", "{\"cell\":\"a\\u200bb\",\"ms\":1}",
		"{\"cell\":\"a\",\"failure\":\"x\\u0007\"}" };
	char body[512];
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(body, sizeof body,
			"{\"repo\":\"kernels\",\"commit\":\"c\",\"name\":\"n\",\"rows\":[{\"cell\":\"fine\",\"ms\":1},%s]}",
			rows[i]);
		assert_problem(post(run, "/api/v1/imports", body), 400, "rows[1].");
	}
	/* nor unknown keys */
	static const char stray[] =
		"{\"repo\":\"kernels\",\"commit\":\"c\",\"name\":\"n\",\"branche\":\"main\",\"rows\":[{\"cell\":\"a\",\"ms\":1}]}";
	assert_problem(post(run, "/api/v1/imports", stray), 400,
		"key branche is unknown; known: repo, commit, base, branch, name, rows");
	static const char row[] =
		"{\"repo\":\"kernels\",\"commit\":\"c\",\"name\":\"n\",\"rows\":[{\"cell\":\"a\",\"ms\":1,\"unit\":\"s\"}]}";
	assert_problem(post(run, "/api/v1/imports", row), 400, "rows[0].unit: a row is");
	assert_string_equal(run->requested.what, "");
}

static void test_alert_steps(void **state)
{
	struct run *run = *state;
	fill(run);
	assert_problem(post(run, "/api/v1/alerts/99/accept", "{\"reason\":\"x\"}"), 404, "A99");
	assert_problem(post(run, "/api/v1/alerts/x/accept", ""), 404, "the address of an alert needs its number");
	assert_problem(post(run, "/api/v1/alerts/1/accept", "{\"reason\":7}"), 400, "key reason is unknown, of the wrong type");
	assert_problem(post(run, "/api/v1/alerts/1/accept", "{\"reasn\":\"meant\"}"), 400, "key reasn is unknown");
	assert_problem(
		request_with(run, "POST", "/api/v1/alerts/1/accept", PLAIN_FORM, "reasn=meant", 11), 400, "key reasn is unknown");
	assert_problem(post(run, "/api/v1/alerts/1/accept", "{}"), 400, "reason");
	assert_problem(post(run, "/api/v1/alerts/1/accept", "{\"reason\":\"meant \\u001b[2J\"}"), 400, "invisible character");
	assert_problem(post(run, "/api/v1/alerts/1/accept", "{\"reason\":\"meant \\u202e\"}"), 400, "invisible character");
	static const char *const forms[] = { "reason=a%1b%5b2J", "reason=a%e2%80%ae", "reason=a%ff" };
	for (size_t i = 0; i < 3; i++) {
		struct answer refused =
			request_with(run, "POST", "/api/v1/alerts/1/accept", PAGE_FORM, forms[i], strlen(forms[i]));
		assert_int_equal(refused.status, 400);
		answer_free(&refused);
	}
	assert_problem(post(run, "/api/v1/alerts/1/forget", "{}"), 404, "no such address");
	struct answer a = post(run, "/api/v1/alerts/1/acknowledge", "");
	json_t *root = json_of(&a);
	assert_string_equal(text_at(root, "state"), "acknowledged");
	json_decref(root);
	a = request_with(run, "POST", "/api/v1/alerts/1/invalidate", PAGE_FORM, "reason=a+noisy%20neighbour", 26);
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "/alerts");
	answer_free(&a);
	a = request_with(run, "POST", "/api/v1/alerts/1/invalidate", PAGE_FORM, "back=/alerts/1&reason=x", 23);
	assert_int_equal(a.status, 409); /* only once */
	answer_free(&a);
	root = get_json(run, "/api/v1/alerts?state=invalid&repo=kernels");
	json_t *events = json_object_get(json_array_get(json_object_get(root, "items"), 0), "events");
	assert_int_equal(json_array_size(events), 3);
	assert_string_equal(text_at(json_array_get(events, 2), "reason"), "a noisy neighbour");
	assert_string_equal(text_at(json_array_get(events, 2), "who"), "local");
	json_decref(root);
	/* an invalid step: a program gets a problem document, a browser a page */
	assert_problem(post(run, "/api/v1/alerts/1/acknowledge", ""), 409, "invalid");
	a = request_with(run, "POST", "/api/v1/alerts/1/acknowledge", PAGE_FORM, "", 0);
	assert_int_equal(a.status, 409);
	assert_string_equal(header_of(&a, "Content-Type"), "text/html; charset=utf-8");
	answer_free(&a);
	/* a program's form is answered like its JSON */
	assert_problem(request_with(run, "POST", "/api/v1/alerts/1/acknowledge", PLAIN_FORM, "", 0), 409, "invalid");
	a = request_with(run, "POST", "/api/v1/devices/sim-0/pause", PLAIN_FORM, "", 0);
	assert_int_equal(a.status, 200);
	root = json_of(&a);
	assert_true(json_is_true(json_object_get(root, "paused")));
	json_decref(root);
	/* reading changes nothing */
	a = get(run, "/api/v1/alerts/1/resolve");
	assert_problem(a, 405, "Allow");
}

#define SITE_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SITE_TEST(test_job_post),
		SITE_TEST(test_numbers),
		SITE_TEST(test_daemon_refuses),
		SITE_TEST(test_job_and_device_verbs),
		SITE_TEST(test_bisects),
		SITE_TEST(test_import_of_hidden_names),
		SITE_TEST(test_alert_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
