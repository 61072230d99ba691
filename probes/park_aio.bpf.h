/*
 * Native AIO has no tracepoint of its own. When a block request completes, its bios lead to the
 * kiocb, whose ki_complete says whose it is; the end of a direct read posts the event at once,
 * where the device's completion arrives. Writes may go on to a work queue: they are not told.
 */
enum { BIOS_MAX = 32, BIO_OPERATION = 0xff, BIO_READ = 0 };

/* The kiocb that this bio brings to its end, or NULL. */
static __always_inline struct kiocb *bio_ends(struct bio *bio)
{
	const uint64_t end = (uint64_t)BPF_CORE_READ(bio, bi_end_io);
	void *of = BPF_CORE_READ(bio, bi_private);
	struct iomap_dio *mapped = of;
	struct blkdev_dio *raw = of;

	if (!end || (BPF_CORE_READ(bio, bi_opf) & BIO_OPERATION) != BIO_READ)
		return NULL;
	if (end == knobs.symbols[SYMBOL_IOMAP_END] && bpf_core_field_exists(mapped->ref))
		return BPF_CORE_READ(mapped, ref.counter) == 1 ? BPF_CORE_READ(mapped, iocb) : NULL;
	if (end == knobs.symbols[SYMBOL_BLKDEV_ASYNC_END] &&
	    bpf_core_field_exists(raw->iocb)) /* embeds its only bio */
		return BPF_CORE_READ(raw, iocb);
	return NULL;
}

/* How many events the bios of a request post. Global, so that it is verified once. */
__noinline int aio_events(uint64_t address)
{
	struct bio *bio = (void *)address;
	int events = 0;

	for (int i = 0; i < BIOS_MAX && bio; i++) {
		struct kiocb *iocb = bio_ends(bio);

		if (iocb && (uint64_t)BPF_CORE_READ(iocb, ki_complete) ==
		                knobs.symbols[SYMBOL_AIO_COMPLETE])
			events++;
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return events;
}

static __always_inline void aio_posted(struct request *request)
{
	struct task_struct *current = bpf_get_current_task_btf();
	int events;

	if (!knobs.symbols[SYMBOL_AIO_COMPLETE])
		return;
	events = aio_events((uint64_t)BPF_CORE_READ(request, bio));
	if (!events)
		return;
	if (context_now(current) != ARRIVED_TASK)
		__sync_fetch_and_add(&totals.posted_in[POSTED_INTERRUPT], events);
	else if (of_subject(current))
		__sync_fetch_and_add(&totals.posted_in[POSTED_SUBMITTER], events);
}
