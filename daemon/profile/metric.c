/* metric.c - table of metrics. The names exist on Hopper; a GPU without one omits it. */
#include "profile/profile.h"

#define STALLED(reason) "smsp__warps_issue_stalled_" reason ".sum"

const char *const metric_names[METRICS] = {
	/* time and clocks */
	"gpu__time_duration.sum",
	"gpc__cycles_elapsed.max",
	"gpc__cycles_elapsed.avg.per_second",
	"dram__cycles_elapsed.avg.per_second",
	/* device memory */
	"dram__bytes_read.sum",
	"dram__bytes_write.sum",
	/* L2, in sectors of 32 bytes */
	"lts__t_sectors.sum",
	"lts__t_sectors_op_read.sum",
	"lts__t_sectors_op_write.sum",
	"lts__t_sectors_op_red.sum",
	"lts__t_sectors_op_atom.sum",
	"lts__t_sectors_lookup_hit.sum",
	/* L1 */
	"l1tex__t_sectors.sum",
	"l1tex__t_sectors_lookup_hit.sum",
	"l1tex__m_xbar2l1tex_read_bytes.sum",
	"l1tex__m_l1tex2xbar_write_bytes.sum",
	"l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum",
	/* shared memory */
	"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
	"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
	"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
	/* tensor cores */
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"sm__inst_executed_pipe_tensor.sum",
	"sm__inst_executed_pipe_tensor_op_gmma.sum",
	/* other pipes */
	"sm__inst_executed_pipe_xu.sum",
	"sm__inst_executed_pipe_alu.sum",
	"sm__inst_executed_pipe_fma.sum",
	"sm__inst_executed_pipe_lsu.sum",
	/* issue */
	"smsp__issue_active.avg.pct_of_peak_sustained_active",
	"smsp__inst_executed.sum",
	"smsp__inst_issued.sum",
	"smsp__warps_eligible.avg.per_cycle_active",
	"smsp__thread_inst_executed.sum",
	/* occupancy and balance */
	"sm__warps_active.avg.pct_of_peak_sustained_active",
	"sm__ctas_launched.sum",
	"sm__cycles_active.avg",
	"sm__cycles_active.max",
	/* spills */
	"smsp__inst_executed_op_local_ld.sum",
	"smsp__inst_executed_op_local_st.sum",
	/* end of METRICS_BASIC. Global memory: bytes that threads requested, and sectors of 32 bytes that these requests touched */
	"smsp__sass_data_bytes_mem_global_op_ld.sum",
	"smsp__sass_data_bytes_mem_global_op_st.sum",
	"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
	"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
	/* kinds of bank conflicts */
	"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
	"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
	"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum",
	/* warp stalls */
	STALLED("barrier"),
	STALLED("branch_resolving"),
	STALLED("dispatch_stall"),
	STALLED("drain"),
	STALLED("gmma"),
	STALLED("imc_miss"),
	STALLED("lg_throttle"),
	STALLED("long_scoreboard"),
	STALLED("math_pipe_throttle"),
	STALLED("membar"),
	STALLED("mio_throttle"),
	STALLED("misc"),
	STALLED("no_instruction"),
	STALLED("not_selected"),
	STALLED("selected"),
	STALLED("short_scoreboard"),
	STALLED("sleeping"),
	STALLED("tex_throttle"),
	STALLED("wait"),
};
