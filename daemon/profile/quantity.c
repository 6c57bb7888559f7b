/* quantity.c - own changes of counted quantities. */
#include "profile/internal.h"

#include <math.h>

#define TENSOR_BUSY   "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define LSU_BUSY      "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"
#define BUSIEST_LEAST 0.3 /* a kernel without a busy unit waits, and more work does not cost it in proportion */
#define LOCAL_SECTORS 4   /* of a warp's 32 words */

/* Variation of an unchanged value, as a share of it. */
#define FLOOR_COUNT   0.0005
#define FLOOR_TRAFFIC 0.005
#define FLOOR_DRAM    0.01

static const struct {
	const char *metric[3];
	double floor;
} known[QUANTITIES] = {
	[QUANTITY_TENSOR] = { { "sm__inst_executed_pipe_tensor_op_gmma.sum" }, FLOOR_COUNT },
	[QUANTITY_XU] = { { "sm__inst_executed_pipe_xu.sum" }, FLOOR_COUNT },
	[QUANTITY_FMA] = { { "sm__inst_executed_pipe_fma.sum" }, FLOOR_COUNT },
	[QUANTITY_ALU] = { { "sm__inst_executed_pipe_alu.sum" }, FLOOR_COUNT },
	[QUANTITY_LSU] = { { "sm__inst_executed_pipe_lsu.sum" }, FLOOR_COUNT },
	[QUANTITY_ALL] = { { "smsp__inst_executed.sum" }, FLOOR_COUNT },
	[QUANTITY_LOCAL_LOADS] = { { "smsp__inst_executed_op_local_ld.sum" }, FLOOR_COUNT },
	[QUANTITY_LOCAL_STORES] = { { "smsp__inst_executed_op_local_st.sum" }, FLOOR_COUNT },
	[QUANTITY_CONFLICTS] = { { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum" }, FLOOR_TRAFFIC },
	[QUANTITY_WAVEFRONTS] = { { "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum" }, FLOOR_TRAFFIC },
	[QUANTITY_ATOMICS] = { { "lts__t_sectors_op_red.sum", "lts__t_sectors_op_atom.sum" }, FLOOR_TRAFFIC },
	[QUANTITY_L2_READS] = { { "lts__t_sectors_op_read.sum" }, FLOOR_TRAFFIC },
	[QUANTITY_L2_WRITES] = { { "lts__t_sectors_op_write.sum" }, FLOOR_TRAFFIC },
	[QUANTITY_DRAM_READS] = { { "dram__bytes_read.sum" }, FLOOR_DRAM },
	[QUANTITY_DRAM_WRITES] = { { "dram__bytes_write.sum" }, FLOOR_DRAM },
};

static double share_of_one(enum quantity q, const struct kernel_pair *p, const struct rates *r)
{
	double each_sm = 1 / (r->sms * p->cycles), ms = p->cycles / (r->mhz * 1e3);

	switch (q) {
	case QUANTITY_TENSOR:
		return each_sm / RATES_TENSOR;
	case QUANTITY_XU:
		return each_sm / RATES_XU;
	case QUANTITY_FMA:
		return each_sm / RATES_FMA;
	case QUANTITY_ALU:
		return each_sm / RATES_ALU;
	case QUANTITY_LSU:
	case QUANTITY_LOCAL_LOADS:
	case QUANTITY_LOCAL_STORES:
		return each_sm / RATES_LSU;
	case QUANTITY_CONFLICTS:
	case QUANTITY_WAVEFRONTS:
		return each_sm / RATES_WAVEFRONT;
	case QUANTITY_ATOMICS:
		return RATES_SECTOR / (r->reduce_bytes * ms);
	case QUANTITY_L2_READS:
	case QUANTITY_L2_WRITES:
		return RATES_SECTOR / (r->l2_bytes * ms);
	case QUANTITY_DRAM_READS:
	case QUANTITY_DRAM_WRITES:
		return 1 / (r->dram_bytes * p->run_ms);
	default:
		return each_sm / RATES_ISSUE;
	}
}

/* Subtract the share of a quantity's change that follows from another; never more than its change. */
static void follows(struct quantities *q, enum quantity what, double part)
{
	double *own = &q->of[what].own;

	if (part * *own > 0)
		*own = fabs(part) < fabs(*own) ? *own - part : 0;
}

static double growth(const struct quantity_change *c)
{
	return c->is_real && c->base > 0 ? c->own / c->base : 0;
}

static void subtract_followers(struct quantities *q)
{
	struct quantity_change *of = q->of;
	double products = growth(&of[QUANTITY_TENSOR]);

	for (int i = 0; i < QUANTITIES; i++)
		if (i != QUANTITY_TENSOR && i != QUANTITY_LOCAL_LOADS && i != QUANTITY_LOCAL_STORES)
			follows(q, i, products * of[i].base);
	double loads = of[QUANTITY_LOCAL_LOADS].own, stores = of[QUANTITY_LOCAL_STORES].own;

	follows(q, QUANTITY_LSU, loads + stores);
	follows(q, QUANTITY_L2_READS, LOCAL_SECTORS * loads);
	follows(q, QUANTITY_L2_WRITES, LOCAL_SECTORS * stores);
	if (of[QUANTITY_ATOMICS].is_real && of[QUANTITY_ATOMICS].own * of[QUANTITY_LSU].own > 0)
		of[QUANTITY_LSU].own = 0;
	follows(q, QUANTITY_FMA, of[QUANTITY_XU].own); /* an exponential's argument is scaled first */
	follows(q, QUANTITY_ALU, of[QUANTITY_XU].own);
	for (int i = QUANTITY_TENSOR; i < QUANTITY_ALL; i++)
		follows(q, QUANTITY_ALL, of[i].target - of[i].base);
	follows(q, QUANTITY_WAVEFRONTS, of[QUANTITY_CONFLICTS].own);
	follows(q, QUANTITY_DRAM_READS, growth(&of[QUANTITY_L2_READS]) * of[QUANTITY_DRAM_READS].base);
	/* data from DRAM fills the L2 by reads that no multiprocessor requested */
	if (of[QUANTITY_DRAM_READS].own != 0)
		follows(q, QUANTITY_L2_READS, (of[QUANTITY_DRAM_READS].target - of[QUANTITY_DRAM_READS].base) / RATES_SECTOR);
	follows(q, QUANTITY_DRAM_WRITES, growth(&of[QUANTITY_L2_WRITES]) * of[QUANTITY_DRAM_WRITES].base);
}

void quantities_read(const struct kernel_pair *p, const struct rates *r, struct quantities *out)
{
	struct amount tensor = amount_of(p, TENSOR_BUSY), lsu = amount_of(p, LSU_BUSY);
	double of_one[QUANTITIES];

	*out = (struct quantities){ .busiest = fmax(BUSIEST_LEAST, lsu.is_known ? fmin(1, lsu.base / 100) : 0) };
	if (!(p->cycles > 0))
		return;
	for (int i = 0; i < QUANTITIES; i++) {
		struct amount a = amount_sum(p, known[i].metric);
		struct quantity_change *c = &out->of[i];

		of_one[i] = share_of_one(i, p, r);
		if (i == QUANTITY_TENSOR && tensor.is_known && a.base > 0)
			of_one[i] = tensor.base / 100 / a.base;
		*c = (struct quantity_change){
			.is_real = amount_differs(&a, known[i].floor), .base = a.base, .target = a.target
		};
		c->own = c->is_real ? a.target - a.base : 0;
		c->share = fmin(1, a.base * of_one[i]);
		out->busiest = fmax(out->busiest, c->share);
	}
	subtract_followers(out);
	for (int i = 0; i < QUANTITIES; i++)
		out->of[i].ms = p->base_ms * out->of[i].own * of_one[i] / out->busiest;
}
