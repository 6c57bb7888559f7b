#include "web/web.h"

#include <stdio.h>

#include "web/answer/answer.h"
#include "web/api/api.h"
#include "web/page/page.h"

static const struct http_route routes[] = {
	{ "GET", "/", page_overview, HTTP_READ, NULL },
	{ "GET", "/comparisons", page_comparisons, HTTP_READ, NULL },
	{ "GET", "/comparisons/{id}", page_comparison, HTTP_READ, NULL },
	{ "GET", "/compare", page_compare, HTTP_READ, NULL },
	{ "GET", "/history", page_history, HTTP_READ, NULL },
	{ "GET", "/jobs", page_jobs, HTTP_READ, NULL },
	{ "GET", "/jobs/{id}", page_job, HTTP_READ, NULL },
	{ "GET", "/alerts", page_alerts, HTTP_READ, NULL },
	{ "GET", "/alerts/{id}", page_alert, HTTP_READ, NULL },
	{ "GET", "/bisects", page_bisects, HTTP_READ, NULL },
	{ "GET", "/bisects/{id}", page_bisect, HTTP_READ, NULL },
	{ "GET", "/devices", page_devices, HTTP_READ, NULL },
	{ "GET", "/peers", page_peers, HTTP_READ, NULL },
	{ "GET", "/heat", page_heat, HTTP_READ, NULL },
	{ "GET", "/commits/{sha}", page_commit, HTTP_READ, NULL },
	{ "GET", "/help", page_help, HTTP_READ, NULL },
	{ "GET", "/glossary", page_glossary, HTTP_READ, NULL },
	{ "GET", "/troubleshooting", page_troubleshooting, HTTP_READ, NULL },
	{ "GET", "/api", page_api, HTTP_READ, NULL },
	{ "GET", "/notifications", page_notifications, HTTP_READ, NULL },
	{ "GET", "/alerts.atom", feed_alerts, HTTP_READ, NULL },
	{ "GET", "/comparisons.atom", feed_comparisons, HTTP_READ, NULL },
	{ "GET", "/search", page_search, HTTP_READ, NULL },
	{ "GET", "/static/{file}", page_static, HTTP_OPEN, NULL },
	{ "GET", "/login", page_login, HTTP_OPEN, NULL },
	{ "POST", "/login", page_login_post, HTTP_OPEN, NULL },
	{ "POST", "/logout", page_logout, HTTP_OPEN, NULL },

	{ "GET", "/api/v1", api_index, HTTP_READ, "" },
	{ "GET", "/api/v1/", api_index, HTTP_READ, "" },
	{ "GET", "/api/v1/openapi.json", api_openapi, HTTP_READ, "" },
	{ "GET", "/api/v1/repos", api_repos, HTTP_READ, "" },
	{ "GET", "/api/v1/branches", api_branches, HTTP_READ, "repo branch watched strict limit cursor" },
	{ "GET", "/api/v1/commits/{sha}", api_commit, HTTP_READ, "" },
	{ "GET", "/api/v1/commits/{sha}/verdict", api_commit_verdict, HTTP_READ, "repo branch strict" },
	{ "GET", "/api/v1/comparisons", api_comparisons, HTTP_READ, "repo branch verdict since until limit cursor" },
	{ "GET", "/api/v1/comparisons/{id}.csv", api_comparison_csv, HTTP_READ, "" },
	{ "GET", "/api/v1/comparisons/{id}.md", api_comparison_md, HTTP_READ, "" },
	{ "GET", "/api/v1/comparisons/{id}.svg", api_comparison_svg, HTTP_READ, "" },
	{ "GET", "/api/v1/comparisons/{id}/reproduce", api_comparison_reproduce, HTTP_READ, "cell" },
	{ "GET", "/api/v1/comparisons/{id}/ffa/{file}.csv", api_comparison_ffa, HTTP_READ, "" },
	{ "GET", "/api/v1/badge.svg", api_badge, HTTP_READ, "repo branch" },
	{ "GET", "/api/v1/comparisons/{id}", api_comparison, HTTP_READ, "v" },
	{ "GET", "/api/v1/compare", api_compare, HTTP_READ, "repo base target suite" },
	{ "GET", "/api/v1/report", api_report, HTTP_READ, "repo branch verdict since until limit cursor format" },
	{ "GET", "/api/v1/cells", api_cells, HTTP_READ, "repo" },
	{ "GET", "/api/v1/history", api_history, HTTP_READ, "cell repo branch device since until limit" },
	{ "GET", "/api/v1/history.svg", page_history_svg, HTTP_READ, "cell repo branch device metric axis" },
	{ "GET", "/api/v1/alerts", api_alerts, HTTP_READ, "state repo since until limit cursor" },
	{ "GET", "/api/v1/alerts/{id}", api_alert, HTTP_READ, "" },
	{ "GET", "/api/v1/bisects", api_bisects, HTTP_READ, "repo since until limit cursor" },
	{ "GET", "/api/v1/bisects/{id}", api_bisect, HTTP_READ, "" },
	{ "GET", "/api/v1/profiles", api_profiles, HTTP_READ, "alert comparison repo limit cursor" },
	{ "GET", "/api/v1/profiles/{id}.csv", api_profile_csv, HTTP_READ, "" },
	{ "GET", "/api/v1/profiles/{id}.md", api_profile_md, HTTP_READ, "" },
	{ "GET", "/api/v1/profiles/{id}/configurations.csv", api_profile_configurations_csv, HTTP_READ, "" },
	{ "GET", "/api/v1/profiles/{id}/configurations.md", api_profile_configurations_md, HTTP_READ, "" },
	{ "GET", "/api/v1/profiles/{id}", api_profile, HTTP_READ, "" },
	{ "GET", "/api/v1/jobs", api_jobs, HTTP_READ, "state repo since until limit cursor" },
	{ "GET", "/api/v1/jobs/{id}", api_job, HTTP_READ, "" },
	{ "GET", "/api/v1/jobs/{id}/log", api_job_log, HTTP_READ, "" },
	{ "GET", "/api/v1/jobs/{id}/verdict", api_job_verdict, HTTP_READ, "strict" },
	{ "GET", "/api/v1/devices", api_devices, HTTP_READ, "" },
	{ "GET", "/api/v1/workers", api_workers, HTTP_READ, "" },
	{ "GET", "/api/v1/calibration", api_calibration, HTTP_READ, "repo device" },
	{ "GET", "/api/v1/peers", api_peers, HTTP_READ, "repo device" },
	{ "GET", "/api/v1/events", api_events, HTTP_READ, "" },

	{ "GET", "/api/v1/repos/{repo}/looks/{id}", api_look, HTTP_READ, "" },
	/* a client that may read a verdict may ask whether it is the newest one */
	{ "POST", "/api/v1/repos/{repo}/looks", api_look_post, HTTP_READ, "" },
	{ "POST", "/api/v1/jobs", api_job_post, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/calibrate", api_calibrate, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/calibration/forget", api_calibration_forget, HTTP_ADMIN, "" },
	{ "POST", "/api/v1/peers", api_peer_post, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/jobs/{id}/cancel", api_job_cancel, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/jobs/{id}/retry", api_job_retry, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/imports", api_import_post, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/bisects", api_bisect_post, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/bisects/{id}/cancel", api_bisect_cancel, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/profiles", api_profile_post, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/alerts/{id}/acknowledge", api_alert_acknowledge, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/alerts/{id}/accept", api_alert_accept, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/alerts/{id}/resolve", api_alert_resolve, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/alerts/{id}/invalidate", api_alert_invalidate, HTTP_TRIGGER, "" },
	{ "POST", "/api/v1/devices/{uuid}/pause", api_device_pause, HTTP_ADMIN, "" },
	{ "POST", "/api/v1/devices/{uuid}/resume", api_device_resume, HTTP_ADMIN, "" },
	{ "POST", "/api/v1/comparisons/{id}/judge", api_comparison_judge, HTTP_ADMIN, "" },
	{ "GET", "/api/v1/notifications", api_notifications, HTTP_READ, "state since until limit cursor" },
	{ "POST", "/api/v1/notifications/{id}/redeliver", api_redeliver, HTTP_TRIGGER, "" },
	{ "GET", "/api/v1/samples", api_samples, HTTP_READ, "" },
	{ "GET", "/api/v1/samples/{month}.zst", api_samples_month, HTTP_ADMIN, "" },
	{ "POST", "/api/v1/backup", api_backup, HTTP_ADMIN, "" },
	{ "POST", "/api/v1/hooks/{repo}", api_hook, HTTP_OPEN, NULL }, /* signed */
	{ "GET", "/api/v1/tokens", api_tokens, HTTP_ADMIN, "" },
	{ "POST", "/api/v1/tokens", api_token_post, HTTP_ADMIN, "" },
	{ "POST", "/api/v1/tokens/{name}/revoke", api_token_revoke, HTTP_ADMIN, "" },

	{ "GET", "/healthz", api_healthz, HTTP_OPEN, "" },
	{ "GET", "/metrics", api_metrics, HTTP_READ, "" },
};

static void no_route(void *arg, struct http_request *r, struct http_response *response)
{
	char detail[512];
	const char *known, *unknown = response->status == 400 ? http_unknown(r, &known) : NULL;
	(void)arg;
	if (unknown)
		snprintf(detail, sizeof detail, "this address takes no argument %.60s; %s%s", unknown,
			*known ? "it takes: " : "it takes none", known);
	answer_problem(r, response, response->status, unknown ? detail : NULL);
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
		.names = site->names,
		.guard = access_allows,
	};
	return http_start(&config, out, err);
}
