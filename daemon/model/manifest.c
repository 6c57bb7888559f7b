/*
 * manifest.c - parser of `.flopwatch.yaml`. The file comes from a branch, so paths must stay inside the tree and every size is
 * limited.
 */
#include "model/internal.h"

#include <limits.h>
#include <stdio.h>

#define TIMEOUT_DEFAULT_S 900.0
#define TIMEOUT_MAX_S     86400.0

void manifest_default(struct manifest *m)
{
	struct build *b = &m->build;

	*m = (struct manifest){
		.n_inputs = 1,
		.input = { "kernels" },
		.build = { .dir = "kernels",
			.n_command = 2,
			.command = { "make", "DEVICE={device}" },
			.n_outputs = 1,
			.timeout_s = TIMEOUT_DEFAULT_S },
		.n_suites = 1,
		.suite = { "ffa" },
		.peers = { .n = 1, .of = { { .provider = "cudnn", .device = DEVICE_CUDA } } },
	};
	snprintf(b->family[0], sizeof b->family[0], "%s", family_default()->name);
	snprintf(b->output[0], sizeof b->output[0], "build/{device}/lib%s.so", family_default()->name);
}

bool manifest_path_ok(const char *path)
{
	if (strcmp(path, ".") == 0)
		return true;
	for (const char *part = path;;) {
		size_t len = strcspn(part, "/");

		if (len == 0 || (len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.'))
			return false;
		if (!part[len])
			break;
		part += len + 1;
	}
	for (const unsigned char *c = (const unsigned char *)path; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			return false;
	return true;
}

void manifest_read_text(struct yaml *y, struct yaml_node *n, bool path, char *out, size_t size)
{
	const char *text = NULL;

	if (yaml_string(y, n, &text) || !text)
		return;
	if (!text[0] || strlen(text) >= size)
		yaml_mistake(y, n, "must have 1 to %zu bytes", size - 1);
	else if (path && !manifest_path_ok(text))
		yaml_mistake(y, n, "must be a path inside the repository: relative, without \"..\" or a slash at its end");
	else
		snprintf(out, size, "%s", text);
}

/* Shape: rows[max][size]. Returns the number; `n` if the list is absent. */
int manifest_read_list(struct yaml *y, struct yaml_node *list, bool path, char *rows, size_t size, int max, int n)
{
	int count = yaml_list(y, list, 1, max, "must be a list of 1 to %d items", max);

	for (int i = 0; i < count; i++) {
		char *row = rows + (size_t)i * size;

		row[0] = 0;
		manifest_read_text(y, yaml_item(y, list, i), path, row, size);
	}
	return count < 0 ? n : count;
}

static void check_once(struct yaml *y, struct yaml_node *list, const char *rows, size_t size)
{
	for (int i = 1; i < yaml_count(list); i++)
		for (int k = 0; k < i; k++)
			if (rows[(size_t)i * size] && strcmp(rows + (size_t)i * size, rows + (size_t)k * size) == 0)
				yaml_mistake(y, yaml_item(y, list, i), "is named twice");
}

static void read_outputs(struct yaml *y, struct yaml_node *map, struct build *b)
{
	int max = (int)(sizeof b->family / sizeof b->family[0]);

	if (yaml_map(y, map, 1, max,
		    "must name 1 to %d modules, as in {%s: build/{device}/lib%s.so}; the files of a benchmark belong in artifacts",
		    max, family_default()->name, family_default()->name) < 0)
		return;
	b->n_outputs = yaml_count(map);
	for (int i = 0; i < b->n_outputs; i++) {
		const char *family = "";
		struct yaml_node *path = yaml_pair(y, map, i, &family);

		b->family[i][0] = b->output[i][0] = 0;
		if (!family[0] || strlen(family) >= sizeof b->family[i] ||
			strspn(family, "abcdefghijklmnopqrstuvwxyz_") != strlen(family))
			yaml_mistake(
				y, path, "\"%.32s\" is no family; use a-z and _, at most %zu", family, sizeof b->family[i] - 1);
		else
			snprintf(b->family[i], sizeof b->family[i], "%s", family);
		manifest_read_text(y, path, true, b->output[i], sizeof b->output[i]);
	}
}

/* Read benchmark programs. The defaults suit a repository that contains nothing else. */
static void read_benchmarks(struct yaml *y, struct yaml_node *map, struct manifest *m)
{
	if (yaml_map(y, map, 1, MANIFEST_BENCHMARKS_MAX,
		    "must name 1 to %d benchmarks, as in {vecsum: {command: [python3, bench.py], reader: flopwatch}}",
		    MANIFEST_BENCHMARKS_MAX) < 0)
		return;
	m->n_benchmarks = m->n_suites = yaml_count(map);
	for (int i = 0; i < m->n_benchmarks; i++) {
		const char *name = "";
		struct yaml_node *node = yaml_pair(y, map, i, &name);

		benchmark_read(y, node, name, &m->benchmark[i]);
		snprintf(m->suite[i], sizeof m->suite[i], "%s", m->benchmark[i].name);
	}
	snprintf(m->input[0], sizeof m->input[0], ".");
	snprintf(m->build.dir, sizeof m->build.dir, ".");
	m->build.n_command = m->build.n_outputs = 0;
}

static void read_suites(struct yaml *y, struct yaml_node *list, struct manifest *m)
{
	m->n_suites = manifest_read_list(y, list, false, m->suite[0], sizeof m->suite[0], MANIFEST_SUITES_MAX, m->n_suites);
	if (!list || m->n_suites != yaml_count(list))
		return;
	for (int i = 0; i < m->n_suites; i++)
		m->suite_at[i] = yaml_position(yaml_item(y, list, i));
	check_once(y, list, m->suite[0], sizeof m->suite[0]);
}

static void read_build(struct yaml *y, struct yaml_node *map, struct build *b)
{
	if (yaml_map(y, map, 0, INT_MAX, "must be a mapping with dir, command and outputs") < 0)
		return;
	manifest_read_text(y, yaml_get(y, map, "dir"), true, b->dir, sizeof b->dir);
	b->n_command = manifest_read_list(
		y, yaml_get(y, map, "command"), false, b->command[0], sizeof b->command[0], MANIFEST_LIST_MAX, b->n_command);
	read_outputs(y, yaml_get(y, map, "outputs"), b);
	yaml_seconds(y, yaml_get(y, map, "timeout_s"), 1, TIMEOUT_MAX_S, &b->timeout_s);
	yaml_finish(y, map);
}

static void read_root(struct yaml *y, struct yaml_node *root, struct manifest *m)
{
	struct yaml_node *version = yaml_get(y, root, "flopwatch");
	struct yaml_node *build = yaml_get(y, root, "build");
	int64_t v = 0;

	if (!version)
		yaml_mistake(y, root, "flopwatch: is missing; begin the file with \"flopwatch: 1\"");
	else if (yaml_int(y, version, INT64_MIN, INT64_MAX, &v) == 0 && v != 1)
		yaml_mistake(y, version, "version %lld is unknown; this flopwatch reads 1", (long long)v);
	read_benchmarks(y, yaml_get(y, root, "benchmarks"), m);
	if (build || m->n_benchmarks)
		m->peers.n = 0; /* the default is a provider of flopwatch's own modules */
	peers_read(y, yaml_get(y, root, "peers"), &m->peers);
	m->n_inputs = manifest_read_list(
		y, yaml_get(y, root, "inputs"), true, m->input[0], sizeof m->input[0], MANIFEST_LIST_MAX, m->n_inputs);
	if (yaml_count(yaml_get(y, root, "inputs")) == m->n_inputs)
		check_once(y, yaml_get(y, root, "inputs"), m->input[0], sizeof m->input[0]);
	read_suites(y, yaml_get(y, root, "suites"), m);
	read_build(y, build, &m->build);
	yaml_finish(y, root);
}

int manifest_parse(const char *text, size_t len, const char *file, struct manifest *out, struct fw_err *err)
{
	manifest_default(out);
	if (!text)
		return 0;
	struct yaml *y = yaml_new(text, len, file);

	if (yaml_is_map(yaml_root(y)))
		read_root(y, yaml_root(y), out);
	else if (yaml_mistakes(y) == 0)
		yaml_mistake(y, yaml_root(y), "must be a mapping that begins with \"flopwatch: 1\"");
	int result = mistakes_report(y, err);

	yaml_free(y);
	return result;
}

const struct benchmark *manifest_benchmark(const struct manifest *m, const char *name)
{
	for (int i = 0; i < m->n_benchmarks; i++)
		if (strcmp(m->benchmark[i].name, name) == 0)
			return &m->benchmark[i];
	return NULL;
}

void manifest_expand(const char *text, const char *device, char *out, size_t size)
{
	static const char mark[] = "{device}";
	size_t used = 0;

	while (*text && used + 1 < size) {
		if (strncmp(text, mark, sizeof mark - 1) == 0) {
			used += (size_t)snprintf(out + used, size - used, "%s", device);
			text += sizeof mark - 1;
		} else {
			out[used++] = *text++;
		}
	}
	out[used < size ? used : size - 1] = 0;
}
