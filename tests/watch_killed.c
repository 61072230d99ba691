/*
 * `iostudy watch` killed in the middle, 20 times: no BPF program, link or map stays in the kernel,
 * and the target lives on. What is looked for are the numbers that the watcher itself held, so that
 * others may use BPF meanwhile.
 */
#include <bpf/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/watch_help.h"

enum { ROUNDS = 4, AT_ONCE = 5, HELD_MAX = 128, DESCRIPTORS = 256, TRIES = 2000 };

/* What a descriptor can hold in the kernel. */
static const struct object_kind {
	const char *line; /* of /proc/PID/fdinfo */
	int (*descriptor_of)(uint32_t id);
} kinds[] = {
    {"prog_id: %u", bpf_prog_get_fd_by_id},
    {"map_id: %u", bpf_map_get_fd_by_id},
    {"link_id: %u", bpf_link_get_fd_by_id},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A link's description names its program as well; each number counts once for each kind. */
struct held {
	uint32_t ids[KINDS][HELD_MAX];
	unsigned counts[KINDS];
};

static void held_add(struct held *held, size_t kind, uint32_t id)
{
	for (unsigned i = 0; i < held->counts[kind]; i++)
		if (held->ids[kind][i] == id)
			return;
	if (held->counts[kind] < HELD_MAX)
		held->ids[kind][held->counts[kind]++] = id;
}

static void held_read(struct held *held, pid_t pid)
{
	memset(held, 0, sizeof *held);
	for (int fd = 3; fd < DESCRIPTORS; fd++) {
		char path[64], line[128];
		FILE *info;
		uint32_t id;

		snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, fd);
		info = fopen(path, "re");
		while (info && fgets(line, sizeof line, info))
			for (size_t k = 0; k < KINDS; k++)
				if (sscanf(line, kinds[k].line, &id) == 1)
					held_add(held, k, id);
		if (info)
			fclose(info);
	}
}

/* How many of them the kernel still has. */
static unsigned held_left(const struct held *held)
{
	unsigned left = 0;

	for (size_t k = 0; k < KINDS; k++)
		for (unsigned i = 0; i < held->counts[k]; i++) {
			const int fd = kinds[k].descriptor_of(held->ids[k][i]);

			left += fd >= 0;
			if (fd >= 0)
				close(fd);
		}
	return left;
}

static void watches(void *pid, int input, int output)
{
	char self[4200];

	(void)input;
	snprintf(self, sizeof self, "%s/iostudy", test_build_directory());
	dup2(output, STDERR_FILENO);
	execl(self, "iostudy", "watch", "-f", "-i", "50ms", "-p", (char *)pid, (char *)NULL);
}

static void kill_some(pid_t target)
{
	struct program watchers[AT_ONCE];
	struct held held[AT_ONCE];
	char pid[16], line[256];

	snprintf(pid, sizeof pid, "%d", (int)target);
	for (int i = 0; i < AT_ONCE; i++)
		REQUIRE(program_fork(&watchers[i], watches, pid));
	for (int i = 0; i < AT_ONCE; i++) {
		CHECK(fgets(line, sizeof line, watchers[i].output)); /* it is in the middle */
		held_read(&held[i], watchers[i].pid);
		CHECK(held[i].counts[0] >= 10 && held[i].counts[1] >= 5 && held[i].counts[2] >= 10);
	}
	for (int i = 0; i < AT_ONCE; i++) {
		unsigned left = 1;

		program_end(&watchers[i]); /* by SIGKILL */
		for (int k = 0; k < TRIES && (left = held_left(&held[i])); k++)
			usleep(10000); /* the kernel takes its time */
		CHECK_MESSAGE(left == 0, "%u of what it held is still there", left);
	}
}

TEST(watch_killed, nothing_stays_loaded_and_the_target_lives_on_20_times_of_20)
{
	static const char *const program[] = {"hold", "pipe=1", NULL};
	struct program target;

	NEED_BPF();
	REQUIRE(program_start(&target, "parkers", program));
	REQUIRE(program_expect(&target, "ready"));
	for (int round = 0; round < ROUNDS && !test_has_failed(); round++) {
		kill_some(target.pid);
		CHECK_EQUAL(kill(target.pid, 0), 0);
	}
	program_end(&target);
}
