/*
 * Stands in for a tool that receives NVTX ranges (NVTX_INJECTION64_PATH): writes each to the file named by FAKE_NVTX, as "push
 * DOMAIN CATEGORY MESSAGE registered|plain SEED.LAUNCH.PASS.CALL" and "pop".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { CALLBACKS = 1, CORE2 = 5, PUSH = 4, POP = 5, NAME_CATEGORY = 8, REGISTER_STRING = 10, CREATE = 12 };
enum { REGISTERED = 3 };

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, n_payloads;
	uint64_t payload;
	int32_t message_type;
	const char *message;
};

struct payload_data {
	uint64_t schema;
	size_t size;
	const void *payload;
};

struct payload {
	uint64_t seed;
	uint32_t run, pass, call;
};

struct callbacks {
	size_t size;
	int (*table)(int module, void ****table, unsigned *n);
};

static char categories[32][32];

static FILE *out(void)
{
	static FILE *file;
	if (!file)
		file = fopen(getenv("FAKE_NVTX") ? getenv("FAKE_NVTX") : "/dev/null", "ae");
	return file;
}

static void *create(const char *name)
{
	return strdup(name);
}

static void *register_string(void *domain, const char *text)
{
	(void)domain;
	return strdup(text);
}

static void name_category(void *domain, uint32_t category, const char *name)
{
	(void)domain;
	snprintf(categories[category % 32], sizeof categories[0], "%s", name);
}

static int push(const char *domain, const struct attributes *a)
{
	const struct payload_data *data = (const void *)(uintptr_t)a->payload;
	fprintf(out(), "push %s %s %s %s", domain, categories[a->category % 32], a->message,
		a->message_type == REGISTERED ? "registered" : "plain");
	if (a->n_payloads == 1 && data->size >= sizeof(struct payload) - 4) {
		struct payload p;
		memcpy(&p, data->payload, sizeof p);
		fprintf(out(), " %llu.%u.%u.%u", (unsigned long long)p.seed, p.run, p.pass, p.call);
	}
	fputc('\n', out());
	return 0;
}

static int pop(const char *domain)
{
	(void)domain;
	fputs("pop\n", out());
	fflush(out());
	return 0;
}

EXPORT int InitializeInjectionNvtx2(const void *(*tables)(uint32_t id))
{
	const struct callbacks *c = tables(CALLBACKS);
	void ***table;
	unsigned n;
	if (!c || !c->table(CORE2, &table, &n) || n <= CREATE)
		return 0;
	*table[PUSH] = (void *)(uintptr_t)push;
	*table[POP] = (void *)(uintptr_t)pop;
	*table[NAME_CATEGORY] = (void *)(uintptr_t)name_category;
	*table[REGISTER_STRING] = (void *)(uintptr_t)register_string;
	*table[CREATE] = (void *)(uintptr_t)create;
	return 1;
}
