/* main.c - flopwatch-send: send one notification, or make one step of a log-in, read as JSON from standard input. */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "send/internal.h"

static void print_answer(const struct send_answer *answer)
{
	struct buf line;
	struct jsonw j;
	char *comments = answer->comments ? json_dumps(answer->comments, JSON_COMPACT) : NULL;
	buf_init(&line, 1 << 18);
	jsonw_init(&j, &line);
	jsonw_object(&j);
	jsonw_kv_int(&j, "status", answer->status);
	jsonw_kv_int(&j, "duration_ms", answer->duration_ms);
	jsonw_kv_int(&j, "retry_after_s", answer->retry_after_s);
	if (answer->answer[0])
		jsonw_kv_string(&j, "answer", answer->answer);
	if (answer->etag[0])
		jsonw_kv_string(&j, "etag", answer->etag);
	if (answer->has_next)
		jsonw_kv_bool(&j, "has_next", true);
	if (comments)
		jsonw_format(&j, "comments=%s{json}", comments);
	jsonw_object_end(&j);
	puts(line.data);
	buf_fini(&line);
	free(comments);
}

/* Send a notification and print the result. Returns the exit status. */
static int deliver(const struct buf *text, struct fw_err *err)
{
	struct notification notification = { 0 };
	struct send_answer answer = { 0 };
	if (notification_read(text->data, text->len, &notification, err) != 0)
		return 2;
	int status = send_deliver(&notification, &answer, err) == 0 ? 0 : 1;
	print_answer(&answer);
	json_decref(answer.comments);
	notification_fini(&notification);
	return status;
}

static int log_in(const struct buf *text, struct fw_err *err)
{
	struct buf out;
	buf_init(&out, 1 << 20);
	int result = oidc_perform(text->data, text->len, &out, err);
	if (out.len)
		puts(out.data);
	if (out.data)
		explicit_bzero(out.data, out.len);
	buf_fini(&out);
	return result == 0 ? 0 : err->code == ERR_INVALID ? 2 : 1;
}

int main(int argc, char **argv)
{
	bool is_log_in = argc == 2 && strcmp(argv[1], "log-in") == 0;
	if (argc > 1 && !is_log_in) {
		if (strcmp(argv[1], "--version") == 0)
			return puts("flopwatch-send " FW_VERSION) < 0;
		bool help = strcmp(argv[1], "--help") == 0;
		fputs("usage: flopwatch-send < notification.json | flopwatch-send log-in < request.json\n"
		      "  {\"url\":\"https://...\",\"headers\":{\"Name\":\"value\"},\"body\":\"...\",\"allow_internal\":false}\n"
		      "  {\"url\":\"smtp://...\",\"body\":\"...\",\"mail\":{\"from\":\"a@b\",\"to\":[\"c@d\"]}}\n"
		      "prints {\"status\":200,\"duration_ms\":12,\"retry_after_s\":0}, status 0 without an answer\n"
		      "exit 0 delivered, 1 not delivered, 2 the notification is invalid, 75 this machine lacks memory\n",
			help ? stdout : stderr);
		return help ? 0 : 2;
	}
	json_set_alloc_funcs(mem_alloc, free);
	mem_end_program("flopwatch-send", PROC_EXIT_AGAIN);
	struct buf text;
	struct fw_err err = { 0 };
	buf_init(&text, 4 << 20);
	int status = 0;
	(void)signal(SIGPIPE, SIG_IGN); /* a closed connection becomes an error of write */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		err_set(&err, ERR_INTERNAL, "libcurl did not start");
		status = 1;
	} else if (buf_read_fd(&text, STDIN_FILENO) != 0) {
		err_sys(&err, "cannot read the notification on standard input");
		status = PROC_EXIT_AGAIN;
	} else if (text.failed) {
		err_set(&err, ERR_INVALID, "the notification on standard input is larger than 4 MiB");
		status = 2;
	} else {
		status = is_log_in ? log_in(&text, &err) : deliver(&text, &err);
	}
	if (status != 0)
		fprintf(stderr, "flopwatch-send: %s\n", err.text);
	buf_fini(&text);
	curl_global_cleanup();
	return status;
}
