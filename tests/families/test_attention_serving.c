/* Cases of serving: keys of suites and their errors, names, useful work by hand, tables of pages, what the reference sees. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_cell.h"
#include "families/attention/internal.h"
#include "lib/lib.h"
#include "model/model.h"

#define HEAD "suite: t\nfamily: attention\ncommon: {nhq: 8, nhk: 1, headdim: 64}\ndirections: [forward]\n"

static void good(const char *text, struct suite *s)
{
	struct fw_err err = { 0 };

	if (suite_parse(text, strlen(text), "s.yaml", s, &err) != 0)
		fail_msg("%s", err.text);
}

static void bad(const char *text, const char *why)
{
	struct suite s;
	struct fw_err err = { 0 };

	assert_int_equal(suite_parse(text, strlen(text), "s.yaml", &s, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" lacks \"%s\"", err.text, why);
}

static void keys_name_what_differs(void **state)
{
	struct suite s;

	(void)state;
	good(HEAD "serving:\n"
		  "  - {queries: [1, 16], keys: [512, 8192], batch: [1, 4]}\n"
		  "  - {queries: [1], keys: [512], window: [128], page: [16], nhq: 4, nhk: 4, headdim: 256}\n"
		  "  - {queries: [2], lengths: [512, 64, 100]}\n"
		  "  - {queries: [2], lengths: [512, 100, 64]}\n"
		  "  - {queries: [17], keys: [512]}\n"
		  "  - {keys: [512], window: [64]}\n"
		  "  - {lengths: [20, 30]}\n",
		&s);
	assert_int_equal(s.n_cells, 14);
	assert_string_equal(s.cell[0].key, "attention/decode/k512/n1/q1/hq8/hk1/d64/bf16/forward");
	assert_string_equal(s.cell[1].key, "attention/decode/k512/n1/q16/hq8/hk1/d64/bf16/forward");
	assert_string_equal(s.cell[2].key, "attention/decode/k512/n4/q1/hq8/hk1/d64/bf16/forward");
	assert_string_equal(s.cell[7].key, "attention/decode/k8192/n4/q16/hq8/hk1/d64/bf16/forward");
	assert_string_equal(s.cell[7].title, "q16, n4, 8:1 heads of 64");
	assert_int_equal(s.cell[7].size, 8192);
	assert_string_equal(s.cell[8].key, "attention/decode/k512/n1/q1/w128/p16/hq4/hk4/d256/bf16/forward");
	assert_string_equal(s.cell[8].title, "q1, n1, 4:4 heads of 256, w128, p16");
	assert_string_equal(s.cell[9].title, "q2, n3 mixed, 8:1 heads of 64");
	assert_int_equal(strncmp(s.cell[9].key, "attention/decode/k512-", 22), 0);
	assert_string_equal(s.cell[9].key + 30, "/n3/q2/hq8/hk1/d64/bf16/forward");
	assert_string_not_equal(s.cell[9].key, s.cell[10].key); /* the same lengths in another order are other inputs */
	assert_string_equal(s.cell[11].key, "attention/prefill/k512/n1/q17/hq8/hk1/d64/bf16/forward");
	assert_string_equal(s.cell[12].key, "attention/prefill/k512/n1/qall/w64/hq8/hk1/d64/bf16/forward");
	assert_string_equal(s.cell[13].key, "attention/dense/varlen_causal/s50/hq8/hk1/d64/bf16/forward");
	assert_int_equal(case_metric(&s.cell[0]), METRIC_GBPS);
	assert_int_equal(case_metric(&s.cell[11]), METRIC_TFLOPS);
	assert_int_equal(case_metric(&s.cell[13]), METRIC_TFLOPS);
	suite_fini(&s);
}

/* A shape that is written and parsed is the same: the worker receives it so. */
static void shapes_are_read_back(void **state)
{
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	good(HEAD "serving:\n"
		  "  - {queries: [3], lengths: [512, 64, 100], window: [60], page: [16]}\n"
		  "  - {queries: [1], keys: [512]}\n",
		&s);
	for (int i = 0; i < s.n_cells; i++) {
		struct buf json;
		struct cell back = s.cell[i];
		struct fields f = { .where = "shape", .err = &err };

		buf_init(&json, 4096);
		family_json(case_family(&back), back.shape.bytes, &json);
		json_t *object = json_loads(json.data, 0, NULL);
		assert_non_null(object);
		memset(back.shape.bytes, 0, sizeof back.shape.bytes);
		f.object = object;
		attention_parse(&f, back.shape.bytes);
		assert_false(f.failed);
		assert_memory_equal(back.shape.bytes, s.cell[i].shape.bytes, sizeof back.shape.bytes);
		json_decref(object);
		buf_fini(&json);
	}
	suite_fini(&s);
}

static struct attention_case make(int queries, int window, int page, int n, const int *length)
{
	struct attention_case a = { .mask = window || page ? FW_CACHE : FW_CAUSAL,
		.nhq = 8,
		.nhk = 2,
		.headdim = 64,
		.dtype = FW_BF16,
		.n_seqs = n,
		.queries = queries,
		.window = window,
		.page = page };

	for (int i = 0; i < n; i++)
		a.seqlen += a.length[i] = length[i];
	return a;
}

static double bytes_of(const struct attention_case *a)
{
	return family_find("attention")->bytes(a, DIRECTION_FORWARD);
}

/* Areas and bytes by hand. */
static void useful_work(void **state)
{
	struct attention_case a;

	(void)state;
	a = make(1, 0, 0, 2, (int[]){ 100, 7 });
	assert_true(attention_area(&a) == 107);
	assert_int_equal(attention_total_q(&a), 2);
	assert_true(family_find("attention")->flops(&a, DIRECTION_FORWARD) == 4.0 * 107 * 8 * 64);
	/* Q and O of 2 queries x 8 heads, K and V of 107 keys x 2 heads, LSE */
	assert_true(bytes_of(&a) == 2.0 * 2 * 2 * 8 * 64 + 2.0 * 2 * 107 * 2 * 64 + 4.0 * 2 * 8);
	a = make(3, 0, 0, 2, (int[]){ 100, 3 });
	assert_true(attention_area(&a) == 98 + 99 + 100 + 1 + 2 + 3);
	a = make(3, 99, 0, 1, (int[]){ 100 });
	assert_true(attention_area(&a) == 98 + 99 + 99);
	assert_true(bytes_of(&a) == 2.0 * 2 * 3 * 8 * 64 + 2.0 * 2 * 100 * 2 * 64 + 4.0 * 3 * 8);
	a = make(3, 10, 0, 1, (int[]){ 100 });
	assert_true(attention_area(&a) == 30);
	assert_true(bytes_of(&a) == 2.0 * 2 * 3 * 8 * 64 + 2.0 * 2 * 12 * 2 * 64 + 4.0 * 3 * 8);
	a = make(0, 3, 0, 2, (int[]){ 5, 2 });
	assert_true(attention_area(&a) == 1 + 2 + 3 + 3 + 3 + 1 + 2);
	a = make(1, 0, 16, 2, (int[]){ 100, 7 }); /* the rest of a page is not read */
	assert_true(bytes_of(&a) == 2.0 * 2 * 2 * 8 * 64 + 2.0 * 2 * 107 * 2 * 64 + 4.0 * 2 * 8);
}

/* Every page belongs to one sequence; another seed and the second problem have another order. */
static void pages(void **state)
{
	struct attention_case a = make(1, 0, 16, 3, (int[]){ 100, 17, 1 });
	int32_t table[21], other[21], seen[10] = { 0 };
	struct fw_tensor t;

	(void)state;
	assert_int_equal(attention_pages(&a), 7 + 2 + 1);
	assert_int_equal(attention_page_entries(&a), 7);
	assert_int_equal(attention_key_rows(&a), 160);
	assert_int_equal(attention_lay_out(&a, FW_PAGES, &t), sizeof table);
	assert_int_equal(attention_lay_out(&a, FW_K, &t), 160 * 2 * 64 * 2);
	assert_int_equal(attention_lay_out(&a, FW_Q, &t), 3 * 8 * 64 * 2);
	attention_page_table(&a, 42, table);
	for (int i = 0; i < 21; i++)
		if (i < 7 || (i >= 7 && i < 9) || i == 14)
			seen[table[i]]++;
		else
			assert_int_equal(table[i], 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(seen[i], 1);
	attention_page_table(&a, 43, other);
	assert_memory_not_equal(table, other, sizeof table);
	assert_true(attention_has_second(&a));
	attention_second(&a, 0);
	attention_page_table(&a, 42, other);
	assert_memory_not_equal(table, other, sizeof table);
	assert_int_equal(a.length[0], 1);
	a = make(1, 0, 128, 1, (int[]){ 100 });
	assert_false(attention_has_second(&a)); /* one page */
}

static void seen(const struct reference_io *io, int row, int begin, int end)
{
	struct reference_range range;

	assert_int_equal(reference_mask_keys(io, 0, row, &range), 1);
	assert_int_equal(range.begin, begin);
	assert_int_equal(range.end, end);
}

static void the_reference_sees_the_last_keys(void **state)
{
	struct cell c = { 0 };
	struct attention_case a = make(2, 0, 0, 2, (int[]){ 10, 6 });
	int32_t cu_q[3], cu_k[3], table[2 * 3];
	struct reference_io io = { .cell = &c, .cu_q = cu_q, .cu_k = cu_k };
	struct fw_err err = { 0 };

	(void)state;
	set_attention(&c, &a, 42);
	assert_int_equal(attention_lay(&a, 42, FW_CU_Q, cu_q, &err), 0);
	assert_int_equal(attention_lay(&a, 42, FW_CU_K, cu_k, &err), 0);
	assert_int_equal(cu_q[2], 4);
	assert_int_equal(cu_k[2], 16);
	seen(&io, 0, 0, 9);
	seen(&io, 1, 0, 10);
	seen(&io, 2, 10, 15);
	seen(&io, 3, 10, 16);
	a = make(2, 4, 4, 2, (int[]){ 10, 6 });
	set_attention(&c, &a, 42);
	seen(&io, 0, 5, 9);
	seen(&io, 1, 6, 10);
	seen(&io, 2, 11, 15);
	attention_page_table(&a, 42, table);
	io.pages = table;
	assert_int_equal(reference_key_row(&io, 0), table[0] * 4);
	assert_int_equal(reference_key_row(&io, 9), table[2] * 4 + 1);
	assert_int_equal(reference_key_row(&io, 10), table[3] * 4);
	assert_int_equal(reference_key_row(&io, 15), table[4] * 4 + 1);
}

static void mistakes(void **state)
{
	(void)state;
	bad(HEAD "serving: 3\n", "s.yaml:5:10: serving: must be a mapping of queries and keys, or a list of such");
	bad(HEAD "serving: {queries: [1]}\n", "s.yaml:5:10: serving: keys or lengths is missing");
	bad(HEAD "serving: {keys: [64], lengths: [3, 4]}\n", "s.yaml:5:32: serving.lengths: lengths has one batch of sequences");
	bad(HEAD "serving: {queries: [65], keys: [64]}\n",
		"s.yaml:5:33: serving.keys[0]: queries are the last tokens of a sequence: 65 do not fit one of 64 keys");
	bad(HEAD "serving: {queries: [1], keys: [64], window: [64]}\n",
		"s.yaml:5:32: serving.keys[0]: a window of 64 keys hides none of 64");
	bad(HEAD "serving: {queries: [1], keys: [64], window: [0]}\n",
		"s.yaml:5:46: serving.window[0]: 0 is out of range; must be 1 to 1048576");
	bad(HEAD "serving: {queries: [1], keys: [64], page: [16385]}\n",
		"s.yaml:5:44: serving.page[0]: 16385 is out of range; must be 1 to 16384");
	bad(HEAD "serving: {queries: [1], keys: [1], batch: [256], page: [16384]}\n",
		"pages of 16384 tokens have more than 2097152 rows");
	bad(HEAD "serving: {queries: [1], keys: [8192], batch: [256]}\n",
		"s.yaml:5:32: serving.keys[0]: the sequences hold 2097152 keys, more than 1048576");
	bad(HEAD "serving: {queries: [1], keys: [64], batch: [257]}\n",
		"s.yaml:5:45: serving.batch[0]: 257 is out of range; must be 1 to 256");
	bad(HEAD "serving: {queries: [1], keys: [64], windows: [3]}\n",
		"s.yaml:5:37: serving.windows: unknown key; did you mean `window`?");
	bad(HEAD "serving: {queries: [1], keys: [64], nhq: 3, nhk: 2}\n", "nhq 3 is not a multiple of nhk 2");
	bad(HEAD "serving: [{queries: [1], keys: [64]}, {queries: [1], keys: [64]}]\n",
		"attention/decode/k64/n1/q1/hq8/hk1/d64/bf16 appears twice");
	bad("suite: t\nfamily: attention\ncommon: {nhq: 8, nhk: 1, headdim: 64}\nserving: {queries: [1], keys: [64]}\n",
		"s.yaml:4:32: serving.keys[0]: a case of serving has no backward: nothing is trained there; give directions: [forward]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_name_what_differs),
		cmocka_unit_test(shapes_are_read_back),
		cmocka_unit_test(useful_work),
		cmocka_unit_test(pages),
		cmocka_unit_test(the_reference_sees_the_last_keys),
		cmocka_unit_test(mistakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
