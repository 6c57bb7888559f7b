/* config_webhook.c - receivers of notifications. */
#include "flopwatchd/config/internal.h"

#include <ctype.h>
#include <time.h>

#define HOUR_MS INT64_C(3600000)

enum { DAY_MINUTES = 1440, MINUTE_MS = 60000 };

static const char *const kinds[] = { [RECEIVER_PROGRAM] = "webhook",
	[RECEIVER_SLACK] = "slack",
	[RECEIVER_TEAMS] = "teams",
	[RECEIVER_DISCORD] = "discord",
	[RECEIVER_MATRIX] = "matrix",
	[RECEIVER_MAIL] = "mail",
	NULL };

#define PEOPLE (~(1U << RECEIVER_PROGRAM))

/* Keys that only some kinds have. */
static const struct {
	const char *key;
	unsigned kinds; /* bits */
} only[] = {
	{ "secret_file", 1U << RECEIVER_PROGRAM | 1U << RECEIVER_SLACK },
	{ "room", 1U << RECEIVER_MATRIX },
	{ "token_file", 1U << RECEIVER_MATRIX },
	{ "forum", 1U << RECEIVER_DISCORD },
	{ "from", 1U << RECEIVER_MAIL },
	{ "to", 1U << RECEIVER_MAIL },
	{ "user", 1U << RECEIVER_MAIL },
	{ "password_file", 1U << RECEIVER_MAIL },
	{ "tls", 1U << RECEIVER_MAIL },
	{ "group", PEOPLE },
	{ "quiet", PEOPLE },
};

static bool is_mail_address(const char *text)
{
	const char *at = strchr(text, '@');
	return at && at > text && at[1] && !strchr(at + 1, '@') && !strpbrk(text, " \t<>,;:\"()[]\\");
}

/* A mail server is SCHEME://HOST or SCHEME://HOST:PORT. */
static void check_mail_url(struct yaml *y, struct yaml_node *n, const struct config_webhook *w)
{
	const char *rest = config_after_prefix(w->url, "smtp://");
	bool has_tls = !rest;
	if (!rest)
		rest = config_after_prefix(w->url, "smtps://");
	if (!rest)
		yaml_mistake(y, n, "is not the address of a mail server: smtp://HOST:PORT, or smtps://HOST:PORT");
	else if (strchr(rest, '@'))
		yaml_mistake(y, n, "holds a user name or password; use `user` and `password_file` instead");
	else if ((!isalnum((unsigned char)*rest) && *rest != '[') || strpbrk(rest, "/?#"))
		yaml_mistake(y, n, "is not smtp://HOST:PORT or smtps://HOST:PORT");
	else if (has_tls && w->plain)
		yaml_mistake(y, n, "begins with smtps://, which contradicts tls: none");
}

static void read_mail(struct yaml *y, struct yaml_node *map, struct config_webhook *w)
{
	static const char *const modes[] = { "required", "none", NULL };
	char mode[12] = "required";
	config_text_choice(y, map, "tls", modes, "required, none", mode, sizeof mode);
	w->plain = strcmp(mode, "none") == 0;
	if (w->url[0])
		check_mail_url(y, yaml_get(y, map, "url"), w);
	config_text_required(y, map, "from", w->from, sizeof w->from);
	if (w->from[0] && !is_mail_address(w->from))
		yaml_mistake(y, yaml_get(y, map, "from"), "is not an address such as flopwatch@example.org");
	if (!yaml_get(y, map, "to"))
		yaml_mistake(y, map, "needs `to`");
	w->n_to = config_text_list(y, map, "to", w->to[0], sizeof w->to[0], CONFIG_MAILS_MAX);
	for (int i = 0; i < w->n_to; i++)
		if (!is_mail_address(w->to[i]))
			yaml_mistake(y, yaml_get(y, map, "to"), "%s is not an address such as team@example.org", w->to[i]);
	config_text(y, map, "user", w->user, sizeof w->user);
	config_secret(y, map, "password_file", w->secret, sizeof w->secret);
	if (!yaml_has(map, "user") != !yaml_has(map, "password_file"))
		yaml_mistake(y, map, "needs both `user` and `password_file` for a login, or neither");
	else if (w->plain && yaml_has(map, "password_file"))
		yaml_mistake(y, yaml_get(y, map, "tls"), "is `none`: the password would be sent without encryption");
}

static void read_matrix(struct yaml *y, struct yaml_node *map, struct config_webhook *w)
{
	config_text_required(y, map, "room", w->room, sizeof w->room);
	if (w->room[0] && w->room[0] != '!')
		yaml_mistake(
			y, yaml_get(y, map, "room"), "is not the id of a room, which begins with \"!\"; its settings show it");
	if (!yaml_has(map, "token_file"))
		yaml_mistake(y, map, "needs `token_file`");
	config_secret(y, map, "token_file", w->secret, sizeof w->secret);
}

static void read_quiet(struct yaml *y, struct yaml_node *n, struct config_webhook *w)
{
	const char *text = NULL;
	if (!n || yaml_string(y, n, &text) != 0)
		return;
	if (!config_day_range(text, &w->quiet_from, &w->quiet_to))
		yaml_mistake(y, n, "\"%.40s\" is not two times of the day such as \"22:00-07:00\"", text);
}

static void check_kind(struct yaml *y, struct yaml_node *map, const struct config_webhook *w)
{
	for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
		if (yaml_has(map, only[i].key) && !(only[i].kinds >> w->kind & 1))
			yaml_mistake(y, yaml_get(y, map, only[i].key), "does not apply to kind %s", kinds[w->kind]);
}

void config_webhook_read(struct yaml *y, struct yaml_node *map, struct config *c)
{
	struct config_webhook *w = &c->webhook[c->n_webhooks];
	char kind[12] = "webhook";
	memset(w, 0, sizeof *w);
	config_text_name(y, map, w->name, sizeof w->name);
	if (w->name[0] && config_webhook_find(c, w->name) >= 0)
		yaml_mistake(y, yaml_get(y, map, "name"), "there is another webhook named %s", w->name);
	config_text_required(y, map, "url", w->url, sizeof w->url);
	config_text_choice(y, map, "kind", kinds, "webhook, slack, teams, discord, matrix, mail", kind, sizeof kind);
	while (strcmp(kinds[w->kind], kind) != 0)
		w->kind++;
	check_kind(y, map, w);
	if (w->kind == RECEIVER_MAIL)
		read_mail(y, map, w);
	else if (w->url[0])
		config_web_url_check(y, yaml_get(y, map, "url"), w->url, "sign notifications with secret_file instead");
	if (w->kind == RECEIVER_MATRIX)
		read_matrix(y, map, w);
	if (w->kind == RECEIVER_PROGRAM || w->kind == RECEIVER_SLACK)
		config_secret(y, map, "secret_file", w->secret, sizeof w->secret);
	yaml_bool(y, yaml_get(y, map, "forum"), &w->forum);
	yaml_bool(y, yaml_get(y, map, "comparisons"), &w->comparisons);
	yaml_bool(y, yaml_get(y, map, "allow_internal"), &w->allow_internal);
	config_file(y, map, "ca_file", w->ca_file, sizeof w->ca_file);
	yaml_duration_ms(y, yaml_get(y, map, "group"), 0, 24 * HOUR_MS, &w->group_ms);
	read_quiet(y, yaml_get(y, map, "quiet"), w);
	c->n_webhooks++;
}

int64_t config_quiet_until(const struct config_webhook *w, int64_t now_ms)
{
	time_t now = (time_t)(now_ms / 1000);
	struct tm at;
	if (w->quiet_from == w->quiet_to || !localtime_r(&now, &at))
		return 0;
	int minute = at.tm_hour * 60 + at.tm_min;
	int into = (minute - w->quiet_from + DAY_MINUTES) % DAY_MINUTES;
	int length = (w->quiet_to - w->quiet_from + DAY_MINUTES) % DAY_MINUTES;
	if (into >= length)
		return 0;
	return now_ms + (int64_t)(length - into) * MINUTE_MS - (int64_t)at.tm_sec * 1000 - now_ms % 1000;
}
