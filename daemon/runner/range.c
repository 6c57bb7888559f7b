/* range.c - NVTX ranges. Handles are made with the first range, when a profiler that provides them has been loaded. */
#include "runner/internal.h"

#if defined(FW_HAVE_CUDA) && __has_include(<nvtx3/nvToolsExt.h>)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>) /* CUDA 12.4 and newer */
#define HAS_PAYLOADS
#include <nvtx3/nvToolsExtPayload.h>
#endif
#pragma GCC diagnostic pop

enum { KEY_SIZE = 512, CATEGORY_PHASE = ROLES + 1 };

/* Layout as in the schema. */
struct payload {
	uint64_t seed;
	uint32_t run, pass, call;
};

static struct {
	bool is_made;
	nvtxDomainHandle_t domain;
	uint64_t schema;
	nvtxStringHandle_t cell; /* of `key` */
	char key[KEY_SIZE];
} state;

#ifdef HAS_PAYLOADS
static uint64_t make_schema(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "seed", .offset = offsetof(struct payload, seed) },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT32, .name = "run", .offset = offsetof(struct payload, run) },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT32, .name = "pass", .offset = offsetof(struct payload, pass) },
		{ .type = NVTX_PAYLOAD_ENTRY_TYPE_UINT32, .name = "call", .offset = offsetof(struct payload, call) },
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.name = "flopwatch call",
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = sizeof entries / sizeof entries[0],
		.payloadStaticSize = sizeof(struct payload),
	};
	return nvtxPayloadSchemaRegister(domain, &schema);
}

/* Own: `data` must live until the event is emitted. */
static void attach(nvtxEventAttributes_t *a, nvtxPayloadData_t *data, const struct payload *payload)
{
	*data = (nvtxPayloadData_t){ .schemaId = state.schema, .size = sizeof *payload, .payload = payload };
	a->payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a->reserved0 = 1; /* one payload */
	a->payload.ullValue = (uint64_t)(uintptr_t)data;
}
#endif

static void make(void)
{
	state.is_made = true;
	state.domain = nvtxDomainCreateA("flopwatch");
	for (int role = ROLE_NONE + 1; role < ROLES; role++)
		nvtxDomainNameCategoryA(state.domain, (uint32_t)role, role_name((enum role)role));
	nvtxDomainNameCategoryA(state.domain, CATEGORY_PHASE, "phase");
#ifdef HAS_PAYLOADS
	state.schema = make_schema(state.domain);
#endif
}

static nvtxEventAttributes_t attributes(uint32_t category)
{
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .category = category };
	return a;
}

void range_cell(const struct range_call *call)
{
	if (!state.is_made)
		make();
	if (strcmp(state.key, call->cell) != 0) {
		snprintf(state.key, sizeof state.key, "%s", call->cell);
		state.cell = nvtxDomainRegisterStringA(state.domain, state.key);
	}
	nvtxEventAttributes_t a = attributes((uint32_t)call->role);
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = state.cell;
#ifdef HAS_PAYLOADS
	struct payload payload = { .seed = call->seed, .run = call->run, .pass = call->pass, .call = call->call };
	nvtxPayloadData_t data;
	attach(&a, &data, &payload);
#endif
	nvtxDomainRangePushEx(state.domain, &a);
}

void range_phase(const char *phase)
{
	if (!state.is_made)
		make();
	nvtxEventAttributes_t a = attributes(CATEGORY_PHASE);
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = phase;
	nvtxDomainRangePushEx(state.domain, &a);
}

void range_end(void)
{
	nvtxDomainRangePop(state.domain);
}
#else
void range_cell(const struct range_call *call)
{
	(void)call;
}

void range_phase(const char *phase)
{
	(void)phase;
}

void range_end(void)
{
}
#endif
