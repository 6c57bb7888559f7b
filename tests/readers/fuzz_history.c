/*
 * fuzz_history.c - arbitrary bytes as a history of another tool, and as a pair of outputs that are to be compared: each half of
 * the input is a file. What is accepted has whole hashes, times and an order.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/history by default).
 *
 * Attacks: daemon/readers daemon/lib
 */
#include <math.h>

#include "fuzz_replay.h"
#include "readers/readers.h"

static void check(const struct history *h)
{
	must(h->n <= HISTORY_POINTS_MAX, "too many commits");
	for (int i = 0; i < h->n; i++) {
		const struct history_point *p = &h->point[i];
		const struct history_point *before = i ? p - 1 : NULL;

		must(oid_is_whole(p->commit) && memchr(p->suite, 0, sizeof p->suite), "a commit that is none");
		must(!before || strcmp(before->suite, p->suite) < 0 ||
				(strcmp(before->suite, p->suite) == 0 && before->at_ms <= p->at_ms),
			"commits out of order");
		for (int k = 0; k < p->reading.n_rows; k++)
			must(p->reading.row[k].failure[0] ||
					(p->reading.row[k].median_ms > 0 && isfinite(p->reading.row[k].median_ms)),
				"a row without a time");
	}
}

static void read_history(const char *format, const char *data, size_t size)
{
	struct history h = { 0 };
	struct fw_err err = { 0 };
	size_t half = size / 2;
	int result = history_add(&h, format, data, size, "file", &err);

	if (result == 0) /* more of the same commits, or a mistake */
		result = history_add(&h, format, data + half, size - half, "other", &err) == 0 || size % 2 ? 0 : -1;
	if (result == 0)
		err_clear(&err);
	if (result == 0 && history_finish(&h, &err) == 0)
		check(&h);
	else
		must(err.code == ERR_INVALID && err.text[0] && !strpbrk(err.text, "\n\r\033"), "a refusal without words");
	history_fini(&h);
}

static void read_pair(const char *data, size_t size)
{
	const char *gap = memmem(data, size, "\n\n", 2);
	size_t half = gap ? (size_t)(gap - data) + 2 : size / 2;
	struct fw_err err = { 0 };
	struct reading base, target;
	struct buf warnings;
	int unpaired;

	if (reading_parse(
		    &(struct reading_options){ .format = "auto", .unit = "", .time = "" }, data, half, "base", &base, &err) != 0)
		return;
	err_clear(&err);
	struct reading_options how = { .format = base.format, .unit = "", .time = "" };
	if (reading_parse(&how, data + half, size - half, "target", &target, &err) == 0) {
		buf_init(&warnings, 1 << 20);
		must(reading_pair(&base, "base", &target, "target", &warnings, &unpaired, &err) == 0,
			"two readings that are refused");
		must(unpaired >= 0 && !strpbrk(warnings.data, "\r\033"), "a warning is no clean line");
		for (int i = 0; i < base.n_rows; i++)
			must(!reading_find_unpaired(&base, base.row[i].key), "a row that is left out is a row");
		buf_fini(&warnings);
		reading_fini(&target);
	}
	reading_fini(&base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char formats[] = HISTORY_FORMATS, *rest = formats, *format;
	const char *text = (const char *)data, *guess = history_guess(text, size);

	must(!guess || strstr(HISTORY_FORMATS, guess), "an unknown format is guessed");
	while ((format = strsep(&rest, ", ")) != NULL)
		if (*format)
			read_history(format, text, size);
	read_pair(text, size);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/history", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
