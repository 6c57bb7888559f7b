/* fatbin.c - containers of entries, each a header and bytes. Numbers are little-endian. */
#include "profile/profile.h"

#define CONTAINER_MAGIC 0xba55ed50u
#define IS_LZ4          0x2000u
#define IS_ZSTD         0x8000u

enum { KIND_CODE = 2, ENTRY_HEADER = 64 };

struct container_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
};

struct entry_header {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes; /* after the header */
	uint32_t packed_bytes, options;
	uint16_t minor, major; /* of the layout */
	uint32_t sm, name, name_bytes;
	uint64_t flags, reserved, full_bytes;
};

_Static_assert(sizeof(struct container_header) == 16 && sizeof(struct entry_header) == ENTRY_HEADER, "the layout has no gaps");

static int take_entry(const struct entry_header *h, const unsigned char *data, fatbin_fn *entry, void *arg, struct fw_err *err)
{
	struct fatbin_entry e = { .sm = (int)h->sm, .data = data, .len = h->bytes, .full_len = h->bytes };
	if (h->kind != KIND_CODE || h->sm == 0 || h->sm > 9999)
		return 0;
	if (h->flags & (IS_LZ4 | IS_ZSTD)) {
		if (h->packed_bytes > h->bytes)
			return err_set(err, ERR_INVALID, "device code is longer than its entry");
		e.packing = h->flags & IS_ZSTD ? FATBIN_ZSTD : FATBIN_LZ4;
		e.len = h->packed_bytes;
		e.full_len = h->full_bytes;
	}
	return entry(arg, &e, err);
}

static int read_container(const unsigned char *data, size_t len, fatbin_fn *entry, void *arg, struct fw_err *err)
{
	while (len >= ENTRY_HEADER) {
		struct entry_header h;
		memcpy(&h, data, sizeof h);
		if (h.header_bytes < ENTRY_HEADER || h.header_bytes > len || h.bytes > len - h.header_bytes)
			return err_set(err, ERR_INVALID, "an entry of device code goes beyond its container");
		if (take_entry(&h, data + h.header_bytes, entry, arg, err) != 0)
			return -1;
		data += h.header_bytes + h.bytes;
		len -= h.header_bytes + h.bytes;
	}
	return 0;
}

/* Read containers of one file each, with alignment gaps of the linker. */
static int read_section(const unsigned char *data, size_t len, fatbin_fn *entry, void *arg, struct fw_err *err)
{
	struct container_header h;
	while (len >= sizeof h) {
		memcpy(&h, data, sizeof h);
		size_t step = sizeof(uint32_t);
		if (h.magic == CONTAINER_MAGIC) {
			if (h.header_bytes < sizeof h || h.header_bytes > len || h.bytes > len - h.header_bytes)
				return err_set(err, ERR_INVALID, "a container of device code goes beyond its section");
			if (read_container(data + h.header_bytes, h.bytes, entry, arg, err) != 0)
				return -1;
			step = h.header_bytes + h.bytes;
		}
		data += step;
		len -= step;
	}
	return 0;
}

int fatbin_read(const void *module, size_t len, fatbin_fn *entry, void *arg, struct fw_err *err)
{
	struct elf elf;
	if (elf_open(&elf, module, len, err) != 0)
		return -1;
	size_t left = len;
	bool has_containers = false;
	for (size_t i = 0; i < elf.n_sections; i++) {
		struct elf_section s;
		if (!elf_section(&elf, i, &s) || !s.data || strcmp(s.name, ".nv_fatbin") != 0)
			continue;
		if (s.len > left) /* sections must not overlap: reading them would never end */
			return err_set(err, ERR_INVALID, "sections of device code overlap");
		left -= s.len;
		has_containers = true;
		if (read_section(s.data, s.len, entry, arg, err) != 0)
			return -1;
	}
	struct fatbin_entry alone = { .sm = resources_architecture(&elf), .data = module, .len = len, .full_len = len };
	return !has_containers && alone.sm > 0 ? entry(arg, &alone, err) : 0;
}
