/*
 * How a watch counts: by the BPF programs, or by samples of /proc. The contract of each call is the
 * one of its namesake in watch.h.
 */
#ifndef IOSTUDY_WATCH_OPS_H
#define IOSTUDY_WATCH_OPS_H

#include "probes/watch.h"

struct watch_ops {
	const char *name; /* of the probe, as in JSON */
	int (*add)(struct watch *w, pid_t pid, uint32_t *process);
	int (*begin)(struct watch *w);
	void (*tell)(struct watch *w, uint64_t number, enum thread_kind kind);
	uint64_t (*births)(const struct watch *w);
	uint64_t (*living)(const struct watch *w);
	int64_t (*ring_open)(const struct watch *w,
	                     uint64_t *mark); /* NULL: it does not count them */
	void (*fresh)(struct watch *w);       /* NULL: it tells of now at any time */
	int (*read)(struct watch *w, struct probe_reading *reading);
	int (*census)(struct watch *w, struct watch_census *census);
	void (*cost)(const struct watch *w, struct watch_cost *cost);
	void (*close)(struct watch *w);
};

extern const struct watch_ops watch_bpf, watch_samples;

#endif
