/*
 * Requests submitted to io_uring, and those that it hands to a worker, by operation and reason.
 */
enum { REQUEST_FORCED = 1 << 4 /* IOSQE_ASYNC */, FMODE_NOWAIT = 1 << 27 };

static __always_inline uint32_t request_operation(struct io_kiocb *request)
{
	const uint32_t operation = request->opcode;

	return operation < WORKERS_OPERATIONS ? operation : WORKERS_OPERATIONS - 1;
}

/* After a short write the same thread hands that request over at once. */
static __always_inline bool punt_is_short(void)
{
	struct park_thread *t = thread_of(bpf_get_current_task_btf());
	bool is_short;

	if (!t)
		return false;
	is_short = t->short_write;
	t->short_write = 0;
	return is_short;
}

static __always_inline uint32_t punt_reason(struct io_kiocb *request, uint32_t operation,
                                            bool hashed)
{
	const bool is_short = punt_is_short();
	struct file *file;

	if (knobs.operations[operation] == OPERATION_WAITS)
		return PUNT_FSYNC_CLASS;
	if (request->flags & REQUEST_FORCED)
		return PUNT_FORCED;
	if (knobs.operations[operation] != OPERATION_TRANSFER)
		return PUNT_OTHER;
	if (is_short)
		return PUNT_SHORT_WRITE;
	file = BPF_CORE_READ(request, file);
	if (file && !(BPF_CORE_READ(file, f_mode) & FMODE_NOWAIT))
		return PUNT_NO_NOWAIT;
	return hashed ? PUNT_HASHED_WRITE : PUNT_WOULD_BLOCK;
}

static __always_inline int request_submitted(struct io_kiocb *request)
{
	if (!counts_now(bpf_get_current_task_btf()))
		return 0;
	__sync_fetch_and_add(&workers.submitted[request_operation(request)], 1);
	return knobs.watch ? ring_change(1) : 0;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(on_uring_submit, struct io_kiocb *request)
{
	return request_submitted(request);
}

/* Before 6.4. */
SEC("tp_btf/io_uring_submit_sqe")
int BPF_PROG(on_uring_submit_sqe, struct io_kiocb *request, bool force_nonblock)
{
	return request_submitted(request);
}

SEC("tp_btf/io_uring_short_write")
int BPF_PROG(on_short_write)
{
	struct park_thread *t = thread_of(bpf_get_current_task_btf());

	if (t)
		t->short_write = 1;
	return 0;
}

SEC("tp_btf/io_uring_queue_async_work")
int BPF_PROG(on_punt, struct io_kiocb *request, int hashed)
{
	uint32_t operation, reason;

	if (!counts_now(bpf_get_current_task_btf()))
		return 0;
	operation = request_operation(request);
	reason = punt_reason(request, operation, hashed);
	__sync_fetch_and_add(&workers.punted[operation & (WORKERS_OPERATIONS - 1)][reason], 1);
	return 0;
}
