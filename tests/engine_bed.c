/* See engine_bed.h. */
#include "tests/engine_bed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

uint64_t bed_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int bed_try(struct bed *b, const struct engine_ops *ops, struct engine_config config,
            char why[ENGINE_WHY_SIZE])
{
	const size_t bytes = (size_t)config.slots * BED_BLOCK;
	int error;

	memset(b, 0, sizeof *b);
	b->slots = config.slots;
	b->requests = calloc(config.slots, sizeof *b->requests);
	b->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!b->requests || b->memory == MAP_FAILED)
		abort();
	config.requests = b->requests;
	if (!config.memory) {
		config.memory = b->memory;
		config.memory_bytes = bytes;
	}
	error = engine_open(&b->e, ops, &config, why);
	b->open = !error;
	if (error)
		bed_close(b);
	return error;
}

bool bed_open(struct bed *b, const struct engine_ops *ops, uint32_t slots, uint32_t need)
{
	char why[ENGINE_WHY_SIZE];
	const int error = bed_try(b, ops, (struct engine_config){.slots = slots, .need = need},
	                          why);

	CHECK_MESSAGE(!error, "%s does not open: %s: %s", ops->name, strerror(-error), why);
	return !error;
}

void bed_close(struct bed *b)
{
	if (b->open)
		engine_close(&b->e);
	free(b->requests);
	munmap(b->memory, (size_t)b->slots * BED_BLOCK);
	memset(b, 0, sizeof *b);
}

void bed_request(struct bed *b, uint32_t slot, enum io_op op, int fd, void *data, uint32_t length,
                 uint64_t offset)
{
	b->requests[slot] = (struct io_req){
	    .offset = offset,
	    .data = data ? data : b->memory + (size_t)slot * BED_BLOCK,
	    .length = length,
	    .fd = fd,
	    .op = (uint8_t)op,
	};
}

bool bed_submit(struct bed *b, uint32_t slot)
{
	const uint64_t begin_ns = bed_now_ns();

	while (bed_now_ns() - begin_ns < BED_HANG_MS * 1000000ull) {
		const int n = engine_submit(&b->e, &slot, 1);

		if (n == 1)
			return true;
		CHECK_MESSAGE(n == 0, "submit: %s", strerror(-n));
		if (n < 0)
			return false;
	}
	CHECK_MESSAGE(false, "slot %u is not accepted", slot);
	return false;
}

bool bed_reap(struct bed *b, struct io_done *done)
{
	const uint64_t begin_ns = bed_now_ns();

	while (bed_now_ns() - begin_ns < BED_HANG_MS * 1000000ull) {
		const int n = engine_reap(&b->e, done, 1, 1, 1000000000);

		if (n == 1)
			return true;
		CHECK_MESSAGE(n == 0, "reap: %s", strerror(-n));
		if (n < 0)
			return false;
	}
	CHECK_MESSAGE(false, "nothing comes back");
	return false;
}

int32_t bed_do(struct bed *b, uint32_t slot)
{
	struct io_done done;

	if (!bed_submit(b, slot) || !bed_reap(b, &done))
		return BED_LOST;
	CHECK_EQUAL(done.slot, slot);
	return done.result;
}

int32_t bed_call(struct bed *b, enum io_op op, int fd, void *data, uint32_t length, uint64_t offset)
{
	bed_request(b, 0, op, fd, data, length, offset);
	return bed_do(b, 0);
}

char bed_byte(uint64_t place)
{
	return (char)((place * 0x9e3779b97f4a7c15) >> 56);
}

int bed_file(size_t bytes)
{
	char path[512];
	char *content;
	int fd;

	snprintf(path, sizeof path, "%s/bed.XXXXXX", test_build_directory());
	fd = mkostemp(path, O_CLOEXEC);
	CHECK_MESSAGE(fd >= 0, "%s: %s", path, strerror(errno));
	if (fd < 0)
		return fd;
	unlink(path);
	content = malloc(bytes ? bytes : 1);
	for (size_t i = 0; content && i < bytes; i++)
		content[i] = bed_byte(i);
	CHECK(content && pwrite(fd, content, bytes, 0) == (ssize_t)bytes);
	free(content);
	return fd;
}

int bed_listen(void *address, uint32_t *length, bool tcp, int backlog)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	/* Only the family: the kernel chooses an abstract name. */
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	const int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 ||
	    bind(fd, tcp ? (void *)&in : (void *)&un, tcp ? sizeof in : sizeof(sa_family_t)) != 0 ||
	    listen(fd, backlog) != 0 || getsockname(fd, address, length) != 0) {
		CHECK_MESSAGE(false, "cannot listen: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

bool bed_pair(int pair[2], bool tcp)
{
	struct sockaddr_storage address;
	uint32_t length = sizeof address;
	int listener;

	if (!tcp) {
		const int error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);

		CHECK(error == 0);
		return error == 0;
	}
	listener = bed_listen(&address, &length, true, 1);
	if (listener < 0)
		return false;
	pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pair[1] = -1;
	if (pair[0] >= 0 && connect(pair[0], (void *)&address, length) == 0)
		pair[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	CHECK_MESSAGE(pair[1] >= 0, "cannot connect: %s", strerror(errno));
	return pair[1] >= 0;
}

/* By its flags: the kernel's thread bears the program's name until it has run once. A thread that
 * was listed and is gone now does not count either. */
static bool is_worker_or_gone(const char *tid)
{
	enum { PF_IO_WORKER = 0x10 };
	char path[64], text[512] = "";
	const char *behind;
	unsigned flags = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%.16s/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (!fgets(text, sizeof text, file))
		text[0] = 0;
	fclose(file);
	/* pid (name) state ppid pgrp session tty tpgid flags; a name may hold anything. */
	behind = strrchr(text, ')');
	return !behind || sscanf(behind, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       flags & PF_IO_WORKER;
}

static uint32_t count_entries(const char *path, bool (*unless)(const char *))
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint32_t n = 0;

	if (!directory)
		return 0;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' && !(unless && unless(entry->d_name)))
			n++;
	closedir(directory);
	return n;
}

uint32_t bed_threads(void)
{
	return count_entries("/proc/self/task", is_worker_or_gone);
}

uint32_t bed_fds(void)
{
	return count_entries("/proc/self/fd", NULL);
}

bool bed_threads_down_to(uint32_t threads)
{
	const uint64_t begin_ns = bed_now_ns();

	while (bed_threads() > threads) {
		if (bed_now_ns() - begin_ns > BED_HANG_MS * 1000000ull)
			return false;
		usleep(10000);
	}
	return true;
}

static void *drain(void *argument)
{
	const int *fd = argument;
	char data[65536];

	while (recv(*fd, data, sizeof data, 0) > 0 || errno == EINTR)
		errno = 0;
	return NULL;
}

bool bed_drain(pthread_t *thread, const int *fd)
{
	return pthread_create(thread, NULL, drain, (void *)fd) == 0;
}
