/*
 * The house rules themselves: each must speak when it is broken, and be silent otherwise. The
 * script is run in a small repository of its own.
 */
#include "tests/process.h"
#include "tests/test.h"

#include <stdio.h>
#include <unistd.h>

static const char prepare[] =
    "set -e; git init -q .; mkdir .ci engines bench probes analysis cli tests docs;"
    "cp \"$LINT\" .ci/lint; cp \"$(dirname \"$LINT\")/../.clang-format\" .;"
    "printf '/* A head. */\\n#ifndef IOSTUDY_A_H\\n#define IOSTUDY_A_H\\nint a(void);\\n#endif\\n'"
    " > engines/a.h;"
    "printf '/* A head. */\\n#include \"engines/a.h\"\\n\\nint a(void)\\n{\\n\\treturn 0;\\n}\\n'"
    " > engines/a.c;";

/* Runs one rule, or all for "", on the small repository after this change to it. */
static void lint_run(const char *change, const char *rule, struct process_result *result)
{
	char directory[256], script[4096], lint[4200];
	const char *const variables[] = {lint, NULL};
	const char *const arguments[] = {"-c", script, NULL};
	char here[2048];

	if (!getcwd(here, sizeof here))
		here[0] = 0;
	snprintf(lint, sizeof lint, "LINT=%s/.ci/lint", here);
	snprintf(script, sizeof script, "%s %s git add -A; .ci/lint nowhere %s", prepare, change,
	         rule);
	process_make_directory(directory);
	process_run(&(struct process){.program = "bash",
	                              .argv = arguments,
	                              .environment = variables,
	                              .directory = directory},
	            result);
	process_remove_directory(directory);
}

TEST(lint, is_silent_about_a_clean_tree)
{
	struct process_result r;
	if (!process_is_installed("clang-format"))
		SKIP("clang-format is not installed (make lint installs it)");
	lint_run("", "", &r);
	CHECK_STATUS(&r, 0);
	CHECK_CONTAINS(r.out, "rules hold");
	process_free(&r);
}

TEST(lint, speaks_when_a_rule_is_broken)
{
	static const struct {
		const char *change, *rule;
	} rows[] = {
	    {"yes '' | head -n 401 >> engines/a.c;", "rule_file_length"},
	    {"printf '/* %0101d */\\n' 1 >> engines/a.c;", "rule_line_length"},
	    {"{ echo 'void b(void)'; echo '{'; yes '\ta();' | head -n 71; echo '}'; }"
	     " >> engines/a.c;",
	     "rule_function_length"},
	    {"printf 'int  b;\\n' >> engines/a.c;", "rule_format"},
	    {"sed -i '2s/$/\\n#include \"bench\\/b.h\"/' engines/a.c;", "rule_include_arrows"},
	    {"printf '/* h */\\n#include \"cli/b.h\"\\n' > analysis/b.c;", "rule_include_arrows"},
	    {"printf '/* h */\\n#include \"engines/a.h\"\\n' > probes/b.c;", "rule_include_arrows"},
	    {"printf '/* h */\\n#include \"b.h\"\\n' > cli/b.c;", "rule_include_folder"},
	    {"printf '/* h */\\nvoid b(void)\\n{\\n\\tprintf(\"x\");\\n}\\n' > bench/b.c;",
	     "rule_no_print"},
	    {"printf '/* h */\\nvoid b(void)\\n{\\n\\tfputs(\"x\", stderr);\\n}\\n' > bench/b.c;",
	     "rule_no_print"},
	    {"sed -i 's/return 0/return (int)time(NULL)/' engines/a.c;",
	     "rule_engines_without_clock"},
	    {"printf '# TO''DO\\n' > docs/a.md;", "rule_no_notes"},
	    {"printf 'x \\n' > docs/a.md;", "rule_no_trailing_space"},
	    {"printf 'x' > docs/a.md;", "rule_last_line"},
	    {"printf 'x\\n\\n' > docs/a.md;", "rule_last_line"},
	    {"printf '#!/bin/sh\\nif\\n' > docs/a; chmod +x docs/a;", "rule_shell"},
	    {"printf '[x](../nothing.md)\\n' > docs/a.md;", "rule_links"},
	    {"printf '/* h */\\n' > bench/b.h;", "rule_header_guard"},
	    {"printf 'int b;\\n' > bench/b.c;", "rule_head"},
	    {"mkdir -p nowhere/engines; sed -i 's/a(void)/b(void)/' engines/a.c;"
	     "cc -c -I. -o nowhere/engines/a.o engines/a.c; echo nowhere > .gitignore;",
	     "rule_declared"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct process_result r;
		/* Without clang-format its rule says so, which is as broken. */
		lint_run(rows[i].change, rows[i].rule, &r);
		CHECK_EQUAL(r.status, 1);
		CHECK_CONTAINS(r.err, rows[i].rule);
		process_free(&r);
	}
}

TEST(lint, lets_words_in_comments_and_strings_be)
{
	struct process_result r;
	lint_run("printf '/* printf() to stdout; time(). */\\n' >> engines/a.c;"
	         "sed -i 's/return 0/return \"exit(1)\"[0]/' engines/a.c;",
	         "rule_no_print", &r);
	CHECK_STATUS(&r, 0);
	process_free(&r);
}
