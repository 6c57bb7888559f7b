/* device.c - list of devices, and lookup by name. */
#include "runner/internal.h"

static const struct device_ops *const all_ops[] = {
#ifdef FW_HAVE_CUDA
	&device_cuda,
#endif
	&device_cpu,
	&device_sim,
};

enum { N_OPS = sizeof all_ops / sizeof all_ops[0] };

int device_list(struct msg_device *out, int max, device_left_out_fn *left_out)
{
	struct mig_names names;
	int n = 0;
	mig_names(&names);
	for (int k = 0; k < N_OPS; k++) {
		bool cut = all_ops[k]->kind == DEVICE_CUDA && names.n > 0;
		if (cut)
			n += mig_list(&names, all_ops[k]->describe, out + n, max - n);
		for (int i = 0; !cut && n < max; i++) {
			struct fw_err err = { 0 };
			if (all_ops[k]->describe(i, &out[n], &err) == 0) {
				n++;
				continue;
			}
			if (err.code == ERR_NOT_FOUND || i == PROTOCOL_DEVICES_MAX)
				break;
			char address[24]; /* list the devices after a broken one, too */
			snprintf(address, sizeof address, "%s:%d", device_kind_name(all_ops[k]->kind), i);
			if (left_out)
				left_out(address, err.text);
		}
	}
	return n;
}

/* Make the instance the only GPU of this process. */
static int open_instance(const struct mig_names *names, int which, const struct device_ops **ops, int *index, struct fw_err *err)
{
	*ops = all_ops[0];
	*index = 0;
	return mig_enter(names, which, err);
}

int device_find(const char *name, const struct device_ops **ops, int *index, struct fw_err *err)
{
	struct mig_names names;
	mig_names(&names);
	int which = mig_find(&names, name); /* describing all devices takes a second */
	if (which >= 0 && all_ops[0]->kind == DEVICE_CUDA)
		return open_instance(&names, which, ops, index, err);
	struct msg_device found[PROTOCOL_DEVICES_MAX];
	int n = device_list(found, PROTOCOL_DEVICES_MAX, NULL);
	char present[512] = "";
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		char address[24];
		snprintf(address, sizeof address, "%s:%d", device_kind_name(found[i].kind), found[i].index);
		bool first = found[i].index == 0 && strcmp(name, device_kind_name(found[i].kind)) == 0;
		if (first || strcmp(name, address) == 0 || strcmp(name, found[i].uuid) == 0) {
			for (int k = 0; k < N_OPS; k++)
				if (all_ops[k]->kind == found[i].kind)
					*ops = all_ops[k];
			*index = found[i].index;
			return found[i].kind == DEVICE_CUDA && names.n > 0 ? open_instance(&names, *index, ops, index, err) : 0;
		}
		int wrote = snprintf(present + used, sizeof present - used, "%s%s", i ? ", " : "", address);
		if (wrote > 0 && (size_t)wrote < sizeof present - used)
			used += (size_t)wrote;
	}
	return err_set(err, ERR_NOT_FOUND, "no device '%s' here; there are: %s", name, present);
}
