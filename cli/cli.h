/*
 * The commands: one small file each. This folder alone prints to the terminal and exits.
 */
#ifndef IOSTUDY_CLI_H
#define IOSTUDY_CLI_H

/* Exit statuses; on a signal before the end it is 128 + the signal. */
enum {
	EXIT_DONE = 0,
	EXIT_RUN_FAILED = 1, /* a run failed, or data was wrong */
	EXIT_BAD_USAGE = 2,
	EXIT_GATE = 3,     /* a gate was met: --fail-on */
	EXIT_NOTHING = 77, /* nothing could run here */
};

/* Each is handed its own argv: argv[0] is "iostudy COMMAND". They return an exit status. */
int command_run(int argc, char **argv);
int command_study(int argc, char **argv);
int command_show(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_report(int argc, char **argv);
int command_watch(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_list(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_scenario(int argc, char **argv);

#endif
