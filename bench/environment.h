/*
 * Where a run happened: the machine, its kernel, and the file system and block device below a
 * path. Plain facts for the result's "environment" object and for `iostudy doctor`; what can
 * only be known by trying is tried. Nothing here prints.
 */
#ifndef IOSTUDY_ENVIRONMENT_H
#define IOSTUDY_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

enum { ENVIRONMENT_TEXT_SIZE = 96 }; /* bytes of a text, its terminating zero included */

/* What was tried, or read: a machine that hides a value is not a machine without the thing. */
enum environment_answer { ANSWER_UNKNOWN = -1, ANSWER_NO = 0, ANSWER_YES = 1 };

/* A text that could not be found is empty, a number that could not be found is -1. */
struct environment {
	char iostudy[ENVIRONMENT_TEXT_SIZE]; /* the version that was built */
	char host[ENVIRONMENT_TEXT_SIZE];
	char kernel[ENVIRONMENT_TEXT_SIZE];
	char machine[ENVIRONMENT_TEXT_SIZE]; /* x86_64, ... */
	char cpu_model[ENVIRONMENT_TEXT_SIZE];
	char virtualised[ENVIRONMENT_TEXT_SIZE]; /* kvm, xen, ..., "unnamed"; or "none" */
	char clocksource[ENVIRONMENT_TEXT_SIZE];
	int32_t cpus;         /* online */
	int32_t cpus_allowed; /* of them, those this process may run on */
	int64_t memory_bytes;
	double load_1, load_5, load_15; /* -1: not known */
	int64_t steal_ns;               /* taken by the hypervisor since boot, all CPUs */

	char filesystem[ENVIRONMENT_TEXT_SIZE]; /* ext4, xfs, btrfs, tmpfs, overlay, ... */
	bool in_memory;     /* the file system has no device below it: its "disk" is memory */
	bool layered;       /* an overlay or FUSE: another file system does the work */
	int64_t free_bytes; /* what an ordinary user may still write there */

	char device[ENVIRONMENT_TEXT_SIZE]; /* the whole disk: vda, nvme0n1, dm-0 */
	char scheduler[ENVIRONMENT_TEXT_SIZE];
	int64_t nr_requests;
	int64_t logical_block_bytes;
	enum environment_answer rotational;
	enum environment_answer io_poll;     /* the device has polled queues */
	enum environment_answer direct_read; /* a read with O_DIRECT is accepted */
	/* A read with RWF_NOWAIT is accepted, with O_DIRECT where that is: else io_uring must hand
	 * reads to a worker. */
	enum environment_answer nowait_read;
};

/* Fills env for a directory, a file or a block device. In a directory a nameless file is made
 * for a moment; where that is not allowed, what would have been tried is unknown. 0, or -errno
 * when the path cannot be looked at: then the machine's fields are valid, the others empty. */
int environment_read(struct environment *env, const char *path);

/* Why figures taken here are not a disk's, as one sentence that names --directory; NULL when
 * nothing speaks against the place. text has room for the sentence. */
const char *environment_caveat(const struct environment *env, const char *path, char text[240]);

/* A nameless file of one filled block in a directory, to try reads on, which are direct where its
 * file system takes O_DIRECT. The caller closes it; -1 when there can be none. */
int environment_trial_open(const char *directory);

/* The number in /proc/sys/NAME ("kernel/pid_max"), or -1. */
int64_t environment_setting(const char *name);

/* The time that the hypervisor took from this machine since boot, in ns; -1: not known. The
 * difference over a window says whether its figures can be trusted. */
int64_t environment_steal_ns(void);

/* The time in which CPUs were idle while somebody waited for I/O, since boot, all CPUs, in ns, as
 * the kernel counts it; it may fall a little. -1: not known. */
int64_t environment_iowait_ns(void);

/* The time that all CPUs worked since boot, interrupts included, in ns; -1: not known. */
int64_t environment_busy_ns(void);

#endif
