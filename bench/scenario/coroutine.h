/*
 * Coroutines: sequential code on a stack of its own, that can be suspended and gone on with. All
 * belong to the thread that opened them. The switch is Boost.Context's assembly; the stacks lie
 * in one arena, each above a guard that ends the process rather than let it overflow silently.
 */
#ifndef IOSTUDY_COROUTINE_H
#define IOSTUDY_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COROUTINE_WHY_SIZE = 240,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	COROUTINE_STACK_BYTES = 64 << 10, /* their frames are larger */
#else
	COROUTINE_STACK_BYTES = 16 << 10,
#endif
};

/* How the stacks are guarded. */
enum coroutine_guard { GUARD_INSTALLED, GUARD_PROTECTED };
extern const char *const coroutine_guard_names[];

struct coroutine; /* one of them */

struct coroutines {
	struct coroutine *each;  /* [count] */
	uint32_t count, current; /* current: which runs; count: none */
	char *arena;             /* count times guard and stack */
	size_t stack_bytes, page_bytes;
	enum coroutine_guard guard;
	void *resumer; /* the context that goes on when the current one suspends */
	void *thread_fiber, *thread_fake; /* of the sanitizers */
	const void *thread_bottom;
	size_t thread_size;
};

/* Takes the memory for count stacks of stack_bytes (whole pages). installed: try
 * MADV_GUARD_INSTALL (Linux 6.13); without it, or where the kernel has none, guards are pages
 * without access, of which vm.max_map_count allows some 32,000. 0, or -errno with why. */
int coroutines_open(struct coroutines *c, uint32_t count, size_t stack_bytes, bool installed,
                    char why[COROUTINE_WHY_SIZE]);
void coroutines_close(struct coroutines *c); /* also with suspended ones: they never go on */

/* Runs body on a free stack until it suspends or ends. From outside of any coroutine. */
void coroutine_start(struct coroutines *c, uint32_t index, void (*body)(void *), void *argument);

/* Goes on with a suspended one until it suspends or ends. From outside. */
void coroutine_resume(struct coroutines *c, uint32_t index);

/* From inside: back to who started or resumed it. */
void coroutine_suspend(struct coroutines *c);

bool coroutine_is_free(const struct coroutines *c, uint32_t index); /* not started, or ended */

/* Memory of the stacks that has ever been written, in bytes; 0 where the kernel does not tell. */
uint64_t coroutines_used_bytes(const struct coroutines *c);

#endif
