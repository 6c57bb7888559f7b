/* check.c - flopwatchd --check as a child. */
#include "flopwatchd/internal.h"

#include <sys/resource.h>

enum { DEADLINE_MS = 60000, PRINTED_MAX = 1024 };

struct check {
	check_fn *fn;
	void *arg;
	struct child *child;
};

static int check_database(struct db *db, struct fw_err *err)
{
	struct fw_err unfinished = { 0 };
	if (db_check_within(db, CHECK_MS, &unfinished) == 0)
		return 0;
	if (unfinished.code != ERR_TIMEOUT)
		return err_set(err, unfinished.code, "%s", unfinished.text);
	log_warning("db.check", "err=%s", log_quote(unfinished.text));
	return 0;
}

int check_here(struct db *db, const char *path, bool *is_done, struct fw_err *err)
{
	struct stat st;
	*is_done = stat(path, &st) == 0 && st.st_size <= CHECK_HERE_BYTES;
	return *is_done ? check_database(db, err) : 0;
}

/* A child that was slow or killed proves neither damage nor its absence. */
static void on_check_end(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct check *c = arg;
	c->child = NULL;
	if (!failed)
		return;
	struct fw_err damage = *failed;
	damage.code = ERR_DAMAGED;
	if (strcmp(out->data, err_name(ERR_DAMAGED)) == 0)
		c->fn(c->arg, &damage);
	else
		log_warning("db.check", "err=%s", log_quote(failed->text));
}

int check_start(struct loop *l, const char *path, check_fn *fn, void *arg, struct check **out, struct fw_err *err)
{
	struct check *c = mem_alloc_zero(1, sizeof *c);
	*c = (struct check){ .fn = fn, .arg = arg };
	const char *const args[] = { "--check", path, NULL };
	struct child_spec spec = { .program = "flopwatchd",
		.args = args,
		.out_fd = -1,
		.out_max = PRINTED_MAX,
		.writes_files = true,
		.deadline_ms = DEADLINE_MS };
	if (child_start(l, &spec, on_check_end, c, &c->child, err) != 0) {
		free(c);
		return -1;
	}
	*out = c;
	return 0;
}

void check_stop(struct check *c)
{
	if (!c)
		return;
	child_cancel(c->child);
	free(c);
}

int check_run(const char *path)
{
	struct db *db = NULL;
	struct fw_err err = { 0 };
	(void)setpriority(PRIO_PROCESS, 0, 19); /* all other work comes first */
	if (db_open(path, true, &db, &err) == 0 && check_database(db, &err) == 0) {
		db_close(db);
		return 0;
	}
	db_close(db);
	err_context(&err, "%s", path);
	printf("%s", err_name(err.code));
	fprintf(stderr, "flopwatchd: %s\n", err.text);
	return 1;
}
