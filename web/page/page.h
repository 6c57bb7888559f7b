/** page.h - the pages: server-drawn HTML that needs no script. Every handler's `arg` is the struct site. */
#ifndef WEB_PAGE_PAGE_H
#define WEB_PAGE_PAGE_H

#include "web/http/http.h"

http_handler_fn page_overview, page_comparisons, page_comparison, page_history, page_history_svg, page_heat, page_commit,
	page_jobs, page_job;
http_handler_fn page_alerts, page_alert, page_bisects, page_bisect, page_devices, page_peers, page_help, page_api, page_search;
http_handler_fn page_notifications, page_glossary, page_troubleshooting, page_compare;
struct site;
/* ?work= of lists: what somebody pushed or asked for, what keeps histories, peers and noise up to date (jobkind_is_upkeep), both. */
#define WORK_REQUESTED "requested"
#define WORK_UPKEEP    "upkeep"
#define WORK_ALL       "all"
#define WORK_WORDS     WORK_REQUESTED " " WORK_UPKEEP " " WORK_ALL
/** A banner where the daemon begins no job, and one for each worker that is down, with the reasons. */
void page_worker_banners(struct site *site, struct buf *out);
/* Atom. */
http_handler_fn feed_alerts, feed_comparisons;

/** GET /static/{file} */
http_handler_fn page_static;

#endif
