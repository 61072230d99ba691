/* The terminal: whether it takes colour and other than ASCII, and the line of progress. */
#ifndef IOSTUDY_SCREEN_H
#define IOSTUDY_SCREEN_H

#include <stdint.h>

#include "analysis/text.h"
#include "bench/plan.h"

/* Colour only on a terminal without NO_COLOR; beyond ASCII only in a UTF-8 locale. */
struct text_style screen_style(bool ascii);

/* "[3/10] uring disk-randread park" on stderr, when that is a terminal; and no more. */
void screen_progress(uint32_t index, uint32_t count, const struct plan *plan);
void screen_progress_clear(void);

#endif
