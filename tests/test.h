/*
 * The C side of the shim over googletest: tests are C functions that register themselves, and
 * checks that record a failure with its place and values.
 */
#ifndef IOSTUDY_TEST_H
#define IOSTUDY_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers a test. argument is handed to the function (one function, many rows of a table). */
void test_register(const char *suite, const char *name, void (*function)(const void *argument),
                   const void *argument, const char *file, int line);
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void test_skip(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool test_has_failed(void); /* the test that runs now */

/* The built program and its helpers: build/iostudy, build/tests/programs/NAME. */
const char *test_build_directory(void);

#ifdef __cplusplus
}
#endif

/* TEST(suite, what_holds) { ... } */
#define TEST(suite, name)                                                                          \
	static void suite##_##name(const void *argument);                                          \
	__attribute__((constructor)) static void register_##suite##_##name(void)                   \
	{                                                                                          \
		test_register(#suite, #name, suite##_##name, NULL, __FILE__, __LINE__);            \
	}                                                                                          \
	static void suite##_##name(const void *argument __attribute__((unused)))

/* A failed CHECK goes on, a failed REQUIRE returns from the function. */
#define CHECK(condition)                                                                           \
	((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "not true: %s", #condition))
#define CHECK_MESSAGE(condition, ...)                                                              \
	((condition) ? (void)0 : test_fail(__FILE__, __LINE__, __VA_ARGS__))
#define CHECK_EQUAL(actual, expected)                                                              \
	do {                                                                                       \
		long long test_a = (long long)(actual), test_b = (long long)(expected);            \
		if (test_a != test_b)                                                              \
			test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #actual, test_a,     \
			          test_b);                                                         \
	} while (0)
#define CHECK_STRING(actual, expected)                                                             \
	do {                                                                                       \
		const char *test_a = (actual), *test_b = (expected);                               \
		if (!test_a || strcmp(test_a, test_b) != 0)                                        \
			test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #actual,         \
			          test_a ? test_a : "(null)", test_b);                             \
	} while (0)
#define CHECK_CONTAINS(text, part)                                                                 \
	do {                                                                                       \
		const char *test_a = (text), *test_b = (part);                                     \
		if (!test_a || !strstr(test_a, test_b))                                            \
			test_fail(__FILE__, __LINE__, "\"%s\" is not in: %s", test_b,              \
			          test_a ? test_a : "(null)");                                     \
	} while (0)
#define CHECK_BETWEEN(actual, low, high)                                                           \
	do {                                                                                       \
		double test_a = (double)(actual), test_l = (double)(low), test_h = (double)(high); \
		if (!(test_a >= test_l && test_a <= test_h))                                       \
			test_fail(__FILE__, __LINE__, "%s is %g, not within %g ... %g", #actual,   \
			          test_a, test_l, test_h);                                         \
	} while (0)
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			test_fail(__FILE__, __LINE__, "not true: %s", #condition);                 \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define REQUIRE_MESSAGE(condition, ...)                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			test_fail(__FILE__, __LINE__, __VA_ARGS__);                                \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define SKIP(...)                                                                                  \
	do {                                                                                       \
		test_skip(__FILE__, __LINE__, __VA_ARGS__);                                        \
		return;                                                                            \
	} while (0)

#endif
