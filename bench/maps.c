/* The code of a foreign process: see maps.h. Files are read by libelf. */
#include "bench/maps.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS_MAX = 16 };

/* A file's loaded parts, and its functions by their addresses in it. */
struct map_file {
	struct symbols symbols;
	struct {
		uint64_t offset, size, address;
	} loaded[HEADERS_MAX];
	size_t loaded_count;
};

static void map_free(struct map *map)
{
	free(map->path);
	if (map->file)
		symbols_free(&map->file->symbols);
	free(map->file);
}

void maps_free(struct maps *m)
{
	for (size_t i = 0; i < m->count; i++)
		map_free(&m->all[i]);
	free(m->all);
	m->all = NULL;
	m->count = 0;
}

static void add(struct maps *m, const struct map *map, const char *path)
{
	struct map *grown = realloc(m->all, (m->count + 1) * sizeof *grown);

	if (!grown)
		return;
	m->all = grown;
	m->all[m->count] = *map;
	m->all[m->count].path = strdup(path);
	m->count += m->all[m->count].path != NULL;
}

void maps_read(struct maps *m, pid_t pid)
{
	struct maps fresh = {.process = m->process, .pid = pid};
	char name[64], line[MAPS_PATH_SIZE + 128];
	FILE *file;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	file = fopen(name, "re");
	while (file && fgets(line, sizeof line, file)) {
		unsigned long long begin, end, offset;
		char rights[8];
		int path = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &begin, &end, rights, &offset,
		           &path) != 4 ||
		    rights[2] != 'x' || !path || !line[path])
			continue;
		add(&fresh, &(struct map){.begin = begin, .end = end, .offset = offset},
		    line + path);
	}
	if (file)
		fclose(file);
	if (!fresh.count) { /* it is gone, or not ours to read */
		maps_free(&fresh);
		return;
	}
	maps_free(m);
	*m = fresh;
}

/* A function ends where the next begins or by its size: behind it there is none. */
static void add_symbol(struct map_file *file, const GElf_Sym *symbol, const char *name)
{
	const int type = GELF_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !symbol->st_value || !name || !*name)
		return;
	symbols_add(&file->symbols, symbol->st_value, name);
	if (symbol->st_size)
		symbols_add(&file->symbols, symbol->st_value + symbol->st_size, "");
}

static void read_symbols(struct map_file *file, Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || !header.sh_entsize ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
			add_symbol(file, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
	}
	symbols_sort(&file->symbols);
}

static void read_loaded(struct map_file *file, Elf *elf)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count && file->loaded_count < HEADERS_MAX; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		file->loaded[file->loaded_count].offset = header.p_offset;
		file->loaded[file->loaded_count].size = header.p_filesz;
		file->loaded[file->loaded_count++].address = header.p_vaddr;
	}
}

/* In the process's own root, while it lives; else where the same name leads here. */
static int open_file(pid_t pid, const char *path)
{
	char inside[MAPS_PATH_SIZE + 64];
	int fd;

	snprintf(inside, sizeof inside, "/proc/%d/root%s", (int)pid, path);
	fd = open(inside, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 || *path != '/' ? fd : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static struct map_file *file_read(pid_t pid, const char *path)
{
	struct map_file *file = calloc(1, sizeof *file);
	const int fd = file ? open_file(pid, path) : -1;
	Elf *elf;

	if (fd < 0)
		return file;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		read_loaded(file, elf);
		read_symbols(file, elf);
	}
	elf_end(elf);
	close(fd);
	return file;
}

static const char *function_of(const struct map_file *file, uint64_t offset)
{
	const char *name = NULL;

	for (size_t i = 0; file && i < file->loaded_count && !name; i++)
		if (offset >= file->loaded[i].offset &&
		    offset - file->loaded[i].offset < file->loaded[i].size)
			name = symbols_find(&file->symbols, offset - file->loaded[i].offset +
			                                        file->loaded[i].address);
	return name && *name ? name : NULL;
}

bool maps_say(struct maps *m, uint64_t address, char *out, size_t size)
{
	for (size_t i = 0; i < m->count; i++) {
		struct map *map = &m->all[i];
		const uint64_t offset = address - map->begin + map->offset;
		const char *slash = strrchr(map->path, '/'), *function;

		if (address < map->begin || address >= map->end)
			continue;
		if (!map->file && *map->path == '/')
			map->file = file_read(m->pid, map->path);
		function = function_of(map->file, offset);
		if (function)
			snprintf(out, size, "%s", function);
		else
			snprintf(out, size, "%s+0x%llx", slash ? slash + 1 : map->path,
			         (unsigned long long)offset);
		return true;
	}
	return false;
}
