/*
 * kernelcode.c - hashes of a module's device code. Every cubin is unpacked and read once; the results are a sorted list.
 *
 * nvcc compresses cubins with LZ4 by default, so liblz4 is linked. libzstd is loaded at run time, because every Debian and Ubuntu
 * has it and few modules need it.
 */
#include "worker/sandbox/sandbox.h"

#include <dlfcn.h>
#include <lz4.h>
#include <sys/mman.h>

enum { KERNELS_MAX = 1 << 16 };

static const size_t unpacked_max_bytes = 256u << 20; /* of all compressed cubins together */

struct kernel {
	char symbol[HASH_HEX], code[HASH_HEX];
	int sm;
};

struct kernelcode {
	size_t n, capacity;
	struct kernel *kernel;
};

struct unpacking {
	kernelcode_piece_fn *piece;
	void *arg;
	size_t unpacked_bytes;
};

struct walk {
	kernelcode_fn *kernel;
	void *arg;
	int sm;      /* of the current cubin */
	int refused; /* `kernel` failed, with `err` */
	struct fw_err err;
};

static int add_entry(void *arg, int sm, const struct cubin_function *f, struct fw_err *err)
{
	struct kernelcode *k = arg;
	if (k->n == k->capacity) {
		size_t capacity = k->capacity ? 2 * k->capacity : 64;
		struct kernel *grown = capacity <= KERNELS_MAX ? reallocarray(k->kernel, capacity, sizeof *grown) : NULL;
		if (!grown)
			return err_set(err, ERR_FULL, "a module with more than %zu kernels", k->n);
		k->kernel = grown;
		k->capacity = capacity;
	}
	struct kernel *mine = &k->kernel[k->n++];
	hash_hex(f->symbol, strlen(f->symbol), mine->symbol);
	memcpy(mine->code, f->code_sha256, HASH_HEX);
	mine->sm = sm;
	return 0;
}

static int take_function(void *arg, const struct cubin_function *f, struct fw_err *err)
{
	struct walk *w = arg;
	w->refused = w->kernel(w->arg, w->sm, f, &w->err);
	return w->refused ? err_set(err, w->err.code, "%s", w->err.text) : 0;
}

static bool zstd_unpack(const void *in, size_t in_len, void *out, size_t out_len)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t (*unpack)(void *, size_t, const void *, size_t) = NULL;
	if (library)
		*(void **)&unpack = dlsym(library, "ZSTD_decompress");
	bool good = unpack && unpack(out, out_len, in, in_len) == out_len; /* error codes are larger than any size */
	if (library)
		dlclose(library);
	return good;
}

/* `out_len` is at most unpacked_max_bytes. */
static bool lz4_unpack(const void *in, size_t in_len, void *out, size_t out_len)
{
	return in_len <= INT_MAX && LZ4_decompress_safe(in, out, (int)in_len, (int)out_len) == (int)out_len;
}

static bool unpack(const struct fatbin_entry *e, void *full)
{
	return e->packing == FATBIN_ZSTD ? zstd_unpack(e->data, e->len, full, e->full_len)
					 : lz4_unpack(e->data, e->len, full, e->full_len);
}

/* Read one cubin. If it is unreadable, only its kernels are unknown. */
static int take_piece(void *arg, int sm, const void *elf, size_t len, struct fw_err *err)
{
	struct walk *w = arg;
	struct fw_err unread = { 0 };
	w->sm = sm;
	(void)cubin_read(elf, len, take_function, w, &unread);
	return w->refused ? err_set(err, w->err.code, "%s", w->err.text) : 0;
}

static int take_entry(void *arg, const struct fatbin_entry *e, struct fw_err *err)
{
	struct unpacking *u = arg;
	if (e->packing == FATBIN_PLAIN)
		return u->piece(u->arg, e->sm, e->data, e->len, err);
	if (e->full_len == 0 || e->full_len > unpacked_max_bytes - u->unpacked_bytes)
		return 0;
	u->unpacked_bytes += e->full_len;
	void *full = malloc(e->full_len);
	if (!full)
		return err_set(err, ERR_FULL, "no memory for %zu bytes of device code", e->full_len);
	int result = unpack(e, full) ? u->piece(u->arg, e->sm, full, e->full_len, err) : 0;
	free(full);
	return result;
}

static int by_name(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;
	int order = strcmp(x->symbol, y->symbol);
	return order ? order : (x->sm > y->sm) - (x->sm < y->sm);
}

int kernelcode_pieces(int fd, kernelcode_piece_fn *piece, void *arg, struct fw_err *err)
{
	struct unpacking u = { .piece = piece, .arg = arg };
	struct stat st;
	if (fstat(fd, &st) != 0)
		return err_sys(err, "the module");
	if (st.st_size == 0)
		return err_set(err, ERR_INVALID, "an empty module");
	void *module = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (module == MAP_FAILED)
		return err_sys(err, "the module");
	int result = fatbin_read(module, (size_t)st.st_size, take_entry, &u, err);
	munmap(module, (size_t)st.st_size);
	return result;
}

int kernelcode_each(int fd, kernelcode_fn *kernel, void *arg, struct fw_err *err)
{
	struct walk w = { .kernel = kernel, .arg = arg };
	return kernelcode_pieces(fd, take_piece, &w, err);
}

int kernelcode_open(int fd, struct kernelcode **out, struct fw_err *err)
{
	struct kernelcode *k = mem_alloc_zero(1, sizeof *k);
	*out = NULL;
	if (kernelcode_each(fd, add_entry, k, err) != 0) {
		kernelcode_free(k);
		return -1;
	}
	if (k->n)
		qsort(k->kernel, k->n, sizeof *k->kernel, by_name);
	*out = k;
	return 0;
}

void kernelcode_free(struct kernelcode *k)
{
	if (!k)
		return;
	free(k->kernel);
	free(k);
}

bool kernelcode_find(const struct kernelcode *k, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX])
{
	struct kernel wanted = { .sm = sm };
	size_t low = 0, high = k->n;
	code_sha256[0] = 0;
	if (strlen(symbol_sha256) != HASH_HEX - 1)
		return false;
	memcpy(wanted.symbol, symbol_sha256, HASH_HEX);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_name(&k->kernel[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == k->n || by_name(&k->kernel[low], &wanted) != 0)
		return false;
	for (size_t i = low + 1; i < k->n && by_name(&k->kernel[i], &wanted) == 0; i++)
		if (strcmp(k->kernel[i].code, k->kernel[low].code) != 0)
			return false;
	memcpy(code_sha256, k->kernel[low].code, HASH_HEX);
	return true;
}
