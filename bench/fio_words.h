/*
 * What fio's users type, and the nearest of ours.
 */
#ifndef IOSTUDY_FIO_WORDS_H
#define IOSTUDY_FIO_WORDS_H

/* Our name of an engine of fio's; any other name as it is. */
const char *fio_words_engine(const char *name);

/* The workload for a value of fio's --rw; NULL: none, and *why says what is nearest. */
const char *fio_words_workload(const char *rw, const char **why);

#endif
