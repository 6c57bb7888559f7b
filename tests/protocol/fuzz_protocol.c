/*
 * fuzz_protocol.c - arbitrary bytes through the parser; accepted messages must survive writing and reading unchanged.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/protocol by default).
 *
 * Attacks: daemon/protocol daemon/model daemon/lib
 */
#include "fuzz_replay.h"
#include "protocol/protocol.h"

static void rewrite(const struct msg *m)
{
	struct fw_err err = { 0 };
	struct buf first, second;
	struct msg again;

	buf_init(&first, PROTOCOL_LINE_MAX);
	buf_init(&second, PROTOCOL_LINE_MAX);
	protocol_write(&first, m);
	if (!first.failed) {
		must(memchr(first.data, '\n', first.len) == first.data + first.len - 1, "a message is more than one line");
		must(protocol_parse(first.data, first.len, &again, &err) == 0, "a written message is refused");
		must(again.t == m->t, "a written message is another one");
		protocol_write(&second, &again);
		must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0,
			"a message changes when it is read again");
		msg_fini(&again);
	}
	buf_fini(&first);
	buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_err err = { 0 };
	struct rule rule;
	struct msg m;

	if (protocol_parse((const char *)data, size, &m, &err) == 0) {
		must(err.code == ERR_NONE, "an accepted line left an error");
		rewrite(&m);
		msg_fini(&m);
	} else {
		must(err.code == ERR_PROTOCOL || err.code == ERR_INTERNAL, "a refused line has no error");
		must(err.text[0] && !strpbrk(err.text, "\n\r\033"), "an error is no clean line");
	}
	err_clear(&err);
	if (protocol_parse_rule((const char *)data, size, &rule, &err) == 0)
		must(rule.runs_max >= 1 && rule.runs_max <= STATS_RUNS_MAX / 2, "a rule is out of range");
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/protocol", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
