/*
 * protocol.c - table of messages, entry of parser and writer, and ownership of message parts.
 *
 * job.c has the tables of jobs and tasks, record.c those of reports, profile.c those of profiles; table.c reads and writes
 * messages with them. All received data passes protocol_parse, which tests/protocol/fuzz_protocol.c tests.
 */
#include "protocol/internal.h"

static const struct message {
	const char *name;
	const struct row *table;
	size_t owned; /* size of the struct if the message owns a pointer to it; 0: struct msg contains it */
} messages[] = {
	[MSG_HELLO] = { "hello", protocol_hello_rows, 0 },
	[MSG_JOB] = { "job", protocol_job_rows, sizeof(struct msg_job) },
	[MSG_NEED] = { "need", protocol_need_rows, 0 },
	[MSG_TREE] = { "tree", protocol_tree_rows, 0 },
	[MSG_BUILD] = { "build", protocol_build_rows, 0 },
	[MSG_CHECK] = { "check", protocol_check_rows, 0 },
	[MSG_RUN] = { "run", protocol_run_rows, sizeof(struct msg_run) },
	[MSG_AT] = { "at", protocol_at_rows, 0 },
	[MSG_FOUND] = { "found", protocol_found_rows, sizeof(struct msg_found) },
	[MSG_CELL] = { "cell", protocol_samples_rows, sizeof(struct msg_cell) },
	[MSG_WORK] = { "work", protocol_work_rows, 0 },
	[MSG_NODE] = { "node", protocol_node_rows, 0 },
	[MSG_FAULT] = { "fault", protocol_fault_rows, 0 },
	[MSG_DONE] = { "done", protocol_done_rows, 0 },
	[MSG_PING] = { "ping", protocol_ping_rows, 0 },
	[MSG_CANCEL] = { "cancel", protocol_cancel_rows, 0 },
	[MSG_TASK] = { "task", protocol_task_rows, sizeof(struct msg_task) },
	[MSG_NOTE] = { "note", protocol_note_rows, 0 },
	[MSG_STATE] = { "state", protocol_state_rows, 0 },
	[MSG_HEALTH_CHECK] = { "health_check", protocol_health_check_rows, 0 },
	[MSG_AUDIT] = { "audit", protocol_audit_rows, 0 },
	[MSG_KERNEL] = { "kernel", protocol_kernel_rows, 0 },
	[MSG_CODE] = { "code", protocol_code_rows, sizeof(struct msg_code) },
	[MSG_COUNTERFACTUAL] = { "counterfactual", protocol_counterfactual_rows, 0 },
	[MSG_PROFILE] = { "profile", protocol_profile_rows, 0 },
	[MSG_STALLS] = { "stalls", protocol_stalls_rows, 0 },
	[MSG_SAME] = { "same", protocol_same_rows, 0 },
	[MSG_REPORTED_KERNELS] = { "reported_kernels", protocol_reported_kernels_rows, 0 },
};

enum { MESSAGES = sizeof messages / sizeof messages[0] };

const char *protocol_name(enum msg_type t)
{
	return (unsigned)t < MESSAGES ? messages[t].name : "unknown";
}

/* Parse one JSON text. jansson's messages quote the input, so unprintable bytes in them are replaced. */
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
		return err_set(err, ERR_PROTOCOL, "line is not a JSON object");
	if (!word)
		return err_set(err, ERR_PROTOCOL, "t: is missing or not a string");
	for (unsigned i = 0; i < MESSAGES; i++)
		if (strcmp(messages[i].name, word) == 0) {
			*t = (enum msg_type)i;
			return 0;
		}
	return err_set(err, ERR_PROTOCOL, "t: \"%.24s\" is not a message of protocol %d",
		field_is(FIELD_IDENTIFIER, word) ? word : "?", PROTOCOL_VERSION);
}

/* Return the struct of a message. NULL: it is owned and not allocated. */
static void *find_body(const struct msg *m)
{
	const void *body = &m->u;

	if (messages[m->t].owned)
		memcpy(&body, &m->u, sizeof body);
	return (void *)body;
}

static int read_message(json_t *root, struct msg *out, struct fw_err *err)
{
	const struct message *kind = &messages[out->t];
	void *body = &out->u;
	struct fields f;

	if (kind->owned) {
		body = calloc(1, kind->owned);
		if (!body)
			return err_set(err, ERR_INTERNAL, "out of memory for a message");
		memcpy(&out->u, &body, sizeof body);
	}
	field_begin(&f, root, err, "%s", kind->name);
	if (table_read(&f, kind->table, body) == 0)
		return 0;
	msg_fini(out);
	return -1;
}

int protocol_parse(const char *line, size_t len, struct msg *out, struct fw_err *err)
{
	json_t *root = load(line, len, err);
	int result = root ? 0 : -1;

	memset(out, 0, sizeof *out);
	if (root && (type_of(root, &out->t, err) != 0 || read_message(root, out, err) != 0))
		result = -1;
	json_decref(root);
	return result;
}

/* Parse one object that is not a message. */
static int parse_part(const char *text, size_t len, const char *where, const struct row *table, void *out, struct fw_err *err)
{
	json_t *root = load(text, len, err);
	struct fields f;

	if (!root)
		return -1;
	field_begin(&f, root, err, "%s", where);
	int result = f.failed ? -1 : table_read(&f, table, out);

	json_decref(root);
	return result;
}

int protocol_parse_cell(const char *text, size_t len, struct cell *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	return parse_part(text, len, "cell", protocol_cell_rows, out, err);
}

int protocol_parse_rule(const char *text, size_t len, struct rule *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	return parse_part(text, len, "rule", protocol_rule_rows, out, err);
}

int protocol_parse_sides(const char *text, size_t len, struct msg_job *out, struct fw_err *err)
{
	return parse_part(text, len, "job", protocol_sides_rows, out, err);
}

double msg_cell_seconds(const struct msg_cell *m)
{
	double ms = 0;

	for (int s = 0; s < m->n_sides; s++)
		for (int i = 0; i < m->n; i++)
			ms += (double)m->ms[s][i];
	return ms / 1e3;
}

void msg_fini(struct msg *m)
{
	const struct message *kind = &messages[m->t];
	void *body = find_body(m);

	if (body)
		table_free(kind->table, body);
	if (m->t == MSG_BUILD)
		buf_fini(&m->u.build.log);
	if (kind->owned)
		free(body);
	memset(m, 0, sizeof *m); // body is inside m only if not owned: NOLINT(clang-analyzer-unix.Malloc)
}

void protocol_write(struct buf *out, const struct msg *m)
{
	struct buf line;
	struct jsonw j;

	buf_init(&line, PROTOCOL_LINE_MAX);
	jsonw_init(&j, &line);
	jsonw_object(&j);
	jsonw_kv_string(&j, "t", protocol_name(m->t));
	table_write(&j, messages[m->t].table, find_body(m));
	jsonw_object_end(&j);
	buf_putc(&line, '\n');
	out->is_out_of_memory = out->is_out_of_memory || line.is_out_of_memory;
	if (line.failed)
		out->failed = true;
	else
		buf_append(out, line.data, line.len);
	buf_fini(&line);
}

void protocol_put_cell(struct jsonw *j, const struct cell *c)
{
	table_write_object(j, protocol_cell_rows, c);
}

void protocol_put_location(struct jsonw *j, const struct msg_location *p)
{
	table_write_object(j, protocol_location_rows, p);
}

void protocol_put_device_check(struct jsonw *j, const struct msg_device_check *g)
{
	table_write_object(j, protocol_device_check_rows, g);
}

void protocol_write_rule(struct buf *out, const struct rule *r)
{
	struct jsonw j;

	jsonw_init(&j, out);
	table_write_object(&j, protocol_rule_rows, r);
}

void protocol_write_sides(struct buf *out, const struct msg_job *job)
{
	struct jsonw j;

	jsonw_init(&j, out);
	table_write_object(&j, protocol_sides_rows, job);
}
