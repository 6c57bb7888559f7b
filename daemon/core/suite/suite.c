/*
 * suite.c - reads a suite file and multiplies its lists out into cells.
 *
 * Shapes are checked one by one through case_check, so that a mistake is reported at the list it came from and a suite that is
 * accepted can be run.
 */
#include "core/suite/suite.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "core/suite/mistakes.h"

enum { LIST_MAX = 32 };

/* What the file holds before it is multiplied out. */
struct draft {
	struct yaml *y;
	struct suite *suite;
	int64_t nhq, nhk, headdim;
	uint64_t seed;
	int n_directions;
	enum direction direction[2];
	int n_full, n_causal; /* 0: not given */
	int32_t full[CASE_SEQS_MAX], causal[CASE_SEQS_MAX];
	enum series decide; /* of every cell */
};

static int read_ints(struct yaml *y, struct yaml_node *list, int max, int64_t most, int32_t *out)
{
	if (!list)
		return 0;
	if (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > max) {
		yaml_mistake(y, list, "must be a list of 1 to %d numbers", max);
		return 0;
	}
	int n = yaml_count(list);

	for (int i = 0; i < n; i++) {
		int64_t v = 1;

		if (yaml_int(y, yaml_item(y, list, i), 1, most, &v))
			return 0;
		out[i] = (int32_t)v;
	}
	return n;
}

static int read_doubles(struct yaml *y, struct yaml_node *list, double *out)
{
	if (!list)
		return 0;
	if (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > LIST_MAX) {
		yaml_mistake(y, list, "must be a list of 1 to %d numbers", LIST_MAX);
		return 0;
	}
	int n = yaml_count(list);

	for (int i = 0; i < n; i++)
		if (yaml_double(y, yaml_item(y, list, i), 0, 1, &out[i]))
			return 0;
	return n;
}

/* A word of a list, by its position among `words`; -1 and a mistake when it is none. */
static int read_word(struct yaml *y, struct yaml_node *n, const char *const *words, const char *hint)
{
	const char *text = NULL;

	if (yaml_string(y, n, &text) || !text)
		return -1;
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	yaml_mistake(y, n, "\"%.40s\" is unknown; use %s", text, hint);
	return -1;
}

static void require(struct yaml *y, const struct yaml_node *map, const struct yaml_node *value, const char *key)
{
	if (!value)
		yaml_mistake(y, map, "%s is missing", key);
}

static void read_name(struct draft *d, struct yaml_node *root, const char *key, char *out, size_t size)
{
	struct yaml_node *n = yaml_get(d->y, root, key);
	const char *text = NULL;

	require(d->y, root, n, key);
	if (!n || yaml_string(d->y, n, &text) || !text)
		return;
	if (!text[0] || strlen(text) >= size || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(text))
		yaml_mistake(d->y, n, "must be 1 to %zu characters of a-z 0-9 _ -", size - 1);
	else
		snprintf(out, size, "%s", text);
}

static void read_common(struct draft *d, struct yaml_node *root)
{
	static const char *const dtypes[] = { "bf16", NULL };
	struct yaml_node *map = yaml_get(d->y, root, "common");

	require(d->y, root, map, "common");
	if (!map)
		return;
	if (!yaml_is_map(map)) {
		yaml_mistake(d->y, map, "must be a mapping of nhq, nhk, headdim and dtype");
		return;
	}
	struct yaml_node *nhq = yaml_get(d->y, map, "nhq"), *nhk = yaml_get(d->y, map, "nhk");
	struct yaml_node *headdim = yaml_get(d->y, map, "headdim"), *dtype = yaml_get(d->y, map, "dtype");

	require(d->y, map, nhq, "nhq");
	require(d->y, map, nhk, "nhk");
	require(d->y, map, headdim, "headdim");
	yaml_int(d->y, nhq, 1, 512, &d->nhq);
	yaml_int(d->y, nhk, 1, 512, &d->nhk);
	yaml_int(d->y, headdim, 8, 512, &d->headdim);
	if (dtype)
		read_word(d->y, dtype, dtypes, "bf16");
	yaml_finish(d->y, map);
}

static void read_varlen(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *map = yaml_get(d->y, root, "varlen");

	if (!map)
		return;
	if (!yaml_is_map(map)) {
		yaml_mistake(d->y, map, "must be a mapping of full and causal to lists of sequence lengths");
		return;
	}
	struct yaml_node *full = yaml_get(d->y, map, "full"), *causal = yaml_get(d->y, map, "causal");

	d->n_full = read_ints(d->y, full, CASE_SEQS_MAX, 1 << 20, d->full);
	d->n_causal = read_ints(d->y, causal, CASE_SEQS_MAX, 1 << 20, d->causal);
	if (d->n_full == 1)
		yaml_mistake(d->y, full, "one sequence is the mask \"full\"; give at least two lengths");
	if (d->n_causal == 1)
		yaml_mistake(d->y, causal, "one sequence is the mask \"causal\"; give at least two lengths");
	yaml_finish(d->y, map);
}

static void read_directions(struct draft *d, struct yaml_node *root)
{
	static const char *const words[] = { "forward", "backward", NULL };
	struct yaml_node *list = yaml_get(d->y, root, "directions");
	bool seen[2] = { false, false };

	if (list && (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > 2))
		yaml_mistake(d->y, list, "must be a list of forward, backward or both");
	for (int i = 0; list && i < yaml_count(list) && i < 2; i++) {
		int which = read_word(d->y, yaml_item(d->y, list, i), words, "forward or backward");

		if (which >= 0)
			seen[which] = true;
	}
	for (int i = 0; i < 2; i++)
		if (seen[i] || !list)
			d->direction[d->n_directions++] = i ? DIRECTION_BACKWARD : DIRECTION_FORWARD;
}

/* Cells double whenever their number is a power of two: most suites have twenty, and each is more than a kilobyte. */
static int keep_cell(struct suite *s, const struct cell *cell)
{
	if ((s->n_cells & (s->n_cells - 1)) == 0) {
		struct cell *more = realloc(s->cell, (size_t)(s->n_cells ? 2 * s->n_cells : 1) * sizeof *more);

		if (!more)
			return -1;
		s->cell = more;
	}
	s->cell[s->n_cells++] = *cell;
	return 0;
}

/* Add one case in every direction. Impossible shapes are reported at `at`, once. */
static void add_case(struct draft *d, struct yaml_node *at, const struct attention_case *a)
{
	for (int i = 0; i < d->n_directions; i++) {
		struct suite *s = d->suite;
		struct cell c = {
			.direction = d->direction[i], .threshold_pct = s->threshold_pct, .decide = d->decide, .attention = *a
		};
		struct fw_err why = { 0 };

		if (s->n_cells == SUITE_CELLS_MAX) {
			yaml_mistake(d->y, at, "the suite has more than %d cells", SUITE_CELLS_MAX);
			return;
		}
		if (case_check(&c, &why)) {
			yaml_mistake(d->y, at, "%s", why.text);
			return;
		}
		case_name(&c);
		for (int other = 0; other < s->n_cells; other++)
			if (strcmp(s->cell[other].key, c.key) == 0) {
				yaml_mistake(d->y, at, "%s appears twice", c.case_key);
				return;
			}
		if (keep_cell(s, &c) != 0) {
			yaml_mistake(d->y, at, "out of memory");
			return;
		}
	}
}

static struct attention_case start_case(const struct draft *d, int32_t mask, int32_t seqlen)
{
	struct attention_case a = {
		.mask = mask,
		.seqlen = seqlen,
		.nhq = (int32_t)d->nhq,
		.nhk = (int32_t)d->nhk,
		.headdim = (int32_t)d->headdim,
		.dtype = FW_BF16,
		.n_seqs = 1,
		.seed = d->seed,
	};

	a.length[0] = seqlen;
	return a;
}

/* Give `a` the lengths of the varlen list that belongs to its mask. */
static int use_lengths(struct draft *d, struct yaml_node *at, struct attention_case *a)
{
	bool causal = a->mask == FW_CAUSAL;
	const int32_t *length = causal ? d->causal : d->full;
	const char *name = causal ? "causal" : "full";
	int n = causal ? d->n_causal : d->n_full;
	int64_t sum = 0;

	if (n == 0) {
		yaml_mistake(d->y, at, "mask varlen_%s needs the list varlen.%s", name, name);
		return -1;
	}
	for (int i = 0; i < n; i++)
		sum += length[i];
	if (sum != a->seqlen) {
		yaml_mistake(d->y, at, "the lengths in varlen.%s sum to %lld, but seqlen is %d", name, (long long)sum, a->seqlen);
		return -1;
	}
	a->n_seqs = n;
	memcpy(a->length, length, (size_t)n * sizeof *length);
	return 0;
}

/* Equally long sequences beside each other, each of the tokens that `a` has. Lengths that are too much are refused with the case. */
static void use_batch(struct attention_case *a, int32_t batch)
{
	for (int32_t i = 0; i < batch; i++)
		a->length[i] = a->seqlen;
	a->n_seqs = batch;
	a->seqlen *= batch;
}

static void read_dense(struct draft *d, struct yaml_node *root)
{
	static const char *const words[] = { "full", "causal", "varlen_full", "varlen_causal", NULL };
	struct yaml_node *map = yaml_get(d->y, root, "dense");
	int32_t seqlen[LIST_MAX];

	if (!map)
		return;
	if (!yaml_is_map(map)) {
		yaml_mistake(d->y, map, "must be a mapping of seqlens and masks");
		return;
	}
	struct yaml_node *seqlens = yaml_get(d->y, map, "seqlens"), *masks = yaml_get(d->y, map, "masks");
	int n = read_ints(d->y, seqlens, LIST_MAX, 1 << 20, seqlen);
	int64_t batch = 1;

	yaml_int(d->y, yaml_get(d->y, map, "batch"), 1, CASE_SEQS_MAX, &batch);
	require(d->y, map, seqlens, "seqlens");
	require(d->y, map, masks, "masks");
	if (masks && (!yaml_is_list(masks) || yaml_count(masks) < 1 || yaml_count(masks) > LIST_MAX)) {
		yaml_mistake(d->y, masks, "must be a list of masks");
		masks = NULL;
	}
	for (int s = 0; s < n; s++)
		for (int m = 0; m < yaml_count(masks); m++) {
			struct yaml_node *at = yaml_item(d->y, masks, m);
			int which = read_word(d->y, at, words, "full, causal, varlen_full or varlen_causal");

			if (which < 0)
				continue;
			struct attention_case a = start_case(d, which & 1 ? FW_CAUSAL : FW_FULL, seqlen[s]);

			if (which < 2)
				use_batch(&a, (int32_t)batch);
			if (which < 2 || use_lengths(d, at, &a) == 0)
				add_case(d, yaml_item(d->y, seqlens, s), &a);
		}
	yaml_finish(d->y, map);
}

/* The full mask that sparse ones of this length are held against, unless it is there already. */
static void add_dense_reference(struct draft *d, struct yaml_node *at, int32_t seqlen)
{
	struct attention_case a = start_case(d, FW_FULL, seqlen);

	for (int i = 0; i < d->suite->n_cells; i++)
		if (d->suite->cell[i].attention.mask == FW_FULL && d->suite->cell[i].attention.n_seqs == 1 &&
			d->suite->cell[i].attention.seqlen == seqlen)
			return;
	add_case(d, at, &a);
}

/* Without a list every mask is uniform. Shape: out[PATTERNS]. Returns how many. */
static int read_patterns(struct yaml *y, struct yaml_node *list, enum pattern *out)
{
	int n = 0;

	if (!list)
		return 1;
	if (!yaml_is_list(list) || yaml_count(list) < 1 || yaml_count(list) > PATTERNS) {
		yaml_mistake(y, list, "must be a list of uniform, banded, strided, random_tokens and bigbird");
		return 0;
	}
	for (int i = 0; i < yaml_count(list); i++) {
		int which =
			read_word(y, yaml_item(y, list, i), pattern_names, "uniform, banded, strided, random_tokens or bigbird");

		if (which >= 0)
			out[n++] = (enum pattern)which;
	}
	return n;
}

static void read_sparse_map(struct draft *d, struct yaml_node *map)
{
	int32_t seqlen[LIST_MAX], block[LIST_MAX];
	double ratio[LIST_MAX];

	if (!yaml_is_map(map)) {
		yaml_mistake(d->y, map, "must be a mapping of seqlens, sparsity_ratios and block_sizes, or a list of such");
		return;
	}
	struct yaml_node *seqlens = yaml_get(d->y, map, "seqlens"), *ratios = yaml_get(d->y, map, "sparsity_ratios");
	struct yaml_node *blocks = yaml_get(d->y, map, "block_sizes"), *patterns = yaml_get(d->y, map, "pattern");
	enum pattern pattern[PATTERNS] = { PATTERN_UNIFORM };
	struct yaml_node *reference = yaml_get(d->y, map, "dense_reference");
	bool want_dense = false;

	yaml_bool(d->y, reference, &want_dense);
	int n_patterns = read_patterns(d->y, patterns, pattern);
	int n_seqlens = read_ints(d->y, seqlens, LIST_MAX, 1 << 20, seqlen);
	int n_ratios = read_doubles(d->y, ratios, ratio);
	int n_blocks = read_ints(d->y, blocks, LIST_MAX, 1 << 20, block);

	require(d->y, map, seqlens, "seqlens");
	require(d->y, map, ratios, "sparsity_ratios");
	require(d->y, map, blocks, "block_sizes");
	for (int s = 0; s < n_seqlens && want_dense; s++)
		add_dense_reference(d, yaml_item(d->y, seqlens, s), seqlen[s]);
	for (int s = 0; s < n_seqlens; s++)
		for (int r = 0; r < n_ratios; r++)
			for (int b = 0; b < n_blocks; b++)
				for (int p = 0; p < n_patterns; p++) {
					struct attention_case a = start_case(d, FW_BLOCKS, seqlen[s]);

					a.block = block[b];
					a.sparsity_ratio = ratio[r];
					a.pattern = pattern[p];
					add_case(d, yaml_item(d->y, blocks, b), &a);
				}
	yaml_finish(d->y, map);
}

/* One mapping, or several whose lists belong to each other. */
static void read_block_sparse(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *sparse = yaml_get(d->y, root, "block_sparse");

	if (!sparse)
		return;
	if (!yaml_is_list(sparse)) {
		read_sparse_map(d, sparse);
		return;
	}
	if (yaml_count(sparse) < 1 || yaml_count(sparse) > LIST_MAX)
		yaml_mistake(d->y, sparse, "must be a list of 1 to %d mappings", LIST_MAX);
	for (int i = 0; i < yaml_count(sparse) && i < LIST_MAX; i++)
		read_sparse_map(d, yaml_item(d->y, sparse, i));
}

static void read_thresholds(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *list = yaml_get(d->y, root, "thresholds");

	if (list && (!yaml_is_list(list) || yaml_count(list) > SUITE_CELLS_MAX)) {
		yaml_mistake(d->y, list, "must be a list of at most %d {cell: GLOB, pct: NUMBER}", SUITE_CELLS_MAX);
		return;
	}
	for (int i = 0; i < yaml_count(list); i++) {
		struct yaml_node *item = yaml_item(d->y, list, i);
		const char *glob = NULL;
		double pct = 0;

		if (!yaml_is_map(item)) {
			yaml_mistake(d->y, item, "must be {cell: GLOB, pct: NUMBER}");
			continue;
		}
		struct yaml_node *cell = yaml_get(d->y, item, "cell"), *value = yaml_get(d->y, item, "pct");

		require(d->y, item, cell, "cell");
		require(d->y, item, value, "pct");
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

static void read_root(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *family = yaml_get(d->y, root, "family");
	static const char *const families[] = { "attention", NULL };
	static const char *const decides[] = { "device", "call", NULL };
	struct yaml_node *decide = yaml_get(d->y, root, "decide");
	int64_t seed = 42;

	read_name(d, root, "suite", d->suite->name, sizeof d->suite->name);
	require(d->y, root, family, "family");
	if (family && read_word(d->y, family, families, "attention") == 0)
		snprintf(d->suite->family, sizeof d->suite->family, "attention");
	yaml_int(d->y, yaml_get(d->y, root, "seed"), 0, INT64_MAX, &seed);
	d->seed = (uint64_t)seed;
	yaml_percent(d->y, yaml_get(d->y, root, "threshold_pct"), 0.01, 99, &d->suite->threshold_pct);
	yaml_seconds(d->y, yaml_get(d->y, root, "budget_s"), 1, 86400, &d->suite->budget_s);
	if (decide && read_word(d->y, decide, decides, "device or call") == 1)
		d->decide = SERIES_CALL;
	read_common(d, root);
	read_varlen(d, root);
	read_directions(d, root);
	if (d->nhq && d->nhk && d->headdim) { /* else every case would repeat what common lacks */
		read_dense(d, root);
		read_block_sparse(d, root);
		read_thresholds(d, root);
		if (d->suite->n_cells == 0 && yaml_mistakes(d->y) == 0)
			yaml_mistake(d->y, root, "holds no cell; give dense or block_sparse");
		yaml_finish(d->y, root);
	}
}

int suite_read(struct yaml *y, struct suite *out)
{
	struct yaml_node *root = yaml_root(y);
	struct draft *d = calloc(1, sizeof *d);

	*out = (struct suite){ .threshold_pct = 1.5, .budget_s = 600 };
	if (!d) {
		yaml_mistake(y, root, "out of memory");
	} else if (yaml_is_map(root)) {
		d->y = y;
		d->suite = out;
		read_root(d, root);
	} else if (yaml_mistakes(y) == 0) {
		yaml_mistake(y, root, "must be a mapping that begins with \"suite: NAME\"");
	}
	free(d);
	if (yaml_mistakes(y) > 0) {
		suite_fini(out);
		return -1;
	}
	return 0;
}

int suite_parse(const char *text, size_t len, const char *file, struct suite *out, struct fw_err *err)
{
	struct yaml *y = yaml_new(text, len, file);

	*out = (struct suite){ 0 };
	if (!y)
		return err_set(err, ERR_INTERNAL, "%s: out of memory", file);
	int result = suite_read(y, out);

	if (result)
		mistakes_report(y, err);
	yaml_free(y);
	return result;
}

void suite_fini(struct suite *s)
{
	free(s->cell);
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
	int kept = 0;

	for (int i = 0; i < s->n_cells; i++)
		if (suite_matches(s->cell[i].key, globs)) {
			if (kept != i)
				s->cell[kept] = s->cell[i];
			kept++;
		}
	s->n_cells = kept;
	return kept;
}

static void hash_line(struct hash_state *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void hash_line(struct hash_state *h, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	hash_update(h, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

void suite_hash(const struct suite *s, char hex[65])
{
	struct hash_state h;

	hash_begin(&h);
	for (int i = 0; i < s->n_cells; i++) {
		const struct cell *c = &s->cell[i];
		const struct attention_case *a = &c->attention;

		hash_line(&h, "%s threshold=%.17g ratio=%.17g seed=%llu lengths=", c->key, c->threshold_pct, a->sparsity_ratio,
			(unsigned long long)a->seed);
		for (int q = 0; q < a->n_seqs; q++)
			hash_line(&h, "%d,", a->length[q]);
		if (c->decide == SERIES_CALL)
			hash_line(&h, " decide=call");
		hash_line(&h, "\n");
	}
	hash_end(&h, hex);
}
