/* The name of a system call of x86_64 by its number: "pread64"; NULL where there is none. */
#ifndef IOSTUDY_CALL_NAME_H
#define IOSTUDY_CALL_NAME_H

const char *call_name(unsigned number);

#endif
