/*
 * The function with which a foreign thread began: see routine.h. The symbol is of the interface
 * for debuggers, libthread_db: three 32-bit words, of which the last is the offset.
 */
#include "bench/routine.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char symbol_name[] = "_thread_db_pthread_start_routine";

struct image {
	const unsigned char *bytes;
	size_t size;
};

/* size bytes at offset, or NULL where the file does not have them. */
static const void *image_at(const struct image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

/* The place in the file of an address in memory; 0: none. */
static uint64_t image_offset(const struct image *image, const Elf64_Ehdr *head, uint64_t address)
{
	for (unsigned i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *part = image_at(image, head->e_phoff + i * sizeof *part,
		                                  sizeof *part);

		if (part && part->p_type == PT_LOAD && address >= part->p_vaddr &&
		    address - part->p_vaddr < part->p_filesz)
			return part->p_offset + (address - part->p_vaddr);
	}
	return 0;
}

static uint64_t symbol_value(const struct image *image, const Elf64_Shdr *table,
                             const Elf64_Shdr *names)
{
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
		const Elf64_Sym *symbol = image_at(image, table->sh_offset + at, sizeof *symbol);
		const char *name = symbol ? image_at(image, names->sh_offset + symbol->st_name,
		                                     sizeof symbol_name)
		                          : NULL;

		if (name && memcmp(name, symbol_name, sizeof symbol_name) == 0)
			return symbol->st_value;
	}
	return 0;
}

/* The offset that the library tells; 0: it does not. */
static uint64_t image_search(const struct image *image)
{
	const Elf64_Ehdr *head = image_at(image, 0, sizeof *head);
	const uint32_t *words = NULL;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	for (unsigned i = 0; i < head->e_shnum && !words; i++) {
		const Elf64_Shdr *table = image_at(image, head->e_shoff + i * sizeof *table,
		                                   sizeof *table);
		const Elf64_Shdr *names;
		uint64_t value;

		if (!table || table->sh_type != SHT_DYNSYM)
			continue;
		names = image_at(image, head->e_shoff + table->sh_link * sizeof *names,
		                 sizeof *names);
		value = names ? symbol_value(image, table, names) : 0;
		value = value ? image_offset(image, head, value) : 0;
		words = value ? image_at(image, value, 12) : NULL;
	}
	return words ? words[2] : 0;
}

static uint64_t file_search(const char *path)
{
	struct image image = {0};
	struct stat status;
	uint64_t offset = 0;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *memory;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		image.size = (size_t)status.st_size;
		memory = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (memory != MAP_FAILED) {
			image.bytes = memory;
			offset = image_search(&image);
			munmap(memory, image.size);
		}
	}
	close(fd);
	return offset;
}

/* Is it the C library, or what held the threads before glibc 2.34? */
static bool path_is_library(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libc-2.", 8) == 0 ||
	                strncmp(name, "/libpthread", 11) == 0);
}

void routine_library_open(struct routine_library *library, pid_t pid)
{
	char path[64], line[4352], name[4096], rights[8], whole[4224];
	unsigned long long begin, end;
	FILE *maps;

	memset(library, 0, sizeof *library);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	library->memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%llx-%llx %7s %*s %*s %*s %4095s", &begin, &end, rights, name) !=
		        4 ||
		    !strchr(rights, 'x') || !path_is_library(name))
			continue;
		if (!library->offset) {
			snprintf(whole, sizeof whole, "/proc/%d/root%s", (int)pid, name);
			library->offset = file_search(whole);
		}
		if (!library->begin || strstr(name, "/libc")) {
			library->begin = begin;
			library->end = end;
		}
	}
	if (maps)
		fclose(maps);
	library->known = library->offset != 0 && library->begin != 0 && library->memory >= 0;
}

void routine_library_close(struct routine_library *library)
{
	if (library->memory >= 0)
		close(library->memory);
	library->memory = -1;
}

uint64_t routine_read(const struct routine_library *library, uint64_t segment)
{
	uint64_t routine = 0;

	if (!library->known || !segment ||
	    pread(library->memory, &routine, sizeof routine, (off_t)(segment + library->offset)) !=
	        sizeof routine)
		return 0;
	return routine;
}

bool routine_of_library(const struct routine_library *library, uint64_t routine)
{
	return library->known && routine >= library->begin && routine < library->end;
}
