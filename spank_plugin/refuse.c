/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/refuse.h"

#include <slurm/spank.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"

/* _exit(): nothing that Slurm has registered with atexit(3) is to run in a task. */
void pm_refuse(const struct pm_err *err, int status)
{
	const char *asked = getenv("SLURM_EXIT_ERROR");
	uint64_t number;

	if (*err->text)
		slurm_error("pm: %s", err->text);
	if (asked && !pm_parse_u64(asked, &number) && number <= 255)
		status = (int)number;
	_exit(status);
}
