/* Names of operations, reasons and causes, and the difference of two readings: see workers.h. */
#include "probes/workers.h"

#include <stddef.h>

const char *const punt_reason_names[PUNT_REASONS] = {
    [PUNT_FSYNC_CLASS] = "fsync-class",
    [PUNT_FORCED] = "forced",
    [PUNT_SHORT_WRITE] = "short-write",
    [PUNT_NO_NOWAIT] = "no-nowait",
    [PUNT_HASHED_WRITE] = "hashed-write",
    [PUNT_WOULD_BLOCK] = "would-block",
    [PUNT_OTHER] = "other",
};

const char *const sleep_call_names[SLEEP_CALLS] = {
    [SLEEP_URING_ENTER] = "io_uring_enter",
    [SLEEP_IO_SUBMIT] = "io_submit",
    [SLEEP_SQPOLL] = "sqpoll",
};

const char *const sleep_cause_names[CAUSE_COUNT] = {
    [CAUSE_TAGS] = "tags",         [CAUSE_WRITEBACK] = "writeback",
    [CAUSE_LOCK] = "lock",         [CAUSE_FAULT] = "fault",
    [CAUSE_JOURNAL] = "journal",   [CAUSE_BUFFERED_READ] = "buffered-read",
    [CAUSE_TRANSFER] = "transfer", [CAUSE_MEMORY] = "memory",
    [CAUSE_OTHER] = "other",       [CAUSE_UNKNOWN] = "unknown",
};

/* In the order of the kernel's enum io_uring_op, that of Linux 6.18. */
static const char *const operations[WORKERS_OPERATIONS] = {
    "NOP",
    "READV",
    "WRITEV",
    "FSYNC",
    "READ_FIXED",
    "WRITE_FIXED",
    "POLL_ADD",
    "POLL_REMOVE",
    "SYNC_FILE_RANGE",
    "SENDMSG",
    "RECVMSG",
    "TIMEOUT",
    "TIMEOUT_REMOVE",
    "ACCEPT",
    "ASYNC_CANCEL",
    "LINK_TIMEOUT",
    "CONNECT",
    "FALLOCATE",
    "OPENAT",
    "CLOSE",
    "FILES_UPDATE",
    "STATX",
    "READ",
    "WRITE",
    "FADVISE",
    "MADVISE",
    "SEND",
    "RECV",
    "OPENAT2",
    "EPOLL_CTL",
    "SPLICE",
    "PROVIDE_BUFFERS",
    "REMOVE_BUFFERS",
    "TEE",
    "SHUTDOWN",
    "RENAMEAT",
    "UNLINKAT",
    "MKDIRAT",
    "SYMLINKAT",
    "LINKAT",
    "MSG_RING",
    "FSETXATTR",
    "SETXATTR",
    "FGETXATTR",
    "GETXATTR",
    "SOCKET",
    "URING_CMD",
    "SEND_ZC",
    "SENDMSG_ZC",
    "READ_MULTISHOT",
    "WAITID",
    "FUTEX_WAIT",
    "FUTEX_WAKE",
    "FUTEX_WAITV",
    "FIXED_FD_INSTALL",
    "FTRUNCATE",
    "BIND",
    "LISTEN",
    "RECV_ZC",
    "EPOLL_WAIT",
    "READV_FIXED",
    "WRITEV_FIXED",
    "PIPE",
    "later",
};

const char *workers_operation_name(uint32_t operation)
{
	return operations[operation < WORKERS_OPERATIONS ? operation : WORKERS_OPERATIONS - 1];
}

static uint64_t grown(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static struct sleep_count sleeps_difference(struct sleep_count from, struct sleep_count to)
{
	return (struct sleep_count){grown(from.count, to.count),
	                            grown(from.parked_ns, to.parked_ns)};
}

void workers_difference(struct workers_reading *window, const struct workers_reading *from,
                        const struct workers_reading *to)
{
	*window = *to;
	for (size_t i = 0; i < WORKERS_OPERATIONS; i++) {
		window->submitted[i] = grown(from->submitted[i], to->submitted[i]);
		for (size_t r = 0; r < PUNT_REASONS; r++)
			window->punted[i][r] = grown(from->punted[i][r], to->punted[i][r]);
	}
	for (size_t c = 0; c < SLEEP_CALLS; c++)
		for (size_t r = 0; r < CAUSE_COUNT; r++)
			window->submitter[c][r] = sleeps_difference(from->submitter[c][r],
			                                            to->submitter[c][r]);
	for (size_t i = 0; i < WORKERS_FILES; i++)
		window->files[i].sleeps = sleeps_difference(from->files[i].sleeps,
		                                            to->files[i].sleeps);
}
