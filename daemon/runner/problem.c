/* problem.c - buffers of a cell, laid out by its family. */
#include "runner/internal.h"

enum { SECOND_TRIES = 64 };

static bool is_input(const struct problem_slot *s)
{
	return s->use == SLOT_INPUT || s->use == SLOT_FORWARD || s->is_forwards;
}

static bool is_laid(const struct problem *p, int slot)
{
	return (p->slot[slot].use == SLOT_INPUT || p->slot[slot].is_forwards) && p->family->slot[slot].fill == SLOT_LAID;
}

static int make_slot(struct problem *p, int slot, struct fw_err *err)
{
	struct problem_slot *s = &p->slot[slot];

	s->bytes = p->family->lay_out(p->cell.shape.bytes, slot, &p->tensor[slot]);
	if (p->tensor[slot].stride[0] < 1)
		return err_set(err, ERR_INTERNAL, "the family gives %s no stride", family_slot_name(p->family, slot));
	if (p->ops->alloc(p->dev, s->bytes, &s->data, err) != 0)
		return -1;
	p->tensor[slot].data = s->data;
	if (is_laid(p, slot)) {
		s->laid = calloc(1, s->bytes);
		if (!s->laid)
			return err_set(err, ERR_FULL, "no memory for layout data");
		p->host_tensor[slot] = p->tensor[slot];
		p->host_tensor[slot].data = s->laid;
	}
	return is_input(s) ? p->ops->alloc(p->dev, s->bytes, &s->master, err) : 0;
}

/* Allocate the master and the sides' copy, and compute the checksum. */
static int make_input(struct problem *p, int slot, struct fw_err *err)
{
	struct problem_slot *s = &p->slot[slot];
	if (p->ops->checksum(p->dev, s->master, s->bytes, &p->named.sum[slot], err) != 0)
		return -1;
	p->now.sum[slot] = p->named.sum[slot];
	return p->ops->copy(p->dev, s->data, s->master, s->bytes, err);
}

static int lay_slots(struct problem *p, struct fw_err *err)
{
	for (int i = 0; i < p->family->n_slots; i++) {
		struct problem_slot *s = &p->slot[i];

		if (!s->laid)
			continue;
		if (p->family->lay(p->cell.shape.bytes, p->cell.seed, i, s->laid, err) != 0)
			return -1;
		if (p->ops->upload(p->dev, s->master, s->laid, s->bytes, err) != 0 || make_input(p, i, err) != 0)
			return -1;
	}
	return 0;
}

/* Convert drawn bf16 to f16: devices draw only bf16. */
static int convert_to_f16(const struct problem *p, struct problem_slot *s, struct fw_err *err)
{
	enum { CHUNK = 1 << 20 };
	uint16_t *chunk = malloc(CHUNK * sizeof *chunk);
	int result = chunk ? 0 : err_set(err, ERR_FULL, "inputs: out of memory");

	for (size_t at = 0; result == 0 && at < s->bytes; at += CHUNK * sizeof *chunk) {
		size_t bytes = s->bytes - at < CHUNK * sizeof *chunk ? s->bytes - at : CHUNK * sizeof *chunk;
		char *master = (char *)s->master + at;

		result = p->ops->download(p->dev, chunk, master, bytes, err);
		if (result != 0)
			break;
		inputs_to_f16(chunk, bytes / sizeof *chunk);
		result = p->ops->upload(p->dev, master, chunk, bytes, err);
	}
	free(chunk);
	return result;
}

static int draw_slots(struct problem *p, struct fw_err *err)
{
	for (int i = 0; i < p->family->n_slots; i++) {
		struct problem_slot *s = &p->slot[i];

		if ((s->use == SLOT_INPUT || s->is_forwards) && !s->laid &&
			(p->ops->fill_inputs(p->dev, s->master, p->cell.seed, (uint32_t)i, s->bytes / sizeof(uint16_t), err) !=
					0 ||
				(p->tensor[i].dtype == FW_F16 && convert_to_f16(p, s, err) != 0) || make_input(p, i, err) != 0))
			return -1;
	}
	return 0;
}

/*
 * Hash every input's size and checksum, which identifies the inputs without reading gigabytes on the host. Results of the base's
 * forward are left out, since rounding may differ.
 */
static void name_inputs(struct problem *p)
{
	struct hash_state h;
	hash_begin(&h);
	hash_update(&h, p->cell.key, strlen(p->cell.key));
	for (int i = 0; i < p->family->n_slots; i++) {
		const struct problem_slot *s = &p->slot[i];
		if (s->use != SLOT_INPUT)
			continue;
		uint64_t item[3] = { (uint64_t)i, s->bytes, p->named.sum[i] };
		hash_update(&h, item, sizeof item);
	}
	hash_end(&h, p->input_sha256);
}

static int add_forward_slots(struct problem *p, struct fw_err *err)
{
	for (int i = 0; p->needs_forward && i < p->family->n_slots; i++) {
		enum slot_use use = p->family->use(p->cell.shape.bytes, DIRECTION_FORWARD, i);
		struct problem_slot *s = &p->slot[i];

		if (s->use != SLOT_UNUSED || use == SLOT_UNUSED)
			continue;
		s->is_forwards = use == SLOT_INPUT;
		if (make_slot(p, i, err) != 0)
			return -1;
	}
	return 0;
}

int problem_open(struct problem *p, const struct device_ops *ops, struct device *dev, const struct cell *cell, struct fw_err *err)
{
	memset(p, 0, sizeof *p);
	p->ops = ops;
	p->dev = dev;
	p->cell = *cell;
	p->family = case_family(cell);
	case_problem(&p->cell, &p->sizes, &p->abi);
	p->forward_cell = *cell;
	p->forward_cell.direction = DIRECTION_FORWARD;
	case_name(&p->forward_cell);
	case_problem(&p->forward_cell, &p->forward_sizes, &p->forward_abi);
	p->needs_forward = family_needs_forward(p->family, cell->shape.bytes, cell->direction);
	for (int i = 0; i < p->family->n_slots; i++) {
		p->slot[i].use = p->family->use(cell->shape.bytes, cell->direction, i);
		if (p->slot[i].use != SLOT_UNUSED && make_slot(p, i, err) != 0)
			return err_context(err, "%s", cell->key);
	}
	if (add_forward_slots(p, err) != 0 || draw_slots(p, err) != 0 || lay_slots(p, err) != 0)
		return err_context(err, "%s", cell->key);
	name_inputs(p);
	return 0;
}

void problem_close(struct problem *p)
{
	for (int i = 0; p->ops && i < FAMILY_SLOTS_MAX; i++) {
		p->ops->release(p->dev, p->slot[i].data);
		p->ops->release(p->dev, p->slot[i].master);
		p->ops->release(p->dev, p->slot[i].second);
		free(p->slot[i].laid);
	}
	memset(p, 0, sizeof *p);
}

bool problem_has_second(const struct problem *p)
{
	return p->family->has_second && p->family->has_second(p->cell.shape.bytes);
}

int problem_second(struct problem *p, struct fw_err *err)
{
	const struct input_variant first = p->named;

	for (int i = 0; i < SECOND_TRIES && memcmp(first.sum, p->named.sum, sizeof first.sum) == 0; i++) {
		p->family->second(p->cell.shape.bytes, i);
		memcpy(p->forward_cell.shape.bytes, p->cell.shape.bytes, sizeof p->cell.shape.bytes);
		if (lay_slots(p, err) != 0)
			return -1;
	}
	return 0;
}

int64_t problem_kept(const struct problem *p, int64_t *of, struct mask_counts *counts)
{
	const void *laid[FAMILY_SLOTS_MAX] = { NULL };

	*of = 0;
	*counts = (struct mask_counts){ 0 };
	for (int i = 0; i < p->family->n_slots; i++)
		laid[i] = p->slot[i].laid;
	if (p->family->count_mask)
		p->family->count_mask(p->cell.shape.bytes, laid, counts);
	return p->family->kept ? p->family->kept(p->cell.shape.bytes, laid, of) : 0;
}

int64_t problem_tensor_bytes(const struct problem *p)
{
	int64_t bytes = 0;
	for (int i = 0; i < p->family->n_slots; i++)
		bytes += p->slot[i].use != SLOT_UNUSED ? (int64_t)p->slot[i].bytes : 0;
	return bytes;
}

int problem_restore(struct problem *p, struct failure *f)
{
	struct fw_err err = { 0 };

	return variant_inputs(p, &p->named, &err) == 0 ? 0 : failure_device(f, p, &err);
}

int problem_poison(struct problem *p, int value, struct failure *f)
{
	struct fw_err err = { 0 };

	for (int i = 0; i < p->family->n_slots; i++) {
		struct problem_slot *s = &p->slot[i];
		if (s->use == SLOT_OUTPUT && p->ops->fill_bytes(p->dev, s->data, value, s->bytes, &err) != 0)
			return failure_device(f, p, &err);
	}
	return 0;
}

int problem_copy_forward(struct problem *p, bool second, struct fw_err *err)
{
	for (int i = 0; i < p->family->n_slots; i++) {
		struct problem_slot *s = &p->slot[i];
		if (s->use == SLOT_FORWARD && p->ops->copy(p->dev, second ? s->second : s->master, s->data, s->bytes, err) != 0)
			return -1;
	}
	return 0;
}

int problem_sum_forward(struct problem *p, bool second, struct fw_err *err)
{
	struct input_variant *of = second ? &p->second : &p->named;
	for (int i = 0; i < p->family->n_slots; i++) {
		const struct problem_slot *s = &p->slot[i];
		if (s->use != SLOT_FORWARD)
			continue;
		if (p->ops->checksum(p->dev, s->data, s->bytes, &of->sum[i], err) != 0)
			return -1;
		p->now.sum[i] = of->sum[i];
	}
	return 0;
}

static int differs(const struct problem *p, const void *from, size_t bytes, uint64_t want, bool *out, struct fw_err *err)
{
	uint64_t sum = want;
	if (from && p->ops->checksum(p->dev, from, bytes, &sum, err) != 0)
		return -1;
	*out = sum != want;
	return 0;
}

int problem_damaged(const struct problem *p, int *slot, struct fw_err *err)
{
	*slot = -1;
	for (int i = 0; i < p->family->n_slots && *slot < 0; i++) {
		const struct problem_slot *s = &p->slot[i];
		bool named, second;
		if (differs(p, s->master, s->bytes, p->named.sum[i], &named, err) != 0 ||
			differs(p, s->second, s->bytes, p->second.sum[i], &second, err) != 0)
			return -1;
		if (named || second)
			*slot = i;
	}
	return 0;
}

int problem_modified(struct problem *p, const char **name, struct fw_err *err)
{
	*name = NULL;
	for (int i = 0; i < p->family->n_slots; i++) {
		struct problem_slot *s = &p->slot[i];
		uint64_t sum;
		if (!is_input(s) || s->is_forwards)
			continue;
		if (p->ops->checksum(p->dev, s->data, s->bytes, &sum, err) != 0)
			return -1;
		if (sum != p->now.sum[i]) {
			*name = problem_name(p, s->data);
			return 0;
		}
	}
	return 0;
}

int problem_outputs_sum(struct problem *p, uint64_t *sum, struct fw_err *err)
{
	*sum = 0;
	for (int i = 0; i < p->family->n_slots; i++) {
		uint64_t one;
		if (p->slot[i].use != SLOT_OUTPUT)
			continue;
		if (p->ops->checksum(p->dev, p->slot[i].data, p->slot[i].bytes, &one, err) != 0)
			return -1;
		*sum = inputs_mix(*sum + one);
	}
	return 0;
}

const char *problem_name(const struct problem *p, const void *data)
{
	for (int i = 0; i < p->family->n_slots; i++) {
		const struct problem_slot *s = &p->slot[i];
		const struct family_slot *slot = &p->family->slot[i];
		if (data && (s->data == data || s->master == data))
			return slot->words ? slot->words : slot->name;
	}
	return NULL;
}

const char *problem_phase_name(const struct problem *p, uint32_t phase)
{
	return family_phase_name(p->family, phase);
}

/* Returns the number of bytes of an element, 0 with `err` if the problem has no such tensor. */
static size_t element_bytes(const struct problem *p, int slot, struct fw_err *err)
{
	if (p->slot[slot].data)
		return family_element_bytes(p->tensor[slot].dtype);
	err_set(err, ERR_INTERNAL, "the reference reads a tensor that %s does not have", p->cell.key);
	return 0;
}

static int read_elements(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err)
{
	const struct problem *p = arg;
	size_t bytes = element_bytes(p, slot, err);
	const unsigned char *data = p->slot[slot].data;
	return bytes ? p->ops->download(p->dev, out, data + (size_t)first * bytes, n * bytes, err) : -1;
}

static int read_rows(void *arg, int slot, int64_t first, int64_t pitch, int64_t n, int64_t width, void *out, struct fw_err *err)
{
	const struct problem *p = arg;
	size_t bytes = element_bytes(p, slot, err);
	const unsigned char *data = p->slot[slot].data;
	return bytes ? p->ops->download_rows(p->dev, out, data + (size_t)first * bytes, (size_t)pitch * bytes,
			       (size_t)width * bytes, (size_t)n, err)
		     : -1;
}

static int find_nonfinite(void *arg, int slot, int64_t *index, struct fw_err *err)
{
	const struct problem *p = arg;
	size_t bytes = element_bytes(p, slot, err);
	return bytes ? p->ops->find_nonfinite(p->dev, p->slot[slot].data, p->slot[slot].bytes / bytes,
			       p->tensor[slot].dtype == FW_F32, index, err)
		     : -1;
}

static int find_largest(void *arg, int slot, float *largest, struct fw_err *err)
{
	const struct problem *p = arg;
	size_t bytes = element_bytes(p, slot, err);
	return bytes ? p->ops->find_largest(p->dev, p->slot[slot].data, p->slot[slot].bytes / bytes, largest, err) : -1;
}

void problem_check_io(const struct problem *p, enum direction direction, struct check_io *io)
{
	bool on_host = p->ops->abi_device == FW_CPU;
	*io = (struct check_io){
		.cell = direction == p->cell.direction ? &p->cell : &p->forward_cell,
		.read = read_elements,
		.read_rows = p->ops->download_rows ? read_rows : NULL,
		.find_nonfinite = p->ops->find_nonfinite ? find_nonfinite : NULL,
		.find_largest = p->ops->find_largest ? find_largest : NULL,
		.arg = (void *)(uintptr_t)p,
	};
	for (int i = 0; i < p->family->n_slots; i++) {
		io->laid[i] = p->slot[i].laid;
		if (on_host)
			io->host[i] = p->slot[i].data;
		else
			io->on_device[i] = p->slot[i].data;
	}
}
