/*
 * A growing text, its paragraphs and cells, and the names in it that somebody else chose.
 */
#include "analysis/format.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(struct text *text, size_t more)
{
	if (text->broken)
		return false;
	if (text->length + more + 1 <= text->capacity)
		return true;
	size_t capacity = text->capacity ? text->capacity : 4096;
	while (capacity < text->length + more + 1)
		capacity *= 2;
	char *data = realloc(text->data, capacity);
	if (!data) {
		text->broken = true;
		return false;
	}
	text->data = data;
	text->capacity = capacity;
	return true;
}

void text_add(struct text *text, const char *format, ...)
{
	va_list arguments, again;

	va_start(arguments, format);
	va_copy(again, arguments);
	const int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		text->broken = true;
	else if (text_reserve(text, (size_t)length)) {
		vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
		text->length += (size_t)length;
	}
	va_end(again);
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

size_t text_columns(const char *string)
{
	size_t columns = 0;

	for (; *string; string++)
		if (((unsigned char)*string & 0xc0) != 0x80)
			columns++;
	return columns;
}

void text_cell(struct text *text, int width, const char *cell)
{
	const size_t columns = text_columns(cell);
	const size_t wanted = (size_t)(width < 0 ? -width : width);
	const int pad = columns < wanted ? (int)(wanted - columns) : 0;

	if (width < 0)
		text_add(text, "%*s%s", pad, "", cell);
	else
		text_add(text, "%s%*s", cell, pad, "");
}

/* The bytes of the piece of word that fits into so many columns; at least one character. */
static size_t word_fits(const char *word, size_t bytes, size_t columns)
{
	size_t at = 0;

	for (size_t n = 0; at < bytes && (n < columns || n == 0); n++) {
		at++;
		while (at < bytes && ((unsigned char)word[at] & 0xc0) == 0x80)
			at++;
	}
	return at;
}

static size_t bytes_columns(const char *word, size_t bytes)
{
	size_t columns = 0;

	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)word[i] & 0xc0) != 0x80;
	return columns;
}

void text_wrap(struct text *text, size_t first, size_t indent, size_t width, const char *paragraph)
{
	size_t at = first;
	bool fresh = true; /* nothing stands on this line yet */

	if (indent >= width)
		indent = 0;
	while (*paragraph) {
		const size_t spaces = strspn(paragraph, " \n");
		paragraph += spaces;
		size_t bytes = strcspn(paragraph, " \n");
		if (!bytes)
			break;
		const size_t columns = bytes_columns(paragraph, bytes);
		if (!fresh && at + 1 + columns > width) {
			text_add(text, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!fresh) {
			text_add(text, " ");
			at++;
		}
		if (columns > width - (at < width ? at : width - 1)) /* no line holds it: cut */
			bytes = word_fits(paragraph, bytes, at < width ? width - at : 1);
		text_add(text, "%.*s", (int)bytes, paragraph);
		at += bytes_columns(paragraph, bytes);
		paragraph += bytes;
		fresh = false;
		if (*paragraph && *paragraph != ' ' && *paragraph != '\n') {
			text_add(text, "\n%*s", (int)indent, "");
			at = indent;
			fresh = true;
		}
	}
	text_add(text, "\n");
}

/* Decodes one character; *bytes is how many it takes. Returns UINT32_MAX for a stray byte. */
static uint32_t character_decode(const unsigned char *s, size_t *bytes)
{
	static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
	const size_t length = *s < 0x80             ? 1
	                      : (*s & 0xe0) == 0xc0 ? 2
	                      : (*s & 0xf0) == 0xe0 ? 3
	                      : (*s & 0xf8) == 0xf0 ? 4
	                                            : 0;
	*bytes = 1;
	if (length == 1)
		return *s;
	if (!length)
		return UINT32_MAX;
	uint32_t value = *s & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		value = value << 6 | (s[i] & 0x3fU);
	}
	if (value < lowest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return UINT32_MAX;
	*bytes = length;
	return value;
}

/* Characters that move the cursor, hide or turn round what follows. */
static bool character_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || (c >= 0x300 && c < 0x370) || c == 0xfeff ||
	       (c >= 0xfff0 && c <= 0xffff) || c >= 0xe0000;
}

char *format_name(char *out, size_t size, const char *name, size_t columns, bool ascii)
{
	const unsigned char *s = (const unsigned char *)(name ? name : "-");
	size_t at = 0, shown = 0;

	while (*s) {
		char piece[40];
		size_t bytes;
		const uint32_t c = character_decode(s, &bytes);

		if (c != UINT32_MAX && !character_unsafe(c) && !(ascii && c > 0x7e))
			snprintf(piece, sizeof piece, "%.*s", (int)bytes, (const char *)s);
		else if (bytes == 1)
			snprintf(piece, sizeof piece, "\\x%02x", *s);
		else
			snprintf(piece, sizeof piece, "\\u%04x", c);
		const size_t length = strlen(piece), wide = text_columns(piece);
		if (shown + wide > columns || at + length + 1 > size) {
			if (at && at < size) { /* mark the cut in the place of the last character */
				while (at > 1 && ((unsigned char)out[at - 1] & 0xc0) == 0x80)
					at--;
				out[at - 1] = '~';
			}
			break;
		}
		memcpy(out + at, piece, length);
		at += length;
		shown += wide;
		s += bytes;
	}
	if (size)
		out[at < size ? at : size - 1] = '\0';
	return out;
}
