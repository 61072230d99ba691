/*
 * Watching programs that are not ours: where their threads sleep.
 *
 * The time of a sleep is added to its place when it ends, and by each census up to that moment:
 * whoever exchanges place_since_ns owns the time that has passed, so that none counts twice.
 */
enum {
	MODE_TYPE = 0170000,
	MODE_FIFO = 0010000,
	MODE_CHARACTERS = 0020000,
	MODE_DIRECTORY = 0040000,
	MODE_BLOCKS = 0060000,
	MODE_FILE = 0100000,
	MODE_SOCKET = 0140000,
	PIPEFS = 0x50495045,
	ANONYMOUS = 0x09041934,
	/* the word of a lock that somebody holds and somebody waits for, in the C library, in
	 * Rust's and others after the pattern of "Futexes are tricky" */
	FUTEX_LOCK_WAITED_FOR = 2,
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct place_key);
	__type(value, struct place_sum);
} places SEC(".maps");

/* The file behind a descriptor of a task; NULL: there is none. */
static __always_inline struct file *file_of(struct task_struct *task, uint64_t fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **all, *file = NULL;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	all = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), all + fd);
	return file;
}

/* epoll sets, rings and their like share one inode; the name of the kind tells them apart. */
static __always_inline void place_anonymous(struct place_key *place, struct file *file)
{
	char name[8] = "";

	bpf_probe_read_kernel_str(name, sizeof(name),
	                          BPF_CORE_READ(file, f_path.dentry, d_name.name));
	place->inode = (uint64_t)file;
	if (name[0] != '[')
		place->object = OBJECT_OTHER;
	else if (name[1] == 'i' && name[2] == 'o')
		place->object = OBJECT_RING;
	else if (name[1] == 'e' && name[6] == 'p')
		place->object = OBJECT_EPOLL;
	else if (name[1] == 'e' && name[6] == 'f')
		place->object = OBJECT_EVENTFD;
	else
		place->object = OBJECT_OTHER;
}

static __always_inline void place_file(struct place_key *place, struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	const uint32_t mode = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	const uint64_t magic = BPF_CORE_READ(inode, i_sb, s_magic);

	if (magic == ANONYMOUS) {
		place_anonymous(place, file);
		return;
	}
	place->inode = BPF_CORE_READ(inode, i_ino);
	place->device = BPF_CORE_READ(inode, i_sb, s_dev);
	place->object = mode == MODE_SOCKET ? OBJECT_SOCKET
	                : mode == MODE_FIFO ? (magic == PIPEFS ? OBJECT_PIPE : OBJECT_FIFO)
	                : mode == MODE_FILE || mode == MODE_DIRECTORY    ? OBJECT_FILE
	                : mode == MODE_BLOCKS || mode == MODE_CHARACTERS ? OBJECT_DEVICE
	                                                                 : OBJECT_OTHER;
}

/* What a worker has in hand. */
static __always_inline struct file *place_worker(struct place_key *place, struct io_worker *worker)
{
	struct io_wq_work *work = BPF_CORE_READ(worker, cur_work);
	struct io_kiocb *request = NULL;
	struct file *file;

	if (!work || !bpf_core_field_exists(request->work))
		return NULL;
	request = (void *)work - bpf_core_field_offset(request->work);
	place->operation = BPF_CORE_READ(request, opcode);
	file = BPF_CORE_READ(request, file);
	if (file)
		place_file(place, file);
	return file;
}

/* The call and its object. *fd: by which it was reached, or -1. */
static __always_inline struct file *place_call(struct task_struct *task, struct place_key *place,
                                               int32_t *reached)
{
	struct pt_regs *registers = (struct pt_regs *)bpf_task_pt_regs(task);
	const long number = registers->orig_ax;
	uint64_t fd = registers->di;
	struct file *file;

	if (number < 0 || number >= PARK_SYSCALLS)
		return NULL;
	place->call = number;
	switch (knobs.objects[number]) {
	case CALL_FUTEX:
		place->object = OBJECT_FUTEX;
		place->lock = (uint32_t)registers->dx == FUTEX_LOCK_WAITED_FOR;
		return NULL;
	case CALL_FD_SECOND:
		fd = registers->si;
		break;
	case CALL_FD:
		break;
	default:
		return NULL;
	}
	fd = (uint32_t)fd;
	file = file_of(task, fd);
	if (!file)
		return NULL;
	place_file(place, file);
	*reached = fd;
	return file;
}

static __always_inline bool place_same(const struct place_key *a, const struct place_key *b)
{
	const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;

	_Static_assert(sizeof(struct place_key) == 24, "compared by words");
	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2];
}

/* A place in which nobody has slept yet gets its name while the file is there. */
static __always_inline void place_name(const struct place_key *place, struct file *file)
{
	struct place_sum new = {};

	if (bpf_map_lookup_elem(&places, place))
		return;
	bpf_probe_read_kernel_str(new.name, sizeof(new.name),
	                          BPF_CORE_READ(file, f_path.dentry, d_name.name));
	bpf_map_update_elem(&places, place, &new, BPF_NOEXIST);
}

static __noinline int place_add(struct place_key *key, uint64_t ns, uint32_t ended)
{
	const struct place_sum first = {.asleep_ns = ns, .sleeps = ended};
	struct place_sum *sum;

	if (!key)
		return 0;
	sum = bpf_map_lookup_elem(&places, key);
	if (!sum) {
		if (!bpf_map_update_elem(&places, key, &first, BPF_NOEXIST))
			return 0;
		sum = bpf_map_lookup_elem(&places, key);
	}
	if (!sum)
		return 1;
	__sync_fetch_and_add(&sum->asleep_ns, ns);
	__sync_fetch_and_add(&sum->sleeps, ended);
	return 0;
}

/* Adds a sleep, or a part of it, to its place; where the table is full, without its object. */
static __noinline int place_charge(struct park_thread *t, uint64_t ns, uint32_t ended)
{
	struct place_key key;

	if (!t)
		return 0;
	if (t->place.class == CLASS_FUTEX)
		__sync_fetch_and_add(&t->futex_ns, ns);
	if (knobs.folds)
		fold_add(t, ns);
	key = t->place;
	if (!place_add(&key, ns, ended))
		return 0;
	__sync_fetch_and_add(&totals.places_merged, 1);
	key.inode = 0;
	key.device = 0;
	if (place_add(&key, ns, ended))
		__sync_fetch_and_add(&totals.map_full, 1);
	return 0;
}

/* A sleep ends. */
static __always_inline void place_close(struct park_thread *t, uint64_t now_ns)
{
	uint64_t since_ns;

	if (!READ_ONCE(t->place_since_ns))
		return;
	since_ns = __sync_lock_test_and_set(&t->place_since_ns, 0);
	if (since_ns)
		place_charge(t, now_ns > since_ns ? now_ns - since_ns : 0, 1);
}

/* A sleep goes on: what has passed of it is added. */
static __always_inline void place_flush(struct park_thread *t, uint64_t now_ns)
{
	const uint64_t since_ns = READ_ONCE(t->place_since_ns);

	if (since_ns && now_ns > since_ns &&
	    __sync_val_compare_and_swap(&t->place_since_ns, since_ns, now_ns) == since_ns)
		place_charge(t, now_ns - since_ns, 0);
}

/* A sleep begins, whose word that is. */
static __noinline int place_open(struct task_struct *task, struct park_thread *t, uint32_t word,
                                 uint64_t now_ns)
{
	struct place_key place = {.call = PLACE_NO_CALL};
	struct file *file = NULL;
	int32_t fd = -1;

	if (!task || !t)
		return 0;
	place.process = task->tgid;
	place.kind = t->settled ? t->settled - 1 : KIND_APPLICATION;
	place.state = (word & WORD_STATE) - 1;
	place.class = word >> WORD_CLASS_SHIFT & 0xff;
	if (place.class == CLASS_WORKER_BUSY)
		file = place_worker(&place, task->worker_private);
	else if (!(task->flags & (PF_IO_WORKER | PF_USER_WORKER)))
		file = place_call(task, &place, &fd);
	if (file && !place_same(&place, &t->place))
		place_name(&place, file);
	t->place = place;
	t->place_fd = fd;
	barrier();
	WRITE_ONCE(t->place_since_ns, now_ns);
	return 0;
}
