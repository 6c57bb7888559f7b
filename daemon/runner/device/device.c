/* device.c - which devices this machine has, and which of them a name means. */
#include "runner/device/device.h"

#include <stdio.h>
#include <string.h>

static const struct device_ops *const all_ops[] = {
#ifdef FW_HAVE_CUDA
	&device_cuda,
#endif
	&device_cpu,
	&device_sim,
};

enum { N_OPS = sizeof all_ops / sizeof all_ops[0] };

int device_list(struct msg_device *out, int max)
{
	int n = 0;
	for (int k = 0; k < N_OPS; k++) {
		for (int i = 0; n < max; i++) {
			struct fw_err err = { 0 };
			if (all_ops[k]->describe(i, &out[n], &err) != 0)
				break;
			n++;
		}
	}
	return n;
}

int device_find(const char *name, const struct device_ops **ops, int *index, struct fw_err *err)
{
	struct msg_device found[PROTOCOL_DEVICES_MAX];
	int n = device_list(found, PROTOCOL_DEVICES_MAX);
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
			return 0;
		}
		int wrote = snprintf(present + used, sizeof present - used, "%s%s", i ? ", " : "", address);
		if (wrote > 0 && (size_t)wrote < sizeof present - used)
			used += (size_t)wrote;
	}
	return err_set(err, ERR_NOT_FOUND, "no device '%s' here; there are: %s", name, present);
}
