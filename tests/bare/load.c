// SPDX-License-Identifier: MIT
/*
 * load.c - loads the library that it is given as a host of plugins does, and lets it measure: what
 * a C library takes from a linked library and refuses in one that comes later shows here only.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <timerlat.h>

typedef int run_fn(struct tlat_report **, const struct tlat_run_opts *, struct tlat_error *);

static int measure(void *library, const char *probe)
{
	run_fn *run = (run_fn *)dlsym(library, "tlat_run");
	struct tlat_report *report;
	struct tlat_error error;

	if (run && run(&report, &TLAT_RUN_OPTS(.probe = probe, .samples = 20), &error) >= 0)
		return 0;
	fprintf(stderr, "%s: %s\n", probe, run ? error.text : dlerror());
	return 1;
}

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (!library) {
		fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: load LIBRARY");
		return 1;
	}
	/* A handler looks for its waiter; the other one waits for nothing but a futex. */
	if (measure(library, "signal-tgkill-handler") || measure(library, "wake-futex"))
		return 1;
	printf("%s can be loaded\n", argv[1]);
	return 0;
}
