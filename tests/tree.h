/* SPDX-License-Identifier: MIT */
/* tree.h - a root directory made up for one test: set up, filled file by file, removed. */
#ifndef TLAT_TESTS_TREE_H
#define TLAT_TESTS_TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
	char path[64];
	int fd;
};

static inline int tree_setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	strcpy(tree->path, "/tmp/tlat-tree-XXXXXX");
	assert_non_null(mkdtemp(tree->path));
	tree->fd = open(tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(tree->fd >= 0);
	*state = tree;
	return 0;
}

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int tree_teardown(void **state)
{
	struct tree *tree = *state;

	close(tree->fd);
	nftw(tree->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(tree);
	return 0;
}

static inline void make_parents(int fd, const char *path)
{
	char part[512];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(fd, part, 0755);
	}
}

static inline void put(const struct tree *tree, const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd;

	make_parents(tree->fd, path);
	fd = openat(tree->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

#endif /* TLAT_TESTS_TREE_H */
