/* message.c - events as messages to people, in the format of each service. */
#include "flopwatchd/notify/internal.h"

#include <ctype.h>
#include <time.h>

/* Limits of the services, in bytes: the texts are mostly ASCII. */
enum { DISCORD_TEXT_MAX = 2000, DISCORD_TITLE_MAX = 100, TEAMS_TEXT_MAX = 20000, MATRIX_TEXT_MAX = 40000 };
enum { SUBJECT_MAX = 200, ENCODED_WORD_BYTES = 45 /* 60 in base64: with its ends less than 76 characters */, LINE_BYTES = 57 };

/* Markup of a service: how bold text begins and ends, and how other text is written so that nothing in it is markup. */
struct markup {
	const char *bold;
	void (*write)(struct buf *out, const char *text);
	bool has_links; /* <URL|text> */
};

static const char *get_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	return text ? text : "";
}

static void write_plain(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_putc(out, iscntrl((unsigned char)*text) ? ' ' : *text);
}

static void write_slack(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '&')
			buf_puts(out, "&amp;");
		else if (*text == '<')
			buf_puts(out, "&lt;");
		else if (*text == '>')
			buf_puts(out, "&gt;");
		else
			buf_putc(out, *text);
}

static void write_discord(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (ispunct((unsigned char)*text) && strchr("\\*_~`|<>[]()#@-", *text))
			buf_putc(out, '\\');
		buf_putc(out, iscntrl((unsigned char)*text) ? ' ' : *text);
	}
}

static const struct markup plain = { "", write_plain, false }, slack = { "*", write_slack, true },
			   discord = { "**", write_discord, false };

static void write_bold(struct buf *out, const struct markup *as, const char *text)
{
	buf_puts(out, as->bold);
	as->write(out, text);
	buf_puts(out, as->bold);
}

static void write_position(struct buf *out, const struct markup *as, const json_t *m)
{
	if (*get_text(m, "device"))
		buf_puts(out, " device "), as->write(out, get_text(m, "device"));
	if (!*get_text(m, "repo"))
		return;
	buf_putc(out, ' ');
	as->write(out, get_text(m, "repo"));
	buf_putc(out, ' ');
	as->write(out, get_text(m, "branch"));
	buf_printf(out, " %.10s", get_text(m, "target"));
	if (*get_text(m, "subject"))
		buf_puts(out, " \""), as->write(out, get_text(m, "subject")), buf_putc(out, '"');
}

static void write_commit(struct buf *out, const struct markup *as, const json_t *m)
{
	const json_t *unfinished = json_object_get(m, "unfinished"), *name;
	const char *verdict = get_text(m, "commit_verdict");
	size_t i;
	if (*verdict && strcmp(verdict, get_text(m, "verdict")) != 0)
		buf_printf(out, ", the commit: %s", verdict);
	json_array_foreach(unfinished, i, name)
	{
		buf_puts(out, i ? ", " : ", waits for ");
		as->write(out, json_string_value(name));
	}
}

static json_int_t alert_of(const json_t *m)
{
	return json_integer_value(json_object_get(m, "alert"));
}

/* "opened", or "opened, named" if earlier events of the same alert are in the message. */
static void write_events(struct buf *out, const json_t *all, size_t at)
{
	const json_t *m = json_array_get(all, at);
	for (size_t i = 0; i <= at; i++) {
		const char *event = get_text(json_array_get(all, i), "event");
		if (i != at && alert_of(json_array_get(all, i)) != alert_of(m))
			continue;
		buf_puts(out, out->len && out->data[out->len - 1] != ' ' ? ", " : "");
		buf_puts(out, strncmp(event, "alert.", 6) == 0 ? event + 6 : event);
	}
}

/* The sentence of a profile; of an alert of kind cost that of its first cell, whose cost grew most. "" none. */
static const char *get_reason(const json_t *m)
{
	const char *sentence = get_text(json_object_get(m, "why"), "sentence");
	return *sentence ? sentence : get_text(json_array_get(json_object_get(m, "cells"), 0), "why");
}

/* Write one sentence: event, location, change and link. */
static void write_sentence(struct buf *out, const struct markup *as, const json_t *all, size_t at)
{
	const json_t *m = json_array_get(all, at), *worst = json_object_get(m, "worst_pct");
	const char *event = get_text(m, "event");
	if (strcmp(event, "test") == 0) {
		buf_puts(out, "A test message: flopwatch can reach this receiver");
		return;
	}
	if (strcmp(event, "job.done") == 0) {
		write_bold(out, as, get_text(m, "verdict"));
		buf_puts(out, " of suite "), as->write(out, get_text(m, "suite")), buf_puts(out, " in");
	} else {
		write_bold(out, as, get_text(m, "kind"));
		buf_putc(out, ' '), write_events(out, all, at);
	}
	/* an automatic end has no user */
	if (*get_text(m, "by") && strcmp(get_text(m, "by"), "flopwatch") != 0)
		buf_puts(out, " by "), as->write(out, get_text(m, "by"));
	write_position(out, as, m);
	if (*get_text(m, "title"))
		buf_puts(out, ": "), as->write(out, get_text(m, "title"));
	if (json_is_number(worst))
		buf_printf(out, ", worst %+.2f %%", json_number_value(worst));
	write_commit(out, as, m);
	if (*get_reason(m))
		buf_puts(out, ". Why: "), as->write(out, get_reason(m));
	if (*get_text(m, "reason"))
		buf_puts(out, " ("), as->write(out, get_text(m, "reason")), buf_putc(out, ')');
	if (*get_text(m, "url"))
		buf_printf(out, as->has_links ? " <%s|look>" : " %s", get_text(m, "url"));
}

static bool has_later(const json_t *all, size_t at)
{
	json_int_t alert = alert_of(json_array_get(all, at));
	for (size_t i = at + 1; alert && i < json_array_size(all); i++)
		if (alert_of(json_array_get(all, i)) == alert)
			return true;
	return false;
}

/* Write a sentence for each alert. `first`: name the first message of the thread; NULL: there is none, or the service shows it. */
static void write_text(struct buf *out, const struct markup *as, const json_t *all, const struct store_outbox_first *first)
{
	struct buf line;
	bool is_next = false;
	buf_init(&line, MESSAGE_TEXT_MAX);
	for (size_t i = 0; i < json_array_size(all); i++) {
		if (has_later(all, i))
			continue;
		buf_clear(&line);
		write_sentence(&line, as, all, i);
		buf_puts(out, is_next ? "\n" : "");
		buf_append(out, line.data, line.len);
		out->failed |= line.failed;
		is_next = true;
	}
	if (first) {
		char at[32];
		clock_format(first->at, at);
		buf_printf(out, "\nThis follows the message of %.10s %.5s UTC.", at, at + 11);
	}
	buf_fini(&line);
}

/* Cut a text of UTF-8 to at most `max` bytes; the end of a longer one is an ellipsis. */
static void cut_text(struct buf *text, size_t max)
{
	if (text->len <= max)
		return;
	text->len = utf8_cut(text->data, text->len, max - 3);
	text->data[text->len] = 0;
	buf_puts(text, "\xe2\x80\xa6");
}

/* Append the title of a thread by its first event. A reply must have the same one: some mail programs sort by it. */
static void write_title(struct buf *out, const json_t *m)
{
	if (strcmp(get_text(m, "event"), "test") == 0) {
		buf_puts(out, "a test message");
		return;
	}
	write_plain(out, strcmp(get_text(m, "event"), "job.done") == 0 ? get_text(m, "verdict") : get_text(m, "kind"));
	if (*get_text(m, "device"))
		buf_puts(out, " device "), write_plain(out, get_text(m, "device"));
	if (*get_text(m, "repo")) {
		buf_puts(out, " in "), write_plain(out, get_text(m, "repo"));
		buf_putc(out, ' '), write_plain(out, get_text(m, "branch"));
		buf_printf(out, " %.10s", get_text(m, "target"));
	}
	if (*get_text(m, "title"))
		buf_puts(out, ": "), write_plain(out, get_text(m, "title"));
	else if (*get_text(m, "suite"))
		buf_puts(out, ", suite "), write_plain(out, get_text(m, "suite"));
	cut_text(out, SUBJECT_MAX);
}

/* The payload as an array: a single event is an array of one. NULL: it is not JSON. Own: json_decref. */
static json_t *read_events(const struct buf *payload)
{
	json_t *root = json_loadb(payload->data, payload->len, 0, NULL);
	return !root || json_is_array(root) ? root : json_pack("[o]", root);
}

int message_slack(const struct deliver_content *what, struct buf *body, struct fw_err *err)
{
	json_t *all = read_events(what->payload);
	struct buf text;
	struct jsonw j;
	if (!all)
		return err_set(err, ERR_INVALID, "the notification is not JSON");
	buf_init(&text, MESSAGE_TEXT_MAX);
	write_text(&text, &slack, all, what->first);
	jsonw_init(&j, body);
	jsonw_format(&j, "{ text=%s }", text.data);
	body->failed |= text.failed;
	buf_fini(&text);
	json_decref(all);
	return 0;
}

/* ---- chats --------------------------------------------------------------------------------------------------------------- */

/* A message with an adaptive card, which the Workflows app posts. A TextRun has no markup. */
static void write_teams(const json_t *all, const struct deliver_content *what, struct buf *body)
{
	struct buf text;
	struct jsonw j;
	const char *url = get_text(json_array_get(all, json_array_size(all) - 1), "url");
	buf_init(&text, MESSAGE_TEXT_MAX);
	write_text(&text, &plain, all, what->first);
	cut_text(&text, TEAMS_TEXT_MAX);
	jsonw_init(&j, body);
	jsonw_format(
		&j, "{ type=%s attachments=[ { contentType=%s content={", "message", "application/vnd.microsoft.card.adaptive");
	jsonw_kv_string(&j, "$schema", "http://adaptivecards.io/schemas/adaptive-card.json");
	jsonw_format(&j, "type=%s version=%s body=[ { type=%s inlines=[ { type=%s text=%s } ] } ]", "AdaptiveCard", "1.4",
		"RichTextBlock", "TextRun", text.data);
	if (*url)
		jsonw_format(&j, "actions=[ { type=%s title=%s url=%s } ]", "Action.OpenUrl", "Open the alert", url);
	jsonw_format(&j, "} } ] }");
	body->failed |= text.failed;
	buf_fini(&text);
}

/* In a forum the first message begins a thread with a title. */
static void write_discord_body(
	const struct config_webhook *to, const json_t *all, const struct deliver_content *what, bool is_reply, struct buf *body)
{
	struct buf text, title;
	struct jsonw j;
	buf_init(&text, MESSAGE_TEXT_MAX);
	buf_init(&title, MESSAGE_TEXT_MAX);
	write_text(&text, &discord, all, is_reply ? NULL : what->first);
	cut_text(&text, DISCORD_TEXT_MAX);
	write_title(&title, json_array_get(all, 0));
	cut_text(&title, DISCORD_TITLE_MAX);
	jsonw_init(&j, body);
	jsonw_format(&j, "{ content=%s allowed_mentions={ parse=[ ] }", text.data);
	if (to->forum && !is_reply)
		jsonw_kv_string(&j, "thread_name", title.data);
	jsonw_object_end(&j);
	body->failed |= text.failed || title.failed;
	buf_fini(&text);
	buf_fini(&title);
}

static void write_matrix_body(const json_t *all, const struct deliver_content *what, const char *root, struct buf *body)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, MESSAGE_TEXT_MAX);
	write_text(&text, &plain, all, root ? NULL : what->first);
	cut_text(&text, MATRIX_TEXT_MAX);
	jsonw_init(&j, body);
	/* empty mentions: without them a name or @room in a branch's text would notify these users */
	jsonw_format(&j, "{ msgtype=%s body=%s m.mentions={ }", "m.notice", text.data);
	if (root) {
		jsonw_kv_object(&j, "m.relates_to");
		jsonw_format(&j, "rel_type=%s event_id=%s is_falling_back=%i", "m.thread", root, true);
		jsonw_kv_object(&j, "m.in_reply_to");
		jsonw_format(&j, "event_id=%s } }", root);
	}
	jsonw_object_end(&j);
	body->failed |= text.failed;
	buf_fini(&text);
}

/* Percent-encode everything but unreserved characters. */
static void write_component(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			buf_putc(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
}

static void write_matrix_url(const struct config_webhook *to, const char *id, struct buf *url)
{
	size_t n = strlen(to->url);
	while (n && to->url[n - 1] == '/')
		n--;
	buf_append(url, to->url, n);
	buf_puts(url, "/_matrix/client/v3/rooms/");
	write_component(url, to->room);
	buf_puts(url, "/send/m.room.message/");
	write_component(url, id); /* a server that got this id before answers with the event that it stored then */
}

static void prepare_chat(
	const struct config_webhook *to, const json_t *all, const struct deliver_content *what, struct deliver *out)
{
	const char *root = what->first && what->first->answer[0] ? what->first->answer : NULL;
	char token[CONFIG_SECRET_SIZE + 8];
	struct buf url, body;
	struct jsonw j;
	buf_init(&url, 4096);
	buf_init(&body, MESSAGE_TEXT_MAX);
	if (to->kind == RECEIVER_TEAMS) {
		buf_puts(&url, to->url);
		write_teams(all, what, &body);
	} else if (to->kind == RECEIVER_DISCORD) {
		bool is_reply = to->forum && root;
		buf_printf(&url, "%s%cwait=true", to->url, strchr(to->url, '?') ? '&' : '?');
		if (is_reply)
			buf_puts(&url, "&thread_id="), write_component(&url, root);
		write_discord_body(to, all, what, is_reply, &body);
	} else {
		write_matrix_url(to, what->id, &url);
		write_matrix_body(all, what, root, &body);
	}
	jsonw_init(&j, &out->in);
	jsonw_format(&j, "{ url=%s method=%s answer~=%s ca_file~=%s headers={ Content-Type=%s", url.data,
		to->kind == RECEIVER_MATRIX ? "PUT" : "POST",
		to->kind == RECEIVER_MATRIX    ? "event_id"
		: to->kind == RECEIVER_DISCORD ? "channel_id"
					       : "",
		to->ca_file, "application/json");
	snprintf(token, sizeof token, "Bearer %s", to->secret);
	if (to->kind == RECEIVER_MATRIX)
		jsonw_kv_string(&j, "Authorization", token);
	jsonw_format(&j, "} body=%s allow_internal=%i }", body.data, to->allow_internal);
	explicit_bzero(token, sizeof token);
	out->in.failed |= url.failed || body.failed;
	buf_fini(&url);
	buf_fini(&body);
}

/* ---- mail ---------------------------------------------------------------------------------------------------------------- */

/* Append a header value as encoded words of RFC 2047, each on a separate line, cut between characters. */
static void write_encoded(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = utf8_cut(text, strlen(text), ENCODED_WORD_BYTES);
		n = n ? n : 1;
		buf_puts(out, "\r\n =?utf-8?B?");
		buf_base64(out, text, n);
		buf_puts(out, "?=");
		text += n;
	}
}

static void write_base64_lines(struct buf *out, const struct buf *text)
{
	for (size_t at = 0; at < text->len; at += LINE_BYTES) {
		buf_base64(out, text->data + at, text->len - at < LINE_BYTES ? text->len - at : LINE_BYTES);
		buf_puts(out, "\r\n");
	}
}

/* Names of days and months do not depend on the locale. */
static void write_date(struct buf *out, int64_t now_ms)
{
	static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now = (time_t)(now_ms / 1000);
	struct tm at;
	if (!gmtime_r(&now, &at))
		return;
	buf_printf(out, "Date: %.3s, %d %.3s %d %02d:%02d:%02d +0000\r\n", days + 3 * at.tm_wday, at.tm_mday,
		months + 3 * at.tm_mon, at.tm_year + 1900, at.tm_hour, at.tm_min, at.tm_sec);
}

static void write_mail(const struct config_webhook *to, const json_t *all, const json_t *first_event,
	const struct deliver_content *what, int64_t now_ms, struct deliver *out, struct buf *mail)
{
	const struct store_outbox_first *first = what->first && what->first->answer[0] ? what->first : NULL;
	struct buf text, subject;
	buf_init(&text, MESSAGE_TEXT_MAX);
	buf_init(&subject, MESSAGE_TEXT_MAX);
	snprintf(out->answer, sizeof out->answer, "<%s@%s>", what->id, strchr(to->from, '@') + 1);
	write_title(&subject, first ? first_event : json_array_get(all, 0));
	write_date(mail, now_ms);
	buf_printf(mail, "From: flopwatch <%s>\r\nTo: ", to->from);
	for (int i = 0; i < to->n_to; i++)
		buf_printf(mail, "%s%s", i ? ",\r\n " : "", to->to[i]);
	buf_printf(mail, "\r\nSubject: %s[flopwatch]", first ? "Re: " : "");
	write_encoded(mail, subject.data);
	buf_printf(mail, "\r\nMessage-ID: %s\r\n", out->answer);
	if (first)
		buf_printf(mail, "In-Reply-To: %s\r\nReferences: %s\r\n", first->answer, first->answer);
	buf_puts(mail, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
		       "Content-Transfer-Encoding: base64\r\n\r\n");
	write_text(&text, &plain, all, first ? NULL : what->first);
	buf_putc(&text, '\n');
	write_base64_lines(mail, &text);
	mail->failed |= text.failed || subject.failed;
	buf_fini(&text);
	buf_fini(&subject);
}

static void prepare_mail(const struct config_webhook *to, const json_t *all, const json_t *first_event,
	const struct deliver_content *what, int64_t now_ms, struct deliver *out)
{
	struct buf mail;
	struct jsonw j;
	buf_init(&mail, 2 * MESSAGE_TEXT_MAX);
	write_mail(to, all, first_event, what, now_ms, out, &mail);
	jsonw_init(&j, &out->in);
	jsonw_format(&j, "{ url=%s ca_file~=%s body=%s allow_internal=%i mail={ from=%s tls=%s", to->url, to->ca_file, mail.data,
		to->allow_internal, to->from, to->plain ? "none" : "required");
	if (to->user[0])
		jsonw_format(&j, "user=%s password=%s", to->user, to->secret);
	jsonw_format(&j, "to=[");
	for (int i = 0; i < to->n_to; i++)
		jsonw_string(&j, to->to[i]);
	jsonw_format(&j, "] } }");
	out->in.failed |= mail.failed;
	buf_fini(&mail);
}

int message_request(const struct config_webhook *to, const struct deliver_content *what, int64_t now_ms, struct deliver *out,
	struct fw_err *err)
{
	json_t *all = read_events(what->payload), *first = what->first_payload ? read_events(what->first_payload) : NULL;
	int result = 0;
	if (!all || json_array_size(all) == 0 || (what->first && !first))
		result = err_set(err, ERR_INVALID, "the notification is not JSON");
	else if (to->kind == RECEIVER_MAIL)
		prepare_mail(to, all, json_array_get(first, 0), what, now_ms, out);
	else
		prepare_chat(to, all, what, out);
	json_decref(all);
	json_decref(first);
	return result;
}
