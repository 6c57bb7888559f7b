/*
 * Golden hashes of attention's keys, useful work and inputs, taken at 52a8aa6, before families existed. Histories are found by
 * keys, and a base's times depend on inputs: these must not change when the sources do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attention_cell.h"
#include "lib/lib.h"
#include "model/model.h"
#include "runner/internal.h"
#include "runner_run.h"

static void same(const char *of, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		fail_msg("%s is %s, was %s", of, got, want);
}

static void load(const char *path, struct suite *s)
{
	struct fw_err err = { 0 };
	struct buf text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	buf_init(&text, 1 << 16);
	assert_int_equal(buf_read_fd(&text, fd), 0);
	close(fd);
	if (suite_parse(text.data, text.len, path, s, &err) != 0)
		fail_msg("%s", err.text);
	buf_fini(&text);
}

/* What identifies a row of a comparison or a history, and what its results are computed from. */
static void hash_cells(const struct suite *s, char hex[HASH_HEX])
{
	struct hash_state h;
	char line[2 * CASE_KEY_SIZE + 200];

	hash_begin(&h);
	for (int i = 0; i < s->n_cells; i++) {
		const struct cell *c = &s->cell[i];

		snprintf(line, sizeof line, "%s %s %s %s %s %s %.17g %.17g %g\n", c->key, c->case_key, c->family, c->group,
			attention_mask_name(attention_in(c)), direction_name(c->direction), case_flops(c), case_bytes(c),
			c->threshold_pct);
		hash_update(&h, line, strlen(line));
	}
	hash_end(&h, hex);
}

static void keys_and_work(void **state)
{
	static const struct {
		const char *path, *cells, *suite;
	} golden[] = {
		{ "etc/suites/ffa.yaml", "f21ce7e72added73ab1a3372af57f402ad3a37fff456b074ccd3f8e2b877f25c",
			"dc554bc8624357e4fa5f964c4701c9c9a921afa6ef4c8d4a9ebc1fc926680ce2" },
		{ "etc/suites/ffa-smoke.yaml", "23a5d286f4164ccee85df5ce106b0001347e074d00ad7cd042762606ddf429e9",
			"9de7dcbc088e2ada91c30e60d730da94a2f87a63caeaf0562239599cf6b4f644" },
		{ "etc/suites/ffa-nearly-dense.yaml", "854012d6ac3508d43b5bb0621b938b1a785f187488007e0ce7ad7215c154bd33",
			"a7d6a53460d7f9e8810ab5011a5bfa8edf9c7d48c6eceeb477f9a233d4548924" },
		{ "etc/suites/bubble.yaml", "05f927999f80727b840299c2665de47983a4bcbb7fd68bf4d985945c85900890",
			"d0354a97c6c24e8f58ea853495fe6187f6f08fffdd80f02f9292599a7a8adf81" },
		{ "etc/suites/demo.yaml", "6a91babad61f758fa258f73f8f4bbacda4001629ff78a7455088b4b5f6dc0ad6",
			"455783e1aa4bbfaa352887f2d92d64533eabaef94b5f58eb95bc13a6871485cf" },
		{ "etc/suites/traffic.yaml", "6ced25829637f1ac8c64bf7f3fe331d53bec741c7d70ad4337d658ac30274a6a",
			"cf0a77cccf1c9f2c153db7d637ab1bdb74b013c7b2f620fc04e1d640579b7269" },
		{ "etc/suites/ws.yaml", "612ea887b8eae200a713cf532bdae6dc3d4995b70453d0d691154de15851b8f0",
			"48bf26b724be6547ef496b6dd6037ae42d807707809e348990ad1615d410847b" },
		{ "etc/suites/ws-2x16x64.yaml", "f6a75ba0b385f323c7f0fcfa08b1ce0b39de9eaedb96be1af1e2ccb6835801d8",
			"0e75dfcb64c274a7a0cd387d3fa176206133b06fe5ecbfdfe56c3a0e5714ed16" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
		struct suite s;
		char hex[HASH_HEX];

		load(golden[i].path, &s);
		hash_cells(&s, hex);
		same(golden[i].path, hex, golden[i].cells);
		suite_hash(&s, hex);
		same("its hash", hex, golden[i].suite);
		suite_fini(&s);
	}
}

/* The inputs themselves, with offsets and block bits, and once more with the second mask of these sizes. */
static void inputs(void **state)
{
	static const struct {
		int32_t mask;
		enum pattern pattern;
		int n_seqs;
		const char *named, *second;
	} golden[] = {
		{ FW_FULL, PATTERN_UNIFORM, 1, "1b23aa5e7e00da03353b86a3768ace799b65f608caa42543770ea59c09ad0a57",
			"cc3ceead4c153aafc18d0d90c4069ecf4c2268b1258db8931cdebb6d4f300270" },
		{ FW_CAUSAL, PATTERN_UNIFORM, 1, "90f35535b924f9cd1be7911094ca97b002b6654c76e5cc921c2a4a31f7029123",
			"905007e305420db1cf510737e777137665799628eb892f9bcce313f7c89b6f15" },
		{ FW_FULL, PATTERN_UNIFORM, 2, "28382ae02c1b886cca789d4c9991edd8283460759183ebcb082fbd2846ea3d63",
			"0c36b250c724fc1a8bdbddbd920c0f21a22619214b73a67e89a1c6a27e91cd17" },
		{ FW_CAUSAL, PATTERN_UNIFORM, 2, "d2af977c0242be159bc3fecd9433f35075293b545b4b1461ada15592d2ee0972",
			"cad218d97c10b4d845416ad961cd8912c8ae1eed144e8836f09ac8bb6755d3ef" },
		{ FW_BLOCKS, PATTERN_UNIFORM, 1, "a3b91387b77e02a31103cd20e498ebfdfdf7d80555009ba63ac7e62beb5c882d",
			"c62e50d7163a223d67a431fca8bda94a30cd554a45c019bf0745efb3d0019b75" },
		{ FW_BLOCKS, PATTERN_BANDED, 1, "25d225251dc0d523b6731cc46dd749796146072e4b1e246fbdb38e7e7806d436",
			"9b3fb4f2106a58944728ec34f0812dcd58f1fc0526c36a184b4dafffdd456ebb" },
		{ FW_BLOCKS, PATTERN_STRIDED, 1, "f78a97e6a5d9e1024f87d3f68df0b7e58fce992b17e95bbe544453bbcd580643",
			"b33b04df0e7fdf33fce95aa2fedce4ba365c4caab21dbe7eb364acc63e55b6ac" },
		{ FW_BLOCKS, PATTERN_RANDOM_TOKENS, 1, "46d34789975d4d9cbc822e1ebe5cc97bbaeb60df61b207c444d7436eb9389ef5",
			"1ce73ab229653be1b53b59c9c3c4fa4e7a8663895a189308b00617e422fb1ea2" },
		{ FW_BLOCKS, PATTERN_BIGBIRD, 1, "1739fc56aa136fcc1a76e50a7c67a75d833c580f50b6d6b1c3cf0ef7d311e793",
			"6ab3a5cec5de4e360ce0c308dc8449f77677500bb9b72f53583e5c32eb72198d" },
	};
	static const int32_t one[] = { 256 }, two[] = { 96, 160 };
	struct device *dev;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(device_cpu.open(0, 1, &dev, &err), 0);
	for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
		struct hash_state h;
		char named[HASH_HEX], second[HASH_HEX];

		hash_begin(&h);
		for (enum direction d = DIRECTION_FORWARD; d <= DIRECTION_BACKWARD; d++) {
			struct cell c = small_cell(golden[i].mask, d, golden[i].n_seqs, golden[i].n_seqs > 1 ? two : one);
			struct problem p;

			attention_of(&c)->pattern = golden[i].pattern;
			case_name(&c);
			assert_int_equal(problem_open(&p, &device_cpu, dev, &c, &err), 0);
			hash_update(&h, p.input_sha256, strlen(p.input_sha256));
			if (d == DIRECTION_FORWARD)
				snprintf(named, sizeof named, "%s", p.input_sha256);
			if (golden[i].n_seqs > 1 || golden[i].mask == FW_BLOCKS) {
				assert_true(problem_has_second(&p));
				assert_int_equal(problem_second(&p, &err), 0);
			}
			for (int slot = 0; slot < FW_ATTENTION_SLOTS; slot++)
				if (p.slot[slot].use == SLOT_INPUT && slot != FW_O && slot != FW_LSE)
					hash_update(&h, p.slot[slot].master, p.slot[slot].bytes);
			problem_close(&p);
		}
		hash_end(&h, second);
		same("the inputs' name", named, golden[i].named);
		same("both directions under the second mask", second, golden[i].second);
	}
	device_cpu.close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_work),
		cmocka_unit_test(inputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
