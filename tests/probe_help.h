/* What the tests of the probes share: programs to watch, and the probe's raw counts. */
#ifndef IOSTUDY_TESTS_PROBE_HELP_H
#define IOSTUDY_TESTS_PROBE_HELP_H

#include <stdio.h>
#include <sys/types.h>

#include "probes/bpf.h"
#include "probes/table.h"

struct program {
	pid_t pid;
	int input;    /* its standard input */
	FILE *output; /* its standard output */
};

/* Starts a program of tests/programs; arguments end with NULL. False if it cannot. */
bool program_start(struct program *program, const char *name, const char *const *arguments);
/* Forks; the child runs body and exits. */
bool program_fork(struct program *program, void (*body)(void *argument, int input, int output),
                  void *argument);
/* Waits for a line; true if it is the one expected. */
bool program_expect(struct program *program, const char *line);
void program_send(struct program *program, char command);
void program_end(struct program *program);

/* The living threads as the BPF programs have them now. */
struct counts {
	uint32_t threads, by_class[CLASS_COUNT], by_state[STATE_COUNT];
};
struct counts counts_now(struct probe *p);
/* Waits until so many threads are asleep in all, at most 10 s, and says whether they are. */
bool counts_settle(struct probe *p, struct counts *counts, uint32_t asleep);

/* Opens the BPF probe; false, with why, where this machine does not allow it. */
bool open_bpf(struct probe *p, const struct probe_config *config, char why[PROBE_WHY_SIZE]);

uint64_t clock_ns(void);

/* In a test: opens the BPF probe or skips. */
#define OPEN_BPF(probe, config)                                                                    \
	do {                                                                                       \
		char open_why[PROBE_WHY_SIZE];                                                     \
		if (geteuid() != 0)                                                                \
			SKIP("only root may load BPF programs");                                   \
		if (!open_bpf(probe, config, open_why)) {                                          \
			test_fail(__FILE__, __LINE__, "%s", open_why);                             \
			return;                                                                    \
		}                                                                                  \
	} while (0)

#endif
