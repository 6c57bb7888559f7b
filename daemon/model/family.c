/* family.c - the table of families, which make generates from the folders, and functions that work on any family. */
#include "model/model.h"

#define FAMILY(name) extern const struct family family_##name;
#include "families.h"
#undef FAMILY

#define FAMILY(name) &family_##name,
static const struct family *const table[] = {
#include "families.h"
	NULL
};
#undef FAMILY

const struct family *family_at(int i)
{
	return i >= 0 && i < (int)(sizeof table / sizeof table[0]) ? table[i] : NULL;
}

const struct family *family_find(const char *name)
{
	for (int i = 0; table[i]; i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	return NULL;
}

const struct family *family_default(void)
{
	const struct family *const *f = table;

	while (f[1] && !(*f)->is_default)
		f++;
	return *f;
}

const struct family_group *family_group(const char *name)
{
	for (int i = 0; table[i]; i++)
		for (const struct family_group *g = table[i]->group; g->name; g++)
			if (strcmp(g->name, name) == 0)
				return g;
	return NULL;
}

bool family_group_is_irregular(const char *name)
{
	const struct family_group *g = family_group(name);

	return g && g->is_irregular;
}

const char *family_slot_name(const struct family *f, int slot)
{
	return slot >= 0 && slot < f->n_slots ? f->slot[slot].name : "?";
}

const char *family_phase_name(const struct family *f, uint32_t phase)
{
	for (int i = 0; i < FAMILY_PHASES_MAX; i++)
		if (phase == (uint32_t)1 << i)
			return f->phase[i] ? f->phase[i] : "?";
	return phase == FW_ALL ? "all" : "phases";
}

bool family_needs_forward(const struct family *f, const void *shape, enum direction d)
{
	for (int i = 0; i < f->n_slots; i++)
		if (f->use(shape, d, i) == SLOT_FORWARD)
			return true;
	return false;
}

void family_json(const struct family *f, const void *shape, struct buf *out)
{
	struct jsonw j;

	jsonw_init(&j, out);
	jsonw_object(&j);
	f->write(shape, &j);
	jsonw_object_end(&j);
}

const char *family_dtype_name(int32_t dtype)
{
	static const char *const names[] = { [FW_BF16] = "bf16",
		[FW_F16] = "f16",
		[FW_F32] = "f32",
		[FW_E4M3] = "e4m3",
		[FW_E5M2] = "e5m2",
		[FW_I8] = "i8",
		[FW_I4] = "i4",
		[FW_I32] = "i32",
		[FW_U32] = "u32" };

	return dtype >= FW_BF16 && dtype <= FW_U32 ? names[dtype] : "unknown";
}

size_t family_element_bytes(int32_t dtype)
{
	switch (dtype) {
	case FW_F32:
	case FW_I32:
	case FW_U32:
		return 4;
	case FW_BF16:
	case FW_F16:
		return 2;
	default:
		return 1;
	}
}
