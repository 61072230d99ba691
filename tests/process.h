/*
 * Runs a program as a user would, and in the surroundings that break programs: closed and full
 * outputs, small limits, another user, a filter on system calls, a signal at a bad moment. Says
 * afterwards what it answered and whether it left anything running.
 */
#ifndef IOSTUDY_TESTS_PROCESS_H
#define IOSTUDY_TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum {
	PROCESS_LIMITS_MAX = 4,
	PROCESS_DENIED_MAX = 8,
	PROCESS_SECONDS = 60, /* the time limit unless told otherwise */
};

/* What an output of the program is. */
enum process_output {
	OUTPUT_CAPTURED,    /* a pipe, read to its end */
	OUTPUT_NULL,        /* /dev/null */
	OUTPUT_FULL,        /* /dev/full: each write fails with ENOSPC */
	OUTPUT_CLOSED,      /* the descriptor is closed */
	OUTPUT_BROKEN_PIPE, /* a pipe whose reader has gone */
};

/* How to run it. All zero but argv: the build's iostudy, captured, as we are. */
struct process {
	const char *program;     /* NULL: the build's iostudy; a name without a slash: by PATH */
	const char *const *argv; /* its arguments, argv[0] left out; ends with NULL */
	const char *const *environment; /* "NAME=VALUE" beside our own, "NAME" takes one away; ends
	                                   with NULL */
	const char *directory;          /* where it runs */
	const char *input;              /* what it reads from stdin; NULL: /dev/null */
	bool input_closed;
	enum process_output out, err;
	struct {
		int resource; /* RLIMIT_... */
		rlim_t value; /* soft and hard */
	} limits[PROCESS_LIMITS_MAX];
	unsigned limit_count;
	uid_t user; /* not 0: as this user, without groups and capabilities (we must be root) */
	pid_t network_of; /* not 0: in the network of this process (we must be root) */
	long denied[PROCESS_DENIED_MAX]; /* numbers of system calls that answer EPERM */
	unsigned denied_count;
	int signal;              /* not 0: sent to the program (not to its children) */
	bool signal_group;       /* as a terminal does it: to its process group */
	int64_t signal_delay_ns; /* after its start, or after signal_when was seen */
	const char *signal_when; /* this text on stdout or stderr */
	unsigned signal_again;   /* sent so many times more, 10 ms apart */
	unsigned seconds;        /* time limit; 0: PROCESS_SECONDS */
};

/* What came of it. */
struct process_result {
	bool started;    /* false: why is in err */
	bool timed_out;  /* killed at its time limit */
	int status;      /* exit status, or -1 */
	int signal;      /* that ended it, or 0 */
	char *out, *err; /* captured, always terminated; to be freed by process_free */
	size_t out_bytes, err_bytes;
	int64_t elapsed_ns;
	unsigned left_behind; /* processes of its session that lived on, and were killed */
	char left_name[64];   /* the command of one of them */
};

/* Runs it to its end. Nothing that it started lives on after the return. */
void process_run(const struct process *p, struct process_result *result);
void process_free(struct process_result *result);

/* The usual: build/iostudy with these arguments, the last of them NULL. */
#define PROCESS_RUN(result, ...)                                                                   \
	process_run(&(struct process){.argv = (const char *const[]){__VA_ARGS__, NULL}}, result)

/* Fails the test unless it ended by itself with this status, and left nobody behind. */
#define CHECK_STATUS(result, expected) process_check_status(result, expected, __FILE__, __LINE__)
void process_check_status(const struct process_result *result, int expected, const char *file,
                          int line);

/* An empty directory that any user may write to and that lies below /var/tmp, which is on a disk
 * where /tmp may be memory; removed with all in it by process_remove_directory. */
void process_make_directory(char path[256]);
void process_remove_directory(const char *path);

/* True where this process may do what only root may. */
bool process_is_root(void);

/* True where a program of that name is found by PATH. */
bool process_is_installed(const char *program);

/* The longest line of a text, in characters on the screen (UTF-8, without escapes). */
size_t process_widest_line(const char *text);

#endif
