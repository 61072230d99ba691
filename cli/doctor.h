/*
 * The doctor's findings: one list of checks, filled by the files doctor_*.c and shown as text or
 * as JSON by doctor.c.
 */
#ifndef IOSTUDY_CLI_DOCTOR_H
#define IOSTUDY_CLI_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/environment.h"

enum {
	DOCTOR_CHECKS_MAX = 96,
	DOCTOR_TEXT_SIZE = 600,
	DOCTOR_COMMAND_SIZE = 200,
};

enum doctor_section {
	DOCTOR_ENGINES, /* opened, and one request served */
	DOCTOR_PROBES,  /* opened */
	DOCTOR_PLACE,   /* the directory of the measured file */
	DOCTOR_LIMITS,  /* and the depth that they allow */
	DOCTOR_USER,    /* who asks: user, capabilities, container */
	DOCTOR_KERNEL,  /* what it was built with, and its settings */
	DOCTOR_SECTIONS
};

enum doctor_state {
	DOCTOR_OK,   /* may be done, or is no hindrance */
	DOCTOR_NOTE, /* works, but bears on the figures or on large settings */
	DOCTOR_NO,   /* may not be done, or cannot be here */
	DOCTOR_INFO, /* a fact */
	DOCTOR_STATES
};

struct doctor_check {
	enum doctor_section section;
	enum doctor_state state;
	char name[40];
	char value[DOCTOR_TEXT_SIZE];    /* what is */
	char why[DOCTOR_TEXT_SIZE];      /* why not, or what follows from it; or empty */
	char allow[DOCTOR_COMMAND_SIZE]; /* the one command that allows more; or empty */
	char undo[DOCTOR_COMMAND_SIZE];  /* and how to take it back */
};

/* Whom the checks are made for: what all of them need to know. */
struct doctor_user {
	uid_t uid;
	uint64_t capabilities; /* CapEff */
	int seccomp;           /* mode 0, 1, 2; -1: not known */
	bool user_namespace;   /* not the first one: its root is not the machine's */
	bool pid_namespace;    /* not the first one: PIDs differ outside */
	char container[64];    /* what it looks like: docker, podman, ...; or empty */
};

struct doctor {
	const char *directory;
	struct environment environment;
	int environment_error; /* 0, or -errno of the directory */
	struct doctor_user user;
	struct doctor_check checks[DOCTOR_CHECKS_MAX];
	unsigned count;
	unsigned engines_open, probes_open;
	char best_probe[40];
};

/* Adds a check; the value is formatted. Never fails: a list that is full ends the process. */
struct doctor_check *doctor_add(struct doctor *d, enum doctor_section section,
                                enum doctor_state state, const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds to a check why, and the command with its opposite; each may be NULL. */
void doctor_explain(struct doctor_check *check, const char *why, const char *allow,
                    const char *undo);

/* True for a capability's number in CapEff. */
bool doctor_can(const struct doctor *d, unsigned capability);

/* The files' checks. doctor_user_read comes first. */
void doctor_user_read(struct doctor_user *user);
void doctor_check_user(struct doctor *d);
void doctor_check_engines(struct doctor *d);
void doctor_check_probes(struct doctor *d);
void doctor_check_limits(struct doctor *d);
void doctor_check_place(struct doctor *d);
void doctor_check_kernel(struct doctor *d);

#endif
