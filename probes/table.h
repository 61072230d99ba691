/* The probes that the table in probe.c lists, best first. */
#ifndef IOSTUDY_TABLE_H
#define IOSTUDY_TABLE_H

#include "probes/probe.h"

extern const struct probe_ops probe_bpf;
extern const struct probe_ops probe_perf;
extern const struct probe_ops probe_schedstat;
extern const struct probe_ops probe_proc;

#endif
