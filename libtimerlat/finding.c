// SPDX-License-Identifier: MIT
/* finding.c - lists of degraded conditions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

TLAT_ASSERT_LAYOUT(struct tlat_finding, 3 * 8 + 2 * 4);

const char *tlat_severity_name(int severity)
{
	static const char *const names[] = { NULL, "info", "warn", "error" };

	return severity >= TLAT_INFO && severity <= TLAT_ERROR ? names[severity] : NULL;
}

static void finding_free(struct tlat_finding *f)
{
	free((char *)f->id);
	free((char *)f->text);
	free((char *)f->remedy);
}

static bool is_known(const struct tlat_findings *findings, const struct tlat_finding *f)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->v[i].id, f->id) && !strcmp(findings->v[i].text, f->text))
			return true;
	return false;
}

/* Takes the finding over, also when it has to be dropped. 0 or -ENOMEM. */
static int push(struct tlat_findings *findings, struct tlat_finding *f)
{
	struct tlat_finding *grown = NULL;
	bool known = f->id && f->text && is_known(findings, f);

	if (f->id && f->text && !known)
		grown = realloc(findings->v, (findings->n + 1) * sizeof(*grown));
	if (!grown) {
		finding_free(f);
		return known ? 0 : -ENOMEM;
	}
	findings->v = grown;
	findings->v[findings->n++] = *f;
	return 0;
}

int tlat_findings_add(struct tlat_findings *findings, int severity, const char *id,
		      const char *remedy, const char *format, ...)
{
	struct tlat_finding f = { .severity = severity };
	char text[1024];
	va_list args;

	va_start(args, format);
	tlat_vformat(text, sizeof(text), format, args);
	va_end(args);
	f.id = strdup(id);
	f.text = strdup(text);
	f.remedy = remedy ? strdup(remedy) : NULL;
	return push(findings, &f);
}

void tlat_findings_copy(struct tlat_findings *into, const struct tlat_findings *from)
{
	for (size_t i = 0; i < from->n; i++)
		tlat_findings_add(into, from->v[i].severity, from->v[i].id, from->v[i].remedy, "%s",
				  from->v[i].text);
}

void tlat_findings_move(struct tlat_findings *into, struct tlat_findings *from)
{
	for (size_t i = 0; i < from->n; i++)
		push(into, &from->v[i]);
	free(from->v);
	*from = (struct tlat_findings){ 0 };
}

void tlat_findings_free(struct tlat_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		finding_free(&findings->v[i]);
	free(findings->v);
	*findings = (struct tlat_findings){ 0 };
}

bool tlat_findings_drop(struct tlat_findings *findings, const char *id)
{
	size_t kept = 0, n = findings->n;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(findings->v[i].id, id))
			findings->v[kept++] = findings->v[i];
		else
			finding_free(&findings->v[i]);
	}
	findings->n = kept;
	return kept < n;
}

bool tlat_findings_reach(const struct tlat_findings *findings, int severity)
{
	for (size_t i = 0; i < findings->n; i++)
		if (findings->v[i].severity >= severity)
			return true;
	return false;
}

const struct tlat_finding *tlat_findings_get(const struct tlat_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->n; i++)
		if (!strcmp(findings->v[i].id, id))
			return &findings->v[i];
	return NULL;
}

const struct tlat_finding *tlat_findings_distrust(const struct tlat_findings *findings)
{
	static const char *const ids[] = {
		"clock-broken", "clock-drift",	       "clock-offset-changed",
		"clock-order",	"clocksource-changed", "clock-set",
		"suspended",	"load-ended",
	};

	for (size_t i = 0; i < findings->n; i++)
		for (size_t k = 0; k < TLAT_ARRAY_SIZE(ids); k++)
			if (!strcmp(findings->v[i].id, ids[k]))
				return &findings->v[i];
	return NULL;
}
