/* dispatch.c - who answers a request: its route, if the guard lets it, now or later; else a refusal. */
#include <stdio.h>

#include "web/http/internal.h"

/* Another method was meant: which ones the address has. 404 where there is no such address at all. */
static int refuse_method(struct http_request *r, struct http_response *response)
{
	bool has_get = false, has_post = false;
	for (int i = 0; i < r->http->config.n_route; i++) {
		const struct http_route *route = &r->http->route[i];
		if (!route_match(route->path, r->uri, &r->parts))
			continue;
		has_get |= strcmp(route->method, "GET") == 0;
		has_post |= strcmp(route->method, "POST") == 0;
	}
	snprintf(response->allow, sizeof response->allow, "%s%s%s", has_get ? "GET, HEAD" : "", has_get && has_post ? ", " : "",
		has_post ? "POST" : "");
	return has_get || has_post ? 405 : 404;
}

/* The handler has answered; where the reader cannot take that form, a refusal takes its place. Only of reads: they changed nothing. */
static void judge_form(struct http_request *r, struct http_response *response)
{
	if (request_is_read(r) && response->status == 200 && media_quality(http_header(r, "Accept"), response->type) <= 0)
		http_refuse(r, response, 406);
}

/* Until http_notify. libmicrohttpd then asks for the answer again. */
static enum MHD_Result rest(struct http_request *r, struct http_response *response)
{
	struct connection *c = connection_of(r->connection);
	buf_fini(&response->body);
	r->later = response->later;
	if (!c || r->http->stopping)
		return MHD_NO;
	c->phase = PHASE_REST;
	c->resting = r;
	MHD_suspend_connection(r->connection);
	return MHD_YES;
}

enum MHD_Result http_request_again(struct http_request *r)
{
	struct http_response response = { .status = 200, .type = "text/plain; charset=utf-8" };
	if (r->abandoned)
		return MHD_NO;
	buf_init(&response.body, HTTP_RESPONSE_MAX);
	r->later(r->http->config.arg, r, &response);
	return response.later ? rest(r, &response) : http_send(r, &response);
}

/* By the handler, if the guard lets it and the route takes every argument: one that is passed over looks as if it had narrowed. */
static void answer(struct http_request *r, struct http_response *response, const struct http_route *route)
{
	const struct http_config *config = &r->http->config;
	const char *known;
	if (route->scope != HTTP_OPEN && config->guard && !config->guard(config->arg, r, response, route->scope))
		return;
	if (http_unknown(r, &known))
		http_refuse(r, response, 400);
	else
		route->handler(config->arg, r, response);
}

enum MHD_Result http_dispatch(struct http_request *r)
{
	struct http *h = r->http;
	struct http_response response = { .status = r->refused ? r->refused : 404, .type = "text/plain; charset=utf-8" };
	buf_init(&response.body, HTTP_RESPONSE_MAX);
	if (!r->refused && r->body.failed)
		response.status = r->refused = 413;
	const char *method = strcmp(r->method, "HEAD") == 0 ? "GET" : r->method;
	for (int i = 0; !r->refused && i < h->config.n_route; i++) {
		if (!route_match(h->route[i].path, r->uri, &r->parts))
			continue;
		if (strcmp(h->route[i].method, method) == 0) {
			response.status = 200;
			r->route = i;
			answer(r, &response, &h->route[i]);
			if (response.later)
				return rest(r, &response);
			judge_form(r, &response);
			if (response.stream && !stream_has_position(h))
				http_refuse(r, &response, 503);
			return http_send(r, &response);
		}
		response.status = 405;
	}
	if (response.status == 405)
		response.status = refuse_method(r, &response);
	h->config.no_route(h->config.arg, r, &response);
	return http_send(r, &response);
}

bool http_may_send_body(struct http_request *r, struct http_response *refusal)
{
	const struct http_config *config = &r->http->config;
	for (int i = 0; i < config->n_route; i++) {
		const struct http_route *route = &r->http->route[i];
		if (strcmp(route->method, r->method) != 0 || !route_match(route->path, r->uri, &r->parts))
			continue;
		if (route->scope == HTTP_OPEN || !config->guard)
			return true;
		*refusal = (struct http_response){ .status = 200, .type = "text/plain; charset=utf-8" };
		buf_init(&refusal->body, HTTP_RESPONSE_MAX);
		r->route = i;
		if (config->guard(config->arg, r, refusal, route->scope)) {
			buf_fini(&refusal->body);
			return true;
		}
		r->refused = refusal->status;
		return false;
	}
	return true;
}
