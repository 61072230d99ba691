/*
 * The few kernel types that the BPF programs read, with the few fields used. libbpf finds each
 * field in the running kernel by its name; a name after ___ is a variant of an older kernel.
 */
#ifndef IOSTUDY_KERNEL_H
#define IOSTUDY_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>

enum {
	PF_IO_WORKER = 0x10,     /* an io_uring worker or submission poller */
	PF_USER_WORKER = 0x4000, /* and others that serve a process, from 6.4 on */
	TASK_UNINTERRUPTIBLE = 2,
	TASK_DEAD = 0x80,
	TASK_WAKING = 0x200,
	TASK_NEW = 0x800,
	STOPPED_STATES = 4 | 8 | 0x8000, /* __TASK_STOPPED, __TASK_TRACED, TASK_FROZEN */
	CLONE_THREAD = 0x10000,
	AF_UNIX = 1,
	AF_INET = 2,
	AF_INET6 = 10,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct rq {
	unsigned long long clock;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	unsigned char sched_delayed; /* 6.12: asleep, though still queued */
	struct cfs_rq *cfs_rq;
};

struct pt_regs {
	unsigned long orig_ax;
};

struct sched_info {
	unsigned long long run_delay;                 /* ns waited for a CPU, in all */
	unsigned long long last_arrival, last_queued; /* by the run queue's clock */
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	int exit_state;
	int pid;
	int tgid;
	struct sched_entity se;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	void *worker_private;
	unsigned long nvcsw, nivcsw;
	struct sched_info sched_info;
};

struct io_wq_work;

struct io_worker {
	struct io_wq_work *cur_work;
};

struct io_uring_task {
	struct task_struct *task;
};

struct io_kiocb {
	struct io_uring_task *tctx;
};

struct io_kiocb___task { /* before 6.13 */
	struct task_struct *task;
};

struct io_ring_ctx;
struct io_uring_cqe;
struct irqaction;

struct request {
	unsigned int __data_len;
};

struct sock_common {
	__be16 skc_dport;
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
	struct pid *sk_peer_pid;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
