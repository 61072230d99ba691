/*
 * A program whose stack is known: 100 reads of a pipe, each of 2 ms or more, in a function of a
 * known name that one of a known name calls. Both keep their frame pointers, and the call is made
 * in the function itself, so that the stack can be walked from the first frame on.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WALKED __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))

enum { READS = 100 };

static int ends[2];

long wait_in_the_inner(int fd);
long wait_in_the_outer(int fd);

WALKED long wait_in_the_inner(int fd)
{
	char byte;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(SYS_read), "D"((long)fd), "S"(&byte), "d"(1L)
	                 : "rcx", "r11", "memory");
	return result;
}

WALKED long wait_in_the_outer(int fd)
{
	return wait_in_the_inner(fd) + 1; /* no tail call */
}

static void *give(void *argument)
{
	const struct timespec pause = {.tv_nsec = 2000000};

	for (int i = 0; i < READS; i++) {
		nanosleep(&pause, NULL);
		if (write(ends[1], "x", 1) != 1)
			break;
	}
	return argument;
}

int main(void)
{
	pthread_t giver;
	long sum = 0;

	if (pipe(ends) != 0 || pthread_create(&giver, NULL, give, NULL) != 0)
		return 1;
	for (int i = 0; i < READS; i++)
		sum += wait_in_the_outer(ends[0]);
	pthread_join(giver, NULL);
	return sum == 2L * READS ? 0 : 1;
}
