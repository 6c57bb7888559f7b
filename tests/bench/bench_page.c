/*
 * The gain from writing numbers without printf: single numbers, and whole pages, rendered with emit_rawf and with printf instead,
 * alternating in one process. Usage: bench_page DB COMPARISONS CELL, of a database that bench_seed filled: the pages are those of
 * comparisons 1 to COMPARISONS and the history of CELL. A page with different bytes ends it. Linked with --wrap=emit_rawf.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"
#include "model/model.h"
#include "web/answer/answer.h"
#include "web/html/html.h"
#include "web/http/internal.h"
#include "web/page/page.h"

enum { ROUNDS = 301, NUMBERS = 2000, PAGES = 200, PAGE_MAX = 8 << 20 };

static bool by_printf;
static struct buf page[2]; /* by emit_rawf, by printf */

void __wrap_emit_rawf(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void __wrap_emit_rawf(struct buf *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (by_printf)
		buf_vprintf(out, format, args);
	else
		emit_vrawf(out, format, args);
	va_end(args);
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_page: %s\n", what);
	exit(1);
}

/* Returns ns. */
static int64_t draw(struct site *site, http_handler_fn *handler, struct http_request *request)
{
	struct http_response response = { .status = 200, .body = page[by_printf] };
	struct fw_err err = { 0 };
	buf_clear(&response.body);
	int64_t begun_ns = clock_mono_ns();
	int result = handler(site, request, &response, &err);
	int64_t took_ns = clock_mono_ns() - begun_ns;
	page[by_printf] = response.body;
	if (result != 0 || response.status != 200 || response.body.failed)
		fail("a page was not drawn");
	return took_ns;
}

static int64_t write_numbers(void)
{
	buf_clear(&page[by_printf]);
	int64_t begun_ns = clock_mono_ns();
	for (unsigned i = 0; i < NUMBERS; i++) {
		if (page[by_printf].len > PAGE_MAX / 2)
			buf_clear(&page[by_printf]);
		emit_rawf(&page[by_printf], "%.2f", (double)(inputs_mix(i) % 10000000) / 7000);
	}
	return clock_mono_ns() - begun_ns;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static double median_us(int64_t *ns, int n)
{
	qsort(ns, (size_t)n, sizeof *ns, by_size);
	return (double)ns[n / 2] * 1e-3;
}

static void report(const char *name, http_handler_fn *handler, struct site *site, const char *cell, int n)
{
	static int64_t took[2][PAGES];
	char number[16], query[512];
	for (int i = 0; i < PAGES; i++) {
		struct http_request request = { .method = "GET", .parts = { .n = 1, .part = { number } } };
		snprintf(number, sizeof number, "%d", 1 + i % n);
		snprintf(query, sizeof query, "repo=kernels&branch=main&limit=10000&cell=%s", cell);
		if (*cell && pairs_split(&request.query, query) != 0)
			fail("usage: bench_page DB COMPARISONS CELL");
		for (int k = 0; k < 2; k++) {
			by_printf = (i + k) % 2 != 0;
			took[by_printf][i] = draw(site, handler, &request);
		}
		if (page[0].len != page[1].len || memcmp(page[0].data, page[1].data, page[0].len) != 0)
			fail("printf writes another page");
	}
	double ours_us = median_us(took[0], PAGES), printf_us = median_us(took[1], PAGES);
	printf("bench emit.%s %.6g us\nbench emit.%s_printf %.6g us\nbench emit.%s_gain %.3g times\n", name, ours_us, name,
		printf_us, name, printf_us / ours_us);
}

int main(int argc, char **argv)
{
	struct fw_err err = { 0 };
	struct site site = { 0 };
	int64_t took[2][ROUNDS];
	int n = argc == 4 ? atoi(argv[2]) : 0;
	if (n < 1)
		fail("usage: bench_page DB COMPARISONS CELL");
	if (db_open(argv[1], true, &site.db, &err) != 0)
		fail(err.text);
	buf_init(&page[0], PAGE_MAX);
	buf_init(&page[1], PAGE_MAX);
	for (int i = 0; i < 2 * ROUNDS; i++) {
		by_printf = i % 2 != 0;
		took[by_printf][i / 2] = write_numbers();
	}
	printf("bench emit.number %.6g ns\n", median_us(took[0], ROUNDS) * 1e3 / NUMBERS);
	printf("bench emit.number_printf %.6g ns\n", median_us(took[1], ROUNDS) * 1e3 / NUMBERS);
	report("comparison", page_comparison, &site, "", n);
	report("history", page_history, &site, argv[3], n);
	buf_fini(&page[0]);
	buf_fini(&page[1]);
	db_close(site.db);
	return 0;
}
