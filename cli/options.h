/* What every command does with its options. */
#ifndef IOSTUDY_OPTIONS_H
#define IOSTUDY_OPTIONS_H

#include <argp.h>

/* argp_parse, but a long option that does not exist is answered with the nearest ones. */
void options_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
