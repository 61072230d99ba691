/*
 * With what function a thread of a foreign process began: its C library (glibc) notes it in the
 * thread's own control block, and says for debuggers at what place. Threads that began with the
 * same function are of one kind, and one that began inside the C library is the library's own.
 */
#ifndef IOSTUDY_ROUTINE_H
#define IOSTUDY_ROUTINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What is known of a process's C library. */
struct routine_library {
	int memory; /* the process's, open for reading; or -1 */
	bool known;
	uint64_t offset;     /* of the note in a control block */
	uint64_t begin, end; /* of the library's code */
};

/* Looks at a process. library->known is false where it has no glibc, or may not be read. */
void routine_library_open(struct routine_library *library, pid_t pid);
void routine_library_close(struct routine_library *library);

/* The address of the function with which the thread began whose control block is at segment;
 * 0: not known, or the first thread. */
uint64_t routine_read(const struct routine_library *library, uint64_t segment);

bool routine_of_library(const struct routine_library *library, uint64_t routine);

#endif
