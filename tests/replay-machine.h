/* SPDX-License-Identifier: MIT */
/* replay-machine.h - one composed machine at a time, opened, and what tests ask of its findings. */
#ifndef TLAT_REPLAY_MACHINE_H
#define TLAT_REPLAY_MACHINE_H

#include "compose-machine.h"

static struct composed root;
static struct tlat_machine *machine;

static inline void replay(const char *name)
{
	struct tlat_error error;

	compose(&root, name);
	if (tlat_machine_open(&machine, root.root, &error) < 0)
		fail_msg("%s: %s", name, error.text);
}

static inline void end_replay(void)
{
	tlat_machine_close(machine);
	machine = NULL;
	compose_remove(&root);
}

static inline int clean_up(void **state)
{
	(void)state;
	if (machine)
		end_replay();
	return 0;
}

static inline void assert_set(const struct tlat_cpuset *set, const char *expected)
{
	char text[256];

	assert_string_equal(tlat_cpuset_say(set, text, sizeof(text)), expected);
}

/* Findings as "id id ..." in their order, a "!" after those that warn. */
static inline void name_findings(const struct tlat_findings *findings, char *text)
{
	text[0] = '\0';
	for (size_t i = 0; i < findings->n; i++)
		sprintf(text + strlen(text), "%s%s%s", i ? " " : "", findings->v[i].id,
			findings->v[i].severity == TLAT_WARN ? "!" : "");
}

static inline void assert_finding(const struct tlat_findings *findings, const char *id,
				  const char *text)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->v[i].id, id) && strstr(findings->v[i].text, text))
			return;
	fail_msg("no finding %s says \"%s\"", id, text);
}

#endif /* TLAT_REPLAY_MACHINE_H */
