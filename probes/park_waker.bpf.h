/*
 * Who wakes the watched threads. Only this event happens where the waker is: sched_wakeup may come
 * on another CPU, over somebody else.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct park_thread *t = thread_of(task), *waker;
	struct task_struct *current;
	uint32_t word;

	if (!t)
		return 0;
	word = READ_ONCE(t->word);
	if (!word_asleep(word) || (word >> WORD_CLASS_SHIFT & 0xff) != CLASS_FUTEX || t->place.lock)
		return 0;
	wait_count(task, t);
	current = bpf_get_current_task_btf();
	if (current->tgid != task->tgid || context_now(current) != ARRIVED_TASK)
		return 0;
	waker = thread_of(current);
	return waker ? wait_ended(task, t, waker, bpf_ktime_get_ns()) : 0;
}
