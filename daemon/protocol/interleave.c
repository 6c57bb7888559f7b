/* interleave.c - parser, writer and state machine of the interleave protocol. */
#include "protocol/protocol.h"

#include <stdio.h>

#include "readers/readers.h"

#define MS_MAX            1e9
#define KERNEL_NUMBER_MAX 2147483647.0

static const struct {
	const char *name;
	bool is_text;
} facts[] = { [INTERLEAVE_FLOPS] = { "flops", false },
	[INTERLEAVE_BYTES] = { "bytes", false },
	[INTERLEAVE_FIRST_MS] = { "first_ms", false },
	[INTERLEAVE_MEMORY_BYTES] = { "memory_bytes", false },
	[INTERLEAVE_OUTPUT] = { "output", true },
	[INTERLEAVE_CONFIG] = { "config", true },
	[INTERLEAVE_UNPRIMED] = { "unprimed", true },
	[INTERLEAVE_KERNEL] = { "kernel", true } };

/* Return the next token, terminated in place; NULL: none. */
static char *word(char **at)
{
	char *begin = *at, *space;

	if (!begin || !*begin)
		return NULL;
	space = strchr(begin, ' ');
	if (space)
		*space = '\0';
	*at = space ? space + 1 : NULL;
	return begin;
}

/* Copy the rest of the line, cleaned for display. Shape: out[size]. */
static void clean(const char *text, char *out, size_t size)
{
	struct buf shown;

	buf_init(&shown, (size_t)8 * INTERLEAVE_LINE_MAX);
	utf8_show(&shown, text ? text : "", text ? strlen(text) : 0, "");
	snprintf(out, size, "%s", shown.data);
	buf_fini(&shown);
}

static int refuse(struct fw_err *err, const char *what, const char *text)
{
	char shown[80];

	clean(text, shown, sizeof shown);
	return err_set(err, ERR_PROTOCOL, "%s: \"%s\"", what, shown);
}

static int read_number(const char *text, double above, double max, double *out, struct fw_err *err)
{
	if (!text || !reading_number(text, out) || !(*out >= above) || *out > max)
		return refuse(err, "sends an invalid number", text);
	return 0;
}

/* Copy a key, which must be printable text without spaces. */
static int read_key(const char *text, char key[CASE_KEY_SIZE], struct fw_err *err)
{
	size_t len = text ? strlen(text) : 0, at = 0;
	uint32_t code;

	if (len == 0 || len >= CASE_KEY_SIZE)
		return refuse(err, "names a cell with a key that is not 1 to 159 bytes long", text);
	while (at < len) {
		at += utf8_next(text + at, len - at, &code);
		if (code == UTF8_INVALID || code == ' ' || utf8_is_hidden(code))
			return refuse(err, "names a cell with spaces or hidden characters", text);
	}
	memcpy(key, text, len + 1);
	return 0;
}

static int read_done(char *rest, struct interleave_line *out, struct fw_err *err)
{
	char *ms = word(&rest), *item;

	if (read_number(ms, 0, MS_MAX, &out->ms, err) != 0)
		return -1;
	while ((item = word(&rest))) {
		char *equals = strchr(item, '=');
		double cut = 0, late = 0;
		double *to = NULL;

		if (!equals)
			return refuse(err, "adds a field that is not name=number to a call", item);
		*equals = '\0';
		to = strcmp(item, "host_us") == 0   ? &out->host_us
		     : strcmp(item, "mhz") == 0     ? &out->mhz
		     : strcmp(item, "idle_us") == 0 ? &out->idle_us
		     : strcmp(item, "repeats") == 0 ? &out->repeats
		     : strcmp(item, "spin_us") == 0 ? &out->spin_us
		     : strcmp(item, "cut") == 0     ? &cut
		     : strcmp(item, "late") == 0    ? &late
						    : NULL;
		if (to && read_number(equals + 1, 0, MS_MAX, to, err) != 0)
			return -1;
		out->cut = out->cut || cut != 0;
		out->late = out->late || late != 0;
	}
	if (out->ms <= 0 && !out->cut && !out->late)
		return refuse(err, "reports a call that took no time", ms);
	return 0;
}

/* Copy a text field of a kernel, cleaned for display; hashes must be exact. Unknown names are ignored. */
static int read_kernel_text(struct reported_kernel *k, const char *name, const char *value, struct fw_err *err)
{
	char *hash = strcmp(name, "code") == 0 ? k->code_sha256 : strcmp(name, "source") == 0 ? k->source_sha256 : NULL;

	if (strcmp(name, "config") == 0)
		clean(value, k->config, sizeof k->config);
	if (hash && (strlen(value) != HASH_HEX - 1 || strspn(value, "0123456789abcdef") != HASH_HEX - 1))
		return refuse(err, "reports a kernel with an invalid hash", value);
	if (hash)
		memcpy(hash, value, HASH_HEX);
	return 0;
}

/* Parse "NAME name=value ...". */
static int read_kernel(char *rest, struct interleave_line *out, struct fw_err *err)
{
	struct reported_kernel *k = &out->kernel;
	double warps = -1, stages = -1, shared = -1, registers = -1, spills = -1, launches = -1, of = 0;
	const char *name = word(&rest);
	char *item;

	clean(name, k->name, sizeof k->name);
	if (!k->name[0])
		return refuse(err, "reports a kernel without a name", name);
	while ((item = word(&rest))) {
		char *equals = strchr(item, '=');
		double *to = NULL;

		if (!equals)
			return refuse(err, "adds a field that is not name=value to a kernel", item);
		*equals = '\0';
		to = strcmp(item, "num_warps") == 0    ? &warps
		     : strcmp(item, "num_stages") == 0 ? &stages
		     : strcmp(item, "shared") == 0     ? &shared
		     : strcmp(item, "registers") == 0  ? &registers
		     : strcmp(item, "spills") == 0     ? &spills
		     : strcmp(item, "launches") == 0   ? &launches
		     : strcmp(item, "of") == 0         ? &of
						       : NULL;
		if (to ? read_number(equals + 1, 0, KERNEL_NUMBER_MAX, to, err) != 0
		       : read_kernel_text(k, item, equals + 1, err) != 0)
			return -1;
	}
	k->num_warps = (int)warps;
	k->num_stages = (int)stages;
	k->registers = (int)registers;
	k->spills = (int)spills;
	k->launches = (int)launches;
	k->shared_bytes = (int64_t)shared;
	out->kernels = (int)of;
	return 0;
}

static int read_fact(char *rest, struct interleave_line *out, struct fw_err *err)
{
	const char *name = word(&rest);

	for (size_t i = 0; name && i < sizeof facts / sizeof facts[0]; i++) {
		if (strcmp(name, facts[i].name) != 0)
			continue;
		out->fact = (enum interleave_fact)i;
		if (out->fact == INTERLEAVE_KERNEL)
			return read_kernel(rest, out, err);
		if (!facts[i].is_text)
			return read_number(rest, 0, 1e30, &out->value, err);
		clean(rest, out->text, sizeof out->text);
		return 0;
	}
	return refuse(err, "reports an unknown fact of a cell", name);
}

static int read_fail(char *rest, struct interleave_line *out, struct fw_err *err)
{
	const char *failure = word(&rest);

	if (!failure ||
		(strcmp(failure, "wrong") != 0 && strcmp(failure, "unsupported") != 0 && strcmp(failure, "reported") != 0))
		return refuse(err, "fails a cell with a class other than wrong, unsupported or reported", failure);
	snprintf(out->failure, sizeof out->failure, "%s", failure);
	clean(rest, out->text, sizeof out->text);
	return 0;
}

static int read_hello(char *rest, struct interleave_line *out, struct fw_err *err)
{
	const char *version = word(&rest);
	double number;

	if (read_number(version, 0, 1e6, &number, err) != 0)
		return -1;
	if (number != INTERLEAVE_VERSION)
		return err_set(err, ERR_PROTOCOL, "uses version %.6g of the interleave protocol, this flopwatch uses %d", number,
			INTERLEAVE_VERSION);
	clean(rest, out->text, sizeof out->text);
	return 0;
}

static int read_ended(char *rest, struct interleave_line *out, struct fw_err *err)
{
	const char *how = word(&rest);
	bool is_signal = how && strcmp(how, "signal") == 0;
	double number;

	if (!is_signal && (!how || strcmp(how, "exit") != 0))
		return refuse(err, "reports an end that is neither exit nor signal", how);
	if (read_number(rest, is_signal, is_signal ? 64 : 255, &number, err) != 0)
		return -1;
	out->status = is_signal ? -1 : (int)number;
	out->signal = is_signal ? (int)number : 0;
	return 0;
}

static int parse(char *line, struct interleave_line *out, struct fw_err *err)
{
	static const struct {
		const char *name;
		enum interleave_message type;
	} types[] = { { "flopwatch", INTERLEAVE_HELLO }, { "turn", INTERLEAVE_TURN }, { "done", INTERLEAVE_DONE },
		{ "fact", INTERLEAVE_FACT }, { "fail", INTERLEAVE_FAIL }, { "bye", INTERLEAVE_BYE },
		{ "parent", INTERLEAVE_PARENT }, { "fresh", INTERLEAVE_FRESH }, { "ended", INTERLEAVE_ENDED } };
	char *rest = line;
	const char *first = word(&rest);
	size_t i = 0, n = sizeof types / sizeof types[0];

	while (i < n && (!first || strcmp(first, types[i].name) != 0))
		i++;
	if (i == n)
		return refuse(err, "sends an unknown line", first);
	out->type = types[i].type;
	switch (out->type) {
	case INTERLEAVE_HELLO:
		return read_hello(rest, out, err);
	case INTERLEAVE_TURN:
		return read_key(rest, out->key, err);
	case INTERLEAVE_DONE:
		return read_done(rest, out, err);
	case INTERLEAVE_FACT:
		return read_fact(rest, out, err);
	case INTERLEAVE_FAIL:
		return read_fail(rest, out, err);
	case INTERLEAVE_FRESH:
		clean(rest, out->text, sizeof out->text);
		return 0;
	case INTERLEAVE_ENDED:
		return read_ended(rest, out, err);
	default:
		return rest ? refuse(err, "adds a field to a line that has none", rest) : 0;
	}
}

int interleave_parse(const char *line, size_t len, struct interleave_line *out, struct fw_err *err)
{
	char *copy;
	int result;

	memset(out, 0, sizeof *out);
	if (len > INTERLEAVE_LINE_MAX)
		return err_set(err, ERR_PROTOCOL, "sends a line of more than %d bytes", INTERLEAVE_LINE_MAX);
	if (memchr(line, '\0', len))
		return err_set(err, ERR_PROTOCOL, "sends a line with a zero byte");
	copy = strndup(line, len);
	if (!copy)
		return err_set(err, ERR_INTERNAL, "out of memory");
	result = parse(copy, out, err);
	free(copy);
	return result;
}

void interleave_write_welcome(struct buf *out, bool is_list)
{
	buf_printf(out, "welcome %d %s\n", INTERLEAVE_VERSION, is_list ? "list" : "pairs");
}

void interleave_write_go(struct buf *out, const struct interleave_go *go)
{
	buf_printf(out, "go %d %d%s", go->warm, go->calls, go->is_single ? " repeats=1" : "");
	if (go->spin_us > 0)
		buf_printf(out, " spin_us=%.0f", go->spin_us < INTERLEAVE_SPIN_US_MAX ? go->spin_us : INTERLEAVE_SPIN_US_MAX);
	buf_puts(out, "\n");
}

void interleave_write_next(struct buf *out)
{
	buf_puts(out, "next\n");
}

void interleave_write_fork(struct buf *out)
{
	buf_puts(out, "fork\n");
}

bool interleave_holds(const struct interleave_side *s)
{
	return s->state == INTERLEAVE_HOLDING || s->state == INTERLEAVE_AFTER;
}

void interleave_grant_turn(struct interleave_side *s, int calls)
{
	s->state = INTERLEAVE_HOLDING;
	s->calls_left = calls;
	s->facts = 0;
}

void interleave_end_cell(struct interleave_side *s)
{
	s->state = INTERLEAVE_BUSY;
}

void interleave_request_run(struct interleave_side *s)
{
	s->state = INTERLEAVE_STARTING;
	s->is_forked = true;
}

static int find_violation(struct fw_err *err, const char *what)
{
	return err_set(err, ERR_PROTOCOL, "%s", what);
}

int interleave_receive(struct interleave_side *s, const struct interleave_line *line, struct fw_err *err)
{
	if (line->type == INTERLEAVE_ENDED)
		return s->is_forked ? 0 : find_violation(err, "reports the end of a run that was not requested");
	if (s->state == INTERLEAVE_WAITING)
		return find_violation(err, "sends a line before a run is requested");
	if (s->state == INTERLEAVE_STARTING && !s->is_forked && line->type == INTERLEAVE_FRESH)
		return 0;
	if (s->state == INTERLEAVE_STARTING && !s->is_forked && line->type == INTERLEAVE_PARENT) {
		s->state = INTERLEAVE_WAITING;
		return 0;
	}
	if (s->state == INTERLEAVE_GONE)
		return find_violation(err, "sends a line after its `bye`");
	if ((s->state == INTERLEAVE_STARTING) != (line->type == INTERLEAVE_HELLO))
		return find_violation(
			err, s->state == INTERLEAVE_STARTING ? "sends a line before its hello" : "sends hello twice");
	switch (line->type) {
	case INTERLEAVE_HELLO:
		s->state = INTERLEAVE_BUSY;
		return 0;
	case INTERLEAVE_TURN:
		if (s->state == INTERLEAVE_RESTING)
			return find_violation(err, "requests a turn while it waits for one");
		if (s->state == INTERLEAVE_HOLDING)
			return find_violation(err, "requests another turn before the calls of this one are done");
		s->state = INTERLEAVE_RESTING;
		memcpy(s->key, line->key, sizeof s->key);
		return 0;
	case INTERLEAVE_DONE:
		if (s->state != INTERLEAVE_HOLDING)
			return find_violation(err, "made a call without a turn");
		s->state = --s->calls_left > 0 ? INTERLEAVE_HOLDING : INTERLEAVE_AFTER;
		return 0;
	case INTERLEAVE_FACT:
	case INTERLEAVE_FAIL:
		if (!interleave_holds(s))
			return find_violation(err, "reports on a cell outside its turn");
		if (++s->facts > INTERLEAVE_FACTS_MAX)
			return find_violation(err, "sends too many lines in one turn");
		if (line->type == INTERLEAVE_FAIL)
			s->state = INTERLEAVE_AFTER;
		return 0;
	default:
		if (line->type != INTERLEAVE_BYE)
			return find_violation(err, "sends a line after its hello that is allowed only before it");
		if (s->state == INTERLEAVE_RESTING || s->state == INTERLEAVE_HOLDING)
			return find_violation(err, "sends bye in the middle of a turn");
		s->state = INTERLEAVE_GONE;
		return 0;
	}
}
