/* module.c - dlopen and validation of a module's tables. */
#include "runner/internal.h"

#include <dlfcn.h>

/* A table entry is usable if it reaches up to and including enqueue. */
static const size_t provider_least = offsetof(struct fw_provider, enqueue) + sizeof(((struct fw_provider *)0)->enqueue);
static const size_t module_least = offsetof(struct fw_module, provider) + sizeof(((struct fw_module *)0)->provider);

enum { ABI_1 = 1, ABI_1_FAMILIES = 2, ABI_1_SIZES = 72 /* bytes of its sizes in ABI 1 */ };
enum { ABI_1_MASK = 24 /* offset of the mask in the sizes */, ABI_1_MASKS = 3 /* the last mask of ABI 1 */ };

/* struct fw_problem of ABI 1: each family has its own pointer to its sizes, the others are NULL. */
struct problem_abi_1 {
	uint32_t struct_size;
	int32_t family, direction, flags;
	const void *shape[ABI_1_FAMILIES]; /* sizes of families 1 and 2 */
	uint64_t sizes[ABI_1_SIZES / sizeof(uint64_t)];
};

/* Convert the problem to the module's ABI, into `old` for ABI 1; NULL: that ABI has no such problem. */
static const struct fw_problem *problem_for(const struct module *m, const struct fw_problem *problem, struct problem_abi_1 *old)
{
	if (m->abi == FW_ABI)
		return problem;
	if (problem->family != 1) /* the sizes of family 2 changed after ABI 1 */
		return NULL;
	int32_t mask;
	memcpy(&mask, (const char *)problem->shape + ABI_1_MASK, sizeof mask);
	if (mask > ABI_1_MASKS)
		return NULL;
	*old = (struct problem_abi_1){ offsetof(struct problem_abi_1, sizes), problem->family, problem->direction, problem->flags,
		{ old->sizes }, { 0 } };
	memcpy(old->sizes, problem->shape, sizeof old->sizes);
	memcpy(old->sizes, &(uint32_t){ ABI_1_SIZES }, sizeof(uint32_t)); /* their struct_size */
	return (const struct fw_problem *)(const void *)old;
}

int module_can(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, char *why, size_t why_size)
{
	struct problem_abi_1 old;
	const struct fw_problem *theirs = problem_for(m, problem, &old);

	if (theirs)
		return p->can(theirs, why, why_size);
	snprintf(why, why_size, "has ABI %u, which lacks this problem; build the module for ABI %u", m->abi, FW_ABI);
	return FW_UNSUPPORTED;
}

int module_plan(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	int index, struct fw_plan **plan, struct fw_info *info, char *why, size_t why_size)
{
	struct problem_abi_1 old;
	const struct fw_problem *theirs = problem_for(m, problem, &old);

	return theirs ? p->plan(theirs, config, index, plan, info, why, why_size) : FW_UNSUPPORTED;
}

int module_count(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	const struct fw_io *host, struct fw_work *work)
{
	struct problem_abi_1 old;
	const struct fw_problem *theirs = problem_for(m, problem, &old);

	return theirs ? p->count(theirs, config, host, work) : FW_UNSUPPORTED;
}

static int read_provider(struct module *m, const struct fw_provider *from, const char *path, struct fw_err *err)
{
	if (!from)
		return err_set(err, ERR_INVALID, "%s: provider %d is NULL", path, m->n);
	if (from->struct_size < provider_least)
		return err_set(err, ERR_INVALID, "%s: provider %d has struct_size %u, less than the %zu that ABI %u needs", path,
			m->n, from->struct_size, provider_least, m->abi);
	struct fw_provider *to = &m->provider[m->n];
	memset(to, 0, sizeof *to);
	memcpy(to, from, from->struct_size < sizeof *to ? from->struct_size : sizeof *to);
	if (!to->name || !*to->name)
		return err_set(err, ERR_INVALID, "%s: provider %d has no name", path, m->n);
	if (strlen(to->name) >= PEERS_PROVIDER_SIZE) /* a truncated name could equal that of another provider */
		return err_set(err, ERR_INVALID, "%s: provider '%.200s' has a name of %zu bytes; at most %d are possible", path,
			to->name, strlen(to->name), PEERS_PROVIDER_SIZE - 1);
	if (!to->can || !to->plan || !to->bind || !to->enqueue)
		return err_set(err, ERR_INVALID, "%s: provider '%.47s' lacks can, plan, bind or enqueue", path, to->name);
	for (int i = 0; i < m->n; i++)
		if (strcmp(m->provider[i].name, to->name) == 0)
			return err_set(err, ERR_INVALID, "%s: two providers are called '%.47s'", path, to->name);
	m->n++;
	return 0;
}

int module_open(struct module *m, const char *path, struct fw_err *err)
{
	memset(m, 0, sizeof *m);
	m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!m->handle) {
		const char *why = dlerror();
		return err_set(err, ERR_INVALID, "cannot load the module: %s", why ? why : path);
	}
	const struct fw_module *(*entry)(uint32_t) = NULL;
	void *symbol = dlsym(m->handle, "fw_entry");
	memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function pointer */
	if (!entry) {
		err_set(err, ERR_INVALID,
			"%s: no function fw_entry; a module exports it (kernels/fw_kernel.h; see "
			"doc/troubleshooting.md#fw-entry)",
			path);
		goto fail;
	}
	const struct fw_module *table = entry(FW_ABI);
	if (!table)
		table = entry(ABI_1);
	if (!table) {
		err_set(err, ERR_INVALID, "%s: fw_entry(%u) returned NULL: it does not serve this ABI", path, FW_ABI);
		goto fail;
	}
	if (table->abi != FW_ABI && table->abi != ABI_1) {
		err_set(err, ERR_INVALID, "%s: built for ABI %u, this is ABI %u (see doc/troubleshooting.md#abi)", path,
			table->abi, FW_ABI);
		goto fail;
	}
	m->abi = table->abi;
	if (table->struct_size < module_least) {
		err_set(err, ERR_INVALID, "%s: fw_module.struct_size is %u, less than %zu", path, table->struct_size,
			module_least);
		goto fail;
	}
	if (table->n_providers < 1 || table->n_providers > MODULE_PROVIDERS_MAX || !table->provider) {
		err_set(err, ERR_INVALID, "%s: %u providers; 1 to %d are possible", path, table->n_providers,
			MODULE_PROVIDERS_MAX);
		goto fail;
	}
	for (uint32_t i = 0; i < table->n_providers; i++)
		if (read_provider(m, table->provider[i], path, err) != 0)
			goto fail;
	return 0;
fail:
	module_close(m);
	return -1;
}

void module_close(struct module *m)
{
	if (m->handle)
		dlclose(m->handle);
	memset(m, 0, sizeof *m);
}

static void refuse_name(const struct module *m, const char *name, struct fw_err *err)
{
	char names[400] = "";
	size_t used = 0;
	for (int i = 0; i < m->n && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%.47s", i ? ", " : "", m->provider[i].name);
	err_set(err, ERR_NOT_FOUND, "the module has no provider '%s'; it has %s", name, names);
}

const struct fw_provider *module_choose(
	const struct module *m, const char *name, int32_t abi_device, const struct fw_problem *problem, struct fw_err *err)
{
	char reasons[512] = "";
	size_t used = 0;
	bool seen = false;
	for (int i = 0; i < m->n; i++) {
		const struct fw_provider *p = &m->provider[i];
		char why[200] = "";
		if (*name && strcmp(p->name, name) != 0)
			continue;
		seen = true;
		if (p->device != abi_device) {
			snprintf(why, sizeof why, "is for another kind of device");
		} else if (p->family != problem->family) {
			snprintf(why, sizeof why, "is of another family");
		} else {
			int status = module_can(m, p, problem, why, sizeof why);
			if (status == FW_OK)
				return p;
			why[sizeof why - 1] = '\0';
			if (!*why)
				snprintf(why, sizeof why, "cannot (status %d)", status);
		}
		int wrote = snprintf(reasons + used, sizeof reasons - used, "%s%.47s: %s", used ? "; " : "", p->name, why);
		if (wrote > 0 && (size_t)wrote < sizeof reasons - used)
			used += (size_t)wrote;
	}
	if (!seen)
		refuse_name(m, name, err);
	else
		err_set(err, ERR_UNSUPPORTED, "%s", reasons);
	return NULL;
}
