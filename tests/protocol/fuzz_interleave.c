/*
 * fuzz_interleave.c - arbitrary bytes as output of a program: every line is accepted or refused, and leaves a state that the
 * rules allow.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/interleave by default).
 *
 * Attacks: daemon/protocol daemon/lib
 */
#include <math.h>

#include "fuzz_replay.h"
#include "protocol/protocol.h"

static void check_line(const struct interleave_line *l)
{
	must(isfinite(l->ms) && isfinite(l->host_us) && isfinite(l->mhz) && isfinite(l->idle_us) && isfinite(l->spin_us) &&
			isfinite(l->value),
		"a number is none");
	must(l->type != INTERLEAVE_DONE || l->ms > 0 || (l->ms == 0 && (l->cut || l->late)),
		"a call of no time that nothing interrupted");
	must(l->type != INTERLEAVE_TURN || (l->key[0] && !strpbrk(l->key, " \n\r\033")), "a key that hides something");
	must(!strpbrk(l->text, "\n\r\033"), "a text that is no clean line");
}

/* A worker that grants every second request. */
static void answer(struct interleave_side *s, int n)
{
	if (s->state != INTERLEAVE_RESTING)
		return;
	if (n % 2)
		interleave_grant_turn(s, 1 + n % 3);
	else
		interleave_end_cell(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct interleave_side side = { .state = INTERLEAVE_STARTING };
	const char *text = (const char *)data, *end = text + size;

	for (int n = 0; text < end; n++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t len = stop ? (size_t)(stop - text) : (size_t)(end - text);
		struct fw_err err = { 0 };
		struct interleave_line line;
		bool held = interleave_holds(&side);
		int result = interleave_parse(text, len, &line, &err);

		if (result == 0) {
			check_line(&line);
			result = interleave_receive(&side, &line, &err);
			must(result != 0 || line.type != INTERLEAVE_DONE || held, "a call without a turn was believed");
		}
		must((result != 0) == (err.code != ERR_NONE), "a refusal without an error, or an error without one");
		must(result == 0 || (err.text[0] && !strpbrk(err.text, "\n\r\033")), "an error is no clean line");
		must(side.calls_left >= 0 && side.facts <= INTERLEAVE_FACTS_MAX + 1, "a count is out of range");
		answer(&side, n);
		text += len + 1;
		if (!stop)
			break;
	}
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/interleave", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
