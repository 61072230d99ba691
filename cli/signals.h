/*
 * Signals while runs happen: the first ends the run, with what was measured; a second, half a
 * second later or more, ends the program at once.
 */
#ifndef IOSTUDY_CLI_SIGNALS_H
#define IOSTUDY_CLI_SIGNALS_H

#include <signal.h>

#include "bench/file.h"

void signals_catch(void);

/* 0, or the signal that came. */
const volatile sig_atomic_t *signals_came(void);

/* Has our own files removed also when the program ends at once; until signals_forget, before which
 * the lease must not end. */
void signals_guard(const struct file_lease *lease);
void signals_forget(const struct file_lease *lease);

#endif
