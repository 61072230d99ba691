#!/bin/bash
# Watches real programs and writes what iostudy says of them: make field.
# field.sh BUILD: prints docs/field.md. Everything runs in a folder of its own and ends with it.
set -uo pipefail
iostudy=$(realpath "$1/iostudy")
place=$(mktemp -d /var/tmp/iostudy-field.XXXXXX)
started=()

finish() {
	for pid in "${started[@]}"; do kill "$pid" 2>/dev/null; done
	umount "$place/tmpfs" "$place/overlay/merged" 2>/dev/null
	[[ -d $place/pg ]] && as_postgres "$pg_bin/pg_ctl" -D "$place/pg" -m immediate stop
	rm -rf "$place"
} >/dev/null 2>&1
trap finish EXIT
cd "$place" || exit 1

have() { command -v "$1" >/dev/null; }

# Starts a program beside us. Its output is of no interest; its number is in $last.
start() {
	"$@" >/dev/null 2>&1 </dev/null &
	last=$!
	started+=("$last")
}

# watch TITLE COMMAND-AS-SHOWN PID: a section.
watch() {
	printf '\n## %s\n\n    %s\n    iostudy watch -f -p PID -d 2\n\n```text\n' "$1" "$2"
	"$iostudy" watch -f -p "$3" -d 2 --batch --ascii 2>&1 |
		sed -e "s|$place|DIR|g" -e 's/ *$//'
	printf '```\n'
}

fio_run() { # TITLE FILE OPTION...
	local title=$1 file=$2
	shift 2
	start fio --name=j --filename="$file" --size=64m --bs=4k --time_based --runtime=6 "$@"
	sleep 2.5
	watch "$title" "fio --name=j --size=64m --bs=4k $*" "$last"
	wait "$last"
}

fio_all() {
	local read='--rw=randread'
	fio_run 'fio, psync: a thread for each read' d $read --ioengine=psync --direct=1 \
		--numjobs=4 --thread
	fio_run 'fio, posixaio: sixteen asked, one helper serves' d $read --ioengine=posixaio \
		--direct=1 --iodepth=16
	fio_run 'fio, libaio, direct' d $read --ioengine=libaio --direct=1 --iodepth=16
	fio_run 'fio, libaio, buffered: asynchronous in name only' d $read --ioengine=libaio \
		--direct=0 --iodepth=16
	fio_run 'fio, io_uring, direct' d $read --ioengine=io_uring --direct=1 --iodepth=32
	fio_run 'fio, io_uring, buffered writes and fsync' d --rw=randwrite --ioengine=io_uring \
		--direct=0 --iodepth=4 --fsync=1
	fio_run 'fio, io_uring, forced to workers' d $read --ioengine=io_uring --direct=0 \
		--iodepth=64 --force_async=1
	fio_run 'fio, io_uring, SQPOLL' d $read --ioengine=io_uring --direct=1 --iodepth=8 \
		--sqthread_poll=1
}

# The same reader where NOWAIT is not known.
fio_places() {
	local read='--rw=randread --ioengine=io_uring --iodepth=16'
	mkdir -p tmpfs overlay/lower overlay/upper overlay/work overlay/merged
	mount -t tmpfs tmpfs tmpfs &&
		fio_run 'The same io_uring reader on tmpfs' tmpfs/d $read --direct=0
	mount -t overlay overlay overlay/merged \
		-o lowerdir=overlay/lower,upperdir=overlay/upper,workdir=overlay/work &&
		fio_run 'The same io_uring reader on an overlay' overlay/merged/d $read --direct=1
}

node_all() {
	have node || return
	mkfifo fifo.{1,2,3,4}
	start node -e 'const fs = require("fs");
		for (let i = 1; i < 5; i++) fs.open("fifo." + i, "r", () => {});
		setInterval(() => {}, 1000);'
	sleep 1
	watch 'node, four FIFOs opened: 4 of 4 pool threads' \
		"node: fs.open of four FIFOs that nobody writes to" "$last"
	start node -e 'const fs = require("fs"); const fd = fs.openSync("d", "r");
		const next = () => fs.read(fd, Buffer.alloc(4096), 0, 4096,
			4096 * Math.floor(Math.random() * 16000), next);
		for (let i = 0; i < 8; i++) next();'
	sleep 1
	watch 'node, plain reads' "node: eight fs.read at a time over a file of 64 MiB" "$last"
}

python_all() {
	start python3 -c 'import concurrent.futures as f, os, time
os.mkfifo("queue")
pool = f.ThreadPoolExecutor(3)
[pool.submit(open, "queue") for i in range(9)]
time.sleep(60)'
	sleep 1
	watch 'Python, a pool of 3 and 9 calls that wait for ever' \
		"python3: ThreadPoolExecutor(3), nine times open() of a FIFO" "$last"
}

redis_all() {
	have redis-server || return
	start redis-server --port 7399 --appendonly yes --appendfsync always --dir "$place"
	local server=$last
	sleep 1
	start redis-benchmark -p 7399 -t set -n 100000000 -q
	sleep 1
	watch 'redis, appendfsync always' \
		'redis-server --appendonly yes --appendfsync always, redis-benchmark -t set' \
		"$server"
	kill "$last" "$server"
}

nginx_one() { # TITLE AIO
	mkdir -p nginx
	cat >nginx.conf <<CONF
worker_processes 1; pid $place/nginx.pid; error_log /dev/null; daemon off;
thread_pool default threads=4; events {}
http { access_log off; client_body_temp_path $place/nginx; proxy_temp_path $place/nginx;
fastcgi_temp_path $place/nginx; uwsgi_temp_path $place/nginx; scgi_temp_path $place/nginx;
server { listen 127.0.0.1:7398; root $place; aio $2; directio 4k; sendfile off; } }
CONF
	start nginx -c "$place/nginx.conf"
	local server=$last
	sleep 1
	start bash -c 'while curl -s http://127.0.0.1:7398/d -o /dev/null; do :; done'
	local client=$last
	watch "$1" "nginx with aio $2; directio 4k, one client with a file of 64 MiB" "$server"
	kill "$client" "$server"
	sleep 1
}

nginx_all() {
	have nginx || return
	chmod 755 "$place"
	nginx_one 'nginx, large files, aio threads' threads
	nginx_one 'nginx, large files, without' off
}

as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }

postgres_all() {
	pg_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
	[[ -n $pg_bin ]] || return
	mkdir pg && chown postgres pg && chmod 755 "$place"
	as_postgres "$pg_bin/initdb" -D "$place/pg" >/dev/null 2>&1
	start as_postgres "$pg_bin/postgres" -D "$place/pg" -p 7397 -k "$place/pg" \
		-c shared_buffers=1MB
	sleep 3
	as_postgres "$pg_bin/pgbench" -h "$place/pg" -p 7397 -i -s 20 postgres >/dev/null 2>&1
	start as_postgres "$pg_bin/pgbench" -h "$place/pg" -p 7397 -c 4 -S -T 20 postgres
	local client=$last
	sleep 1
	local server
	server=$(head -1 pg/postmaster.pid)
	echo 3 >/proc/sys/vm/drop_caches
	watch 'PostgreSQL under pgbench, cold data' \
		'postgres -c shared_buffers=1MB, pgbench -c 4 -S' "$server"
	kill "$client"
}

cat <<HEAD
# Real programs, watched

What \`iostudy watch\` says of programs that people run. Written by \`make field\` on Linux
$(uname -r) with $(nproc) CPUs; another machine gives other figures. Each section has the program,
the command, and its summary as it was printed. DIR is a folder on $(stat -f -c %T .).
HEAD
fio_all
fio_places
node_all
python_all
redis_all
nginx_all
postgres_all
