#include "web/page/internal.h"

enum { PAGES_MAX = 256 };

struct page_cache {
	struct kept {
		int64_t id;
		uint64_t used; /* value of the cache's counter at its last use */
		char stamp[PAGE_STAMP_MAX];
		char *text; /* NULL: free entry */
		size_t len;
	} page[PAGES_MAX];
	uint64_t uses;
	size_t bytes;
};

struct page_cache *page_cache_new(void)
{
	return mem_alloc_zero(1, sizeof(struct page_cache));
}

static void drop(struct page_cache *cache, struct kept *k)
{
	cache->bytes -= k->len;
	free(k->text);
	*k = (struct kept){ 0 };
}

void page_cache_free(struct page_cache *cache)
{
	for (int i = 0; cache && i < PAGES_MAX; i++)
		free(cache->page[i].text);
	free(cache);
}

void page_stamp(int64_t comparison, const struct view_around *around, const char *profile, const struct http_response *response,
	char *stamp)
{
	char text[1024], hex[HASH_HEX];
	/* another version of flopwatch may draw the same data in another way */
	int len = snprintf(text, sizeof text, "%lld %s %s %lld %s %s %s %lld %lld %s %d %d [%s] " FW_VERSION " %s",
		(long long)comparison, around->etag, verdict_name(around->verdict), (long long)around->previous,
		around->previous_etag, verdict_name(around->previous_verdict), around->previous_baseline_period,
		(long long)around->next, (long long)around->alert, alertstate_name(around->alert_state), response->logged_in,
		response->open_alerts, profile, asset_address("style.css"));
	hash_hex(text, (size_t)len, hex);
	memcpy(stamp, hex, PAGE_STAMP_MAX);
}

bool page_cache_get(struct page_cache *cache, int64_t id, const char *stamp, struct buf *out)
{
	for (int i = 0; cache && i < PAGES_MAX; i++) {
		struct kept *k = &cache->page[i];
		if (!k->text || k->id != id)
			continue;
		if (strcmp(k->stamp, stamp) != 0) {
			drop(cache, k);
			return false;
		}
		k->used = ++cache->uses;
		buf_append(out, k->text, k->len);
		return true;
	}
	return false;
}

/* A free entry, else the least recently used one. */
static struct kept *position(struct page_cache *cache)
{
	struct kept *oldest = &cache->page[0];
	for (int i = 0; i < PAGES_MAX; i++) {
		if (!cache->page[i].text)
			return &cache->page[i];
		if (cache->page[i].used < oldest->used)
			oldest = &cache->page[i];
	}
	drop(cache, oldest);
	return oldest;
}

static void drop_oldest(struct page_cache *cache)
{
	struct kept *oldest = NULL;
	for (int i = 0; i < PAGES_MAX; i++)
		if (cache->page[i].text && (!oldest || cache->page[i].used < oldest->used))
			oldest = &cache->page[i];
	if (oldest)
		drop(cache, oldest);
}

void page_cache_put(struct page_cache *cache, int64_t id, const char *stamp, const struct buf *page)
{
	if (!cache || page->failed || page->len == 0 || page->len > PAGE_CACHE_BYTES / 8)
		return;
	while (cache->bytes + page->len > PAGE_CACHE_BYTES)
		drop_oldest(cache);
	struct kept *k = position(cache);
	char *text = mem_alloc(page->len);
	memcpy(text, page->data, page->len);
	*k = (struct kept){ .id = id, .used = ++cache->uses, .text = text, .len = page->len };
	snprintf(k->stamp, sizeof k->stamp, "%s", stamp);
	cache->bytes += page->len;
}
