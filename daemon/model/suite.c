/*
 * suite.c - parser of suite files, and creation of cells from their family's cases.
 *
 * case_check checks each shape, so that a mistake is reported at its list and an accepted suite can run.
 */
#include "model/internal.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>

enum {
	FAMILIES_MAX = 16,
	DIGEST_BYTES_MAX = 1 << 16,
	PUSH_CELLS = 40, /* default */
	NIGHTS = 7,
	THRESHOLDS_MAX = 400,
	DECIDE_MAX = 32,
	ALWAYS_MAX = 32,
	ALWAYS_BYTES_MAX = 4096,
	CONFIGS_MAX = 32,
	POSITIONS = 2 * SUITE_CELLS_MAX /* size of the hash table of keys; a power of two */
};

struct draft {
	struct yaml *y;
	struct suite *suite;
	const struct family *family;
	uint64_t seed;
	const char *folder; /* of a local suite, else NULL */
	int n_directions;
	enum direction direction[DIRECTIONS];
	enum series decide; /* of every cell */
	int n_configs;      /* at least 1: without a list one empty configuration */
	char config[CONFIGS_MAX][CELL_CONFIG_SIZE];
	short position[POSITIONS];           /* 1 + the cell with that key, 0 none */
	const struct yaml_node *reported_at; /* list with reported mistakes, reported once */
};

static void read_name(struct draft *d, struct yaml_node *root, const char *key, char *out, size_t size)
{
	struct yaml_node *n = yaml_get(d->y, root, key);
	const char *text = NULL;

	reader_require(d->y, root, n, key);
	if (!n || yaml_string(d->y, n, &text) || !text)
		return;
	if (!text[0] || strlen(text) >= size || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(text))
		yaml_mistake(d->y, n, "must be 1 to %zu characters of a-z 0-9 _ -", size - 1);
	else
		snprintf(out, size, "%s", text);
}

static void list_directions(const struct family *f, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; f->direction[i] && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s",
			i == 0                ? ""
			: f->direction[i + 1] ? ", "
					      : " or ",
			direction_name(f->direction[i]));
}

/* Without a list use all directions of the family, in its order, except those on request. */
static void read_directions(struct draft *d, struct yaml_node *root)
{
	const struct family *f = d->family;
	const char *choices[DIRECTIONS + 1] = { NULL };
	struct yaml_node *list = yaml_get(d->y, root, "directions");
	bool seen[DIRECTIONS] = { false };
	char names[80];
	int n = 0;

	for (; f->direction[n]; n++)
		choices[n] = direction_name(f->direction[n]);
	list_directions(f, names, sizeof names);
	if (list && (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > n))
		yaml_mistake(d->y, list, "must be a list of %s", names);
	for (int i = 0; list && i < yaml_count(list) && i < n; i++) {
		int which = reader_choice(d->y, yaml_item(d->y, list, i), choices, names);

		if (which >= 0)
			seen[which] = true;
	}
	for (int i = 0; i < n; i++)
		if (seen[i] || (!list && i < n - f->n_on_request))
			d->direction[d->n_directions++] = f->direction[i];
}

/* Insert the next cell's key into the table. Returns false if it exists. */
static bool take_position(struct draft *d, const char *key)
{
	const struct suite *s = d->suite;
	uint32_t at = 2166136261u;

	for (const char *c = key; *c; c++)
		at = (at ^ (unsigned char)*c) * 16777619u;
	for (at %= POSITIONS; d->position[at]; at = (at + 1) % POSITIONS)
		if (strcmp(s->cell[d->position[at] - 1].key, key) == 0)
			return false;
	d->position[at] = (short)(s->n_cells + 1);
	return true;
}

static void refuse_case(struct draft *d, struct yaml_node *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void refuse_case(struct draft *d, struct yaml_node *at, const char *format, ...)
{
	char what[512];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	yaml_mistake(d->y, at, "%s", what);
	d->reported_at = at;
}

/* Copy a configuration with one space between its terms. Returns false if it is no configuration, or does not fit. */
static bool copy_config(const char *text, char out[CELL_CONFIG_SIZE])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=.:+-";
	size_t used = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t n = strspn(text, letters), gap = used > 0;

		if (n == 0 || (text[n] && text[n] != ' ') || used + gap + n >= CELL_CONFIG_SIZE)
			return false;
		if (gap)
			out[used++] = ' ';
		memcpy(out + used, text, n);
		used += n;
		text += n;
	}
	out[used] = '\0';
	return used > 0;
}

/* Every case is measured in each configuration of the list. */
static void read_configs(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(d->y, root, "configs");
	int n = yaml_list(d->y, list, 1, CONFIGS_MAX, "must be a list of 1 to %d configurations", CONFIGS_MAX);

	d->n_configs = 1;
	for (int i = 0; i < n; i++) {
		struct yaml_node *item = yaml_item(d->y, list, i);
		const char *text = NULL;

		if (yaml_string(d->y, item, &text) || !text)
			continue;
		if (!copy_config(text, d->config[i]))
			yaml_mistake(d->y, item,
				"must be terms such as BLOCK_M=128 STAGES=2, separated by spaces, of at most %d bytes",
				CELL_CONFIG_SIZE - 1);
		for (int k = 0; k < i; k++)
			if (d->config[i][0] && strcmp(d->config[k], d->config[i]) == 0)
				yaml_mistake(d->y, item, "%s appears twice", d->config[i]);
		d->n_configs = i + 1;
	}
}

static void add_cells(struct draft *d, struct yaml_node *at, const void *shape, const char *config)
{
	for (int i = 0; i < d->n_directions && d->reported_at != at; i++) {
		struct suite *s = d->suite;

		if (d->direction[i] == DIRECTION_ONCE && !d->family->once(shape, DIRECTION_ONCE))
			continue;
		struct cell c = {
			.direction = d->direction[i], .threshold_pct = s->threshold_pct, .decide = d->decide, .seed = d->seed
		};
		struct fw_err why = { 0 };

		snprintf(c.family, sizeof c.family, "%s", d->family->name);
		snprintf(c.config, sizeof c.config, "%s", config);
		memcpy(c.shape.bytes, shape, d->family->shape_bytes);
		if (s->n_cells == SUITE_CELLS_MAX) {
			refuse_case(d, at, "the suite has more than %d cells", SUITE_CELLS_MAX);
			return;
		}
		if (case_check(&c, &why) != 0) {
			refuse_case(d, at, "%s", why.text);
			return;
		}
		case_name(&c);
		if (!take_position(d, c.key)) {
			refuse_case(d, at, "%s appears twice", c.case_key);
			return;
		}
		s->cell = mem_grow_one(s->cell, (size_t)s->n_cells, sizeof *s->cell);
		s->cell[s->n_cells++] = c;
	}
}

static void add_case(struct reader *r, struct yaml_node *at, const void *shape)
{
	struct draft *d = r->arg;

	for (int i = 0; i < d->n_configs; i++)
		add_cells(d, at, shape, d->config[i]);
}

static void read_thresholds(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(d->y, root, "thresholds");

	int n = yaml_list(
		d->y, list, 0, THRESHOLDS_MAX, "must be a list of at most %d {cell: GLOB, pct: NUMBER}", THRESHOLDS_MAX);

	for (int i = 0; i < n; i++) {
		struct yaml_node *item = yaml_item(d->y, list, i);
		const char *glob = NULL;
		double pct = 0;

		if (yaml_map(d->y, item, 0, INT_MAX, "must be {cell: GLOB, pct: NUMBER}") < 0)
			continue;
		struct yaml_node *cell = yaml_get(d->y, item, "cell"), *value = yaml_get(d->y, item, "pct");

		reader_require(d->y, item, cell, "cell");
		reader_require(d->y, item, value, "pct");
		bool bad = yaml_string(d->y, cell, &glob) || yaml_percent(d->y, value, 0.01, 99, &pct) || !glob || !value;
		int hits = 0;

		yaml_finish(d->y, item);
		for (int c = 0; !bad && c < d->suite->n_cells; c++)
			if (fnmatch(glob, d->suite->cell[c].key, 0) == 0) {
				d->suite->cell[c].threshold_pct = pct;
				hits++;
			}
		if (!bad && hits == 0 && yaml_mistakes(d->y) == 0)
			yaml_mistake(d->y, cell, "\"%.80s\" matches no cell of this suite", glob);
	}
}

/* {call: [PATTERN]}: the time of the whole call decides in the cells that match. */
static void read_decide(struct draft *d, struct yaml_node *map)
{
	struct yaml_node *list = yaml_get(d->y, map, "call");
	int n = yaml_list(d->y, list, 1, DECIDE_MAX, "must be a list of 1 to %d patterns of cells", DECIDE_MAX);

	reader_require(d->y, map, list, "call");
	for (int i = 0; i < n; i++) {
		struct yaml_node *item = yaml_item(d->y, list, i);
		const char *glob = NULL;
		int hits = 0;

		if (yaml_string(d->y, item, &glob) || !glob)
			continue;
		for (int c = 0; c < d->suite->n_cells; c++)
			if (fnmatch(glob, d->suite->cell[c].key, 0) == 0) {
				d->suite->cell[c].decide = SERIES_CALL;
				hits++;
			}
		if (hits == 0 && yaml_mistakes(d->y) == 0)
			yaml_mistake(d->y, item, "\"%.80s\" matches no cell of this suite", glob);
	}
	yaml_finish(d->y, map);
}

/* Read a list of globs, each of which must match, into "a b". */
static void read_always(struct draft *d, struct yaml_node *list)
{
	struct suite *s = d->suite;
	struct buf globs;

	if (yaml_list(d->y, list, 1, ALWAYS_MAX, "must be a list of 1 to %d patterns of cells", ALWAYS_MAX) < 0)
		return;
	buf_init(&globs, ALWAYS_BYTES_MAX);
	for (int i = 0; i < yaml_count(list); i++) {
		struct yaml_node *item = yaml_item(d->y, list, i);
		const char *glob = NULL;
		int hits = 0;

		if (yaml_string(d->y, item, &glob) || !glob)
			continue;
		if (strpbrk(glob, " \t")) {
			yaml_mistake(d->y, item, "\"%.80s\" has a space, which no cell has; give each pattern by itself", glob);
			continue;
		}
		for (int c = 0; c < s->n_cells; c++)
			hits += suite_matches(s->cell[c].key, glob);
		if (hits == 0 && yaml_mistakes(d->y) == 0)
			yaml_mistake(d->y, item, "\"%.80s\" matches no cell of this suite", glob);
		buf_printf(&globs, "%s%s", i ? " " : "", glob);
	}
	int always = 0;

	for (int c = 0; c < s->n_cells; c++)
		always += suite_matches(s->cell[c].key, globs.data);
	if (globs.is_out_of_memory)
		yaml_set_out_of_memory(d->y);
	else if (globs.failed || 2 * always > JOB_CELLS_MAX) /* including their baseline cells */
		yaml_mistake(d->y, list, "%d cells match; a push measures at most %d", always, JOB_CELLS_MAX / 2);
	else
		s->always = mem_copy_text(globs.data);
	buf_fini(&globs);
}

static void read_shards(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *push = yaml_get(d->y, root, "push"), *nights = yaml_get(d->y, root, "nights");
	struct suite *s = d->suite;
	int64_t cells = s->n_cells > JOB_CELLS_MAX ? PUSH_CELLS : 0, most = NIGHTS;

	if (yaml_map(d->y, push, 0, INT_MAX, "must be {cells: NUMBER, always: [PATTERN]}") >= 0) {
		cells = PUSH_CELLS;
		yaml_int(d->y, yaml_get(d->y, push, "cells"), 1, JOB_CELLS_MAX / 2, &cells);
		read_always(d, yaml_get(d->y, push, "always"));
		yaml_finish(d->y, push);
	}
	yaml_int(d->y, nights, 1, 365, &most);
	s->nights = (int)most;
	s->push_cells = cells < s->n_cells ? (int)cells : 0;
}

static const struct family *read_family(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *node = yaml_get(d->y, root, "family");
	const char *choices[FAMILIES_MAX + 1] = { NULL };
	char names[200] = "";
	size_t used = 0;

	for (int i = 0; i < FAMILIES_MAX && family_at(i); i++) {
		choices[i] = family_at(i)->name;
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
			i == 0             ? ""
			: family_at(i + 1) ? ", "
					   : " or ",
			choices[i]);
	}
	reader_require(d->y, root, node, "family");
	int which = node ? reader_choice(d->y, node, choices, names) : -1;

	return which >= 0 ? family_at(which) : NULL;
}

static void read_root(struct draft *d, struct yaml_node *root)
{
	static const char *const decides[] = { "device", "call", NULL };
	struct yaml_node *decide = yaml_get(d->y, root, "decide");
	struct reader reader = { .y = d->y, .add = add_case, .arg = d, .folder = d->folder };
	int64_t seed = 42;

	read_name(d, root, "suite", d->suite->name, sizeof d->suite->name);
	d->family = read_family(d, root);
	yaml_int(d->y, yaml_get(d->y, root, "seed"), 0, INT64_MAX, &seed);
	d->seed = reader.seed = (uint64_t)seed;
	yaml_percent(d->y, yaml_get(d->y, root, "threshold_pct"), 0.01, 99, &d->suite->threshold_pct);
	yaml_seconds(d->y, yaml_get(d->y, root, "budget_s"), 1, 86400, &d->suite->budget_s);
	cost_limits_read(d->y, yaml_get(d->y, root, "costs"), &d->suite->costs);
	if (decide && !yaml_is_map(decide) && reader_choice(d->y, decide, decides, "device, call or {call: [PATTERN]}") == 1)
		d->decide = SERIES_CALL;
	if (!d->family)
		return;
	snprintf(d->suite->family, sizeof d->suite->family, "%s", d->family->name);
	read_directions(d, root);
	read_configs(d, root);
	if (d->family->read(&reader, root)) {
		read_thresholds(d, root);
		if (yaml_is_map(decide))
			read_decide(d, decide);
		read_shards(d, root);
		if (d->suite->n_cells == 0 && yaml_mistakes(d->y) == 0)
			yaml_mistake(d->y, root, "holds no cell; give %s", d->family->keys);
		yaml_finish(d->y, root);
	}
}

static int parse(const char *text, size_t len, const char *file, const char *folder, struct suite *out, struct fw_err *err)
{
	struct yaml *y = yaml_new(text, len, file);
	struct yaml_node *root = yaml_root(y);
	struct draft *d = mem_alloc_zero(1, sizeof *d);

	*out = (struct suite){ .threshold_pct = 1.5, .budget_s = 600 };
	cost_limits_default(&out->costs);
	if (yaml_is_map(root)) {
		d->y = y;
		d->suite = out;
		d->folder = folder;
		read_root(d, root);
	} else if (yaml_mistakes(y) == 0) {
		yaml_mistake(y, root, "must be a mapping that begins with \"suite: NAME\"");
	}
	free(d);
	int result = yaml_mistakes(y) > 0 ? -1 : 0;

	if (result) {
		suite_fini(out);
		mistakes_report(y, err);
	}
	yaml_free(y);
	return result;
}

int suite_parse(const char *text, size_t len, const char *file, struct suite *out, struct fw_err *err)
{
	return parse(text, len, file, NULL, out, err);
}

int suite_parse_local(const char *text, size_t len, const char *path, struct suite *out, struct fw_err *err)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + 1 : 0;
	char *folder = mem_alloc_zero(1, n + 3);

	snprintf(folder, n + 3, "%.*s", (int)(n ? n : 2), n ? path : "./");
	int result = parse(text, len, path, folder, out, err);

	free(folder);
	return result;
}

void suite_fini(struct suite *s)
{
	free(s->cell);
	free(s->always);
	*s = (struct suite){ 0 };
}

bool suite_matches(const char *key, const char *globs)
{
	char glob[CASE_KEY_SIZE];

	for (const char *at = globs; *at;) {
		size_t n = strcspn(at, " ");

		if (n > 0 && n < sizeof glob) {
			memcpy(glob, at, n);
			glob[n] = '\0';
			if (fnmatch(glob, key, 0) == 0)
				return true;
		}
		at += n + strspn(at + n, " ");
	}
	return false;
}

int suite_filter(struct suite *s, const char *globs)
{
	int n_left = 0;

	for (int i = 0; i < s->n_cells; i++)
		if (suite_matches(s->cell[i].key, globs)) {
			if (n_left != i)
				s->cell[n_left] = s->cell[i];
			n_left++;
		}
	s->n_cells = n_left;
	return n_left;
}

void suite_hash(const struct suite *s, char hex[65])
{
	struct hash_state h;
	struct buf line;

	hash_begin(&h);
	buf_init(&line, DIGEST_BYTES_MAX);
	for (int i = 0; i < s->n_cells; i++) {
		const struct cell *c = &s->cell[i];
		const struct family *f = case_family(c);

		buf_clear(&line);
		buf_printf(&line, "%s threshold=%.17g ", c->key, c->threshold_pct);
		if (f->digest) {
			f->digest(c->shape.bytes, c->seed, &line);
		} else {
			buf_printf(&line, "seed=%llu ", (unsigned long long)c->seed);
			family_json(f, c->shape.bytes, &line);
		}
		buf_printf(&line, "%s\n", c->decide == SERIES_CALL ? " decide=call" : "");
		buf_require_memory(&line);
		hash_update(&h, line.data, line.len);
	}
	if (s->push_cells) { /* it affects the numbering of shards */
		buf_clear(&line);
		buf_printf(&line, "push=%d %s\n", s->push_cells, s->always ? s->always : "");
		buf_require_memory(&line);
		hash_update(&h, line.data, line.len);
	}
	buf_fini(&line);
	hash_end(&h, hex);
}
