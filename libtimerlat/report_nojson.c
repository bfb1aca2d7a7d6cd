// SPDX-License-Identifier: MIT
/* report_nojson.c - a build without jansson: reports exist, but not as text. */
#include "report.h"

#ifndef TLAT_WITH_JANSSON

static int not_built(struct tlat_error *reterr)
{
	return tlat_fail(reterr, -EOPNOTSUPP,
			 "JSON: not in this build of libtimerlat; "
			 "build it with jansson (TLAT_WITH_JANSSON=ON)");
}

int tlat_report_read_text(struct tlat_report **ret_report, const char *text, size_t n, bool more,
			  const char *name, struct tlat_error *reterr)
{
	(void)ret_report, (void)text, (void)n, (void)more, (void)name;
	return not_built(reterr);
}

int tlat_report_read(struct tlat_report **ret_report, const char *path, struct tlat_error *reterr)
{
	(void)ret_report, (void)path;
	return not_built(reterr);
}

int tlat_report_write(const struct tlat_report *report, const char *path, unsigned int flags,
		      struct tlat_error *reterr)
{
	(void)report, (void)path, (void)flags;
	return not_built(reterr);
}

int tlat_report_copy(struct tlat_report **ret_copy, const struct tlat_report *report)
{
	(void)ret_copy, (void)report;
	return not_built(NULL);
}

int tlat_report_format(char **ret_text, const struct tlat_report *report)
{
	(void)ret_text, (void)report;
	return not_built(NULL);
}

int tlat_comparison_format(char **ret_text, const struct tlat_comparison *comparison)
{
	(void)ret_text, (void)comparison;
	return not_built(NULL);
}

int tlat_report_join(struct tlat_report **ret_report, const struct tlat_report *report,
		     struct tlat_error *reterr)
{
	(void)ret_report, (void)report;
	return not_built(reterr);
}

int tlat_report_merge(struct tlat_report **ret_report, struct tlat_report *const *reports, size_t n,
		      struct tlat_error *reterr)
{
	(void)ret_report, (void)reports, (void)n;
	return not_built(reterr);
}

const char *tlat_report_run_id(const struct tlat_report *report, size_t index)
{
	return index ? NULL : report->id;
}

void tlat_document_free(void *document)
{
	assert(!document);
	(void)document;
}

int tlat_report_facts_make(struct tlat_report *report)
{
	(void)report;
	return 0;
}

#endif /* TLAT_WITH_JANSSON */
