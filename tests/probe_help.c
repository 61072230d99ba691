/* See probe_help.h. */
#include "tests/probe_help.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

enum { SETTLE_TRIES = 10000, ARGUMENTS_MAX = 32 };

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct execution {
	const char *name;
	const char *const *arguments;
};

static void execute(void *argument, int input, int output)
{
	const struct execution *execution = argument;
	const char *all[ARGUMENTS_MAX] = {execution->name};
	char path[4096];
	int n = 1;

	snprintf(path, sizeof path, "%s/tests/programs/%s", test_build_directory(),
	         execution->name);
	for (; execution->arguments[n - 1] && n < ARGUMENTS_MAX - 1; n++)
		all[n] = execution->arguments[n - 1];
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	execv(path, (char *const *)all);
	perror(path);
}

bool program_start(struct program *program, const char *name, const char *const *arguments)
{
	struct execution execution = {name, arguments};

	return program_fork(program, execute, &execution);
}

bool program_fork(struct program *program, void (*body)(void *argument, int input, int output),
                  void *argument)
{
	int in[2], out[2];

	memset(program, 0, sizeof *program);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return false;
	fflush(NULL);
	program->pid = fork();
	if (program->pid == 0) {
		close(in[1]);
		close(out[0]);
		body(argument, in[0], out[1]);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	program->input = in[1];
	program->output = fdopen(out[0], "r");
	return program->pid > 0;
}

bool program_expect(struct program *program, const char *line)
{
	char got[256] = "";

	if (!fgets(got, sizeof got, program->output))
		return false;
	got[strcspn(got, "\n")] = 0;
	return !strcmp(got, line);
}

void program_send(struct program *program, char command)
{
	if (write(program->input, &command, 1) != 1)
		perror("the program's input");
}

void program_end(struct program *program)
{
	close(program->input);
	kill(program->pid, SIGKILL);
	waitpid(program->pid, NULL, 0);
	fclose(program->output);
}

static void count(void *to, const struct park_record *record)
{
	struct counts *counts = to;
	const uint32_t word = record->word;

	if (word == WORD_UNKNOWN || word == WORD_DEAD)
		return;
	counts->threads++;
	counts->by_class[(word >> WORD_CLASS_SHIFT & 0xff) % CLASS_COUNT]++;
	counts->by_state[((word & WORD_STATE) - 1) % STATE_COUNT]++;
}

struct counts counts_now(struct probe *p)
{
	struct counts counts = {0};

	bpf_probe_records(p->state, count, &counts);
	return counts;
}

bool counts_settle(struct probe *p, struct counts *counts, uint32_t asleep)
{
	for (int i = 0; i < SETTLE_TRIES; i++) {
		*counts = counts_now(p);
		if (counts->threads - counts->by_class[CLASS_NONE] == asleep)
			return true;
		usleep(1000);
	}
	return false;
}

bool open_bpf(struct probe *p, const struct probe_config *config, char why[PROBE_WHY_SIZE])
{
	return probe_open(p, &probe_bpf, config, why) == 0;
}
