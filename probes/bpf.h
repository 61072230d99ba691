/*
 * The BPF probe's inside, for its own files and for the tests that hold it against the truth.
 */
#ifndef IOSTUDY_BPF_H
#define IOSTUDY_BPF_H

#include "probes/park.h"

struct park;
struct bpf_link;

struct bpf_probe {
	struct park *object;
	volatile struct park_totals *totals; /* shared with the BPF programs */
	struct bpf_link *find, *seed, *read, *family,
	    *census; /* the walks; the last two to watch */
	uint32_t measures;
	size_t left; /* bytes of a record whose end has not been read yet */
	char buffer[1 << 16];
};

/* Calls each for every living thread of the subject. 0 or -errno. */
int bpf_probe_records(struct bpf_probe *b, void (*each)(void *to, const struct park_record *record),
                      void *to);

/* Runs a walk that hands out records of that size, and calls each for every one. 0 or -errno. */
int bpf_records(struct bpf_probe *b, struct bpf_link *walk, size_t size,
                void (*each)(void *to, const void *record), void *to);

/* Runs a walk over all threads for its effect. 0 or -errno. */
int bpf_walk(struct bpf_link *link);

/* Which kernel-side programs exist in this kernel, by the prototypes in its BTF. */
struct bpf_variants {
	bool block_io_start, sk_data_ready;
	bool io_uring_complete_cqe, io_uring_complete_words; /* two prototypes */
	bool io_uring_work_run, io_uring_local_work_run;
	bool io_uring_submit_req, io_uring_submit_sqe; /* two prototypes */
	bool io_uring_punt, io_uring_short_write;
	long count_distance, current_distance; /* 0: not known */
};
int bpf_variants_find(struct bpf_variants *variants);

/* What each system call works on: enum call_object. */
void bpf_objects_fill(uint8_t objects[PARK_SYSCALLS]);

/* The class of each system call, and those in which glibc's POSIX AIO serves a request. */
void bpf_classes_fill(uint8_t classes[PARK_SYSCALLS], uint8_t transfers[PARK_SYSCALLS]);

/* The causes of sleeps by functions of the kernel, and what io_uring's operations are. */
void bpf_workers_fill(struct park_knobs *knobs);

/* Takes workers from the counters: the ended sleeps of all threads. Those that are open are added
 * by bpf_workers_add_open, once for each living thread. */
void bpf_workers_read(const volatile struct park_workers *from, struct workers_reading *reading);
void bpf_workers_add_open(struct workers_reading *reading, const struct park_record *record);

/* Makes a process the subject without seeding its threads. 0 or -errno. */
int bpf_find(struct bpf_probe *b, pid_t pid);

/* Makes one direct write of its own and checks that the probe saw it and nothing else. */
void bpf_self_test(struct probe *p);

/* Says in why what a failure to load means and what allows it; log is libbpf's last line. */
int bpf_explain(int error, const char *log, char why[PROBE_WHY_SIZE]);

int bpf_read(struct probe *p, struct probe_reading *reading);

#endif
