/* backup.c - flopwatchd --backup as a child process, since a large copy would block the loop. */
#include "flopwatchd/internal.h"

#include <signal.h>
#include <unistd.h>

enum { DEADLINE_MS = 600000, PRINTED_MAX = 1024 };

struct backup {
	struct loop *loop;
	char database[600], path[600], old[620];
	loop_timer_fn *fn;
	void *arg;
	enum { IDLE, MAKING, WHOLE, FAILED } state;
	struct child *child, *removal;
	struct fw_err why; /* valid after a failure */
	bool stopping;
};

static void discard(struct backup *b)
{
	db_backup_discard(b->path);
	unlink(b->path);
	unlink(b->old);
}

struct backup *backup_new(struct loop *l, const char *state_dir, loop_timer_fn *fn, void *arg)
{
	struct backup *b = mem_alloc_zero(1, sizeof *b);
	*b = (struct backup){ .loop = l, .fn = fn, .arg = arg };
	snprintf(b->database, sizeof b->database, "%s/flopwatch.db", state_dir);
	snprintf(b->path, sizeof b->path, "%s/backup.download", state_dir);
	snprintf(b->old, sizeof b->old, "%s.old", b->path);
	discard(b);
	return b;
}

static void on_copy_end(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct backup *b = arg;
	b->child = NULL;
	b->state = failed ? FAILED : WHOLE;
	if (failed) {
		b->why = *failed;
		b->why.code = strcmp(out->data, err_name(ERR_FULL)) == 0 ? ERR_FULL : ERR_IO;
		log_error("backup", "err=%s", log_quote(failed->text));
		discard(b);
	}
	b->fn(b->arg);
}

int backup_begin(struct backup *b, struct fw_err *err)
{
	const char *const args[] = { "--backup", b->database, b->path, NULL };
	struct child_spec spec = { .program = "flopwatchd",
		.args = args,
		.out_fd = -1,
		.out_max = PRINTED_MAX,
		.writes_files = true,
		.deadline_ms = DEADLINE_MS };
	if (b->stopping)
		return err_set(err, ERR_BUSY, "flopwatchd is stopping; retry when it runs");
	if (b->state != IDLE)
		return err_set(err, ERR_CONFLICT, "a backup is being made already; retry when it is done");
	if (child_start(b->loop, &spec, on_copy_end, b, &b->child, err) != 0)
		return -1;
	b->state = MAKING;
	return 0;
}

int backup_take(struct backup *b, char *path, size_t size, struct fw_err *err)
{
	if (b->state == MAKING)
		return 1;
	if (b->state != WHOLE)
		return err_set(err, b->why.code, "%s", b->why.text);
	snprintf(path, size, "%s", b->path);
	return 0;
}

static void on_removed(void *arg, const struct buf *out, const struct fw_err *failed)
{
	(void)out;
	struct backup *b = arg;
	b->removal = NULL;
	if (failed)
		log_error("backup.remove", "err=%s", log_quote(failed->text));
}

/* The child frees the large file, which takes long, under another name, so that the next copy may start. */
static void remove_whole(struct backup *b)
{
	const char *const args[] = { "-f", b->old, NULL };
	struct child_spec spec = { .program = "rm", .args = args, .out_fd = -1, .deadline_ms = DEADLINE_MS };
	struct fw_err err = { 0 };
	child_cancel(b->removal);
	b->removal = NULL;
	if (b->stopping || rename(b->path, b->old) != 0 || child_start(b->loop, &spec, on_removed, b, &b->removal, &err) != 0)
		discard(b);
}

static void fail_copy(struct backup *b)
{
	child_cancel(b->child);
	b->child = NULL;
	discard(b);
}

void backup_discard(struct backup *b)
{
	if (b->state == MAKING)
		fail_copy(b);
	else if (b->state == WHOLE)
		remove_whole(b);
	b->state = IDLE;
}

void backup_stop(struct backup *b)
{
	if (!b)
		return;
	b->stopping = true;
	child_cancel(b->removal); /* backup_free removes the file */
	b->removal = NULL;
	if (b->state != MAKING)
		return;
	fail_copy(b);
	b->state = FAILED;
	b->why = (struct fw_err){ .code = ERR_BUSY, .text = "flopwatchd stopped before the backup was done; retry when it runs" };
	b->fn(b->arg);
}

void backup_free(struct backup *b)
{
	if (b)
		discard(b);
	free(b);
}

int backup_run(const char *database, const char *path)
{
	struct db *db = NULL;
	struct fw_err err = { 0 };
	signal(SIGXFSZ, SIG_IGN); /* with a file size limit, a write must fail with an error */
	if (db_open(database, true, &db, &err) == 0 && db_backup(db, path, &err) == 0) {
		db_close(db);
		return 0;
	}
	db_close(db);
	printf("%s", err_name(err.code));
	fprintf(stderr, "flopwatchd: %s\n", err.text);
	return 1;
}
