/* Requests to a forge, to the byte, and the signature of a webhook. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "flopwatchd/notify/internal.h"

static struct fw_err err;

/** The request for one notification; its address in `address`. Own: the caller's reference. */
static json_t *request(const char *kind, const char *state, const char *description, char *address, size_t size)
{
	struct config_status forge = { .api = "https://forge.example/api" };
	struct forge_status word = { "89ab", state, "flopwatch/ffa", description, "https://bench.example/jobs/7" };
	struct buf url, body;
	buf_init(&url, 4096);
	buf_init(&body, 4096);
	snprintf(forge.kind, sizeof forge.kind, "%s", kind);
	snprintf(forge.project, sizeof forge.project, "team/sub/kernels");
	assert_int_equal(forge_request(&forge, &word, &url, &body, &err), 0);
	snprintf(address, size, "%s", url.data);
	json_t *root = json_loadb(body.data, body.len, 0, NULL);
	assert_non_null(root);
	buf_fini(&url);
	buf_fini(&body);
	return root;
}

static void test_each_forge_has_its_terms(void **state)
{
	(void)state;
	static const struct {
		const char *ours, *github, *gitlab, *forgejo; /* Gitea has GitHub's */
	} words[] = {
		{ "pending", "pending", "pending", "pending" },
		{ "running", "pending", "running", "pending" },
		{ "success", "success", "success", "success" },
		{ "failure", "failure", "failed", "failure" },
		{ "neutral", "success", "canceled", "warning" },
		{ "error", "error", "failed", "error" },
		{ "cancelled", "error", "canceled", "warning" },
	};
	static const char *const kinds[] = { "github", "gitlab", "gitea", "forgejo" };
	char address[256];
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (int k = 0; k < 4; k++) {
			const char *theirs = k == 1 ? words[i].gitlab : k == 3 ? words[i].forgejo : words[i].github;
			json_t *root = request(kinds[k], words[i].ours, "x", address, sizeof address);
			assert_string_equal(json_string_value(json_object_get(root, "state")), theirs);
			assert_string_equal(
				json_string_value(json_object_get(root, k == 1 ? "name" : "context")), "flopwatch/ffa");
			assert_string_equal(
				address, k == 1 ? "https://forge.example/api/projects/team%2Fsub%2Fkernels/statuses/89ab"
						: "https://forge.example/api/repos/team/sub/kernels/statuses/89ab");
			json_decref(root);
		}
}

static void test_a_description_is_cut_between_characters(void **state)
{
	(void)state;
	char address[256], text[4 * 200 + 1] = "";
	for (int n = 139; n <= 142; n++) {
		text[0] = '\0';
		for (int i = 0; i < n; i++)
			strcat(text, "\u00fc");
		json_t *root = request("github", "failure", text, address, sizeof address);
		const char *got = json_string_value(json_object_get(root, "description"));
		size_t shown = 0;
		for (const char *c = got; *c; c++)
			shown += ((unsigned char)*c & 0xc0) != 0x80;
		assert_int_equal(shown, n <= 140 ? n : 140);
		assert_int_equal(strstr(got, "\u2026") != NULL, n > 140);
		json_decref(root);
	}
}

static void test_gitlab_takes_no_long_address(void **state)
{
	(void)state;
	static const char *const kinds[] = { "github", "gitlab", "gitea" };
	char page[257];
	struct buf url, body;
	for (int n = 255; n <= 256; n++)
		for (int k = 0; k < 3; k++) {
			struct config_status forge = { .project = "team/kernels" };
			snprintf(forge.kind, sizeof forge.kind, "%s", kinds[k]);
			snprintf(page, sizeof page, "https://watch.example/%0*d", n - 22, 7);
			assert_int_equal(strlen(page), n);
			buf_init(&url, 4096);
			buf_init(&body, 4096);
			struct forge_status word = { "89ab", "success", "flopwatch", "fine", page };
			assert_int_equal(forge_request(&forge, &word, &url, &body, &err), 0);
			assert_int_equal(strstr(body.data, "target_url") != NULL, n == 255 || k != 1);
			buf_fini(&url);
			buf_fini(&body);
		}
}

static void test_an_unknown_state(void **state)
{
	(void)state;
	struct config_status forge = { .kind = "github" };
	struct forge_status word = { "89ab", "happy", "", "", "" };
	struct buf out;
	buf_init(&out, 4096);
	assert_int_equal(forge_request(&forge, &word, &out, &out, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	buf_fini(&out);
}

/* The example from the libraries of the Standard Webhooks specification. */
static void test_signature(void **state)
{
	(void)state;
	struct buf body, out;
	buf_init(&body, 4096);
	buf_init(&out, 4096);
	buf_puts(&body, "{\"test\": 2432232314}");
	assert_int_equal(deliver_sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, &body,
				 &out, &err),
		0);
	assert_string_equal(out.data, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	assert_int_equal(deliver_sign("whsec_?", "a", 1, &body, &out, &err), -1);
	buf_fini(&body);
	buf_fini(&out);
}

static void test_a_check_run_is_updated(void **state)
{
	(void)state;
	struct config_status forge = {
		.kind = "github", .api = "https://forge.example", .project = "team/kernels", .checks = true
	};
	struct forge_status word = { "89ab", "running", "flopwatch/ffa", "is being measured", "" };
	const char *method;
	struct buf url, body;
	buf_init(&url, 4096);
	buf_init(&body, 4096);
	assert_int_equal(forge_check_run(&forge, &word, NULL, "", &method, &url, &body, &err), 0);
	assert_string_equal(method, "POST");
	assert_string_equal(url.data, "https://forge.example/repos/team/kernels/check-runs");
	assert_string_equal(body.data,
		"{\"name\":\"flopwatch/ffa\",\"head_sha\":\"89ab\",\"status\":\"in_progress\",\"output\":{\"title\":\"is being "
		"measured\",\"summary\":\"    is being measured\\n\"}}");
	buf_clear(&url);
	buf_clear(&body);
	word = (struct forge_status){ "89ab", "failure", "flopwatch/ffa", "regression: [a](b)\n# c",
		"https://bench.example/c/7" };
	json_t *findings = json_pack("[{s:s, s:s, s:b}]", "cell", "gemm", "text", "regression -9.00 %", "is_loss", 1);
	assert_int_equal(forge_check_run(&forge, &word, findings, "81", &method, &url, &body, &err), 0);
	assert_string_equal(method, "PATCH");
	assert_string_equal(url.data, "https://forge.example/repos/team/kernels/check-runs/81");
	assert_string_equal(body.data,
		"{\"name\":\"flopwatch/ffa\",\"status\":\"completed\",\"conclusion\":\"failure\",\"details_url\":"
		"\"https://bench.example/c/7\",\"output\":{\"title\":\"regression: [a](b)\\n# c\",\"summary\":\"    regression: "
		"[a](b) # c\\n\",\"annotations\":[{"
		"\"path\":\".flopwatch.yaml\",\"start_line\":1,\"end_line\":1,\"annotation_level\":\"failure\",\"title\":\"gemm\","
		"\"message\":\"regression -9.00 %\"}]}}");
	word.state = "odd";
	assert_int_equal(forge_check_run(&forge, &word, NULL, "", &method, &url, &body, &err), -1);
	assert_true(forge_check_run_has_ended("cancelled"));
	assert_false(forge_check_run_has_ended("pending"));
	assert_false(forge_check_run_has_ended(""));
	json_decref(findings);
	buf_fini(&url);
	buf_fini(&body);
}

/* GitHub refuses a check run with a longer title. */
static void test_the_title_of_an_annotation_is_cut(void **state)
{
	(void)state;
	struct config_status forge = { .kind = "github", .project = "team/kernels", .checks = true };
	struct forge_status word = { "89ab", "failure", "flopwatch/ffa", "regression", "" };
	const char *method;
	char cell[257];
	struct buf url, body;
	for (int n = 255; n <= 256; n++) {
		memset(cell, 'x', (size_t)n);
		cell[n] = '\0';
		buf_init(&url, 4096);
		buf_init(&body, 4096);
		json_t *findings = json_pack("[{s:s, s:s, s:b}]", "cell", cell, "text", "regression -9.00 %", "is_loss", 1);
		assert_int_equal(forge_check_run(&forge, &word, findings, "", &method, &url, &body, &err), 0);
		json_t *root = json_loadb(body.data, body.len, 0, NULL);
		const json_t *list = json_object_get(json_object_get(root, "output"), "annotations");
		const char *title = json_string_value(json_object_get(json_array_get(list, 0), "title"));
		assert_memory_equal(title, cell, 254);
		assert_string_equal(title + 254, n == 255 ? "x" : "\u2026");
		json_decref(root);
		json_decref(findings);
		buf_fini(&url);
		buf_fini(&body);
	}
}

/* Whether the request for a status whose check run has this state has annotations. */
static bool is_annotated(const char *sent_id, const char *sent_state)
{
	static const char payload[] = "{\"sha\":\"89ab\",\"state\":\"success\",\"context\":\"flopwatch/ffa\",\"description\":"
				      "\"regression (accepted by ann)\",\"page\":\"/comparisons/7\",\"findings\":[{\"cell\":"
				      "\"gemm\",\"text\":\"regression\",\"is_loss\":true}]}";
	struct config *config = mem_alloc_zero(1, sizeof *config);
	struct config_repo *repo = &config->repo[0];
	struct store_outbox row = { .kind = "status", .target = "kernels" };
	struct deliver out;
	struct buf text;
	buf_init(&text, 4096);
	buf_puts(&text, payload);
	config->n_repos = 1;
	snprintf(repo->name, sizeof repo->name, "kernels");
	snprintf(repo->status.kind, sizeof repo->status.kind, "github");
	repo->status.checks = true;
	struct deliver_content what = { .id = "msg_1", .payload = &text, .sent_id = sent_id, .sent_state = sent_state };
	assert_int_equal(deliver_prepare(config, &row, &what, 1, &out, &err), 0);
	bool has = strstr(out.in.data, "annotations") != NULL;
	deliver_fini(&out);
	buf_fini(&text);
	free(config);
	return has;
}

static void test_a_check_run_is_annotated_once(void **state)
{
	(void)state;
	assert_true(is_annotated("", ""));
	assert_true(is_annotated("81", "running"));
	assert_false(is_annotated("81", "failure")); /* GitHub appends annotations to those of the earlier request */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_check_run_is_updated),
		cmocka_unit_test(test_a_check_run_is_annotated_once),
		cmocka_unit_test(test_the_title_of_an_annotation_is_cut),
		cmocka_unit_test(test_each_forge_has_its_terms),
		cmocka_unit_test(test_a_description_is_cut_between_characters),
		cmocka_unit_test(test_gitlab_takes_no_long_address),
		cmocka_unit_test(test_an_unknown_state),
		cmocka_unit_test(test_signature),
	};
	return cmocka_run_group_tests_name("forge", tests, NULL, NULL);
}
