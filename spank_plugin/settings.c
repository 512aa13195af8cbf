/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/settings.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define CONFIG_WORD "config="

static bool names_file(const char *word)
{
	return !strncasecmp(word, CONFIG_WORD, strlen(CONFIG_WORD));
}

const char *pm_settings_file(int ac, char **av)
{
	const char *path = NULL;

	for (int i = 0; i < ac; i++)
		if (names_file(av[i]))
			path = av[i] + strlen(CONFIG_WORD);
	return path;
}

static int set_word(struct pm_config *config, const char *word, struct pm_err *err)
{
	const char *equals = strchr(word, '=');
	cleanup_free char *key = NULL;

	if (!equals)
		return pm_err_set(err, -EINVAL, "'%.64s' is not Key=Value", word);
	key = strndup(word, (size_t)(equals - word));
	if (!key)
		return pm_err_nomem(err);
	return pm_config_set(config, key, equals + 1, err);
}

static int set_words(struct pm_config *config, int ac, char **av, struct pm_err *err)
{
	for (int i = 0; i < ac; i++) {
		if (names_file(av[i]))
			continue;
		if (set_word(config, av[i], err))
			return pm_err_prefix(err, "plugstack.conf");
	}
	return 0;
}

int pm_settings_load(int ac, char **av, struct pm_config *ret, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	int rc = pm_config_load(pm_settings_file(ac, av), &config, err);

	if (!rc)
		rc = set_words(&config, ac, av, err);
	if (rc)
		return rc;
	*ret = config;
	config = (struct pm_config){0};
	return 0;
}
