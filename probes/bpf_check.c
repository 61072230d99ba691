/*
 * Is the BPF probe allowed here, and does it count right? The reasons of failures, and the
 * self-test: one direct write of a known odd size.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "probes/bpf.h"
#include "probes/park.skel.h"

enum { TEST_BYTES = 12288, SELF_TEST_TRIES = 5 }; /* no block size, no read-ahead: an odd one */

/* The effective capabilities of this process. */
static uint64_t capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

static bool may_use_bpf(void)
{
	const uint64_t have = capabilities();
	const uint64_t both = 1ull << CAP_BPF | 1ull << CAP_PERFMON;

	return have & 1ull << CAP_SYS_ADMIN || (have & both) == both;
}

static bool locked_down(void)
{
	char line[128] = "";
	const int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, line, sizeof line - 1) < 0)
		line[0] = 0;
	close(fd);
	return strstr(line, "[confidentiality]") != NULL;
}

int bpf_explain(int error, const char *log, char why[PROBE_WHY_SIZE])
{
	const size_t length = strcspn(log, "\n");

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(
		    why, PROBE_WHY_SIZE,
		    "the kernel does not describe its types: /sys/kernel/btf/vmlinux cannot be "
		    "read (CONFIG_DEBUG_INFO_BTF)");
	else if (!may_use_bpf())
		snprintf(why, PROBE_WHY_SIZE,
		         "BPF needs the capabilities CAP_BPF and CAP_PERFMON: use sudo iostudy, or "
		         "once: sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v iostudy)\"");
	else if (locked_down())
		snprintf(why, PROBE_WHY_SIZE,
		         "the kernel is locked down (/sys/kernel/security/lockdown says "
		         "confidentiality), and then BPF may read nothing of it");
	else
		snprintf(why, PROBE_WHY_SIZE, "the BPF programs cannot be loaded: %s (%.*s)",
		         strerror(-error), (int)length, log);
	return error;
}

/* A file of ours without a name, or with one that is taken away at once. */
static int open_test_file(const char *directory)
{
	char path[4096];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	snprintf(path, sizeof path, "%s/.iostudy-self-test-%d", directory, (int)getpid());
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* Writes twice: first for the file to have its blocks, then, once the probe counts us, again.
 * 0, or -errno. */
static int write_counted(struct bpf_probe *b, int fd)
{
	void *block;
	int error = 0;

	if (posix_memalign(&block, 4096, TEST_BYTES))
		return -ENOMEM;
	memset(block, 'i', TEST_BYTES);
	if (pwrite(fd, block, TEST_BYTES, 0) != TEST_BYTES || fsync(fd))
		error = errno ? -errno : -EIO;
	if (!error)
		error = bpf_find(b, getpid());
	errno = 0;
	if (!error && pwrite(fd, block, TEST_BYTES, 0) != TEST_BYTES)
		error = errno ? -errno : -EIO;
	b->totals->subject = 0;
	free(block);
	return error;
}

static void judge(struct probe *p, const volatile struct park_totals *t, bool has_device)
{
	const uint64_t requests = t->block_requests, bytes = t->block_bytes;

	if (requests == 1 && bytes == TEST_BYTES && t->block_open == 0) {
		p->self_test = SELF_TEST_OK;
	} else if (!requests && !has_device) {
		snprintf(p->self_test_why, PROBE_WHY_SIZE,
		         "the file system in %s sends a write to no block device of its own",
		         p->config.test_directory);
	} else {
		p->self_test = SELF_TEST_FAILED;
		snprintf(p->self_test_why, PROBE_WHY_SIZE,
		         "one direct write of %d bytes was counted as %llu requests of %llu bytes, "
		         "%llu of them unfinished: block figures are not to be trusted",
		         TEST_BYTES, (unsigned long long)requests, (unsigned long long)bytes,
		         (unsigned long long)t->block_open);
	}
}

/* What was counted was ours, not the subject's. */
static void forget_counts(struct bpf_probe *b)
{
	const int requests = bpf_map__fd(b->object->maps.requests);
	volatile struct park_totals *t = b->totals;
	uint64_t key;

	while (bpf_map_get_next_key(requests, NULL, &key) == 0)
		bpf_map_delete_elem(requests, &key);
	t->unseen_completions = 0;
	memset((char *)t + offsetof(struct park_totals, parked_at_completion), 0,
	       sizeof *t - offsetof(struct park_totals, parked_at_completion));
}

void bpf_self_test(struct probe *p)
{
	struct bpf_probe *b = p->state;
	volatile struct park_totals *t = b->totals;
	struct stat status;
	int fd, error = 0;

	p->self_test = SELF_TEST_NONE;
	if (!p->config.test_directory) {
		snprintf(p->self_test_why, PROBE_WHY_SIZE, "no directory was given for it");
		return;
	}
	fd = open_test_file(p->config.test_directory);
	if (fd < 0 || fstat(fd, &status)) {
		snprintf(p->self_test_why, PROBE_WHY_SIZE,
		         "cannot open a file for direct writes in %s: %s", p->config.test_directory,
		         strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	/* Once more if the kernel let its completion go unseen, as it does now and then. */
	for (int i = 0; i < SELF_TEST_TRIES; i++) {
		forget_counts(b);
		error = write_counted(b, fd);
		if (error || !t->block_open)
			break;
	}
	close(fd);
	if (error)
		snprintf(p->self_test_why, PROBE_WHY_SIZE, "cannot write %d bytes in %s: %s",
		         TEST_BYTES, p->config.test_directory, strerror(-error));
	else
		judge(p, t, major(status.st_dev) != 0);
	if (p->self_test == SELF_TEST_FAILED)
		b->measures &= ~(uint32_t)(PROBE_BLOCK | PROBE_COMPLETIONS | PROBE_ARRIVED |
		                           PROBE_BORROWED);
	forget_counts(b);
}
