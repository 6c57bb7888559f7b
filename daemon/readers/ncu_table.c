/*
 * ncu_table.c - parser of ncu tables.
 *
 * The program prints into the same stream as ncu, so any line may appear anywhere. A row begins with the numbers of a launch
 * and of a process; it is searched at the start of a line and, in a quoted table, after program output without a newline.
 */
#include "readers/readers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lib.h"

/* ---- marks: Inference of decimal and thousands marks. ---- */

enum { GROUPS_MAX = 16, NUMBER_SIZE = 64, GROUP = 3 };

/*
 * The components of a number: digits[0] mark[0] digits[1] ... exponent. Marks are '.', ',' and 'g', any other sign between
 * thousands.
 */
struct parts {
	bool negative;
	int n_marks;
	char mark[GROUPS_MAX];
	char digits[GROUPS_MAX + 1][NUMBER_SIZE];
	char exponent[8];
};

/* Length of a thousands sign here, 0 none: apostrophes, spaces, no-break, narrow no-break, thin and figure spaces. */
static size_t grouping_at(const char *at)
{
	static const char *const signs[] = { "'", "\u2019", " ", "\u00a0", "\u202f", "\u2009", "\u2007", "_" };

	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (strncmp(at, signs[i], strlen(signs[i])) == 0)
			return strlen(signs[i]);
	return 0;
}

static const char *skip_spaces(const char *at)
{
	for (size_t n; *at && *at != '\'' && *at != '_' && (n = grouping_at(at)) > 0;)
		at += n;
	return at;
}

static bool split(const char *cell, struct parts *p)
{
	const char *at = skip_spaces(cell);
	size_t n;

	*p = (struct parts){ .negative = *at == '-' };
	at += *at == '-' || *at == '+';
	for (;;) {
		n = strspn(at, "0123456789");
		if (n >= NUMBER_SIZE)
			return false;
		memcpy(p->digits[p->n_marks], at, n);
		at += n;
		size_t grouping = *skip_spaces(at) ? grouping_at(at) : 0;

		if (!grouping && *at != '.' && *at != ',')
			break;
		if (p->n_marks == GROUPS_MAX)
			return false;
		p->mark[p->n_marks++] = grouping ? 'g' : *at;
		at += grouping ? grouping : 1;
	}
	if (*at == 'e' || *at == 'E') {
		n = 1 + (at[1] == '-' || at[1] == '+');
		n += strspn(at + n, "0123456789");
		if (n >= sizeof p->exponent || !isdigit((unsigned char)at[n - 1]))
			return false;
		memcpy(p->exponent, at, n);
		at += n;
	}
	return !*skip_spaces(at) && (p->digits[0][0] || (p->n_marks == 1 && p->digits[1][0]));
}

/* True if the first n marks separate thousands: one to three digits, then groups of three. */
static bool are_thousands(const struct parts *p, int n)
{
	if (n == 0)
		return true;
	for (int i = 1; i <= n; i++)
		if (strlen(p->digits[i]) != GROUP)
			return false;
	return p->digits[0][0] && strlen(p->digits[0]) <= GROUP && p->digits[0][0] != '0';
}

static int count(const struct parts *p, char mark)
{
	int n = 0;

	for (int i = 0; i < p->n_marks; i++)
		n += p->mark[i] == mark;
	return n;
}

static char other(char mark)
{
	return mark == '.' ? ',' : '.';
}

/* Return the evidence of one number: its decimal mark; 'g' a separate thousands sign; 0 nothing; -1 no number; '?' ambiguous. */
static int mark_shown_by(const struct parts *p)
{
	int points = count(p, '.'), commas = count(p, ','), own = count(p, 'g');
	char last = p->n_marks ? p->mark[p->n_marks - 1] : 0;

	if (p->n_marks == 0)
		return 0;
	if (own > 0) { /* 1'234 or 1'234.5 */
		bool fraction = points + commas == 1 && last != 'g';

		if ((points + commas > 0 && !fraction) || !are_thousands(p, own))
			return -1;
		return fraction ? last : 'g';
	}
	if (points > 0 && commas > 0) /* 1,234.5 */
		return count(p, last) == 1 && are_thousands(p, p->n_marks - 1) ? last : -1;
	if (p->n_marks > 1) /* 1,234,567 */
		return are_thousands(p, p->n_marks) && !p->exponent[0] ? other(last) : -1;
	return are_thousands(p, 1) && !p->exponent[0] ? '?' : last;
}

void marks_learn(struct marks *m, const char *cell, const char *unit, int line)
{
	struct parts p;
	int shown = split(cell, &p) ? mark_shown_by(&p) : -1;

	if (shown == '?' && strcmp(unit, "%") == 0)
		shown = (unsigned char)p.mark[0];
	m->has_grouping = m->has_grouping || (shown > 0 && count(&p, 'g') > 0);
	if (shown == '.' && m->line_point == 0)
		m->line_point = line;
	if (shown == ',' && m->line_comma == 0)
		m->line_comma = line;
	if (shown == '.' || shown == ',')
		m->decimal = m->decimal ? m->decimal : (char)shown;
}

bool marks_contradict(const struct marks *m)
{
	return m->line_point > 0 && m->line_comma > 0;
}

enum marks_kind marks_read(const struct marks *m, const char *cell, double *value)
{
	char plain[(GROUPS_MAX + 1) * NUMBER_SIZE + 16];
	size_t used = 0;
	struct parts p;
	int shown = split(cell, &p) ? mark_shown_by(&p) : -1;

	if (shown < 0)
		return MARKS_NO_NUMBER;
	if (shown == '?' && !m->decimal && !m->has_grouping)
		return MARKS_UNDECIDED;
	char decimal = shown == '.' || shown == ',' ? (char)shown : m->decimal ? m->decimal : shown == '?' ? p.mark[0] : 0;

	plain[used++] = p.negative ? '-' : '+';
	for (int i = 0; i <= p.n_marks; i++) {
		used += (size_t)snprintf(plain + used, sizeof plain - used, "%s", p.digits[i]);
		if (i < p.n_marks && decimal && p.mark[i] == decimal)
			plain[used++] = '.';
	}
	snprintf(plain + used, sizeof plain - used, "%s", p.exponent);
	return reading_number(plain, value) ? MARKS_NUMBER : MARKS_NO_NUMBER;
}

/* ---- ncu_table ---- */

enum { NAME_SIZE = 160, UNIT_SIZE = 64 };

struct table {
	struct csv csv;
	bool is_quoted;
	int n;
	char (*name)[NAME_SIZE], (*unit)[UNIT_SIZE];                       /* name[n], unit[n] */
	int id, process_id, process, kernel, grid, block, context, device; /* columns; -1 none */
	int metric, metric_unit, value;                                    /* of page details; -1 none */
	int launches;
	char last_id[64];
	struct marks marks;
	/* A row of another length: refused if it is the last one, else left out. */
	int odd_line, odd_cells;
	/* Receives values; NULL while marks are learned. */
	ncu_value_fn *take;
	void *arg;
	struct reading *out;
};

static int column(const struct table *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->name[i], name) == 0)
			return i;
	return -1;
}

static void split_unit(char name[NAME_SIZE], char unit[UNIT_SIZE])
{
	char *open = strrchr(name, '[');
	size_t n = strlen(name);

	if (!open || open == name || name[n - 1] != ']')
		return;
	snprintf(unit, UNIT_SIZE, "%.*s", (int)(name + n - 1 - open - 1), open + 1);
	while (open > name && open[-1] == ' ')
		open--;
	*open = '\0';
}

static int read_header(struct table *t, struct fw_err *err)
{
	free(t->name);
	free(t->unit);
	t->n = t->csv.n;
	t->name = mem_alloc_zero((size_t)t->n, sizeof *t->name);
	t->unit = mem_alloc_zero((size_t)t->n, sizeof *t->unit);
	for (int i = 0; i < t->n; i++) {
		snprintf(t->name[i], NAME_SIZE, "%s", t->csv.cell[i]);
		split_unit(t->name[i], t->unit[i]);
	}
	t->id = column(t, "ID");
	t->process_id = column(t, "Process ID");
	t->process = column(t, "Process Name");
	t->kernel = column(t, "Kernel Name");
	t->grid = column(t, "Grid Size");
	t->block = column(t, "Block Size");
	t->context = column(t, "Context");
	t->device = column(t, "Device");
	t->metric = column(t, "Metric Name");
	t->metric_unit = column(t, "Metric Unit");
	t->value = column(t, "Metric Value");
	t->last_id[0] = '\0';
	if (t->kernel < 0)
		return err_set(err, ERR_INVALID, "%s:%d: has no column Kernel Name; is this the output of ncu --csv?",
			t->csv.file, t->csv.line);
	if (t->metric >= 0 && t->value < 0)
		return err_set(err, ERR_INVALID, "%s:%d: has a column Metric Name and no Metric Value", t->csv.file, t->csv.line);
	return 0;
}

static const char *skip_digits(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && isdigit((unsigned char)*at))
		at++;
	return at > from ? at : NULL;
}

/* "0","4000", or 0,4000, or "","", of the row of units: two cells show the start of a row. */
static bool is_row(const struct table *t, const char *at, const char *end)
{
	for (int i = 0; i < 2; i++) {
		bool quote = at < end && *at == '"';
		const char *stop;

		if (quote != t->is_quoted)
			return false;
		at += quote;
		stop = skip_digits(at, end);
		at = stop ? stop : at;
		if (quote && (at == end || *at++ != '"'))
			return false;
		if (at < end ? *at++ != ',' : i == 0)
			return false;
	}
	return true;
}

static bool is_header(const char *at, const char *end, bool *is_quoted)
{
	static const char *const begins[] = { "\"ID\",\"Process ID\"", "ID,Process ID," };

	for (int i = 0; i < 2; i++)
		if ((size_t)(end - at) >= strlen(begins[i]) && memcmp(at, begins[i], strlen(begins[i])) == 0) {
			*is_quoted = i == 0;
			return true;
		}
	return false;
}

/* Start of a row or header in a line; NULL: not a line of the table. */
static const char *find_row(struct table *t, const char *line, const char *end, bool *header)
{
	for (const char *at = line; at < end; at++) {
		bool quoted;

		if (*at != '"' && at > line)
			continue;
		*header = is_header(at, end, &quoted);
		if (*header)
			t->is_quoted = quoted;
		if (*header || (t->name && is_row(t, at, end)))
			return at;
	}
	return NULL;
}

/* Rows of one launch are consecutive. */
static void count_launch(struct table *t)
{
	char id[sizeof t->last_id];

	snprintf(id, sizeof id, "%.30s/%.30s", t->id >= 0 ? t->csv.cell[t->id] : "",
		t->process_id >= 0 ? t->csv.cell[t->process_id] : "");
	if (t->launches == 0 || t->metric < 0 || strcmp(id, t->last_id) != 0)
		t->launches++;
	memcpy(t->last_id, id, sizeof id);
}

static const char *text_of(const struct table *t, int at)
{
	return at >= 0 && at < t->csv.n ? t->csv.cell[at] : "";
}

/* Report the card and the host of a launch, if the file has them. */
static void report_conditions(struct table *t)
{
	static const struct {
		const char *column, *name;
	} context[] = { { "device__attribute_display_name", "GPU" }, { "CC", "compute capability" }, { "Host Name", "host" } };

	for (size_t k = 0; k < sizeof context / sizeof context[0] && t->take && t->out; k++) {
		const char *value =
			t->metric >= 0 && strcmp(text_of(t, t->metric), context[k].column) == 0 ? text_of(t, t->value) : "";

		for (int i = 0; i < t->n && !value[0]; i++)
			value = strcmp(t->name[i], context[k].column) == 0 ? text_of(t, i) : "";
		if (value[0])
			reading_report(t->out, context[k].name, value);
	}
}

static void triple_of(const char *text, int out[3])
{
	memset(out, 0, 3 * sizeof *out);
	if (sscanf(text, " ( %d , %d , %d", &out[0], &out[1], &out[2]) != 3)
		memset(out, 0, 3 * sizeof *out);
}

/* True if column `i` is a metric, not a field of the launch or a rule. */
static bool is_metric(const struct table *t, int i)
{
	static const char *const fixed[] = { "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time",
		"Context", "Stream", "Block Size", "Grid Size", "Device", "CC", "Section Name", "Rule Name", "Rule Type",
		"Rule Description", "Estimated Speedup Type", "Estimated Speedup" };

	for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; k++)
		if (strcmp(t->name[i], fixed[k]) == 0)
			return false;
	return i > t->kernel;
}

static int take_value(struct table *t, struct ncu_value *v, struct fw_err *err)
{
	if (!t->take) {
		marks_learn(&t->marks, v->cell, v->unit, t->csv.line);
		return 0;
	}
	v->kind = marks_read(&t->marks, v->cell, &v->value);
	return t->take(t->arg, v, err);
}

static int take_row(struct table *t, struct fw_err *err)
{
	struct ncu_value v = { .line = t->csv.line,
		.launch = t->launches - 1,
		.kernel = t->csv.cell[t->kernel],
		.id = text_of(t, t->id),
		.process = text_of(t, t->process),
		.context = text_of(t, t->context),
		.device = text_of(t, t->device),
		.grid_text = text_of(t, t->grid),
		.block_text = text_of(t, t->block) };

	triple_of(v.grid_text, v.grid);
	triple_of(v.block_text, v.block);
	if (t->metric >= 0) {
		char name[NAME_SIZE], unit[UNIT_SIZE];

		snprintf(name, sizeof name, "%s", t->csv.cell[t->metric]);
		snprintf(unit, sizeof unit, "%s", text_of(t, t->metric_unit));
		split_unit(name, unit);
		v.metric = name;
		v.unit = unit;
		v.cell = t->csv.cell[t->value];
		return name[0] ? take_value(t, &v, err) : 0; /* a row of a rule has none */
	}
	for (int i = t->kernel + 1; i < t->n; i++) {
		v.metric = t->name[i];
		v.unit = t->unit[i];
		v.cell = t->csv.cell[i];
		if (is_metric(t, i) && take_value(t, &v, err) != 0)
			return -1;
	}
	return 0;
}

/* Details end early if a version writes no rule cells after a metric. */
static bool is_whole(const struct table *t)
{
	int last = t->kernel > t->metric ? t->kernel : t->metric; /* of the cells that a row of a metric needs */

	last = last > t->value ? last : t->value;
	return t->metric >= 0 ? t->csv.n > last && t->csv.n <= t->n : t->csv.n == t->n;
}

/* A row of another length, followed by another row, is skipped; report that. */
static void report_odd(struct table *t)
{
	int line = t->odd_line;

	t->odd_line = 0;
	if (line > 0 && t->out && t->take)
		reading_note(t->out, "line %d is left out: it has %d whole cells, the header has %d", line, t->odd_cells, t->n);
}

static int read_row(struct table *t, struct fw_err *err)
{
	bool of_launch = t->csv.cell[0][0]; /* else the row of units, or the program's */

	if (!is_whole(t)) {
		if (!of_launch)
			return 0;
		report_odd(t);
		t->odd_line = t->csv.line;
		t->odd_cells = t->csv.n;
		return 0;
	}
	report_odd(t);
	if (t->csv.is_open)
		return err_set(err, ERR_INVALID, "%s:%d: the last row is cut; let ncu write it again", t->csv.file, t->csv.line);
	if (!of_launch) {
		for (int i = 0; i < t->n && t->metric < 0 && !t->csv.cell[t->kernel][0]; i++)
			if (t->csv.cell[i][0])
				snprintf(t->unit[i], UNIT_SIZE, "%s", t->csv.cell[i]);
		return 0;
	}
	count_launch(t);
	report_conditions(t);
	return take_row(t, err);
}

/* Read a line that starts like a row. If csv_read.c cannot read it (a quote without an end), it is the program's, or cut. */
static int read_line(struct table *t, const char *at, const char *end, int line, bool header, struct fw_err *err)
{
	struct fw_err wrong = { 0 };

	t->csv.at = (size_t)(at - t->csv.text);
	t->csv.next_line = line;
	if (csv_next(&t->csv, &wrong) != 1) {
		t->csv.at = (size_t)(end - t->csv.text);
		t->csv.next_line = line;
		t->odd_line = t->name && !header ? line : t->odd_line;
		t->odd_cells = 0;
		return header ? err_set(err, wrong.code, "%s", wrong.text) : 0;
	}
	return header ? read_header(t, err) : read_row(t, err);
}

static int walk(struct table *t, ncu_value_fn *take, struct fw_err *err)
{
	const char *text = t->csv.text, *end = text + t->csv.len;
	int line = 1;

	t->take = take;
	t->launches = 0;
	t->odd_line = 0;
	t->n = 0;
	free(t->name);
	t->name = NULL;
	for (const char *at = text; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		bool header = false;

		stop = stop ? stop : end;
		const char *row = find_row(t, at, stop, &header);

		if (row && read_line(t, row, stop, line, header, err) != 0)
			return -1;
		if (row && t->csv.next_line > line) { /* a cell may contain newlines */
			line = t->csv.next_line;
			at = text + t->csv.at;
		} else {
			line++;
			at = stop + (stop < end);
		}
	}
	if (!t->name)
		return err_set(
			err, ERR_INVALID, "%s: holds no table of ncu; let it write one with --csv --page raw", t->csv.file);
	if (t->odd_line > 0 && t->odd_cells == 0)
		return err_set(err, ERR_INVALID, "%s:%d: the last row is cut; let ncu write it again", t->csv.file, t->odd_line);
	if (t->odd_line > 0)
		return err_set(err, ERR_INVALID, "%s:%d: has %d cells, the header has %d; is the file cut off?", t->csv.file,
			t->odd_line, t->odd_cells, t->n);
	return 0;
}

int ncu_table_each(const char *text, size_t len, const char *file, char decimal, struct reading *out, ncu_value_fn *take,
	void *arg, struct fw_err *err)
{
	struct table t = { .arg = arg, .out = out };
	int result = 0;

	csv_init(&t.csv, text, len, file);
	if (decimal)
		t.marks.decimal = decimal;
	else
		result = walk(&t, NULL, err);
	if (result == 0 && marks_contradict(&t.marks))
		result = err_set(err, ERR_INVALID,
			"%s: has decimal points (line %d) and decimal commas (line %d); let ncu write one file with LC_NUMERIC=C set",
			file, t.marks.line_point, t.marks.line_comma);
	if (result == 0)
		result = walk(&t, take, err);
	csv_fini(&t.csv);
	free(t.name);
	free(t.unit);
	return result;
}
