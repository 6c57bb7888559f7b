/*
 * protocol.c - table of messages, entry of the parser, and ownership of message parts.
 *
 * job.c parses tasks, record.c reports; write.c writes. All received data passes protocol_parse; tests/protocol/fuzz_protocol.c
 * tests it.
 */
#include "protocol/internal.h"

#include <stdlib.h>

#include "lib/lib.h"

static const char *const names[] = {
	[MSG_HELLO] = "hello",
	[MSG_JOB] = "job",
	[MSG_NEED] = "need",
	[MSG_TREE] = "tree",
	[MSG_BUILD] = "build",
	[MSG_CHECK] = "check",
	[MSG_PROCESS_RUN] = "process_run",
	[MSG_AT] = "at",
	[MSG_FOUND] = "found",
	[MSG_CELL] = "cell",
	[MSG_WORK] = "work",
	[MSG_NODE] = "node",
	[MSG_FAULT] = "fault",
	[MSG_DONE] = "done",
	[MSG_PING] = "ping",
	[MSG_CANCEL] = "cancel",
	[MSG_RUN] = "run",
	[MSG_NOTE] = "note",
	[MSG_STATE] = "state",
	[MSG_HEALTH_CHECK] = "health_check",
	[MSG_AUDIT] = "audit",
	[MSG_KERNEL] = "kernel",
	[MSG_CODE] = "code",
	[MSG_COUNTERFACTUAL] = "counterfactual",
	[MSG_PROFILE] = "profile",
	[MSG_STALLS] = "stalls",
};

enum { NAMES = sizeof names / sizeof names[0] };

const char *protocol_name(enum msg_type t)
{
	return (unsigned)t < NAMES ? names[t] : "unknown";
}

/* Parse one JSON text. jansson quotes the input in its messages, so they are made printable first. */
static json_t *load(const char *text, size_t len, struct fw_err *err)
{
	json_error_t why;
	char safe[120];
	size_t i = 0;

	if (len > PROTOCOL_LINE_MAX) {
		err_set(err, ERR_PROTOCOL, "line of %zu bytes is longer than %u", len, PROTOCOL_LINE_MAX);
		return NULL;
	}
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);

	if (root)
		return root;
	for (; why.text[i] && i + 1 < sizeof safe; i++)
		safe[i] = why.text[i] >= 0x20 && why.text[i] < 0x7f ? why.text[i] : '?';
	safe[i] = 0;
	err_set(err, ERR_PROTOCOL, "line is not JSON at byte %d: %s", why.position, safe);
	return NULL;
}

static int type_of(json_t *root, enum msg_type *t, struct fw_err *err)
{
	const char *word = json_string_value(json_object_get(root, "t"));

	if (!json_is_object(root))
		return err_set(err, ERR_PROTOCOL, "line is no JSON object");
	if (!word)
		return err_set(err, ERR_PROTOCOL, "t: is missing or no string");
	for (unsigned i = 0; i < NAMES; i++)
		if (strcmp(names[i], word) == 0) {
			*t = (enum msg_type)i;
			return 0;
		}
	return err_set(err, ERR_PROTOCOL, "t: \"%.24s\" is no message of protocol %d", field_is(FIELD_WORD, word) ? word : "?",
		PROTOCOL_VERSION);
}

int protocol_parse_cell(const char *text, size_t len, struct cell *out, struct fw_err *err)
{
	json_t *root = load(text, len, err);
	int result = root ? protocol_job_read_cell(root, "cell", out, err) : -1;

	json_decref(root);
	return result;
}

int protocol_parse(const char *line, size_t len, struct msg *out, struct fw_err *err)
{
	json_t *root = load(line, len, err);
	int result = -1;

	memset(out, 0, sizeof *out);
	if (!root)
		return -1;
	if (type_of(root, &out->t, err) == 0) {
		if (out->t == MSG_JOB)
			result = protocol_job_read(root, out, err);
		else if (out->t == MSG_RUN)
			result = protocol_job_read_run(root, out, err);
		else
			result = protocol_record_read(root, out, err);
	}
	json_decref(root);
	return result;
}

int protocol_parse_rule(const char *text, size_t len, struct rule *out, struct fw_err *err)
{
	json_t *root = load(text, len, err);

	if (!root)
		return -1;
	int result = protocol_job_read_rule(root, "rule", out, err);

	json_decref(root);
	return result;
}

static void free_samples(struct msg_cell *m)
{
	for (int s = 0; m && s < PROTOCOL_SUBJECTS_MAX; s++) {
		free(m->ms[s]);
		free(m->mhz[s]);
		free(m->host_us[s]);
	}
	free(m);
}

void msg_fini(struct msg *m)
{
	switch (m->t) {
	case MSG_JOB:
		if (m->u.job)
			free(m->u.job->cell);
		free(m->u.job);
		break;
	case MSG_RUN:
		if (m->u.run) {
			free(m->u.run->cell);
			free(m->u.run->index);
			free(m->u.run->sustained_run);
			free(m->u.run->pin);
		}
		free(m->u.run);
		break;
	case MSG_BUILD:
		buf_fini(&m->u.build.log);
		break;
	case MSG_FOUND:
		free(m->u.found);
		break;
	case MSG_PROCESS_RUN:
		free(m->u.process_run);
		break;
	case MSG_CELL:
		free_samples(m->u.cell);
		break;
	case MSG_WORK:
		tried_fini(&m->u.work.tried);
		break;
	case MSG_KERNEL:
	case MSG_CODE:
	case MSG_PROFILE:
	case MSG_STALLS:
		protocol_profile_fini(m);
		break;
	default:
		break;
	}
	memset(m, 0, sizeof *m);
}
