/*
 * A thread in /proc: see look.h. What this user may not read stays unknown: asleep it is unseen.
 */
#include "probes/look.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/bpf.h"

enum { LINK_SIZE = 4096 };

/* A system call as /proc/PID/task/TID/syscall has it. */
struct call {
	long number; /* below 0: outside of one */
	uint64_t argument[2];
};

void look_calls_fill(struct look_calls *calls)
{
	uint8_t transfers[PARK_SYSCALLS];

	bpf_classes_fill(calls->classes, transfers);
	bpf_objects_fill(calls->objects);
}

/* 1; 0: the thread has just woken; or -errno: it may not be read. */
static int call_read(pid_t pid, uint32_t tid, struct call *call)
{
	unsigned long long first = 0, second = 0;
	char line[TASK_LINE_SIZE];
	const int error = task_line(pid, tid, "syscall", line);

	if (error)
		return error;
	if (sscanf(line, "%ld %llx %llx", &call->number, &first, &second) < 1)
		return 0; /* "running" */
	call->argument[0] = first;
	call->argument[1] = second;
	return 1;
}

static void function_read(pid_t pid, uint32_t tid, char function[LOOK_FUNCTION_SIZE])
{
	char line[TASK_LINE_SIZE];

	function[0] = 0;
	if (task_line(pid, tid, "wchan", line) == 0 && strcmp(line, "0") != 0)
		snprintf(function, LOOK_FUNCTION_SIZE, "%.*s", LOOK_FUNCTION_SIZE - 1, line);
}

static bool link_read(pid_t pid, int32_t fd, char link[LINK_SIZE])
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	length = readlink(path, link, LINK_SIZE - 1);
	link[length > 0 ? length : 0] = 0;
	return length > 0;
}

/* All of them share one inode: the descriptor tells them apart. */
static void object_anonymous(struct place_key *place, int32_t fd, const char *link)
{
	place->inode = (uint64_t)fd + 1;
	place->object = strstr(link, "[eventpoll]")  ? OBJECT_EPOLL
	                : strstr(link, "[io_uring]") ? OBJECT_RING
	                : strstr(link, "[eventfd")   ? OBJECT_EVENTFD
	                                             : OBJECT_OTHER;
}

static void object_of_descriptor(struct look *look, pid_t pid, int32_t fd)
{
	struct place_key *place = &look->place;
	char path[64], link[LINK_SIZE];
	struct stat status;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	if (stat(path, &status) || !link_read(pid, fd, link))
		return;
	look->fd = fd;
	if (strncmp(link, "anon_inode:", 11) == 0) {
		object_anonymous(place, fd, link);
		return;
	}
	place->inode = status.st_ino;
	place->device = (uint32_t)status.st_dev;
	place->object = S_ISSOCK(status.st_mode)   ? OBJECT_SOCKET
	                : S_ISFIFO(status.st_mode) ? (*link == '/' ? OBJECT_FIFO : OBJECT_PIPE)
	                : S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ? OBJECT_FILE
	                : S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode) ? OBJECT_DEVICE
	                                                                     : OBJECT_OTHER;
}

static void object_find(const struct look_calls *calls, struct look *look, pid_t pid)
{
	switch (calls->objects[look->place.call]) {
	case CALL_FUTEX:
		look->place.object = OBJECT_FUTEX;
		break;
	case CALL_FD:
		object_of_descriptor(look, pid, (int32_t)look->argument[0]);
		break;
	case CALL_FD_SECOND:
		object_of_descriptor(look, pid, (int32_t)look->argument[1]);
		break;
	}
}

static enum park_class class_of_worker(const struct look *look)
{
	if (look->stat.sqpoll)
		return look->stat.state == 'D' ? CLASS_SQPOLL_BUSY : CLASS_SQPOLL_IDLE;
	if (!*look->function)
		return CLASS_NONE;
	return strncmp(look->function, "io_wq", 5) == 0 ? CLASS_WORKER_IDLE : CLASS_WORKER_BUSY;
}

static enum park_class class_of_call(const struct look_calls *calls, const struct look *look,
                                     const struct call *call)
{
	if (call->number < 0)
		return CLASS_FAULT;
	if (call->number >= PARK_SYSCALLS)
		return CLASS_OTHER;
	/* its own wait for completions is one that signals end */
	if (call->number == SYS_io_uring_enter && look->stat.state == 'D')
		return CLASS_SUBMITTER;
	return calls->classes[call->number];
}

/* As in the BPF programs; a ring's waiter is unseen, for its requests cannot be seen. */
static enum thread_state state_of(enum park_class class)
{
	switch (class) {
	case CLASS_DIRECT:
	case CLASS_SUBMITTER:
	case CLASS_FAULT:
	case CLASS_WORKER_BUSY:
	case CLASS_SQPOLL_BUSY:
		return STATE_PARKED_DIRECT;
	case CLASS_WORKER_IDLE:
	case CLASS_SQPOLL_IDLE:
		return STATE_IDLE;
	case CLASS_NONE:
	case CLASS_WAITER_RING:
	case CLASS_WAITER_POLL:
	case CLASS_FUTEX:
		return STATE_UNSEEN;
	default:
		return STATE_OTHER;
	}
}

/* A thread of the program's own, which sleeps and is not stopped. */
static void sleep_in_call(const struct look_calls *calls, struct look *look, pid_t pid,
                          uint32_t tid, const struct place_key *before)
{
	struct call call;
	const int got = call_read(pid, tid, &call);

	look->readable = got >= 0;
	look->asleep = got != 0;
	if (got <= 0)
		return;
	if (call.number == SYS_restart_syscall && before) {
		look->place = *before;
		return;
	}
	look->place.class = (uint8_t)class_of_call(calls, look, &call);
	look->place.state = (uint8_t)state_of(look->place.class);
	memcpy(look->argument, call.argument, sizeof look->argument);
	if (call.number < 0 || call.number >= PARK_SYSCALLS)
		return;
	look->place.call = (uint16_t)call.number;
	object_find(calls, look, pid);
}

int look_at(const struct look_calls *calls, pid_t pid, uint32_t tid, const struct place_key *before,
            struct look *look)
{
	memset(look, 0, sizeof *look);
	look->fd = -1;
	look->readable = true;
	if (task_stat_read(pid, tid, &look->stat) || strchr("ZXx", look->stat.state))
		return -ESRCH;
	look->kind = look->stat.sqpoll   ? KIND_SQPOLL
	             : look->stat.worker ? KIND_IO_WQ
	                                 : KIND_APPLICATION;
	look->asleep = look->stat.state != 'R';
	look->place = (struct place_key){
	    .process = (uint32_t)pid, .call = PLACE_NO_CALL, .state = STATE_UNSEEN};
	if (!look->asleep)
		return 0;
	function_read(pid, tid, look->function);
	if (strchr("Tt", look->stat.state)) {
		look->place.class = CLASS_STOPPED;
		look->place.state = STATE_OTHER;
	} else if (look->stat.worker) {
		look->place.class = (uint8_t)class_of_worker(look);
		look->place.state = (uint8_t)state_of(look->place.class);
	} else {
		sleep_in_call(calls, look, pid, tid, before);
	}
	look->place.kind = (uint8_t)look->kind;
	return 0;
}

void look_name(pid_t pid, int32_t fd, char name[PLACE_NAME_SIZE])
{
	char link[LINK_SIZE];
	const char *last;

	name[0] = 0;
	if (fd < 0 || !link_read(pid, fd, link))
		return;
	last = strrchr(link, '/');
	snprintf(name, PLACE_NAME_SIZE, "%.*s", PLACE_NAME_SIZE - 1, last ? last + 1 : link);
}
