/* modulecode.c - sorted functions of a module. Pieces are disassembled on demand, because most code of two builds is equal. */
#include "worker/internal.h"

#include <signal.h>
#include <sys/mman.h>

/*
 * ---- nvdisasm ----
 * Process of the disassembler, in the sandbox, since a branch wrote the code that it parses. It reads only named files, so the
 * code is in a memory file, named by its path in /proc. The output goes to another memory file with a size limit, so that endless
 * output ends before the deadline.
 */

enum { DEADLINE_MS = 120000, ERRORS_MAX = 4096, CODE_FD = 3 };

static const int64_t text_max_bytes = (int64_t)256 << 20;
static const int64_t memory_max_bytes = (int64_t)4 << 30;

static int run_disassembler(const struct sandbox *sandbox, const char *path, int code_fd, int text_fd, struct fw_err *err)
{
	static const struct sandbox no_sandbox;
	const struct sandbox *in = sandbox ? sandbox : &no_sandbox;
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	char name[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", CODE_FD);
	sandbox_run(in, v, path, false);
	sandbox_arg(v, "-c");
	sandbox_arg(v, name);
	struct proc_spec spec = { .argv = v->arg,
		.fd = { { code_fd, CODE_FD }, { text_fd, STDOUT_FILENO } },
		.n_fd = 2,
		.file_size_bytes = text_max_bytes,
		.address_space_bytes = memory_max_bytes,
		.cpu_s = DEADLINE_MS / 1000 };
	struct proc_exit how = { 0 };
	struct buf errors;
	char words[64];
	buf_init(&errors, ERRORS_MAX);
	int result = sandbox_end(v, err);
	if (result == 0)
		result = proc_run(&spec, NULL, NULL, &errors, DEADLINE_MS, &how, err);
	free(v);
	if (result == 0)
		how = sandbox_exit(in, &how);
	if (result == 0 && how.signal == SIGXFSZ) {
		result = err_set(err, ERR_FULL, "%s printed more than %lld bytes", path, (long long)text_max_bytes);
	} else if (result == 0 && (how.status != 0 || how.timed_out)) {
		proc_describe(&how, words);
		errors.data[strcspn(errors.data, "\r\n")] = '\0';
		result = err_set(err, ERR_INVALID, "%s: %s%s%.400s", path, words, errors.data[0] ? ": " : "", errors.data);
	}
	buf_fini(&errors);
	return result;
}

static int parse(int text_fd, struct sass *out, struct fw_err *err)
{
	struct stat st;
	if (fstat(text_fd, &st) != 0)
		return err_sys(err, "the output of the disassembler");
	if (st.st_size == 0)
		return sass_parse(out, "", 0, err);
	void *text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, text_fd, 0);
	if (text == MAP_FAILED)
		return err_sys(err, "the output of the disassembler");
	int result = sass_parse(out, text, (size_t)st.st_size, err);
	munmap(text, (size_t)st.st_size);
	return result;
}

/* Disassemble a piece of device code. Own: sass_fini. Err: it failed, took too long or printed too much. */
static int nvdisasm_run(
	const struct sandbox *sandbox, const char *path, const void *elf, size_t len, struct sass *out, struct fw_err *err)
{
	*out = (struct sass){ 0 };
	int code_fd = sealed_once("the device code", elf, len, err);
	int text_fd = code_fd < 0 ? -1 : sealed_once("the disassembly", NULL, 0, err);
	int result = text_fd < 0 ? -1 : run_disassembler(sandbox, path, code_fd, text_fd, err);
	if (result == 0)
		result = parse(text_fd, out, err);
	fd_close(&code_fd);
	fd_close(&text_fd);
	return result;
}

/* ---- modulecode ---- */

enum { FUNCTIONS_MAX = 1 << 16, PIECES_MAX = 1 << 14, SYMBOL_MAX_BYTES = 1 << 20 };

struct modulecode_piece {
	int sm;
	void *elf;
	size_t len;
	bool is_requested;
	struct sass sass;
	struct fw_err unread; /* reason of missing instructions */
};

static int no_memory(struct fw_err *err)
{
	return err_set(err, ERR_FULL, "no memory for the module's device code");
}

static int add_function(void *arg, const struct cubin_function *f, struct fw_err *err)
{
	struct modulecode *m = arg;
	struct buf steady;
	if ((m->n & (m->n - 1)) == 0) {
		struct modulecode_function *more =
			m->n < FUNCTIONS_MAX ? reallocarray(m->function, m->n ? 2 * m->n : 1, sizeof *more) : NULL;
		if (!more)
			return err_set(err, ERR_FULL, "a module with more than %zu functions", m->n);
		m->function = more;
	}
	buf_init(&steady, SYMBOL_MAX_BYTES);
	cubin_steady_symbol(f->symbol, &steady);
	struct modulecode_function *mine = &m->function[m->n];
	*mine = (struct modulecode_function){ .sm = m->piece[m->n_pieces - 1].sm,
		.symbol = strdup(f->symbol),
		.steady = strdup(steady.data),
		.resources = *f->resources,
		.piece = m->n_pieces - 1 };
	memcpy(mine->code_sha256, f->code_sha256, HASH_HEX);
	m->n++;
	buf_fini(&steady);
	return mine->symbol && mine->steady ? 0 : no_memory(err);
}

static int add_piece(void *arg, int sm, const void *elf, size_t len, struct fw_err *err)
{
	struct modulecode *m = arg;
	if ((m->n_pieces & (m->n_pieces - 1)) == 0) {
		struct modulecode_piece *more =
			m->n_pieces < PIECES_MAX ? reallocarray(m->piece, m->n_pieces ? 2 * m->n_pieces : 1, sizeof *more) : NULL;
		if (!more)
			return err_set(err, ERR_FULL, "a module with more than %zu pieces of device code", m->n_pieces);
		m->piece = more;
	}
	struct modulecode_piece *mine = &m->piece[m->n_pieces];
	*mine = (struct modulecode_piece){ .sm = sm, .elf = malloc(len + 1), .len = len };
	if (!mine->elf)
		return no_memory(err);
	memcpy(mine->elf, elf, len);
	m->n_pieces++;
	struct fw_err unread = { 0 };
	if (cubin_read(elf, len, add_function, m, &unread) != 0 && unread.code == ERR_FULL)
		return err_set(err, unread.code, "%s", unread.text);
	return 0;
}

int modulecode_order(const struct modulecode_function *a, const struct modulecode_function *b)
{
	int order = (a->sm > b->sm) - (a->sm < b->sm);
	return order ? order : strcmp(a->steady, b->steady);
}

/* Functions with the same name are sorted by their code, so that equal ones are paired. */
static int by_name(const void *a, const void *b)
{
	const struct modulecode_function *x = a, *y = b;
	int order = modulecode_order(x, y);
	return order ? order : strcmp(x->code_sha256, y->code_sha256);
}

int modulecode_open(const char *path, const struct sandbox *sandbox, struct modulecode **out, struct fw_err *err)
{
	struct modulecode *m = mem_alloc_zero(1, sizeof *m);
	m->sandbox = sandbox;
	*out = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int result = fd < 0 ? err_sys(err, "cannot be read") : kernelcode_pieces(fd, add_piece, m, err);
	fd_close(&fd);
	if (result != 0) {
		modulecode_free(m);
		return err_context(err, "%s", path);
	}
	if (m->n)
		qsort(m->function, m->n, sizeof *m->function, by_name);
	*out = m;
	return 0;
}

void modulecode_free(struct modulecode *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		free(m->function[i].symbol);
		free(m->function[i].steady);
	}
	for (size_t i = 0; i < m->n_pieces; i++) {
		free(m->piece[i].elf);
		sass_fini(&m->piece[i].sass);
	}
	free(m->function);
	free(m->piece);
	free(m);
}

int modulecode_sass(struct modulecode *m, const struct modulecode_function *f, const char *nvdisasm, const struct sass **sass,
	const struct sass_function **function, struct fw_err *err)
{
	struct modulecode_piece *p = &m->piece[f->piece];
	if (!p->is_requested) {
		p->is_requested = true;
		(void)nvdisasm_run(m->sandbox, nvdisasm, p->elf, p->len, &p->sass, &p->unread);
	}
	if (p->unread.code != ERR_NONE)
		return err_set(err, p->unread.code, "%s", p->unread.text);
	*sass = &p->sass;
	*function = sass_find(&p->sass, f->symbol);
	return *function ? 0 : err_set(err, ERR_NOT_FOUND, "%s printed no instructions of %s", nvdisasm, f->symbol);
}
