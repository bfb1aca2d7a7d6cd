/* SPDX-License-Identifier: MIT */
/* ab_design.h - what was begun one way is not continued another way. */
#ifndef TLAT_AB_DESIGN_H
#define TLAT_AB_DESIGN_H

#include "ab_config.h"

/*
 * Whether config would go on with what made the report, whose design is given, one of --state. Of
 * the side that is not measured (--side), command and setup may be any. Returns 0; -EINVAL, with
 * what differs.
 */
int tlat_ab_check_design(const struct tlat_ab_config *config, const struct tlat_report *report,
			 const struct tlat_design *design, struct tlat_error *reterr);

#endif /* TLAT_AB_DESIGN_H */
