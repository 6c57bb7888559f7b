#include "web/site.h"

#include "web/answer.h"
#include "web/api.h"
#include "web/page.h"

static const struct http_route routes[] = {
	{ "GET", "/", page_overview },
	{ "GET", "/comparisons", page_comparisons },
	{ "GET", "/comparisons/{id}", page_comparison },
	{ "GET", "/history", page_history },
	{ "GET", "/jobs", page_jobs },
	{ "GET", "/jobs/{id}", page_job },
	{ "GET", "/alerts", page_alerts },
	{ "GET", "/devices", page_devices },
	{ "GET", "/static/style.css", page_style },

	{ "GET", "/api/v1/", api_index },
	{ "GET", "/api/v1/repos", api_repos },
	{ "GET", "/api/v1/branches", api_branches },
	{ "GET", "/api/v1/commits/{sha}", api_commit },
	{ "GET", "/api/v1/comparisons", api_comparisons },
	{ "GET", "/api/v1/comparisons/{id}.csv", api_comparison_csv },
	{ "GET", "/api/v1/comparisons/{id}", api_comparison },
	{ "GET", "/api/v1/compare", api_compare },
	{ "GET", "/api/v1/history", api_history },
	{ "GET", "/api/v1/alerts", api_alerts },
	{ "GET", "/api/v1/jobs", api_jobs },
	{ "GET", "/api/v1/jobs/{id}", api_job },
	{ "GET", "/api/v1/jobs/{id}/log", api_job_log },
	{ "GET", "/api/v1/devices", api_devices },
	{ "GET", "/api/v1/events", api_events },

	{ "POST", "/api/v1/jobs", api_job_post },
	{ "POST", "/api/v1/jobs/{id}/cancel", api_job_cancel },
	{ "POST", "/api/v1/jobs/{id}/retry", api_job_retry },
	{ "POST", "/api/v1/alerts/{id}/acknowledge", api_alert_acknowledge },
	{ "POST", "/api/v1/alerts/{id}/accept", api_alert_accept },
	{ "POST", "/api/v1/alerts/{id}/resolve", api_alert_resolve },
	{ "POST", "/api/v1/alerts/{id}/invalidate", api_alert_invalidate },
	{ "POST", "/api/v1/devices/{uuid}/pause", api_device_pause },
	{ "POST", "/api/v1/devices/{uuid}/resume", api_device_resume },
	{ "POST", "/api/v1/backup", api_backup },
	{ "POST", "/api/v1/hooks/{repo}", api_hook },

	{ "GET", "/healthz", api_healthz },
	{ "GET", "/metrics", api_metrics },
};

static void no_route(void *arg, struct http_request *r, struct http_response *response)
{
	(void)arg;
	answer_problem(r, response, response->status, NULL);
}

int site_start(struct site *site, const char *host, int port, struct http **out, struct fw_err *err)
{
	struct http_config config = {
		.host = host,
		.port = port,
		.route = routes,
		.n_route = sizeof routes / sizeof routes[0],
		.arg = site,
		.no_route = no_route,
	};
	return http_start(&config, out, err);
}
