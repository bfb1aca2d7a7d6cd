// SPDX-License-Identifier: MIT
/* design.c - where a run stands in a comparison. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

TLAT_ASSERT_LAYOUT(struct tlat_design, 6 * 8 + 4 * 4);

void tlat_position_free(struct tlat_position *position)
{
	free(position->order);
	free(position->command);
	free(position->setup);
	free(position->metric);
	*position = (struct tlat_position){ 0 };
}

/* Copy text, if there is any; false: no memory. */
static bool copy_text(char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

int tlat_report_set_design(struct tlat_report *report, const struct tlat_design *design)
{
	struct tlat_design d;
	struct tlat_position position;
	int ret = tlat_opts_copy(&d, sizeof(d), design, NULL);

	if (ret < 0)
		return ret;
	if ((d.side != 'A' && d.side != 'B') || d.pair < 0 || d.planned < 0 || d.seed > INT64_MAX)
		return -EINVAL;
	position = (struct tlat_position){ .known = true,
					   .seed = d.seed,
					   .side = d.side,
					   .pair = d.pair,
					   .planned = d.planned,
					   .looks = d.looks };
	if (!copy_text(&position.order, d.order) || !copy_text(&position.command, d.command) ||
	    !copy_text(&position.setup, d.setup) || !copy_text(&position.metric, d.metric)) {
		tlat_position_free(&position);
		return -ENOMEM;
	}
	tlat_position_free(&report->position);
	report->position = position;
	report->placed = true;
	return 0;
}

int tlat_report_design(const struct tlat_report *report, struct tlat_design *design)
{
	const struct tlat_position *p = &report->position;
	const struct tlat_design d = {
		.order = p->order,
		.command = p->command,
		.setup = p->setup,
		.seed = p->seed,
		.side = p->side,
		.pair = p->pair,
		.planned = p->planned,
		.looks = p->looks,
		.metric = p->metric,
	};

	return p->known ? tlat_facts_copy(design, &d, sizeof(d)) : -ENOENT;
}
