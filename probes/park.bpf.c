/*
 * Counts the threads of one process by state, exactly, and what its completions meet and take.
 * One idea per included file; docs/method.md tells the reasoning.
 */
#include "probes/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "probes/park.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct park_knobs knobs;
struct park_totals totals;
struct park_workers workers;

#define READ_ONCE(x)     (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))

/* The number of a process as it is seen from that depth of pid namespaces. pid is to come from
 * BPF_CORE_READ: to a pointer that the verifier knows, it lets no level be added. */
static __always_inline uint32_t pid_number(struct pid *pid, uint32_t level)
{
	const struct upid *at = (const void *)pid + bpf_core_field_offset(pid->numbers) +
	                        level * bpf_core_type_size(struct upid);

	return BPF_CORE_READ(at, nr);
}

#include "probes/park_occupancy.bpf.h"
#include "probes/park_mark.bpf.h"
#include "probes/park_sleep.bpf.h"
#include "probes/park_process.bpf.h"
#include "probes/park_wait.bpf.h"
#include "probes/park_class.bpf.h"
#include "probes/park_fold.bpf.h"
#include "probes/park_place.bpf.h"
#include "probes/park_state.bpf.h"
#include "probes/park_read.bpf.h"
#include "probes/park_census.bpf.h"
#include "probes/park_complete.bpf.h"
#include "probes/park_waker.bpf.h"
#include "probes/park_borrow.bpf.h"
#include "probes/park_hidden.bpf.h"
#include "probes/park_punt.bpf.h"
