#include "web/page/internal.h"

enum { PAGES_MAX = 256, STATE_BYTES = 1 << 20 };

struct page_cache {
	struct cached_page {
		char key[PAGE_STAMP_MAX], stamp[PAGE_STAMP_MAX];
		uint64_t used;  /* value of the cache's counter at its last use */
		int64_t second; /* second in which its stamp is valid; 0: any */
		const char *type;
		char *text; /* NULL: free entry */
		size_t len;
	} page[PAGES_MAX];
	uint64_t uses;
	int64_t second; /* newest second of its pages */
	size_t bytes;
};

struct page_cache *page_cache_new(void)
{
	return mem_alloc_zero(1, sizeof(struct page_cache));
}

static void drop(struct page_cache *cache, struct cached_page *k)
{
	cache->bytes -= k->len;
	free(k->text);
	*k = (struct cached_page){ 0 };
}

void page_cache_free(struct page_cache *cache)
{
	for (int i = 0; cache && i < PAGES_MAX; i++)
		free(cache->page[i].text);
	free(cache);
}

int page_stamp(int64_t comparison, const struct view_around *around, const char *profile, const char *public_url,
	const struct http_response *response, char *stamp, struct fw_err *err)
{
	struct buf text;
	buf_init(&text, STATE_BYTES);
	/* another version of flopwatch may draw the same data differently */
	emit_rawf(&text, "%lld %s %s %lld %s %s %s %lld %lld %s %s %lld %d %s %d %d [%s] " FW_VERSION " %s %s",
		(long long)comparison, around->etag, verdict_name(around->verdict), (long long)around->previous,
		around->previous_etag, verdict_name(around->previous_verdict), around->previous_baseline_period,
		(long long)around->next, (long long)around->alert, alertstate_name(around->alert_state),
		around->is_accepted ? verdict_name(around->effective) : "", (long long)around->repeat.job,
		(int)around->repeat.state, around->branch, response->logged_in, response->open_alerts, profile,
		asset_address("style.css"), public_url ? public_url : "");
	hash_hex(text.data, text.len, stamp);
	int result = text.failed ? err_set(err, ERR_FULL, "the stamp of a page has more than %d bytes", STATE_BYTES) : 0;
	buf_fini(&text);
	return result;
}

bool page_cache_get(struct page_cache *cache, const char *key, const char *stamp, struct http_response *out)
{
	for (int i = 0; cache && i < PAGES_MAX; i++) {
		struct cached_page *k = &cache->page[i];
		if (!k->text || strcmp(k->key, key) != 0)
			continue;
		if (strcmp(k->stamp, stamp) != 0) {
			drop(cache, k);
			return false;
		}
		k->used = ++cache->uses;
		buf_append(&out->body, k->text, k->len);
		out->type = k->type;
		return true;
	}
	return false;
}

/* Return the order of removal: pages of an earlier second, which no request gets, then the least recently used ones. */
static uint64_t order_of(const struct page_cache *cache, const struct cached_page *k)
{
	return k->second && k->second < cache->second ? 0 : k->used;
}

/* Return the page to remove next; NULL: the cache is empty. */
static struct cached_page *find_oldest(struct page_cache *cache)
{
	struct cached_page *oldest = NULL;
	for (int i = 0; i < PAGES_MAX; i++) {
		struct cached_page *k = &cache->page[i];
		if (k->text && (!oldest || order_of(cache, k) < order_of(cache, oldest)))
			oldest = k;
	}
	return oldest;
}

/* Return a free entry; if there is none, remove a page. */
static struct cached_page *find_free_page(struct page_cache *cache)
{
	for (int i = 0; i < PAGES_MAX; i++)
		if (!cache->page[i].text)
			return &cache->page[i];
	struct cached_page *oldest = find_oldest(cache);
	drop(cache, oldest);
	return oldest;
}

void page_cache_put(
	struct page_cache *cache, const char *key, const char *stamp, int64_t second, const struct http_response *page)
{
	const struct buf *body = &page->body;
	if (!cache || body->failed || body->len == 0 || body->len > PAGE_CACHE_BYTES / 8)
		return;
	cache->second = second > cache->second ? second : cache->second;
	while (cache->bytes + body->len > PAGE_CACHE_BYTES)
		drop(cache, find_oldest(cache));
	struct cached_page *k = find_free_page(cache);
	char *text = mem_alloc(body->len);
	memcpy(text, body->data, body->len);
	*k = (struct cached_page){ .used = ++cache->uses, .second = second, .type = page->type, .text = text, .len = body->len };
	snprintf(k->key, sizeof k->key, "%s", key);
	snprintf(k->stamp, sizeof k->stamp, "%s", stamp);
	cache->bytes += body->len;
}

/* ---- stamp of a page ----------------------------------------------------------------------------------------------- */

static void add_text(struct buf *out, const char *text)
{
	buf_append(out, text, strlen(text) + 1);
}

static void add_worker(void *to, const struct worker_status *w)
{
	const int64_t numbers[] = { w->slot, w->position, w->job };
	const char *const texts[] = { w->name, w->state, w->aim, w->why, w->allocation, w->version, w->device };
	buf_append(to, numbers, sizeof numbers);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		add_text(to, texts[i]);
}

/* Append the state of the daemon that pages show and no row has: workers, and why no job starts. */
static void add_daemon(struct site *site, struct buf *out)
{
	struct unschedulable unschedulable = { .site = site };
	add_text(out, unschedulable_hold(&unschedulable));
	unschedulable_fini(&unschedulable);
	if (site->act->workers)
		site->act->workers(site->control, add_worker, out);
}

/* The daemon's writes change the stamp; rows that another program changes are shown from the next second on. */
static int stamp_now(
	struct site *site, const struct http_response *response, int64_t second, char stamp[PAGE_STAMP_MAX], struct fw_err *err)
{
	struct buf text;
	const int64_t numbers[] = { db_written(site->db), second, response->logged_in };
	buf_init(&text, STATE_BYTES);
	buf_append(&text, numbers, sizeof numbers);
	add_text(&text, site->public_url ? site->public_url : ""); /* a reload may change it */
	add_daemon(site, &text);
	hash_hex(text.data, text.len, stamp);
	int result = text.failed ? err_set(err, ERR_FULL, "the state of the workers has more than %d bytes", STATE_BYTES) : 0;
	buf_fini(&text);
	return result;
}

static void identify(const struct http_request *r, char key[PAGE_STAMP_MAX])
{
	struct buf text;
	buf_init(&text, STATE_BYTES);
	const char *host = http_header(r, "Host"); /* a feed has absolute addresses */
	add_text(&text, host ? host : "");
	http_identify(r, &text);
	hash_hex(text.data, text.len, key);
	buf_fini(&text);
}

static bool is_whole(const struct http_response *response)
{
	return response->status == 200 && !response->etag[0] && !response->later && !response->stream && !response->file[0] &&
	       !response->location[0] && !response->link[0] && !response->cookie[0];
}

int page_count_alerts(struct site *site, struct http_response *response, struct fw_err *err)
{
	return view_alerts_open(site->db, &response->open_alerts, err);
}

static int draw(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *handler, struct fw_err *err)
{
	return page_count_alerts(site, response, err) != 0 ? -1 : handler(site, r, response, err);
}

static int get(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *handler, struct fw_err *err)
{
	char key[PAGE_STAMP_MAX], stamp[PAGE_STAMP_MAX];
	if (!site->pages)
		return draw(site, r, response, handler, err);
	int64_t second = clock_utc_ms() / 1000;
	if (stamp_now(site, response, second, stamp, err) != 0)
		return -1;
	identify(r, key);
	if (page_cache_get(site->pages, key, stamp, response))
		return 0;
	int result = draw(site, r, response, handler, err);
	if (result == 0 && is_whole(response))
		page_cache_put(site->pages, key, stamp, second, response);
	return result;
}

int page_get(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *handler, struct fw_err *err)
{
	int result = db_snapshot_begin(site->db, err);
	if (result == 0) {
		result = get(site, r, response, handler, err);
		db_snapshot_end(site->db);
	}
	return result;
}
