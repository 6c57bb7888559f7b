/*
 * programs.c - memory traffic of benchmark programs of the working tree, counted by Nsight Compute on this machine.
 *
 * Names of kernels are not known before. A kernel of the program is launched once for each call, so kernels with exactly as many
 * launches as there are calls count; others, such as those of a framework's start, are left out and named.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "cli/internal.h"

enum { CALLS = 15, WARM_CALLS = 5, OUTPUT_BYTES = 256 << 20, ENV_MAX = 4096, SLOWER = 20 /* than without ncu */, MS = 1000 };
enum { KIT_CALLS_MAX = 400 }; /* FLOPWATCH_ALONE_MAX of the kit */

#define SECTOR_MB (32 * 1e-6)

enum level { DRAM_READ, DRAM_WRITTEN, L2, L2_HIT, L1, L1_HIT, LEVELS };
static const char *const metrics[LEVELS] = { "dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors.sum",
	"lts__t_sectors_lookup_hit.sum", "l1tex__t_sectors.sum", "l1tex__t_sectors_lookup_hit.sum" };
static const char metric_list[] = "gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors.sum,"
				  "lts__t_sectors_lookup_hit.sum,l1tex__t_sectors.sum,l1tex__t_sectors_lookup_hit.sum";

/* Of one kernel, or of all kernels of a program: values of one call. NAN: not counted. */
struct traffic {
	double sum[LEVELS], ms;
};

struct programs {
	const struct options *options;
	const struct tree *tree;
	const char *ncu, *folder; /* of the files to write */
	int launches, warmup;
	struct table table;
	struct jsonw *json;
	struct buf csv;
};

/* ---- one kernel or program ---------------------------------------------------------------------------------------------- */

static double dram_mb(const struct traffic *t)
{
	return (t->sum[DRAM_READ] + t->sum[DRAM_WRITTEN]) * 1e-6;
}

static double share_pct(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

enum { FIGURES = 6 };
static const char *const names[FIGURES] = { "ms", "dram_mb", "l2_mb", "l1_mb", "l2_hit_pct", "l1_hit_pct" };

static void figures_of(const struct traffic *t, double out[FIGURES])
{
	out[0] = t->ms;
	out[1] = dram_mb(t);
	out[2] = t->sum[L2] * SECTOR_MB;
	out[3] = t->sum[L1] * SECTOR_MB;
	out[4] = share_pct(t->sum[L2_HIT], t->sum[L2]);
	out[5] = share_pct(t->sum[L1_HIT], t->sum[L1]);
}

/* `kernel` "": the whole program. */
static void put_row(struct programs *p, const char *program, const char *kernel, const struct traffic *t)
{
	double figure[FIGURES];
	figures_of(t, figure);
	table_cell(&p->table, "%s", *kernel ? "" : program);
	table_cell(&p->table, "%s", *kernel ? kernel : "all kernels");
	csv_text(&p->csv, program);
	buf_putc(&p->csv, ',');
	csv_text(&p->csv, kernel);
	jsonw_object(p->json);
	jsonw_format(p->json, "program=%s kernel?=%s", program, kernel);
	for (int i = 0; i < FIGURES; i++) {
		table_figure(&p->table, figure[i]);
		csv_number(&p->csv, figure[i]);
		jsonw_kv_figure(p->json, names[i], figure[i]);
	}
	buf_puts(&p->csv, "\r\n");
	jsonw_object_end(p->json);
}

static double figure_of(const struct reading *r, const char *key, const char *metric)
{
	for (int i = 0; i < r->n_figures; i++)
		if (strcmp(r->figure[i].key, key) == 0 && strcmp(r->figure[i].metric, metric) == 0)
			return r->figure[i].median;
	return NAN;
}

static struct traffic traffic_of(const struct reading *r, const char *key)
{
	const struct reading_row *row = reading_find(r, key);
	struct traffic t = { .ms = row ? row->median_ms : NAN };
	for (int i = 0; i < LEVELS; i++)
		t.sum[i] = figure_of(r, key, metrics[i]);
	return t;
}

static void add(struct traffic *all, const struct traffic *one)
{
	for (int i = 0; i < LEVELS; i++)
		all->sum[i] += one->sum[i];
	all->ms += one->ms;
}

/* Returns the number of kernels. The program's row comes first. */
static int put_program(struct programs *p, const char *program, const struct reading *r)
{
	struct traffic all = { .ms = 0 };
	int n = 0;
	for (int i = 0; i < r->n_figures; i++)
		if (strcmp(r->figure[i].metric, metrics[DRAM_READ]) == 0) {
			struct traffic one = traffic_of(r, r->figure[i].key);
			add(&all, &one);
			n++;
		}
	if (n == 0)
		return 0;
	put_row(p, program, "", &all);
	for (int i = 0; i < r->n_figures; i++)
		if (strcmp(r->figure[i].metric, metrics[DRAM_READ]) == 0) {
			struct traffic one = traffic_of(r, r->figure[i].key);
			put_row(p, program, r->figure[i].key, &one);
		}
	return n;
}

/* ---- running ------------------------------------------------------------------------------------------------------------ */

static bool is_program(const char *folder, size_t len, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%.*s/%s", (int)len, folder, name);
	return len > 0 && n > 0 && (size_t)n < size && access(path, X_OK) == 0;
}

bool programs_find(const char *name, char *path, size_t size)
{
	static const char usual[] = "/usr/local/cuda/bin";
	for (const char *at = getenv("PATH"); at && *at;) {
		size_t len = strcspn(at, ":");
		if (is_program(at, len, name, path, size))
			return true;
		at += len + (at[len] == ':');
	}
	return is_program(usual, sizeof usual - 1, name, path, size);
}

static int write_file(const char *folder, const char *name, const char *text, size_t len, struct fw_err *err)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof path)
		return err_set(err, ERR_INVALID, "the name of %s in %s is too long", name, folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "%s", path);
	int result = fd_write(fd, text, len) == 0 ? 0 : err_sys(err, "%s", path);
	if (close(fd) != 0 && result == 0)
		result = err_sys(err, "%s", path);
	return result;
}

void programs_last_line(const struct buf *text, char *out, size_t size)
{
	size_t end = text->len;
	while (end > 0 && (text->data[end - 1] == '\n' || text->data[end - 1] == '\r'))
		end--;
	size_t from = end;
	while (from > 0 && text->data[from - 1] != '\n')
		from--;
	snprintf(out, size, "%.*s", (int)(end - from), text->data + from);
}

/* Run the program under ncu. Own: `out` is a buf. */
static int count_program(const struct programs *p, const struct benchmark *b, struct buf *out, struct fw_err *err)
{
	static const char *const before[] = { "--csv", "--page", "raw", "--print-units", "base", "--target-processes", "all",
		"--clock-control", "none", "--metrics", metric_list };
	enum { BEFORE = sizeof before / sizeof *before };
	char calls[64], cwd[sizeof p->tree->root + sizeof p->tree->manifest.build.dir + 1], ended[64], last_line[200];
	char(*words)[BENCHMARK_TEXT_SIZE + 16] = mem_alloc_zero(BENCHMARK_ARGS_MAX, sizeof *words);
	const char *argv[1 + BEFORE + BENCHMARK_ARGS_MAX + 1] = { p->ncu }, *env[ENV_MAX + 2];
	struct proc_exit how;
	struct buf errors;
	int n = 1, e = 0;
	for (int i = 0; i < BEFORE; i++)
		argv[n++] = before[i];
	for (int i = 0; i < b->n_command; i++) {
		manifest_expand(b->command[i], "cuda", words[i], sizeof words[i]);
		argv[n++] = words[i];
	}
	snprintf(calls, sizeof calls, "FLOPWATCH_CALLS=%d", p->launches);
	for (char **at = environ; *at && e < ENV_MAX; at++)
		env[e++] = *at;
	env[e++] = calls;
	env[e] = NULL;
	snprintf(cwd, sizeof cwd, "%s/%s", p->tree->root, p->tree->manifest.build.dir);
	buf_init(&errors, 1 << 20);
	const struct proc_spec spec = { .argv = argv, .env = env, .cwd = cwd };
	int result = proc_run(&spec, NULL, out, &errors, (int64_t)(b->timeout_s * SLOWER * MS), &how, err);
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "%s under ncu printed more than %d MB", b->name, OUTPUT_BYTES >> 20);
	if (result == 0 && how.status != 0) {
		proc_describe(&how, ended);
		programs_last_line(errors.len ? &errors : out, last_line, sizeof last_line);
		result = err_set(
			err, ERR_IO, "%s under ncu: %s: %s", b->name, ended, *last_line ? last_line : "without a message");
	}
	buf_fini(&errors);
	free(words);
	return result;
}

static void print_notes(const struct benchmark *b, const struct reading *r)
{
	for (int i = 0; i < r->n_notes; i++)
		plain_line(stderr, "%s: %s", b->name, r->note[i]);
}

static int profile_one(struct programs *p, const struct benchmark *b, struct fw_err *err)
{
	const struct reading_options how = { .format = "ncu", .traffic = true, .launches = p->launches, .warmup = p->warmup };
	char name[96];
	struct reading r;
	struct buf text;
	buf_init(&text, OUTPUT_BYTES);
	snprintf(name, sizeof name, "profile_%s.csv", b->name);
	int result = count_program(p, b, &text, err);
	if (result == 0)
		result = write_file(p->folder, name, text.data, text.len, err);
	if (result == 0 && reading_parse(&how, text.data, text.len, name, &r, err) != 0)
		result = err_context(err, "%s, kernels with %d launches", b->name, p->launches);
	else if (result == 0) {
		print_notes(b, &r);
		if (put_program(p, b->name, &r) == 0)
			result = err_set(
				err, ERR_INVALID, "%s: ncu counted no traffic of kernels with %d launches", b->name, p->launches);
		reading_fini(&r);
	}
	buf_fini(&text);
	return result;
}

static bool has_kit(const struct benchmark *b)
{
	return strcmp(b->reader, "flopwatch") == 0;
}

static int profile_all(struct programs *p, const char *glob, struct fw_err *err)
{
	const struct manifest *m = &p->tree->manifest;
	struct progress progress;
	int result = 0;
	progress_start(&progress, p->options, stderr);
	for (int i = 0; i < m->n_benchmarks && result == 0; i++) {
		const struct benchmark *b = &m->benchmark[i];
		if (fnmatch(glob, b->name, 0) != 0)
			continue;
		if (!has_kit(b) && !p->options->launches)
			result = err_set(err, ERR_INVALID,
				"%s does not use the kit, so its number of calls is unknown; give --launches N, and --warmup W if the "
				"first W are cold",
				b->name);
		if (has_kit(b) && p->launches > KIT_CALLS_MAX)
			result = err_set(err, ERR_INVALID, "--launches %d: the kit makes at most %d calls of a cell", p->launches,
				KIT_CALLS_MAX);
		if (result == 0) {
			progress_begin(&progress, "%s: running under ncu", b->name);
			result = profile_one(p, b, err);
			progress_clear(&progress);
		}
	}
	return result;
}

static int make_folder(const char *folder, struct fw_err *err)
{
	return mkdir(folder, 0777) == 0 || errno == EEXIST ? 0 : err_sys(err, "%s", folder);
}

static int print_all(struct programs *p, struct buf *json, struct fw_err *err)
{
	if (p->options->json) {
		buf_putc(json, '\n');
		if (fwrite(json->data, 1, json->len, stdout) != json->len)
			return err_sys(err, "standard output");
	} else {
		table_print(&p->table, stdout);
		plain_line(stdout,
			"Medians of %d launches of each kernel, after %d of warm-up; sectors of L2 and L1 have 32 bytes.",
			p->launches - p->warmup, p->warmup);
	}
	return write_file(p->folder, "traffic.csv", p->csv.data, p->csv.len, err);
}

/* ---- public ------------------------------------------------------------------------------------------------------------- */

bool programs_match(const struct tree *t, const char *glob)
{
	for (int i = 0; i < t->manifest.n_benchmarks; i++)
		if (fnmatch(glob, t->manifest.benchmark[i].name, 0) == 0)
			return true;
	return false;
}

int programs_profile(const struct tree *t, const struct options *o, struct fw_err *err)
{
	static const char *const titles[] = { "program", "kernel", ">ms", ">DRAM MB", ">L2 MB", ">L1 MB", ">L2 hits %",
		">L1 hits %" };
	struct programs p = { .options = o,
		.tree = t,
		.folder = o->artefacts ? o->artefacts : ".",
		.launches = o->launches ? o->launches : CALLS,
		.warmup = o->launches || o->warmup ? o->warmup : WARM_CALLS };
	char ncu[PATH_MAX];
	struct buf json;
	struct jsonw j;
	if (p.warmup >= p.launches)
		return err_set(err, ERR_INVALID, "--warmup %d leaves none of %d launches", p.warmup, p.launches);
	if (!programs_find("ncu", ncu, sizeof ncu))
		return err_set(err, ERR_NOT_FOUND,
			"ncu is not installed on this machine, and nothing else counts the traffic of programs; install Nsight Compute, or "
			"add its folder to PATH");
	if (make_folder(p.folder, err) != 0)
		return -1;
	p.ncu = ncu;
	p.json = &j;
	buf_init(&json, OUTPUT_BYTES);
	buf_init(&p.csv, OUTPUT_BYTES);
	jsonw_init(&j, &json);
	jsonw_object(&j);
	jsonw_format(&j, "launches=%d warmup=%d", p.launches, p.warmup);
	jsonw_kv_array(&j, "rows");
	table_init(&p.table, sizeof titles / sizeof *titles, titles);
	buf_puts(&p.csv, "program,kernel");
	for (int i = 0; i < FIGURES; i++)
		buf_printf(&p.csv, ",%s", names[i]);
	buf_puts(&p.csv, "\r\n");
	int result = profile_all(&p, o->suite, err);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	if (result == 0)
		result = print_all(&p, &json, err);
	table_fini(&p.table);
	buf_fini(&p.csv);
	buf_fini(&json);
	return result;
}
