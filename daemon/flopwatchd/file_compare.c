/* file_compare.c - comparisons of posted files by `flopwatch compare`, as child processes. */
#include "flopwatchd/internal.h"

#include "web/answer/answer.h"

enum { DEADLINE_MS = 60000, CPU_S = 30, PRINTED_MAX = SITE_COMPARISON_MAX };
#ifdef __SANITIZE_ADDRESS__
static const int64_t ADDRESS_SPACE_BYTES = 0; /* its shadow memory alone is larger */
#else
static const int64_t ADDRESS_SPACE_BYTES = INT64_C(1) << 30;
#endif

struct slot {
	struct file_compare *all;
	const void *request; /* NULL: the slot is free */
	char client[64];     /* name of its token, "" none */
	struct child *child; /* NULL: it has ended */
	struct buf json;
	struct fw_err why; /* why there is no comparison */
};

struct file_compare {
	struct loop *loop;
	loop_timer_fn *fn;
	void *arg;
	struct slot slot[FILE_COMPARE_MAX];
};

struct file_compare *file_compare_new(struct loop *l, loop_timer_fn *fn, void *arg)
{
	struct file_compare *f = mem_alloc_zero(1, sizeof *f);
	*f = (struct file_compare){ .loop = l, .fn = fn, .arg = arg };
	for (int i = 0; i < FILE_COMPARE_MAX; i++)
		f->slot[i].all = f;
	return f;
}

/* The slot of a request; NULL: a free one. */
static struct slot *find(struct file_compare *f, const void *request)
{
	for (int i = 0; i < FILE_COMPARE_MAX; i++)
		if (f->slot[i].request == request)
			return &f->slot[i];
	return NULL;
}

/* The program exits with 7 after a comparison with a slower row; its output ends with the object, unless it was stopped before. */
static bool is_whole(const struct buf *out, const struct fw_err *failed)
{
	return (!failed || failed->code == ERR_INVALID) && out->len > 2 && strcmp(out->data + out->len - 2, "}\n") == 0;
}

/* Only a limit ends the program by a signal that is no crash; if it exceeds that of its output or memory, it crashes. */
static bool is_over_limit(const struct buf *out, const struct fw_err *failed)
{
	return failed->code == ERR_TIMEOUT || failed->code == ERR_BUSY || out->failed || out->len >= PRINTED_MAX ||
	       strstr(failed->text, "out of memory");
}

static void on_end(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct slot *s = arg;
	s->child = NULL;
	if (is_whole(out, failed))
		buf_append(&s->json, out->data, out->len);
	else if (failed)
		s->why = *failed;
	else
		err_set(&s->why, ERR_INTERNAL, "flopwatch printed no comparison");
	if (s->why.code && s->why.code != ERR_INVALID)
		log_warning("files.compare", "err=%s", log_quote(s->why.text));
	if (s->why.code && failed && is_over_limit(out, failed)) {
		s->why = (struct fw_err){ 0 };
		err_set(&s->why, ERR_INVALID, "the two files take too much time or memory to compare; split them");
	}
	s->all->fn(s->all->arg);
}

/* A token has one slot, so that other tokens can compare files, too. */
static bool has_slot(const struct file_compare *f, const char *client)
{
	for (int i = 0; i < FILE_COMPARE_MAX && *client; i++)
		if (f->slot[i].request && strcmp(f->slot[i].client, client) == 0)
			return true;
	return false;
}

int file_compare_begin(struct file_compare *f, const struct site_files *files, const void *request, struct fw_err *err)
{
	static const char *const env[] = { "LANG=C.UTF-8", NULL };
	char bytes[24];
	const char *args[16] = { "compare", "--json", "--stdin", bytes };
	int n = 4;
	struct slot *s = find(f, NULL);
	struct buf in;
	if (!s)
		return err_set(err, ERR_BUSY, "%d comparisons of files are running already; try again in a few seconds",
			FILE_COMPARE_MAX);
	if (has_slot(f, files->client))
		return err_set(err, ERR_BUSY, "a comparison of files of token %s is running already; try again in a few seconds",
			files->client);
	snprintf(bytes, sizeof bytes, "%zu", files->file[0].len);
	if (files->format[0]) {
		args[n++] = "--format";
		args[n++] = files->format;
	}
	if (files->unit[0]) {
		args[n++] = "--unit";
		args[n++] = files->unit;
	}
	if (files->metric[0]) {
		args[n++] = "--metric";
		args[n++] = files->metric;
	}
	args[n++] = "--"; /* a name may begin with a dash */
	args[n++] = files->file[0].name;
	args[n++] = files->file[1].name;
	buf_init(&in, files->file[0].len + files->file[1].len);
	for (int i = 0; i < 2; i++)
		buf_append(&in, files->file[i].data, files->file[i].len);
	const struct child_spec spec = { .program = "flopwatch",
		.args = args,
		.env = env,
		.in = &in,
		.out_fd = -1,
		.out_max = PRINTED_MAX,
		.has_no_network = true,
		.address_space_bytes = ADDRESS_SPACE_BYTES,
		.cpu_s = CPU_S,
		.deadline_ms = DEADLINE_MS };
	int result = child_start(f->loop, &spec, on_end, s, &s->child, err);
	buf_fini(&in);
	if (result != 0)
		return -1;
	s->request = request;
	snprintf(s->client, sizeof s->client, "%s", files->client);
	buf_init(&s->json, PRINTED_MAX);
	return 0;
}

int file_compare_take(struct file_compare *f, const void *request, const struct buf **json, struct fw_err *err)
{
	const struct slot *s = find(f, request);
	if (!s)
		return err_set(err, ERR_INTERNAL, "this request has no comparison of files");
	if (s->child)
		return 1;
	if (s->why.code)
		return err_set(err, s->why.code, "%s", s->why.text);
	*json = &s->json;
	return 0;
}

static void empty(struct slot *s)
{
	child_cancel(s->child);
	buf_fini(&s->json);
	*s = (struct slot){ .all = s->all };
}

void file_compare_finish(struct file_compare *f, const void *request)
{
	struct slot *s = find(f, request);
	if (s)
		empty(s);
}

void file_compare_free(struct file_compare *f)
{
	for (int i = 0; f && i < FILE_COMPARE_MAX; i++)
		empty(&f->slot[i]);
	free(f);
}
