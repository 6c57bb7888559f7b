/*
 * fuzz_reading.c - arbitrary bytes through every reader of foreign benchmarks; accepted input must satisfy the readers' contract.
 *
 * As a test it replays the files and folders given as arguments (the readers' samples and tests/data/fuzz/reading by default).
 *
 * Attacks: daemon/readers daemon/lib
 */
#include <math.h>

#include "fuzz_replay.h"
#include "readers/readers.h"

static void check(const struct reading *r)
{
	must((r->n_rows > 0 || r->n_figures > 0) && r->n_rows <= READING_ROWS_MAX, "a reading without rows, or with too many");
	for (int i = 0; i < r->n_figures; i++)
		must(r->figure[i].n > 0 && isfinite(r->figure[i].median), "a figure without a value");
	for (int i = 0; i < r->n_notes; i++)
		must(r->note[i][0] && !strpbrk(r->note[i], "\n\r\033"), "a note is not clean");
	for (int i = 0; i < r->n_rows; i++) {
		const struct reading_row *row = &r->row[i];

		must(row->key[0] && strlen(row->key) < CASE_KEY_SIZE && !strpbrk(row->key, " \n\r\033"), "a key is not clean");
		must(reading_find(r, row->key) == row, "a key appears twice");
		if (row->failure[0])
			must(row->n == 0 && isnan(row->median_ms), "a row that failed has a time");
		else
			must(row->n > 0 && row->median_ms > 0 && isfinite(row->median_ms), "a row without a time");
	}
	for (int i = 0; i < r->n_left; i++)
		must(!reading_find(r, r->left[i].key) && r->left[i].why[0],
			"a row that is left out is a row, or nobody says why");
}

static int see(void *arg, const struct ncu_stall *s, struct fw_err *err)
{
	(void)arg;
	(void)err;
	must(s->launch >= 0 && s->samples > 0 && s->reason[0], "an instruction without samples");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char formats[] = FORMAT_NAMES, *rest = formats, *format;
	const char *guess = reading_guess((const char *)data, size, "flops.csv");

	must(!guess || (format_from_name(guess) != FORMAT_N), "an unknown format is guessed");
	struct fw_err ignored = { 0 };
	int launches;
	(void)ncu_source_each((const char *)data, size, "file", see, NULL, &launches, &ignored);
	while ((format = strsep(&rest, ", ")) != NULL) {
		struct fw_err err = { 0 };
		struct reading r;

		if (!*format)
			continue;
		struct reading_options how = { .format = format,
			.unit = size % 3 ? "GB/s" : "",
			.time = size % 2 ? "cpu" : "real",
			.metrics = size % 5 ? NULL : "*",
			.warmup = size % 7 == 0,
			.other = (const char *)data + size / 2, /* the second half */
			.other_len = size - size / 2 };

		if (reading_parse(&how, (const char *)data, size, "input", &r, &err) == 0) {
			must(err.code == ERR_NONE, "an accepted file left an error");
			check(&r);
			reading_fini(&r);
		} else {
			must(err.code == ERR_INVALID || err.code == ERR_INTERNAL, "a refused file has no error");
			must(err.text[0] != 0, "an error says nothing");
		}
	}
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/readers", "tests/data/fuzz/reading", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
