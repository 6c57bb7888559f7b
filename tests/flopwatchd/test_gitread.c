/* Output of flopwatch-git: valid values, and values that must be rejected. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "flopwatchd/watch/watch.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEAD                                                                                                                     \
	"\"commit\":\"" A "\",\"tree\":\"" B "\",\"author\":\"me\",\"subject\":\"words\",\"committed_at_ms\":5,\"problem\":"     \
	"\"\","

static struct buf text_of(const char *text)
{
	struct buf b;
	buf_init(&b, 1 << 20);
	buf_puts(&b, text);
	return b;
}

static void test_a_commit(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct gitread_commit *c = NULL;
	struct buf b = text_of("{" HEAD "\"parents\":[\"" B "\",\"" A "\"],\"blobs\":{\"f\":\"aGk=\",\"g\":null},"
			       "\"oids\":{\"kernels\":{\"oid\":\"" A "\",\"kind\":\"tree\"},\"none\":null}}\n");
	const char *oid = NULL;
	if (gitread_tree(&b, &c, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(c->commit.sha, A);
	assert_string_equal(c->commit.tree, B);
	assert_string_equal(c->commit.first_parent, B);
	assert_string_equal(c->commit.author, "me");
	assert_string_equal(c->commit.subject, "words");
	assert_int_equal(c->commit.committed_at, 5);
	assert_string_equal(gitread_blob(c, "f")->data, "hi");
	assert_null(gitread_blob(c, "g"));
	assert_null(gitread_blob(c, "h"));
	assert_true(gitread_oid(c, "kernels", &oid));
	assert_string_equal(oid, A);
	assert_true(gitread_oid(c, "none", &oid));
	assert_string_equal(oid, "");
	assert_false(gitread_oid(c, "other", &oid));
	gitread_commit_free(c);
	gitread_commit_free(NULL);
	buf_fini(&b);
}

static void test_a_root_commit_with_a_long_subject(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct gitread_commit *c = NULL;
	struct buf b = text_of("{\"commit\":\"" A "\",\"tree\":\"" B
			       "\",\"parents\":[],\"author\":\"\",\"problem\":\"a submodule\",\"subject\":\"x");
	for (int i = 0; i < 400; i++)
		buf_puts(&b, "\xc3\xa9");
	buf_puts(&b, "\"}");
	assert_int_equal(gitread_tree(&b, &c, &err), 0);
	assert_string_equal(c->commit.first_parent, "");
	assert_string_equal(c->problem, "a submodule");
	assert_int_equal(strlen(c->commit.subject), 511);
	assert_int_equal((unsigned char)c->commit.subject[510], 0xa9); /* cut between characters */
	gitread_commit_free(c);
	buf_fini(&b);
}

static void refused(const char *text, const char *why)
{
	struct fw_err err = { 0 };
	struct gitread_commit *c = NULL;
	struct buf b = text_of(text);
	assert_int_equal(gitread_tree(&b, &c, &err), -1);
	assert_int_equal(err.code, ERR_PROTOCOL);
	assert_string_equal(err.text, why);
	buf_fini(&b);
}

static void test_malformed_answers_are_refused(void **state)
{
	(void)state;
	refused("", "flopwatch-git printed no JSON object");
	refused("[]", "flopwatch-git printed no JSON object");
	refused("{}", "flopwatch-git printed no valid `commit`");
	refused("{\"commit\":\"HEAD\"}", "flopwatch-git printed no valid `commit`");
	refused("{" HEAD "\"parents\":3}", "flopwatch-git printed no valid `parents`");
	refused("{" HEAD "\"parents\":[\"x\"]}", "flopwatch-git printed no valid `parents`");
	refused("{" HEAD "\"parents\":[],\"blobs\":{\"f\":7}}", "flopwatch-git printed no valid `blobs`");
	refused("{" HEAD "\"parents\":[],\"blobs\":{\"f\":\"!\"}}", "flopwatch-git printed no valid `blobs`");
	refused("{" HEAD "\"parents\":[],\"oids\":{\"f\":{\"oid\":\"../..\"}}}", "flopwatch-git printed no valid `oid`");
}

static void test_a_base(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct gitread_base base;
	struct buf b = text_of("{\"merge_base\":\"" A "\",\"upstream\":\"" B "\",\"first_parents\":[\"" B "\",\"" A "\"]}");
	assert_int_equal(gitread_base(&b, &base, &err), 0);
	assert_string_equal(base.merge_base, A);
	assert_string_equal(base.upstream, B);
	assert_int_equal(base.n_first_parents, 2);
	assert_string_equal(base.first_parent[0], B);
	buf_fini(&b);
	b = text_of("{\"merge_base\":null,\"upstream\":null,\"first_parents\":[]}");
	assert_int_equal(gitread_base(&b, &base, &err), 0);
	assert_string_equal(base.merge_base, "");
	assert_string_equal(base.upstream, "");
	assert_int_equal(base.n_first_parents, 0);
	buf_fini(&b);
	b = text_of("{\"merge_base\":null,\"first_parents\":[1]}");
	assert_int_equal(gitread_base(&b, &base, &err), -1);
	buf_fini(&b);
}

static void test_branch_names_are_encoded(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	char out[32];
	assert_int_equal(gitread_encode("team/a-b_c.d~1", out, sizeof out, &err), 0);
	assert_string_equal(out, "team/a-b_c.d~1");
	assert_int_equal(gitread_encode("a%<\xc3\xa9", out, sizeof out, &err), 0);
	assert_string_equal(out, "a%25%3C%C3%A9");
	assert_int_equal(gitread_encode("%%%%%%%%%%%", out, sizeof out, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
}

static void test_changed_files(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	char paths[64];
	int number;
	struct buf b = text_of("{\"paths\":[\"a.c\",\"dir/b.c\"],\"number\":7}\n");
	assert_int_equal(gitread_changes(&b, paths, sizeof paths, &number, &err), 0);
	assert_string_equal(paths, "[\"a.c\",\"dir/b.c\"]");
	assert_int_equal(number, 7);
	assert_int_equal(gitread_changes(&b, paths, 12, &number, &err), -1); /* they do not fit */
	assert_string_equal(paths, "");
	buf_fini(&b);
	static const char *const bad[] = { "{\"paths\":[\"a.c\"]}", "{\"paths\":[1],\"number\":1}", "{\"paths\":{},\"number\":1}",
		"[]" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err_clear(&err);
		b = text_of(bad[i]);
		assert_int_equal(gitread_changes(&b, paths, sizeof paths, &number, &err), -1);
		assert_int_equal(err.code, ERR_PROTOCOL);
		buf_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_commit),
		cmocka_unit_test(test_a_root_commit_with_a_long_subject),
		cmocka_unit_test(test_malformed_answers_are_refused),
		cmocka_unit_test(test_a_base),
		cmocka_unit_test(test_branch_names_are_encoded),
		cmocka_unit_test(test_changed_files),
	};
	return cmocka_run_group_tests_name("gitread", tests, NULL, NULL);
}
