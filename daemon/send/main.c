/* flopwatch-send: deliver one message, read as JSON from standard input. */
#include <curl/curl.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/lib.h"
#include "send/internal.h"

static void print_answer(const struct send_answer *answer)
{
	struct buf line;
	struct jsonw j;
	buf_init(&line, 256);
	jsonw_init(&j, &line);
	jsonw_object(&j);
	jsonw_kv_int(&j, "status", answer->status);
	jsonw_kv_int(&j, "duration_ms", answer->duration_ms);
	jsonw_kv_int(&j, "retry_after_s", answer->retry_after_s);
	jsonw_object_end(&j);
	puts(line.data);
	buf_fini(&line);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		if (strcmp(argv[1], "--version") == 0)
			return puts("flopwatch-send " FW_VERSION) < 0;
		bool help = strcmp(argv[1], "--help") == 0;
		fputs("usage: flopwatch-send < delivery.json\n"
		      "  {\"url\":\"https://...\",\"headers\":{\"Name\":\"value\"},\"body\":\"...\",\"allow_internal\":false}\n"
		      "prints {\"status\":200,\"duration_ms\":12,\"retry_after_s\":0}, status 0 without an answer\n"
		      "exit 0 delivered, 1 not delivered, 2 the notification is invalid\n",
			help ? stdout : stderr);
		return help ? 0 : 2;
	}
	struct buf text;
	struct notification notification = { 0 };
	struct send_answer answer = { 0 };
	struct fw_err err = { 0 };
	buf_init(&text, 4 << 20);
	int status = 0;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		err_set(&err, ERR_INTERNAL, "libcurl did not start");
		status = 1;
	} else if (buf_read_fd(&text, STDIN_FILENO) != 0 || text.failed) {
		err_set(&err, ERR_INVALID, "the notification on standard input cannot be read or is larger than 4 MiB");
		status = 2;
	} else if (notification_read(text.data, text.len, &notification, &err) != 0) {
		status = 2;
	} else {
		status = send_deliver(&notification, &answer, &err) == 0 ? 0 : 1;
		print_answer(&answer);
	}
	if (status != 0)
		fprintf(stderr, "flopwatch-send: %s\n", err.text);
	notification_fini(&notification);
	buf_fini(&text);
	curl_global_cleanup();
	return status;
}
