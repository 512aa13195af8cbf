/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the node reads the constraints on stdin, a line each: "max-" for the modes' features that
 * they allow (m, a, x; '-': none of them), and "pm" where a name is ours; or the refusal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/features.h"

static void print(const char *expr)
{
	struct pm_features features = {0};
	struct pm_err err = {0};
	const char *place;

	if (pm_features_read(expr, &features, &err)) {
		/* the sentence quotes the expression, which may hold anything, in the first place
		 */
		place = strstr(err.text + strlen("read constraint '") + strnlen(expr, 200), "': ");
		printf("%s\n", place ? place + 3 : err.text);
		return;
	}
	printf("%s%s%s%s%s\n", pm_features_allow(&features, PM_MODE_MEMORY) ? "m" : "",
		pm_features_allow(&features, PM_MODE_APPDIRECT) ? "a" : "",
		pm_features_allow(&features, PM_MODE_MIXED) ? "x" : "",
		pm_features_allow(&features, PM_MODE_UNKNOWN) ? "-" : "",
		features.mentioned ? " pm" : "");
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		print(line);
	}
	free(line);
	return 0;
}
