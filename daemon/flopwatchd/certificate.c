/* certificate.c - uses a new certificate of HTTPS when its files change; documented in internal.h. */
#include "flopwatchd/internal.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "web/answer/answer.h"

enum { CHECK_INTERVAL_MS = 5000 };
#define RETRY_NS (20 * INT64_C(1000000000)) /* after files that could not be used */

/* Identity of a file's content. All members 0: there is no file. */
struct stamp {
	int64_t inode, bytes, modified_ns, changed_ns;
};

/* Both files, which are replaced one after the other. */
struct stamps {
	struct stamp certificate, key;
};

struct certificate_watch {
	struct loop *loop;
	const struct config *config;
	struct http_frontend *frontend;
	struct loop_source *timer;
	struct stamps used, seen; /* last read; at the last check */
	int64_t tried_ns;         /* when they were read */
	struct fw_err why;        /* code 0: the last ones are in use */
};

static int64_t ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct stamp stamp_of(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return (struct stamp){ 0 };
	return (struct stamp){ (int64_t)st.st_ino, st.st_size, ns_of(st.st_mtim), ns_of(st.st_ctim) };
}

static struct stamps read_stamps(const struct certificate_watch *w)
{
	return (struct stamps){ stamp_of(w->config->tls.certificate), stamp_of(w->config->tls.key_file) };
}

static bool are_same(const struct stamps *a, const struct stamps *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/* Warn of a certificate that clients refuse, now or soon. */
static void log_period(const char *event, int64_t expires_at)
{
	char when[32];
	clock_format(expires_at, when);
	if (expires_at - clock_utc_ms() < SITE_CERTIFICATE_WARN_MS)
		log_warning(event, "expires=%s warning=\"renew it\"", when);
	else
		log_info(event, "expires=%s", when);
}

/* A repeated try is logged only if its result is new. */
static void read_files(struct certificate_watch *w, bool is_repeated)
{
	struct fw_err err = { 0 };
	w->used = w->seen = read_stamps(w);
	w->tried_ns = clock_mono_ns();
	if (http_frontend_renew(w->frontend, w->config, &err) == 0)
		log_period("certificate.read", http_frontend_expires_at(w->frontend));
	else if (!is_repeated || strcmp(err.text, w->why.text) != 0)
		log_error("certificate.rejected", "uses=previous err=%s", log_quote(err.text));
	w->why = err;
}

void certificate_watch_read(struct certificate_watch *w)
{
	if (w)
		read_files(w, false);
}

/*
 * A change counts when it is the same at two checks: the program that renews the certificate may not have written both files yet.
 * Files that did not change may become usable: by the clock, or once the daemon can open files again.
 */
static void on_timer(void *arg)
{
	struct certificate_watch *w = arg;
	struct stamps now = read_stamps(w);
	w->timer = NULL;
	bool is_stable = are_same(&now, &w->seen);
	if (is_stable && !are_same(&now, &w->used))
		read_files(w, false);
	else if (is_stable && w->why.code && clock_mono_ns() - w->tried_ns >= RETRY_NS)
		read_files(w, true);
	w->seen = now;
	loop_after(w->loop, CHECK_INTERVAL_MS, on_timer, w, &w->timer);
}

struct certificate_watch *certificate_watch_new(struct loop *l, const struct config *c)
{
	if (!c->tls.certificate[0])
		return NULL;
	struct certificate_watch *w = mem_alloc_zero(1, sizeof *w);
	*w = (struct certificate_watch){ .loop = l, .config = c };
	w->used = w->seen = read_stamps(w);
	return w;
}

void certificate_watch_start(struct certificate_watch *w, struct http_frontend *f)
{
	if (!w)
		return;
	w->frontend = f;
	log_period("certificate.read", http_frontend_expires_at(f));
	loop_after(w->loop, CHECK_INTERVAL_MS, on_timer, w, &w->timer);
}

void certificate_watch_stop(struct certificate_watch *w)
{
	if (!w)
		return;
	loop_remove(w->loop, w->timer);
	free(w);
}
