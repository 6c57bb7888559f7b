/**
 * cache.h - drawn pages of comparisons, kept in memory. A finished comparison hardly ever changes, but its page can: by
 * another judgement of the same samples, its alert's life, a newer push beside it. The stamp holds all of that.
 */
#ifndef WEB_PAGE_CACHE_H
#define WEB_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "db/cell.h"

enum { PAGE_STAMP_MAX = 65, PAGE_CACHE_BYTES = 2 << 20 };

struct page_cache;

/** Own: page_cache_free, which accepts NULL. NULL: out of memory, and every call below does nothing. */
struct page_cache *page_cache_new(void);
void page_cache_free(struct page_cache *cache);

/** What a comparison's page depends on, as a hash; `profile`: how its profile stands; `logged_in`: it offers to log out. Shape: stamp[PAGE_STAMP_MAX]. */
void page_stamp(int64_t comparison, const struct view_around *around, const char *profile, bool logged_in, char *stamp);

/** Append the page drawn for this stamp. False: it is not there. */
bool page_cache_get(struct page_cache *cache, int64_t id, const char *stamp, struct buf *out);
/** Keep a page; the ones unused for longest make room, so that all together stay below PAGE_CACHE_BYTES. */
void page_cache_put(struct page_cache *cache, int64_t id, const char *stamp, const struct buf *page);

#endif
