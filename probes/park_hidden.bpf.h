/*
 * Threads of a library that carry no mark (glibc's POSIX AIO): what they do is followed by their
 * system calls. Loaded only where such threads are expected, for it costs every system call.
 */
static __always_inline bool hidden_transfer(long number)
{
	return number >= 0 && number < PARK_SYSCALLS && knobs.transfers[number];
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *registers, long number)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct park_thread *t;

	if (!of_subject(current) || current->pid == current->tgid || !hidden_transfer(number))
		return 0;
	t = thread_of(current);
	if (!t || mark_of(t))
		return 0;
	kind_settle(t, KIND_AIO_HELPER);
	sequence_step(t);
	t->call_since_ns = bpf_ktime_get_ns();
	sequence_step(t);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *registers, long result)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct park_thread *t;
	uint64_t took_ns;

	if (!of_subject(current))
		return 0;
	t = thread_of(current);
	if (!t || !t->call_since_ns)
		return 0;
	took_ns = bpf_ktime_get_ns() - t->call_since_ns;
	sequence_step(t);
	t->times.held_ns += took_ns;
	t->times.called_ns += took_ns;
	t->call_since_ns = 0;
	sequence_step(t);
	return 0;
}
