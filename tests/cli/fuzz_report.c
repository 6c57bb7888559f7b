/*
 * fuzz_report.c - arbitrary JSON as a comparison that a server sends: the command line prints it without control characters.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/report by default).
 *
 * Attacks: daemon/cli/report.c daemon/cli/table.c daemon/cli/footnotes.c daemon/cli/plain.c daemon/lib
 */
#include "cli/internal.h"
#include "fuzz_replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *shown = NULL, flags[64];
	size_t len = 0;
	json_t *comparison = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);

	if (!comparison)
		return 0;
	FILE *out = open_memstream(&shown, &len);
	must(out != NULL, "no memory");
	report_comparison(comparison, out);
	report_notes(comparison, false, out);
	fclose(out);
	must(!strpbrk(shown, "\r\033\b"), "a report moves the cursor");
	const json_t *cells = json_object_get(comparison, "cells");
	for (size_t i = 0; i < json_array_size(cells); i++) {
		report_flags(json_array_get(cells, i), flags, sizeof flags);
		must(memchr(flags, 0, sizeof flags) != NULL, "a text without an end");
	}
	free(shown);
	json_decref(comparison);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/report", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
