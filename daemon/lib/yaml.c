/*
 * yaml.c - a tree of nodes with their positions, built from libyaml's events.
 *
 * Events are used instead of libyaml's documents, because anchors, tags and second documents are refused here: no flopwatch file
 * needs them, and an alias can make a small file expand without end. The typed readers are in yaml_value.c.
 */
#include "lib/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

enum { NODES_MAX = 100000, DEPTH_MAX = 32, MISTAKES_MAX = 50, MISTAKES_BYTES = 64 << 10, PATH_BYTES = 512 };

static void mistake_at(struct yaml *y, int line, int column, const char *path, const char *what)
{
	if (++y->n_mistakes > MISTAKES_MAX)
		return;
	buf_printf(&y->mistakes, "%s:%d:%d: %s%s%s\n", y->file, line, column, path, *path ? ": " : "", what);
}

/* "build.command[2]" of a node; the end is cut if it does not fit. */
static void node_path(const struct yaml_node *n, char *path, size_t size)
{
	const struct yaml_node *chain[DEPTH_MAX + 2];
	size_t used = 0;
	int depth = 0;

	path[0] = '\0';
	for (; n && n->parent && depth < DEPTH_MAX + 2; n = n->parent)
		chain[depth++] = n;
	while (depth-- > 0 && used + 1 < size) {
		const struct yaml_node *at = chain[depth];
		int len = at->key ? snprintf(path + used, size - used, "%s%s", used ? "." : "", at->key)
				  : snprintf(path + used, size - used, "[%d]", at->index);

		if (len < 0)
			return;
		used += (size_t)len;
	}
}

void yaml_mistake(struct yaml *y, const struct yaml_node *node, const char *format, ...)
{
	char path[PATH_BYTES], what[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	node_path(node, path, sizeof path);
	mistake_at(y, node ? node->line : 1, node ? node->column : 1, path, what);
}

struct yaml_position yaml_position(const struct yaml_node *n)
{
	return n ? (struct yaml_position){ n->line, n->column } : (struct yaml_position){ 0, 0 };
}

const char *yaml_file(const struct yaml *y)
{
	return y->file;
}

int yaml_mistakes(const struct yaml *y)
{
	return y->n_mistakes;
}

const char *yaml_mistake_text(const struct yaml *y)
{
	return y->mistakes.data;
}

bool yaml_is_out_of_memory(const struct yaml *y)
{
	return y->is_out_of_memory || y->mistakes.is_out_of_memory;
}

void yaml_set_out_of_memory(struct yaml *y)
{
	mem_end_if_asked(0);
	y->is_out_of_memory = true;
	y->n_mistakes++;
}

/* ---- building ---- */

static struct yaml_node *add_node(struct yaml *y, struct yaml_node *parent, enum yaml_kind kind, const yaml_mark_t *mark)
{
	struct yaml_node *n;

	if (++y->n_nodes > NODES_MAX)
		return NULL;
	n = mem_alloc_zero(1, sizeof *n);
	n->kind = kind;
	n->line = (int)mark->line + 1;
	n->column = (int)mark->column + 1;
	n->parent = parent;
	n->all_next = y->all;
	y->all = n;
	if (!parent) {
		y->root = n;
		return n;
	}
	n->key = parent->pending_key;
	n->key_line = parent->pending_line;
	n->key_column = parent->pending_column;
	parent->pending_key = NULL;
	n->index = parent->count++;
	if (parent->last_child)
		parent->last_child->next = n;
	else
		parent->first_child = n;
	parent->last_child = n;
	return n;
}

static int refuse(struct yaml *y, const yaml_mark_t *mark, const char *what)
{
	mistake_at(y, (int)mark->line + 1, (int)mark->column + 1, "", what);
	return -1;
}

static int on_scalar(struct yaml *y, struct yaml_node *parent, const yaml_event_t *e)
{
	size_t len = e->data.scalar.length;
	char *text;
	struct yaml_node *n;

	if (memchr(e->data.scalar.value, '\0', len))
		return refuse(y, &e->start_mark, "a NUL character inside a value; remove it");
	text = mem_copy_text((const char *)e->data.scalar.value);
	if (parent && parent->kind == YAML_MAP && !parent->pending_key) {
		parent->pending_key = text;
		parent->pending_line = (int)e->start_mark.line + 1;
		parent->pending_column = (int)e->start_mark.column + 1;
		return 0;
	}
	n = add_node(y, parent, YAML_TEXT, &e->start_mark);
	if (!n) {
		free(text);
		return refuse(y, &e->start_mark, "the file has too many values");
	}
	n->text = text;
	n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static struct yaml_node *on_start(struct yaml *y, struct yaml_node *parent, const yaml_event_t *e, enum yaml_kind kind, int depth)
{
	struct yaml_node *n;

	if (depth >= DEPTH_MAX) {
		refuse(y, &e->start_mark, "nested too deeply");
		return NULL;
	}
	if (parent && parent->kind == YAML_MAP && !parent->pending_key) {
		refuse(y, &e->start_mark, "a key must be plain text");
		return NULL;
	}
	n = add_node(y, parent, kind, &e->start_mark);
	if (!n)
		refuse(y, &e->start_mark, "the file has too many values");
	return n;
}

/* Anchors and tags: refused on every kind of node. */
static int check_extras(struct yaml *y, const yaml_event_t *e)
{
	const unsigned char *anchor = NULL, *tag = NULL;

	if (e->type == YAML_SCALAR_EVENT) {
		anchor = e->data.scalar.anchor;
		tag = e->data.scalar.tag;
	} else if (e->type == YAML_MAPPING_START_EVENT) {
		anchor = e->data.mapping_start.anchor;
		tag = e->data.mapping_start.tag;
	} else if (e->type == YAML_SEQUENCE_START_EVENT) {
		anchor = e->data.sequence_start.anchor;
		tag = e->data.sequence_start.tag;
	}
	if (anchor || e->type == YAML_ALIAS_EVENT)
		return refuse(y, &e->start_mark, "anchors and aliases are not read here; write the value out");
	if (tag)
		return refuse(y, &e->start_mark, "tags are not read here; remove it");
	return 0;
}

struct builder {
	struct yaml_node *at; /* the open mapping or list */
	int depth, documents;
};

/* 1 continue, 0 the end, -1 a mistake was recorded and reading stops. */
static int on_event(struct yaml *y, struct builder *b, const yaml_event_t *e)
{
	struct yaml_node *n;

	if (check_extras(y, e) != 0)
		return -1;
	switch (e->type) {
	case YAML_STREAM_END_EVENT:
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		if (b->documents++)
			return refuse(y, &e->start_mark, "a second document; one file holds one");
		return 1;
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		n = on_start(y, b->at, e, e->type == YAML_MAPPING_START_EVENT ? YAML_MAP : YAML_LIST, b->depth);
		if (!n)
			return -1;
		b->at = n;
		b->depth++;
		return 1;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		b->at = b->at->parent; // libyaml pairs start and end: NOLINT(clang-analyzer-core.NullDereference)
		b->depth--;
		return 1;
	case YAML_SCALAR_EVENT:
		return on_scalar(y, b->at, e) != 0 ? -1 : 1;
	default:
		return 1;
	}
}

/* Editors of other systems write a byte order mark first: skip it in UTF-8; for UTF-16 report only that mistake. */
static bool skip_mark(struct yaml *y, const char **text, size_t *len)
{
	if (*len >= 2 && (memcmp(*text, "\xff\xfe", 2) == 0 || memcmp(*text, "\xfe\xff", 2) == 0)) {
		mistake_at(y, 1, 1, "", "is UTF-16; save it as UTF-8");
		return false;
	}
	if (*len >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0) {
		*text += 3;
		*len -= 3;
	}
	return true;
}

static void build(struct yaml *y, const char *text, size_t len)
{
	yaml_parser_t parser;
	struct builder b = { 0 };
	int more = 1;

	if (!skip_mark(y, &text, &len))
		return;
	if (!yaml_parser_initialize(&parser)) {
		yaml_set_out_of_memory(y);
		return;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (more > 0) {
		yaml_event_t e;

		if (!yaml_parser_parse(&parser, &e)) {
			const char *problem = parser.problem ? parser.problem : "cannot be read";

			if (parser.error == YAML_MEMORY_ERROR)
				yaml_set_out_of_memory(y);
			else
				mistake_at(
					y, (int)parser.problem_mark.line + 1, (int)parser.problem_mark.column + 1, "", problem);
			more = -1;
			break;
		}
		more = on_event(y, &b, &e);
		yaml_event_delete(&e);
	}
	if (more < 0)
		y->root = NULL;
	yaml_parser_delete(&parser);
}

struct yaml *yaml_new(const char *text, size_t len, const char *file)
{
	struct yaml *y = mem_alloc_zero(1, sizeof *y);

	buf_init(&y->mistakes, MISTAKES_BYTES);
	y->file = mem_copy_text(file);
	build(y, text, len);
	return y;
}

void yaml_free(struct yaml *y)
{
	if (!y)
		return;
	while (y->all) {
		struct yaml_node *n = y->all;
		int i;

		y->all = n->all_next;
		for (i = 0; i < n->n_requested; i++)
			free(n->requested[i]);
		free(n->requested);
		free(n->key);
		free(n->pending_key);
		free(n->text);
		free(n);
	}
	buf_fini(&y->mistakes);
	free(y->file);
	free(y);
}

struct yaml_node *yaml_root(struct yaml *y)
{
	return y->root;
}

/* ---- access ---- */

/* Requested keys are stored for the suggestions of yaml_finish. */
static void remember_requested(struct yaml_node *map, const char *key)
{
	int i;

	for (i = 0; i < map->n_requested; i++)
		if (strcmp(map->requested[i], key) == 0)
			return;
	map->requested = mem_grow(map->requested, (size_t)map->n_requested + 1, sizeof *map->requested);
	map->requested[map->n_requested++] = mem_copy_text(key);
}

static bool want_kind(struct yaml *y, struct yaml_node *n, enum yaml_kind kind, const char *words)
{
	if (n->kind == kind)
		return true;
	if (!n->complained)
		yaml_mistake(y, n, "must be %s", words);
	n->complained = true;
	return false;
}

static struct yaml_node *find_child(const struct yaml_node *map, const char *key)
{
	struct yaml_node *n = map->first_child;

	while (n && strcmp(n->key, key) != 0)
		n = n->next;
	return n;
}

struct yaml_node *yaml_get(struct yaml *y, struct yaml_node *map, const char *key)
{
	struct yaml_node *n;

	if (!map || !want_kind(y, map, YAML_MAP, "a mapping (`key: value` lines)"))
		return NULL;
	remember_requested(map, key);
	n = find_child(map, key);
	if (n)
		n->known = true;
	return n;
}

bool yaml_has(const struct yaml_node *map, const char *key)
{
	return yaml_is_map(map) && find_child(map, key);
}

static void complain_unknown(struct yaml *y, const struct yaml_node *map, const struct yaml_node *n)
{
	const char *nearest = NULL;
	char path[PATH_BYTES], what[256];
	int best = 4, i;

	for (i = 0; i < map->n_requested; i++) {
		int d = similar_distance(n->key, map->requested[i]);

		if (d < best && d < (int)strlen(map->requested[i])) {
			best = d;
			nearest = map->requested[i];
		}
	}
	node_path(n, path, sizeof path);
	if (nearest)
		snprintf(what, sizeof what, "unknown key; did you mean `%s`?", nearest);
	else
		snprintf(what, sizeof what, "unknown key; remove it");
	mistake_at(y, n->key_line, n->key_column, path, what);
}

void yaml_finish(struct yaml *y, struct yaml_node *map)
{
	struct yaml_node *n, *other;

	if (!map || map->kind != YAML_MAP)
		return;
	/* Every unknown key is a mistake. After the last one reported, stop: a long file must not cost the square of its keys. */
	for (n = map->first_child; n && y->n_mistakes <= MISTAKES_MAX; n = n->next) {
		for (other = map->first_child; other != n; other = other->next)
			if (strcmp(other->key, n->key) == 0)
				break;
		if (other != n) {
			char path[PATH_BYTES], what[96];

			node_path(n, path, sizeof path);
			snprintf(what, sizeof what, "already given in line %d; remove one", other->key_line);
			mistake_at(y, n->key_line, n->key_column, path, what);
		} else if (!n->known) {
			complain_unknown(y, map, n);
		}
	}
}

bool yaml_is_map(const struct yaml_node *n)
{
	return n && n->kind == YAML_MAP;
}

bool yaml_is_list(const struct yaml_node *n)
{
	return n && n->kind == YAML_LIST;
}

int yaml_count(const struct yaml_node *n)
{
	return n && n->kind != YAML_TEXT ? n->count : 0;
}

static int sized(struct yaml *y, struct yaml_node *n, enum yaml_kind kind, int min, int max, const char *wrong, va_list args)
{
	char what[512];

	if (!n || (n->kind == kind && n->count >= min && n->count <= max))
		return n ? n->count : -1;
	vsnprintf(what, sizeof what, wrong, args);
	yaml_mistake(y, n, "%s", what);
	return -1;
}

int yaml_list(struct yaml *y, struct yaml_node *n, int min, int max, const char *wrong, ...)
{
	va_list args;

	va_start(args, wrong);
	int count = sized(y, n, YAML_LIST, min, max, wrong, args);
	va_end(args);
	return count;
}

int yaml_map(struct yaml *y, struct yaml_node *n, int min, int max, const char *wrong, ...)
{
	va_list args;

	va_start(args, wrong);
	int count = sized(y, n, YAML_MAP, min, max, wrong, args);
	va_end(args);
	return count;
}

static struct yaml_node *nth(struct yaml_node *n, int i)
{
	struct yaml_node *child = n->first_child;

	while (child && i-- > 0)
		child = child->next;
	return child;
}

struct yaml_node *yaml_item(struct yaml *y, struct yaml_node *list, int i)
{
	if (!list || !want_kind(y, list, YAML_LIST, "a list (`[a, b]` or `- a` lines)"))
		return NULL;
	return nth(list, i);
}

struct yaml_node *yaml_pair(struct yaml *y, struct yaml_node *map, int i, const char **key)
{
	struct yaml_node *n;

	*key = "";
	if (!map || !want_kind(y, map, YAML_MAP, "a mapping (`key: value` lines)"))
		return NULL;
	n = nth(map, i);
	if (n) {
		n->known = true;
		*key = n->key;
	}
	return n;
}
