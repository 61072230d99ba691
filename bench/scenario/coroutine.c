/* Coroutines over Boost.Context's C interface: see coroutine.h. */
#include "bench/scenario/coroutine.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of libboost_context.a; its header is C++ only. */
struct transfer {
	void *from, *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t bytes, void (*entry)(struct transfer));

#ifdef __SANITIZE_ADDRESS__
void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *bytes);
#else
#define __sanitizer_start_switch_fiber(fake, bottom, bytes)  ((void)(fake))
#define __sanitizer_finish_switch_fiber(fake, bottom, bytes) ((void)(fake))
#endif
#ifdef __SANITIZE_THREAD__
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#else
#define __tsan_get_current_fiber()           NULL
#define __tsan_create_fiber(flags)           NULL
#define __tsan_destroy_fiber(fiber)          ((void)(fiber))
#define __tsan_switch_to_fiber(fiber, flags) ((void)(fiber))
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

const char *const coroutine_guard_names[] = {"MADV_GUARD_INSTALL", "mprotect"};

struct coroutine {
	void *context; /* where it goes on; NULL: free */
	void (*body)(void *);
	void *argument;
	void *fiber, *fake; /* of the sanitizers */
	bool ended;
};

static size_t span(const struct coroutines *c)
{
	return c->page_bytes + c->stack_bytes;
}

static char *stack_of(const struct coroutines *c, uint32_t index)
{
	return c->arena + index * span(c) + c->page_bytes;
}

static int refuse_guard(uint32_t index, uint32_t count, int error, char why[COROUTINE_WHY_SIZE])
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long limit = 0;

	if (file) {
		if (fscanf(file, "%lu", &limit) != 1)
			limit = 0;
		fclose(file);
	}
	snprintf(why, COROUTINE_WHY_SIZE,
	         "cannot guard stack %u of %u: %s; vm.max_map_count is %lu, and each guard by "
	         "mprotect takes two mappings: raise it with sysctl vm.max_map_count=%lu, or use a "
	         "kernel with MADV_GUARD_INSTALL (6.13)",
	         index + 1, count, strerror(error), limit, 2ul * count + 1000);
	return -error;
}

static int guard_stacks(struct coroutines *c, bool installed, char why[COROUTINE_WHY_SIZE])
{
	c->guard = installed ? GUARD_INSTALLED : GUARD_PROTECTED;
	for (uint32_t i = 0; i < c->count; i++) {
		char *guard = c->arena + i * span(c);

		if (c->guard == GUARD_INSTALLED &&
		    madvise(guard, c->page_bytes, MADV_GUARD_INSTALL) == 0)
			continue;
		c->guard = GUARD_PROTECTED; /* an older kernel says EINVAL to the first */
		if (mprotect(guard, c->page_bytes, PROT_NONE) != 0)
			return refuse_guard(i, c->count, errno, why);
	}
	return 0;
}

/* Every coroutine writes to the top page of its stack: taken here, it costs a fraction of the fault
 * that it would cost later. Kernels before 5.14 say no, and take the fault at the write, which also
 * has a hypervisor that keeps page tables of its own take its fault now. */
static void take_top_pages(const struct coroutines *c)
{
	bool taken = true;

	for (uint32_t i = 0; i < c->count; i++) {
		char *top = stack_of(c, i) + c->stack_bytes - c->page_bytes;

		taken = taken && madvise(top, c->page_bytes, MADV_POPULATE_WRITE) == 0;
		*(volatile char *)(top + c->page_bytes - 1) = 0;
	}
}

int coroutines_open(struct coroutines *c, uint32_t count, size_t stack_bytes, bool installed,
                    char why[COROUTINE_WHY_SIZE])
{
	int error;

	assert(count >= 1);
	*c = (struct coroutines){.count = count, .current = count, .arena = MAP_FAILED};
	c->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	c->stack_bytes = (stack_bytes + c->page_bytes - 1) / c->page_bytes * c->page_bytes;
	c->each = calloc(count, sizeof *c->each);
	if (c->each)
		c->arena = mmap(NULL, count * span(c), PROT_READ | PROT_WRITE,
		                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->arena == MAP_FAILED) {
		error = -ENOMEM;
		snprintf(why, COROUTINE_WHY_SIZE, "no memory for %u stacks of %zu KiB", count,
		         c->stack_bytes >> 10);
	} else {
		/* A huge page would make many small stacks real at once. */
		madvise(c->arena, count * span(c), MADV_NOHUGEPAGE);
		error = guard_stacks(c, installed, why);
		if (!error)
			take_top_pages(c);
	}
	c->thread_fiber = __tsan_get_current_fiber();
	if (error)
		coroutines_close(c);
	return error;
}

void coroutines_close(struct coroutines *c)
{
	for (uint32_t i = 0; c->each && i < c->count; i++)
		if (c->each[i].fiber)
			__tsan_destroy_fiber(c->each[i].fiber);
	if (c->arena != MAP_FAILED)
		munmap(c->arena, c->count * span(c));
	free(c->each);
	memset(c, 0, sizeof *c);
	c->arena = MAP_FAILED;
}

/* The first thing on a new stack. It never returns: there is nothing below it. */
static void enter(struct transfer transfer)
{
	struct coroutines *c = transfer.data;
	struct coroutine *own = &c->each[c->current];

	__sanitizer_finish_switch_fiber(NULL, &c->thread_bottom, &c->thread_size);
	c->resumer = transfer.from;
	own->body(own->argument);
	own->ended = true;
	__sanitizer_start_switch_fiber(NULL, c->thread_bottom, c->thread_size);
	__tsan_switch_to_fiber(c->thread_fiber, 0);
	jump_fcontext(c->resumer, c);
	abort();
}

void coroutine_resume(struct coroutines *c, uint32_t index)
{
	struct coroutine *to = &c->each[index];
	struct transfer back;

	assert(index < c->count && to->context && c->current == c->count);
	c->current = index;
	__sanitizer_start_switch_fiber(&c->thread_fake, stack_of(c, index), c->stack_bytes);
	__tsan_switch_to_fiber(to->fiber, 0);
	back = jump_fcontext(to->context, c);
	__sanitizer_finish_switch_fiber(c->thread_fake, NULL, NULL);
	c->current = c->count;
	to->context = to->ended ? NULL : back.from;
	if (to->ended && to->fiber) {
		__tsan_destroy_fiber(to->fiber);
		to->fiber = NULL;
	}
}

void coroutine_start(struct coroutines *c, uint32_t index, void (*body)(void *), void *argument)
{
	struct coroutine *own = &c->each[index];

	assert(index < c->count && !own->context);
	*own = (struct coroutine){.body = body, .argument = argument};
	own->context = make_fcontext(stack_of(c, index) + c->stack_bytes, c->stack_bytes, enter);
	own->fiber = __tsan_create_fiber(0);
	coroutine_resume(c, index);
}

void coroutine_suspend(struct coroutines *c)
{
	struct coroutine *own = &c->each[c->current];
	struct transfer back;

	assert(c->current < c->count);
	__sanitizer_start_switch_fiber(&own->fake, c->thread_bottom, c->thread_size);
	__tsan_switch_to_fiber(c->thread_fiber, 0);
	back = jump_fcontext(c->resumer, c);
	__sanitizer_finish_switch_fiber(own->fake, &c->thread_bottom, &c->thread_size);
	c->resumer = back.from;
}

bool coroutine_is_free(const struct coroutines *c, uint32_t index)
{
	return !c->each[index].context;
}

uint64_t coroutines_used_bytes(const struct coroutines *c)
{
	enum { PAGES = 1 << 16 };
	const size_t pages = c->count * (span(c) / c->page_bytes);
	unsigned char *there = malloc(PAGES);
	uint64_t used = 0;

	for (size_t at = 0; there && at < pages; at += PAGES) {
		const size_t n = pages - at < PAGES ? pages - at : PAGES;

		if (mincore(c->arena + at * c->page_bytes, n * c->page_bytes, there) != 0)
			break;
		for (size_t i = 0; i < n; i++)
			used += there[i] & 1;
	}
	free(there);
	return used * c->page_bytes;
}
