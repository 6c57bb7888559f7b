/* asset.c - the table of compiled-in files. */
#include "web/html/html.h"

#define ASSET(symbol) extern const char _binary_web_static_##symbol##_start[], _binary_web_static_##symbol##_end[]
ASSET(style_css);
ASSET(theme_js);
ASSET(app_js);
ASSET(live_js);
ASSET(table_js);
ASSET(chart_js);
ASSET(keys_js);
ASSET(icon_svg);
extern const char _binary_build_npm_uplot_js_start[], _binary_build_npm_uplot_js_end[];
extern const char _binary_build_npm_uplot_css_start[], _binary_build_npm_uplot_css_end[];

#define CSS "text/css; charset=utf-8"
#define JS  "text/javascript; charset=utf-8"

static struct asset assets[] = {
	{ "style.css", CSS, _binary_web_static_style_css_start, _binary_web_static_style_css_end, "", "" },
	{ "theme.js", JS, _binary_web_static_theme_js_start, _binary_web_static_theme_js_end, "", "" },
	{ "app.js", JS, _binary_web_static_app_js_start, _binary_web_static_app_js_end, "", "" },
	{ "live.js", JS, _binary_web_static_live_js_start, _binary_web_static_live_js_end, "", "" },
	{ "table.js", JS, _binary_web_static_table_js_start, _binary_web_static_table_js_end, "", "" },
	{ "chart.js", JS, _binary_web_static_chart_js_start, _binary_web_static_chart_js_end, "", "" },
	{ "keys.js", JS, _binary_web_static_keys_js_start, _binary_web_static_keys_js_end, "", "" },
	{ "icon.svg", "image/svg+xml", _binary_web_static_icon_svg_start, _binary_web_static_icon_svg_end, "", "" },
	{ "uplot.js", JS, _binary_build_npm_uplot_js_start, _binary_build_npm_uplot_js_end, "", "" },
	{ "uplot.css", CSS, _binary_build_npm_uplot_css_start, _binary_build_npm_uplot_css_end, "", "" },
};

const struct asset *asset_find(const char *name)
{
	for (size_t i = 0; i < sizeof assets / sizeof assets[0]; i++) {
		struct asset *a = &assets[i];
		if (strcmp(a->name, name) != 0 || a->start == a->end)
			continue;
		if (!a->address[0]) {
			char hash[HASH_HEX];
			hash_hex(a->start, (size_t)(a->end - a->start), hash);
			snprintf(a->address, sizeof a->address, "/static/%s?v=%.10s", a->name, hash);
			snprintf(a->etag, sizeof a->etag, "\"%.10s\"", hash);
		}
		return a;
	}
	return NULL;
}

const char *asset_address(const char *name)
{
	const struct asset *a = asset_find(name);
	return a ? a->address : "";
}

bool asset_has(const char *name)
{
	return asset_find(name) != NULL;
}
