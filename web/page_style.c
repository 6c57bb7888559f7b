/* style.css, compiled in: no file is served from the file system. */
#include "web/page.h"

extern const char _binary_web_static_style_css_start[], _binary_web_static_style_css_end[];

void page_style(void *arg, struct http_request *r, struct http_response *response)
{
	(void)arg, (void)r;
	response->type = "text/css; charset=utf-8";
	response->cache = "max-age=300";
	buf_append(&response->body, _binary_web_static_style_css_start,
		(size_t)(_binary_web_static_style_css_end - _binary_web_static_style_css_start));
}
