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
	unsigned long long clock, clock_task; /* less what interrupts took */
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	unsigned char sched_delayed;   /* 6.12: asleep, though still queued */
	unsigned long long exec_start; /* by clock_task: when it last ran */
	struct cfs_rq *cfs_rq;
};

struct pt_regs {
	unsigned long dx, si, di, orig_ax, sp;
};

struct sched_info {
	unsigned long long run_delay;                 /* ns waited for a CPU, in all */
	unsigned long long last_arrival, last_queued; /* by the run queue's clock */
};

struct io_uring_task;

struct file;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct thread_struct {
	unsigned long fsbase;
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
	struct task_struct *real_parent;
	struct files_struct *files;
	struct thread_struct thread;
	unsigned in_iowait : 1;
	char comm[16];
	void *worker_private;
	struct io_uring_task *io_uring;
	unsigned long nvcsw, nivcsw;
	struct sched_info sched_info;
};

struct io_wq_work {
	int cancel_seq;
};

struct io_wq;

struct io_wq_acct {
	unsigned int nr_workers, max_workers;
};

struct io_worker {
	unsigned long flags; /* an unsigned int before 6.9 */
	struct io_wq *wq;
	struct io_wq_acct *acct; /* from 6.15 on */
	struct io_wq_work *cur_work;
};

struct io_wq {
	struct task_struct *task;  /* whose rings it serves */
	struct io_wq_acct acct[2]; /* for what ends in bounded time, and for what may not */
};

struct io_uring_task {
	struct task_struct *task;
	struct io_wq *io_wq;
};

struct super_block {
	unsigned int s_dev;
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	unsigned int f_mode;
	struct inode *f_inode;
	struct path f_path;
};

struct io_kiocb {
	struct file *file;
	unsigned char opcode;
	unsigned long long flags; /* an unsigned int before 6.9 */
	struct io_uring_task *tctx;
	struct io_wq_work work;
};

struct io_kiocb___task { /* before 6.13 */
	struct task_struct *task;
};

struct io_ring_ctx;

struct io_uring_cqe {
	unsigned int flags;
};

struct irqaction;

struct kiocb {
	void (*ki_complete)(struct kiocb *iocb, long result);
};

struct atomic {
	int counter;
};

struct iomap_dio { /* a direct transfer of a file */
	struct kiocb *iocb;
	struct atomic ref;
};

struct blkdev_dio { /* and of a block device */
	struct kiocb *iocb;
};

struct bio {
	struct bio *bi_next;
	unsigned int bi_opf;
	void (*bi_end_io)(struct bio *bio);
	void *bi_private;
};

struct request {
	unsigned int __data_len;
	struct bio *bio;
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
