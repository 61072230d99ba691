/*
 * Numbers, names and paragraphs as people read them: the same in every locale, and never more
 * than asked for, whatever the number or the name holds.
 */
#ifndef IOSTUDY_FORMAT_H
#define IOSTUDY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* A number as text, handed over by value: format_count(x).text lives as long as the expression. */
struct number {
	char text[40];
};

/* All give "-" for a number that was not measured (NaN) and that cannot be (infinite). */
struct number format_count(double count);               /* 84,800; from 10 million on 12.3M */
struct number format_compact(double value);             /* 84.8k 1.23M: at most six characters */
struct number format_fixed(double value, int decimals); /* 0.74; decimals 0 ... 6 */
struct number format_mean(double mean);     /* of threads or requests: 0.74 32.0 1,024 */
struct number format_amount(double mean);   /* the same in a sentence: 32, not 32.0 */
struct number format_ratio(double ratio);   /* 0.029 1.31 34.4 */
struct number format_percent(double share); /* 0.77 is "77 %"; never rounded to 100 % */
struct number format_time(double time_ns);  /* 362us 20.1ms 2.00s */
struct number format_bytes(double bytes);   /* 4 KiB */

/* A name that somebody else chose, made safe for a terminal: control characters and those that
 * change the direction of writing are shown as \xNN, in ASCII mode all that is not ASCII; at most
 * columns characters (a cut is marked). name may be NULL. Returns out. */
char *format_name(char *out, size_t size, const char *name, size_t columns, bool ascii);

/* A growing text. Once memory was short, broken is set and everything else is ignored. */
struct text {
	char *data; /* terminated, or NULL while empty */
	size_t length, capacity;
	bool broken;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a paragraph, broken at spaces so that no line has more than width characters. The first
 * line begins at the column at which the text stands (first), the others are indented. */
void text_wrap(struct text *text, size_t first, size_t indent, size_t width, const char *paragraph);

/* Adds cell and pads it to width characters: on the right for width > 0, on the left below 0. */
void text_cell(struct text *text, int width, const char *cell);

/* The characters of a UTF-8 string, each taken for one column. */
size_t text_columns(const char *string);

void text_free(struct text *text);

#endif
