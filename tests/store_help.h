/* `iostudy serve store` beside a test, in a folder of its own. */
#ifndef IOSTUDY_TESTS_STORE_HELP_H
#define IOSTUDY_TESTS_STORE_HELP_H

#include "tests/http_talk.h"
#include "tests/served.h"

struct stored {
	struct served served;
	char directory[256], folder[300]; /* folder: of the objects, in directory */
};

/* Starts it; options: of its own beside the folder, the last of them NULL; or NULL. False after a
 * failed check. again: in the folder that there is. */
bool store_begin(struct stored *s, const char *const *options);
bool store_begin_again(struct stored *s, const char *const *options);

/* Ends it cleanly, and removes all of it. */
void store_end(struct stored *s);

/* Bytes that tell their place and seed. */
void store_fill(char *data, size_t bytes, uint32_t seed);

/* Checks that this object is there under that name, for HEAD and GET. */
void store_check(struct talk *t, const char *target, const void *data, size_t bytes);

#endif
