/*
 * Completions: the moment at which the device or the peer has answered, in what context and over
 * whom, and how many threads were parked then; and where io_uring posted its results.
 *
 * A block request is the subject's if the subject began it: who hands it to the device may be a
 * kernel worker. block_rq_complete comes before anybody is woken for it.
 */
struct begun {
	uint64_t since_ns;
	uint64_t left;    /* bytes that have not come yet */
	uint64_t process; /* watching: whose it is */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PARK_REQUESTS_MAX);
	__type(key, uint64_t); /* the request's address */
	__type(value, struct begun);
} requests SEC(".maps");

/* What a CPU's interrupts do now: when each began, less what interrupted it, and over whom a
 * completion of the subject arrived in it (+ 1). */
struct borrow {
	uint64_t hard_since_ns, soft_since_ns;
	uint32_t hard_over, soft_over;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct borrow);
} borrows SEC(".maps");

enum { COUNT_SOFTIRQ = 0x100, COUNT_HARDIRQ = 0xf0000, SOFTIRQ_NET_RX = 3, SOFTIRQ_BLOCK = 4 };

static __always_inline bool of_subject(const struct task_struct *task)
{
	return totals.subject && task->tgid == totals.subject;
}

/* Is it a thread that is counted? To be asked of a running one. */
static __always_inline bool counts_now(struct task_struct *task)
{
	return of_subject(task) || (knobs.watch && thread_of(task));
}

/* In what context this CPU is. Its preemption count has no name that BPF could use, but lies at
 * a fixed distance from its run queue; the running task, read in the same way, proves it. */
static __always_inline int context_now(struct task_struct *current)
{
	const void *queue;
	uint64_t running = 0;
	uint32_t count = 0;

	if (!knobs.check_context || !bpf_core_field_exists(current->se.cfs_rq))
		return -1;
	queue = BPF_CORE_READ(current, se.cfs_rq, rq);
	bpf_probe_read_kernel(&running, sizeof(running), queue + knobs.current_distance);
	if (running != (uint64_t)current ||
	    bpf_probe_read_kernel(&count, sizeof(count), queue + knobs.count_distance)) {
		__sync_fetch_and_add(&totals.context_failed, 1);
		return -1;
	}
	return count & COUNT_HARDIRQ   ? ARRIVED_HARDIRQ
	       : count & COUNT_SOFTIRQ ? ARRIVED_SOFTIRQ
	                               : ARRIVED_TASK;
}

static __noinline int completion_arrived(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	const uint32_t over = !current->pid         ? OVER_IDLE
	                      : of_subject(current) ? OVER_SUBJECT
	                                            : OVER_OTHER;
	const int context = context_now(current);
	uint32_t zero = 0, parked = parked_now();
	struct borrow *borrow = bpf_map_lookup_elem(&borrows, &zero);

	if (parked >= PROBE_PARKED_MAX)
		parked = PROBE_PARKED_MAX - 1;
	__sync_fetch_and_add(&totals.parked_at_completion[parked], 1);
	if (context < 0 || context >= ARRIVED_COUNT)
		return 0;
	__sync_fetch_and_add(&totals.arrived_in[context], 1);
	__sync_fetch_and_add(&totals.arrived_over[over], 1);
	if (borrow && context == ARRIVED_HARDIRQ)
		borrow->hard_over = over + 1;
	if (borrow && context == ARRIVED_SOFTIRQ)
		borrow->soft_over = over + 1;
	return 0;
}

#include "probes/park_aio.bpf.h"

/* by requests begin or end; since_sum_ns is the sum of their starts. */
static __noinline int block_change(int by, uint32_t process, uint64_t since_ns, uint64_t now_ns,
                                   uint32_t done)
{
	uint64_t open;

	if (knobs.watch)
		process_block(process, by);
	__sync_fetch_and_add(&totals.block.begun, 1);
	open = __sync_fetch_and_add(&totals.block_open, by) + by;
	if (by > 0 && open > READ_ONCE(totals.block_most))
		WRITE_ONCE(totals.block_most, open);
	__sync_fetch_and_add(&totals.block_open_since_ns, by < 0 ? -since_ns : since_ns);
	if (by < 0)
		__sync_fetch_and_add(&totals.block_area_ns, now_ns - since_ns);
	__sync_fetch_and_add(&totals.block_requests, done);
	__sync_fetch_and_add(&totals.block.ended, 1);
	return 0;
}

/* The kernel uses a request again and again: if it begins anew, it has completed, seen or not. */
static __always_inline void block_forget(const uint64_t *key)
{
	struct begun *begun = bpf_map_lookup_elem(&requests, key), old;

	if (!begun)
		return;
	old = *begun;
	if (bpf_map_delete_elem(&requests, key))
		return;
	__sync_fetch_and_add(&totals.unseen_completions, 1);
	__sync_fetch_and_add(&totals.block_bytes, old.left);
	block_change(-1, old.process, old.since_ns, old.since_ns,
	             1); /* for how long is not known */
}

static __always_inline int block_begin(struct request *request)
{
	struct task_struct *current = bpf_get_current_task_btf();
	const struct begun begun = {
	    .since_ns = bpf_ktime_get_ns(), .left = request->__data_len, .process = current->tgid};
	const uint64_t key = (uint64_t)request;

	if (!counts_now(current))
		return 0;
	if (bpf_map_update_elem(&requests, &key, &begun, BPF_NOEXIST)) {
		if (!bpf_map_lookup_elem(&requests, &key)) /* else it is issued again */
			__sync_fetch_and_add(&totals.map_full, 1);
		return 0;
	}
	block_change(1, begun.process, begun.since_ns, begun.since_ns, 0);
	occupancy_change(0, begun.since_ns);
	return 0;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(on_block_start, struct request *request)
{
	const uint64_t key = (uint64_t)request;

	block_forget(&key);
	return block_begin(request);
}

/* Before 6.5. Under an I/O scheduler a kernel worker issues, and is taken for the owner; and a
 * request may be issued again before it completes. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_issue, struct request *request)
{
	return block_begin(request);
}

/* A request that was merged into another does not complete by itself. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_block_merge, struct request *request)
{
	const uint64_t key = (uint64_t)request;
	struct begun *begun = bpf_map_lookup_elem(&requests, &key);
	uint64_t since_ns;
	uint32_t process;

	if (!begun)
		return 0;
	since_ns = begun->since_ns;
	process = begun->process;
	if (!bpf_map_delete_elem(&requests, &key))
		block_change(-1, process, since_ns, bpf_ktime_get_ns(), 0);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_complete, struct request *request, int status, unsigned int bytes)
{
	const uint64_t key = (uint64_t)request;
	struct begun *begun = bpf_map_lookup_elem(&requests, &key);
	uint64_t since_ns, now_ns;
	uint32_t process;

	if (!begun)
		return 0;
	__sync_fetch_and_add(&totals.block_bytes, bytes);
	if (bytes < request->__data_len) { /* a part of it */
		begun->left -= bytes;
		return 0;
	}
	since_ns = begun->since_ns;
	process = begun->process;
	if (bpf_map_delete_elem(&requests, &key))
		return 0;
	now_ns = bpf_ktime_get_ns();
	block_change(-1, process, since_ns, now_ns, 1);
	aio_posted(request);
	if (!knobs.disk)
		return 0;
	occupancy_change(0, now_ns);
	return completion_arrived();
}

/* Data has come to a socket. The subject's sockets are those whose other end is the peer. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_data_ready, const struct sock *socket)
{
	if (!totals.subject)
		return 0;
	if (knobs.peer_port) {
		if (socket->__sk_common.skc_dport != knobs.peer_port ||
		    (socket->__sk_common.skc_family != AF_INET &&
		     socket->__sk_common.skc_family != AF_INET6))
			return 0;
	} else {
		struct pid *peer = BPF_CORE_READ(socket, sk_peer_pid);

		if (socket->__sk_common.skc_family != AF_UNIX || !peer ||
		    pid_number(peer, totals.level) != knobs.peer)
			return 0;
	}
	occupancy_change(0, bpf_ktime_get_ns());
	return completion_arrived();
}

/* Whose request it is, where an interrupt posts its result. */
static __always_inline bool request_of_subject(void *request)
{
	struct io_kiocb *one = request;
	struct io_kiocb___task *older = request;

	if (!request || knobs.watch)
		return false;
	if (bpf_core_field_exists(one->tctx))
		return BPF_CORE_READ(one, tctx, task, tgid) == totals.subject;
	if (bpf_core_field_exists(older->task))
		return BPF_CORE_READ(older, task, tgid) == totals.subject;
	return false;
}

enum { MORE_TO_COME = 1 << 1 /* IORING_CQE_F_MORE */ };

/* by requests of io_uring begin or end. */
static __noinline int ring_change(int by)
{
	const uint64_t now_ns = bpf_ktime_get_ns();
	int64_t open;

	__sync_fetch_and_add(&totals.ring_begins_ns, by > 0 ? now_ns : -now_ns);
	open = __sync_fetch_and_add(&totals.ring_open, by) + by;
	if (open > READ_ONCE(totals.ring_most))
		WRITE_ONCE(totals.ring_most, open);
	if (open < READ_ONCE(totals.ring_least))
		WRITE_ONCE(totals.ring_least, open);
	return 0;
}

static __always_inline void ring_ended(void *request, uint32_t flags)
{
	if (knobs.watch && request && !(flags & MORE_TO_COME) &&
	    thread_of(bpf_get_current_task_btf()))
		ring_change(-1);
}

static __noinline int result_posted(void *request)
{
	struct task_struct *current = bpf_get_current_task_btf();
	uint32_t where = POSTED_SUBMITTER;
	struct park_thread *t;
	uint64_t now_ns;

	if (!totals.subject && !knobs.watch)
		return 0;
	if (!counts_now(current)) {
		if (context_now(current) != ARRIVED_TASK && request_of_subject(request))
			__sync_fetch_and_add(&totals.posted_in[POSTED_INTERRUPT], 1);
		return 0;
	}
	now_ns = bpf_ktime_get_ns();
	if (current->flags & PF_IO_WORKER)
		where = current->worker_private ? POSTED_WORKER : POSTED_SQPOLL;
	__sync_fetch_and_add(&totals.posted_in[where], 1);
	occupancy_change(0, now_ns);
	t = thread_of(current);
	if (t && !t->posts++)
		t->posted_ns = now_ns;
	return 0;
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(on_uring_cqe, struct io_ring_ctx *ring, void *request, struct io_uring_cqe *cqe)
{
	ring_ended(request, BPF_CORE_READ(cqe, flags));
	return result_posted(request);
}

/* Before about 6.17: (ring, request, user_data, result, flags, extra1, extra2). */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(on_uring_words, void *ring, void *request, uint64_t user_data, int result,
             unsigned int flags)
{
	ring_ended(request, flags);
	return result_posted(request);
}
