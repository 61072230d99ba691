/*
 * CPU time that completions took from whoever ran there: hard and soft interrupts in which a
 * completion of the subject arrived, from entry to exit, and the task work that posts results.
 */
static __always_inline void borrowed_add(uint32_t over_plus_one, uint64_t ns)
{
	if (over_plus_one)
		__sync_fetch_and_add(
		    &totals.borrowed_ns[(over_plus_one - 1) & (BORROWED_COUNT - 1)], ns);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq, struct irqaction *action)
{
	uint32_t zero = 0;
	struct borrow *borrow = bpf_map_lookup_elem(&borrows, &zero);

	if (borrow) {
		borrow->hard_over = 0;
		borrow->hard_since_ns = bpf_ktime_get_ns();
	}
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq, struct irqaction *action, int handled)
{
	uint32_t zero = 0;
	struct borrow *borrow = bpf_map_lookup_elem(&borrows, &zero);
	uint64_t took_ns;

	if (!borrow || !borrow->hard_since_ns)
		return 0;
	took_ns = bpf_ktime_get_ns() - borrow->hard_since_ns;
	if (borrow->soft_since_ns) /* it interrupted a soft interrupt */
		borrow->soft_since_ns += took_ns;
	borrowed_add(borrow->hard_over, took_ns);
	borrow->hard_since_ns = 0;
	borrow->hard_over = 0;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	uint32_t zero = 0;
	struct borrow *borrow;

	if (vector != SOFTIRQ_NET_RX && vector != SOFTIRQ_BLOCK)
		return 0;
	borrow = bpf_map_lookup_elem(&borrows, &zero);
	if (borrow) {
		borrow->soft_over = 0;
		borrow->soft_since_ns = bpf_ktime_get_ns();
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector)
{
	uint32_t zero = 0;
	struct borrow *borrow = bpf_map_lookup_elem(&borrows, &zero);

	if (!borrow || !borrow->soft_since_ns)
		return 0;
	if (borrow->soft_over)
		borrowed_add(borrow->soft_over, bpf_ktime_get_ns() - borrow->soft_since_ns);
	borrow->soft_since_ns = 0;
	borrow->soft_over = 0;
	return 0;
}

/* A run of task work has ended, in which so many requests were served. The kernel does not say
 * when it began; counted is from the first result posted in it. Results posted since the last
 * run but outside of one (a request that ended inside its submission) make that unclear. */
static __always_inline int task_work_end(uint32_t served)
{
	struct park_thread *t = thread_of(bpf_get_current_task_btf());

	if (!t || !t->posts)
		return 0;
	if (t->posts <= served)
		__sync_fetch_and_add(&totals.borrowed_ns[BORROWED_TASK_WORK],
		                     bpf_ktime_get_ns() - t->posted_ns);
	else
		__sync_fetch_and_add(&totals.task_work_unclear, 1);
	t->posts = 0;
	return 0;
}

SEC("tp_btf/io_uring_task_work_run")
int BPF_PROG(on_task_work, void *context, unsigned int served)
{
	return task_work_end(served);
}

SEC("tp_btf/io_uring_local_work_run")
int BPF_PROG(on_local_work, void *ring, int served, unsigned int loops)
{
	return task_work_end(served);
}
