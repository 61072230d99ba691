/*
 * What is typed: fio's words mean the nearest of ours, and what no run would heed is refused with
 * what would heed it.
 */
#include <string.h>

#include "tests/cli_runs.h"
#include "tests/test.h"

#define QUICK                                                                                      \
	"--operations", "20", "--size", "1m", "--depth", "4", "--probe", "none", "--directory", "."

TEST(fio_words, an_engine_and_a_pattern_mean_the_nearest_of_ours)
{
	static const char *const words[][4] = {
	    {"io_uring", "randread", "uring", "disk-randread"},
	    {"psync", "randwrite", "blocking", "disk-randwrite"},
	    {"sync", "read", "blocking", "disk-seqread"},
	    {"pvsync", "write", "blocking", "disk-seqwrite"},
	    {"posixaio", "randrw", "posix-aio", "disk-randrw"},
	    {"libaio", "randread", "libaio", "disk-randread"},
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		json_t *runs = CLI_RUNS(0, "--ioengine", words[i][0], "--rw", words[i][1], "--wait",
		                        "park", QUICK);
		const json_t *run = json_array_get(runs, 0);

		CHECK_EQUAL(json_array_size(runs), 1);
		CHECK_STRING(cli_text(run, "plan.engine"), words[i][2]);
		CHECK_STRING(cli_text(run, "plan.workload"), words[i][3]);
		json_decref(runs);
	}
}

/* A command line as fio's manual and the blogs have it. */
TEST(fio_words, a_whole_command_line_is_understood)
{
	json_t *runs = CLI_RUNS(0, "--name=job", "--ioengine=io_uring", "--iodepth=16",
	                        "--iodepth_batch=4", "--numjobs=2", "--rw=randrw", "--rwmixread=70",
	                        "--bs=8k", "--direct=1", "--size=4m", "--nrfiles=2", "--fsync=3",
	                        "--runtime=1", "--time_based=1", "--group_reporting",
	                        "--ramp_time=0", "--randseed=9", "--probe=none", "--wait=park");
	const json_t *run = json_array_get(runs, 0);

	CHECK_EQUAL(cli_number(run, "plan.depth"), 16);
	CHECK_EQUAL(cli_number(run, "plan.batch"), 4);
	CHECK_EQUAL(cli_number(run, "plan.threads"), 2);
	CHECK_EQUAL(cli_number(run, "plan.block_bytes"), 8192);
	CHECK_EQUAL(cli_number(run, "plan.size_bytes"), 4 << 20);
	CHECK_EQUAL(cli_number(run, "plan.files"), 2);
	CHECK_EQUAL(cli_number(run, "plan.fsync_every"), 3);
	CHECK_EQUAL(cli_number(run, "plan.read_percent"), 70);
	CHECK_EQUAL(cli_number(run, "plan.duration_ns"), 1000000000);
	CHECK_EQUAL(cli_number(run, "plan.warmup_ns"), 0);
	CHECK_EQUAL(cli_number(run, "plan.seed"), 9);
	json_decref(runs);
}

static void check_refused(const char *const *arguments, const char *part)
{
	struct process_result result;

	process_run(&(struct process){.argv = arguments}, &result);
	CHECK_STATUS(&result, 2);
	CHECK_CONTAINS(result.err, part);
	CHECK_STRING(result.out, "");
	process_free(&result);
}

TEST(fio_words, what_has_no_like_here_is_refused_with_the_nearest)
{
	static const char *const refused[][3] = {
	    {"--rw", "rw", "the nearest is randrw"},
	    {"--readwrite", "readwrite", "the nearest is randrw"},
	    {"--rw", "trim", "the nearest is write"},
	    {"--rw", "sideways", "it takes read, write, randread, randwrite and randrw"},
	    {"--ioengine", "io_urin", "uring"},
	    {"--ioengine", "mmap", "unknown engine 'mmap'"},
	};

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		const char *const arguments[] = {"run", refused[i][0], refused[i][1], NULL};

		check_refused(arguments, refused[i][2]);
	}
}

TEST(options, what_no_run_would_heed_is_refused)
{
	static const struct {
		const char *engine, *workload, *option, *value, *part;
	} cases[] = {
	    {"uring", "disk-randread", "--cache", "hot", "page cache (--direct 0)"},
	    {"uring", "disk-randwrite", "--cache", "cold", "page cache (--direct 0)"},
	    {"uring", "disk-randread", "--pool", "4", "an engine with a pool of threads"},
	    {"epoll-offload", "timer-delay", "--pool", "4", "an engine with a pool of threads"},
	    {"blocking", "disk-randread", "--wait", "compute", "does not block in submission"},
	    {"blocking", "disk-randread", "--batch", "4", "does not block in submission"},
	    {"uring", "timer-delay", "--bs", "8k", "a disk workload"},
	    {"uring", "socket-delay", "--size", "8m", "a disk workload"},
	    {"uring", "timer-delay", "--direct", "0", "a disk workload"},
	    {"uring", "timer-delay", "--files", "2", "a disk workload"},
	    {"uring", "disk-randread", "--fsync", "1", "a disk workload that writes"},
	    {"uring", "disk-randwrite", "--read-percent", "9", "reads and writes (disk-randrw)"},
	    {"uring", "disk-randread", "--delay", "1s", "a socket or timer workload"},
	    {"uring", "timer-delay", "--transport", "unix", "a socket workload"},
	    {"uring", "timer-delay", "--filename", "/dev/null", "a disk workload"},
	    {"uring", "disk-randread", "--overwrite", NULL, "a file that --filename names"},
	    {"uring", "timer-delay", "--keep", NULL, "files of iostudy's own"},
	    {"uring", "timer-delay", "--operations=9", "--warmup=1s", "ends with its time"},
	    {"uring", "timer-delay", "--runtime=1s", "--operations=9", "ends with its time"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *const arguments[] = {"run",
		                                 "--engine",
		                                 cases[i].engine,
		                                 "--workload",
		                                 cases[i].workload,
		                                 cases[i].option,
		                                 cases[i].value,
		                                 NULL};

		check_refused(arguments, cases[i].part);
	}
}

TEST(options, what_one_of_several_runs_heeds_is_taken)
{
	json_t *runs = CLI_RUNS(0, "--engine", "blocking,pool", "--workload",
	                        "disk-randread,timer-delay", "--pool", "2", "--bs", "8k", "--delay",
	                        "1ms", "--operations", "8", "--depth", "2", "--size", "1m",
	                        "--probe", "none");

	CHECK_EQUAL(json_array_size(runs), 4);
	json_decref(runs);
}

TEST(options, requests_of_a_run_that_writes_need_a_block_each)
{
	static const char *const few[] = {"run", "--rw", "write", "--size", "64k", NULL};
	static const char *const many[] = {"run", "--rw", "write", "--size",
	                                   "16t", "--bs", "512",   NULL};
	static const char *const named[] = {"run", "--rw",    "write", "--filename",
	                                    "x",   "--files", "2",     NULL};

	check_refused(few, "--depth 32 needs as many blocks, and --size 64k has 16");
	check_refused(many, "use a smaller --size or a greater --bs");
	check_refused(named, "--filename names one file");
}
