/*
 * fuzz_ptxas.c - arbitrary bytes as a build log: reads stay inside the log, a log does not differ from itself, and its
 * diagnostics are new compared with an empty log and gone in the opposite comparison. Each line is read as a symbol, too.
 *
 * As a test it runs the inputs under tests/data/fuzz/ptxas, and each of them with a hundred changes (fixed seed).
 *
 * Attacks: daemon/profile daemon/lib
 */
#include "fuzz_replay.h"
#include "model/model.h"
#include "profile/profile.h"

enum { CHANGES = 100, LINE_MAX_BYTES = 1024 };

static void check_text(const char *text, size_t size)
{
	must(memchr(text, 0, size) != NULL, "a text without an end");
}

static void check_symbols(const char *data, size_t size)
{
	char line[LINE_MAX_BYTES], name[SYMBOLNAME_SIZE];

	for (const char *at = data, *end = data + size; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at), n = len < sizeof line ? len : sizeof line - 1;

		memcpy(line, at, n);
		line[n] = '\0';
		memset(name, 'x', sizeof name);
		symbolname(line, name);
		check_text(name, sizeof name);
		must(!*line || *name, "a symbol without a name");
		at += len + 1;
	}
}

static void check_log(const struct ptxaslog *l)
{
	for (size_t i = 0; i < l->n_diagnostics; i++) {
		must(l->diagnostic[i].symbol < l->symbols.len, "a symbol beyond the end");
		check_text(l->diagnostic[i].what, sizeof l->diagnostic[i].what);
		check_text(l->diagnostic[i].code, sizeof l->diagnostic[i].code);
		must(l->diagnostic[i].times > 0, "a diagnostic that does not stand there");
	}
	for (size_t i = 0; i < l->n_functions; i++)
		must(l->function[i].symbol < l->symbols.len, "a symbol beyond the end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ptxas_change change[PTXASDELTA_MAX], back[PTXASDELTA_MAX];
	struct ptxaslog l, none;
	struct fw_err err = { 0 };

	check_symbols((const char *)data, size);
	must(ptxaslog_read(&l, (const char *)data, size, &err) == 0, "small enough, and refused");
	must(ptxaslog_read(&none, "", 0, &err) == 0, "nothing is refused");
	check_log(&l);
	must(ptxasdelta(&l, &l, change, PTXASDELTA_MAX) == 0, "a log is not like itself");
	size_t n = ptxasdelta(&none, &l, change, PTXASDELTA_MAX), m = ptxasdelta(&l, &none, back, PTXASDELTA_MAX);
	size_t most = l.n_diagnostics < PTXASDELTA_MAX ? l.n_diagnostics : PTXASDELTA_MAX;

	must(n == most && m == most, "diagnostics that come and go are not the same");
	for (size_t i = 0; i < n; i++) {
		must(change[i].how == PTXAS_NEW && back[i].how == PTXAS_GONE, "what is new is not reported so");
		must(change[i].kind == back[i].kind && strcmp(change[i].what, back[i].what) == 0, "another diagnostic");
		check_text(change[i].kernel, sizeof change[i].kernel);
	}
	ptxaslog_fini(&l);
	ptxaslog_fini(&none);
#ifndef FUZZ_SEARCH
	static bool is_changed;
	uint64_t random = size + 1;
	uint8_t *copy = malloc(size + 1);

	must(copy != NULL, "out of memory");
	for (int i = 0; !is_changed && size > 0 && i < CHANGES; i++) {
		static const char marks[] = "'()C75 \n0s_ZNIEL";

		memcpy(copy, data, size);
		for (int k = 0; k <= i % 8; k++) {
			random = inputs_mix(random);
			copy[random % size] = (uint8_t)marks[(random >> 40) % (sizeof marks - 1)];
		}
		is_changed = true;
		LLVMFuzzerTestOneInput(copy, size - random % 16 % size);
		is_changed = false;
	}
	free(copy);
#endif
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/ptxas", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
