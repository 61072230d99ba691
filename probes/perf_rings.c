/*
 * Context-switch records of all CPUs as one stream: see perf_rings.h.
 */
#include "probes/perf_rings.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of a ring: more than any user gets, and what every user gets (kernel.perf_event_mlock_kb is 516,
 * for each CPU, unless set otherwise). */
enum { RING_MOST = 4 << 20, RING_LEAST = 1 << 14, RECORD_SIZE = 512, EVENTS_MORE = 1024 };

struct perf_ring {
	int fd, cpu;
	struct perf_event_mmap_page *page;
	size_t bytes;  /* of its data, a power of two */
	uint64_t head; /* up to there it was written when we looked last */
	bool has_next;
	struct perf_record next;
};

/* At the end of each record, as sample_type says. */
struct sample {
	uint32_t pid, tid;
	uint64_t time_ns;
};

static struct perf_event_attr attributes(bool watches)
{
	return (struct perf_event_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(struct perf_event_attr),
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	    .sample_id_all = 1,
	    .disabled = !watches,
	    .inherit = watches,
	    .exclude_kernel = 1, /* what an ordinary user may ask for */
	    .exclude_hv = 1,
	    .context_switch = watches,
	    .task = watches,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	};
}

static int event_open(bool watches, pid_t tid, int cpu)
{
	struct perf_event_attr attr = attributes(watches);
	const long fd = syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int ring_map(struct perf_ring *ring, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	ring->page = memory;
	ring->bytes = bytes;
	return 0;
}

static void ring_unmap(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->bytes);
	ring->page = NULL;
}

/* All of one size: a CPU with a small ring would lose what the others keep. */
static int rings_map(struct perf_rings *r)
{
	int error = -ENOMEM;

	for (size_t bytes = RING_MOST; bytes >= RING_LEAST; bytes /= 2) {
		error = 0;
		for (uint32_t i = 0; i < r->count && !error; i++)
			error = ring_map(&r->rings[i], bytes);
		if (!error)
			return 0;
		for (uint32_t i = 0; i < r->count; i++)
			ring_unmap(&r->rings[i]);
	}
	return error;
}

int perf_rings_open(struct perf_rings *r)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int error = 0;

	*r = (struct perf_rings){.rings = calloc((size_t)cpus, sizeof *r->rings)};
	if (!r->rings)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus && !error; cpu++) {
		/* of ourselves, never enabled: it lives as long as we do, and holds the ring */
		const int fd = event_open(false, 0, cpu);

		if (fd >= 0)
			r->rings[r->count++] = (struct perf_ring){.fd = fd, .cpu = cpu};
		else if (fd != -ENODEV) /* that one is offline */
			error = fd;
	}
	if (!error)
		error = rings_map(r);
	if (error)
		perf_rings_close(r);
	return error;
}

static int event_add(struct perf_rings *r, uint32_t tid, const struct perf_ring *ring)
{
	const int fd = event_open(true, (pid_t)tid, ring->cpu);

	if (fd < 0)
		return fd;
	r->events[r->event_count++] = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? -errno : 0;
}

int perf_rings_add(struct perf_rings *r, uint32_t tid)
{
	int error = 0;

	if (r->event_count + r->count > r->event_room) {
		const uint32_t room = r->event_room + r->count + EVENTS_MORE;
		int *events = realloc(r->events, room * sizeof *events);

		if (!events)
			return -ENOMEM;
		r->events = events;
		r->event_room = room;
	}
	for (uint32_t i = 0; i < r->count && !error; i++)
		error = event_add(r, tid, &r->rings[i]);
	return error;
}

void perf_rings_close(struct perf_rings *r)
{
	for (uint32_t i = 0; i < r->event_count; i++)
		close(r->events[i]);
	for (uint32_t i = 0; i < r->count; i++) {
		ring_unmap(&r->rings[i]);
		close(r->rings[i].fd);
	}
	free(r->events);
	free(r->rings);
	*r = (struct perf_rings){0};
}

/* Copies what may wrap around the ring's end. */
static void ring_copy(const struct perf_ring *ring, uint64_t at, void *to, size_t size)
{
	const char *data = (const char *)ring->page + ring->page->data_offset;
	const size_t from = at & (ring->bytes - 1);
	const size_t first = size < ring->bytes - from ? size : ring->bytes - from;

	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, size - first);
}

/* False: a record of no interest. */
static bool record_parse(const char *bytes, struct perf_record *record)
{
	const struct perf_event_header *header = (const void *)bytes;
	const struct sample *sample = (const void *)(bytes + header->size - sizeof *sample);
	/* behind the header of a birth or an end: pid, that of the parent, tid */
	const uint32_t *task = (const void *)(header + 1);

	*record = (struct perf_record){
	    .pid = sample->pid, .tid = sample->tid, .time_ns = sample->time_ns};
	switch (header->type) {
	case PERF_RECORD_SWITCH:
		record->kind = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT) ? RECORD_IN
		               : header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
		                   ? RECORD_PREEMPTED
		                   : RECORD_OUT;
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		record->kind = header->type == PERF_RECORD_FORK ? RECORD_BIRTH : RECORD_END;
		record->pid = task[0];
		record->tid = task[2];
		return true;
	case PERF_RECORD_LOST: /* an id, and how many */
		record->kind = RECORD_LOST;
		memcpy(&record->lost, bytes + sizeof *header + sizeof(uint64_t),
		       sizeof record->lost);
		return true;
	default:
		return false;
	}
}

/* Looks at the ring's next record without taking it. */
static void ring_peek(struct perf_ring *ring)
{
	_Alignas(8) char bytes[RECORD_SIZE];
	struct perf_event_header header;
	uint64_t tail = ring->page->data_tail;

	while (!ring->has_next && tail != ring->head) {
		ring_copy(ring, tail, &header, sizeof header);
		assert(header.size >= sizeof header);
		if (header.size <= sizeof bytes &&
		    header.size >= sizeof header + sizeof(struct sample)) {
			ring_copy(ring, tail, bytes, header.size);
			ring->has_next = record_parse(bytes, &ring->next);
		}
		tail += header.size;
	}
	/* The kernel may write there again: the record is kept in next. */
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

bool perf_rings_next(struct perf_rings *r, uint64_t until_ns, struct perf_record *record)
{
	struct perf_ring *earliest = NULL;

	for (uint32_t i = 0; i < r->count; i++) {
		struct perf_ring *ring = &r->rings[i];

		if (!ring->has_next && ring->page->data_tail == ring->head)
			ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		ring_peek(ring);
		if (ring->has_next && ring->next.time_ns <= until_ns &&
		    (!earliest || ring->next.time_ns < earliest->next.time_ns))
			earliest = ring;
	}
	if (!earliest)
		return false;
	*record = earliest->next;
	earliest->has_next = false;
	return true;
}
