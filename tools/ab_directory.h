/* SPDX-License-Identifier: MIT */
/* ab_directory.h - a directory for what commands write, that no ended process leaves for good. */
#ifndef TLAT_AB_DIRECTORY_H
#define TLAT_AB_DIRECTORY_H

#include <stddef.h>

#include <timerlat.h>

/* The files in it. */
#define TLAT_AB_JSON   "run.json"
#define TLAT_AB_OUTPUT "output"

struct tlat_ab_directory {
	char *path;  /* NULL: there is none */
	int lock_fd; /* held as long as its process lives */
};

/* Those of processes that were killed are removed first. Returns 0 or a negative errno. */
int tlat_ab_directory_make(struct tlat_ab_directory *directory, struct tlat_error *reterr);
/* Path of one of its files, to be freed; NULL: no memory. */
char *tlat_ab_directory_file(const struct tlat_ab_directory *directory, const char *name);

void tlat_ab_directory_remove(struct tlat_ab_directory *directory);

#endif /* TLAT_AB_DIRECTORY_H */
