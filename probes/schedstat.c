/*
 * The schedstat probe: at the window's edges, each thread's time on a CPU and its time of waiting
 * for one, as the scheduler keeps them in /proc/PID/task/TID/schedstat. The rest of its life it
 * slept; its mark tells in what. Needs no privileges, and no event of the subject pays for it.
 *
 * The scheduler brings a running thread's time up to date at its ticks, and a waiting thread's
 * when it gets a CPU: at an edge each thread is off by up to one such interval.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probes/table.h"

enum { PF_IO_WORKER = 0x10, LINE_SIZE = 1024 };

/* What is known of one thread, and what it has done up to time_ns. */
struct known {
	uint32_t tid;
	uint32_t reading; /* the last one that saw it; 0: none yet */
	uint64_t time_ns, running_ns, waiting_ns;
	struct thread_mark mark;
};

struct schedstat {
	pid_t pid;
	uint32_t number; /* of readings, that at attach included */
	uint64_t ticks_per_s;
	uint64_t boot_offset_ns; /* from CLOCK_MONOTONIC to the clock of starting times */
	struct probe_reading sum;
	struct known known[THREADS_MAX];
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int read_line(pid_t pid, uint32_t tid, const char *name, char line[LINE_SIZE])
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%u/%s", (int)pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, line, LINE_SIZE - 1);
	close(fd);
	if (got <= 0)
		return -ESRCH;
	line[got] = 0;
	return 0;
}

/* Whether the kernel made it for io_uring, whether that is a poller, and when it was born. */
struct birth {
	bool worker, sqpoll;
	uint64_t time_ns;
};

static int read_birth(const struct schedstat *s, uint32_t tid, struct birth *birth)
{
	char line[LINE_SIZE];
	unsigned long flags = 0;
	unsigned long long start = 0;
	const char *rest;
	int error = read_line(s->pid, tid, "stat", line);

	if (error)
		return error;
	rest = strrchr(line, ')'); /* a name may hold anything */
	if (!rest || sscanf(rest + 1,
	                    " %*c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d "
	                    "%*d %*d %*d %llu",
	                    &flags, &start) != 2)
		return -EPROTO;
	birth->worker = flags & PF_IO_WORKER;
	birth->sqpoll = strstr(line, "(iou-sqp-") != NULL;
	birth->time_ns = start * (1000000000 / s->ticks_per_s) - s->boot_offset_ns;
	return 0;
}

static struct known *find_known(struct schedstat *s, uint32_t tid)
{
	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		struct known *known = &s->known[(tid + i) & (THREADS_MAX - 1)];

		if (known->tid == tid)
			return known;
		if (!known->tid) {
			known->tid = tid;
			return known;
		}
	}
	return NULL;
}

/* The mark of a living thread: the last of its tid that has not ended. */
static const struct thread_mark *find_mark(const struct probe *p, uint32_t tid)
{
	for (uint32_t i = 0; i < THREADS_PROBE_MAX; i++) {
		const struct thread_mark *mark = &p->marks[(tid + i) & (THREADS_MAX - 1)];

		if (!mark->tid)
			break;
		if (mark->tid == tid && !mark->ended)
			return mark;
	}
	return NULL;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a * b / c without overflow, for times. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c)
{
	return c ? (uint64_t)((double)a * ((double)b / (double)c)) : 0;
}

/* Splits the time that a marked thread was off the CPU by what it said it did. Off and on the
 * CPU are told apart for the whole thread only: where it was idle too, each gets its share. */
static void add_marked(struct probe_kind *kind, const struct thread_mark *from,
                       const struct thread_mark *to, uint64_t off_ns, uint64_t waiting_ns)
{
	const uint64_t held = less(to->held_ns, from->held_ns);
	const uint64_t served = least(less(to->served_ns, from->served_ns), held);
	const uint64_t result = least(less(to->result_ns, from->result_ns), held - served);
	const uint64_t idle = less(to->idle_ns, from->idle_ns);
	const uint64_t known_off = least(off_ns, held + idle);
	const uint64_t held_off = least(share(known_off, held, held + idle), held);
	const uint64_t ready = least(share(waiting_ns, held, held + idle), held - held_off);
	const uint64_t direct = share(held_off, served, held);
	const uint64_t on_result = share(held_off, result, held);

	kind->state_ns[STATE_PARKED_DIRECT] += direct;
	kind->state_ns[STATE_PARKED_ON_RESULT] += on_result;
	kind->state_ns[STATE_PARKED_WAITER] += less(held_off, direct + on_result);
	kind->state_ns[STATE_IDLE] += known_off - held_off;
	kind->state_ns[STATE_OTHER] += off_ns - known_off;
	kind->in_call_runnable_ns += ready;
	kind->in_call_running_ns += held - held_off - ready;
	kind->called_ns += served;
}

/* A thread without a mark: of what its sleep is made cannot be told, unless it is a poller. */
static enum thread_kind kind_unmarked(const struct probe *p, const struct birth *birth,
                                      enum thread_state *off)
{
	*off = STATE_UNSEEN;
	if (birth->worker && birth->sqpoll) {
		*off = STATE_IDLE;
		return KIND_SQPOLL;
	}
	if (birth->worker)
		return KIND_IO_WQ;
	if (p->config.hidden_threads)
		return KIND_AIO_HELPER;
	if (p->config.marked)
		*off = STATE_OTHER;
	return KIND_APPLICATION;
}

static int read_thread(struct probe *p, uint32_t tid, uint32_t threads[KIND_COUNT])
{
	struct schedstat *s = p->state;
	struct known *known = find_known(s, tid);
	const struct thread_mark *mark = find_mark(p, tid);
	struct thread_mark now_mark = {0};
	enum thread_state off_state = STATE_UNSEEN;
	uint64_t now_ns, running = 0, waiting = 0, elapsed, off;
	struct probe_kind *kind;
	struct birth birth;
	char line[LINE_SIZE];

	if (!known)
		return -ENOSPC;
	if (read_birth(s, tid, &birth) || read_line(s->pid, tid, "schedstat", line) ||
	    sscanf(line, "%" SCNu64 " %" SCNu64, &running, &waiting) != 2)
		return -ESRCH; /* it has just ended */
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (mark)
		now_mark = thread_mark_read(mark, now_ns);
	if (known->reading && running < known->running_ns)
		*known = (struct known){.tid = tid}; /* another thread of the same tid */
	if (!known->reading && s->number > 1)
		known->time_ns = least(birth.time_ns, now_ns);
	else if (!known->reading) /* at attach: from now on */
		*known = (struct known){tid, 0, now_ns, running, waiting, now_mark};
	elapsed = less(now_ns, known->time_ns);
	kind = &s->sum.kinds[mark ? now_mark.kind : kind_unmarked(p, &birth, &off_state)];
	threads[kind - s->sum.kinds]++;
	const uint64_t ran = least(less(running, known->running_ns), elapsed);
	const uint64_t waited = least(less(waiting, known->waiting_ns), elapsed - ran);
	off = elapsed - ran - waited;
	kind->alive_ns += elapsed;
	kind->state_ns[STATE_RUNNING] += ran;
	kind->state_ns[STATE_RUNNABLE] += waited;
	if (mark)
		add_marked(kind, &known->mark, &now_mark, off, waited);
	else
		kind->state_ns[off_state] += off;
	*known = (struct known){tid, s->number, now_ns, running, waiting, now_mark};
	return 0;
}

/* Threads that were there at the last reading and are gone: what they did since is unknown. */
static uint64_t forget_gone(struct schedstat *s)
{
	uint64_t gone = 0;

	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		struct known *known = &s->known[i];

		if (known->reading && known->reading != s->number) {
			gone++;
			/* the place stays taken: others may lie behind it */
			*known = (struct known){.tid = known->tid};
		}
	}
	return gone;
}

static int read_all(struct probe *p)
{
	struct schedstat *s = p->state;
	uint32_t threads[KIND_COUNT] = {0};
	char path[64];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/task", (int)s->pid);
	directory = opendir(path);
	if (!directory)
		return errno == ENOENT ? -ESRCH : -errno;
	s->number++;
	while ((entry = readdir(directory))) {
		const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid && read_thread(p, tid, threads) == -ENOSPC)
			s->sum.lost++;
	}
	closedir(directory);
	s->sum.lost += forget_gone(s);
	for (int k = 0; k < KIND_COUNT; k++) {
		s->sum.kinds[k].threads_now = threads[k];
		if (threads[k] > s->sum.kinds[k].threads_max)
			s->sum.kinds[k].threads_max = threads[k];
	}
	return 0;
}

static int schedstat_open(struct probe *p, char why[PROBE_WHY_SIZE])
{
	struct schedstat *s = p->state;
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_ANONYMOUS;

	if (access("/proc/self/schedstat", R_OK)) {
		snprintf(why, PROBE_WHY_SIZE,
		         "/proc/self/schedstat cannot be read: %s; the kernel needs "
		         "CONFIG_SCHED_INFO, and /proc must be mounted",
		         strerror(errno));
		return -EOPNOTSUPP;
	}
	s->ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	s->boot_offset_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	p->marks = mmap(NULL, THREADS_MAX * sizeof *p->marks, protection, flags, -1, 0);
	if (p->marks == MAP_FAILED) {
		p->marks = NULL;
		return -ENOMEM;
	}
	p->in_flight = mmap(NULL, sizeof *p->in_flight, protection, flags, -1, 0);
	if (p->in_flight == MAP_FAILED) {
		munmap(p->marks, THREADS_MAX * sizeof *p->marks);
		p->in_flight = NULL;
		p->marks = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int schedstat_attach(struct probe *p, pid_t pid, char why[PROBE_WHY_SIZE])
{
	struct schedstat *s = p->state;
	int error;

	s->pid = pid;
	error = read_all(p);
	if (error)
		snprintf(why, PROBE_WHY_SIZE, "cannot read /proc/%d/task: %s", (int)pid,
		         strerror(-error));
	return error;
}

static int schedstat_read(struct probe *p, struct probe_reading *reading)
{
	struct schedstat *s = p->state;
	const uint64_t time_ns = clock_ns(CLOCK_MONOTONIC);
	const int error = read_all(p);

	memcpy(reading, &s->sum, sizeof *reading);
	reading->time_ns = time_ns;
	reading->measures = p->config.marked && !p->config.hidden_threads ? PROBE_IN_CALL : 0;
	return error;
}

static void schedstat_close(struct probe *p)
{
	munmap(p->marks, THREADS_MAX * sizeof *p->marks);
	munmap(p->in_flight, sizeof *p->in_flight);
}

const struct probe_ops probe_schedstat = {
    .name = "schedstat",
    .summary = "totals of each thread from /proc at the window's edges; needs no privileges",
    .size = sizeof(struct schedstat),
    .open = schedstat_open,
    .attach = schedstat_attach,
    .read = schedstat_read,
    .close = schedstat_close,
};
