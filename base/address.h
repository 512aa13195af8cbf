/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ADDRESS_H
#define PM_ADDRESS_H

#include "base/err.h"

#define PM_ADDRESS_PORT "6827"

/*
 * Parses HOST[:PORT]; an IPv6 address is always in brackets. The port is PM_ADDRESS_PORT by
 * default. Both results are malloc'ed. -EINVAL: another form. Names are not looked up.
 */
int pm_address_parse(const char *text, char **ret_host, char **ret_port, struct pm_err *err);

/*
 * A list of them, HOST[:PORT],HOST[:PORT]: 0 if each is right and none is empty, else -EINVAL.
 * pm_strv_split(text, ",") has the addresses of a list that is right.
 */
int pm_addresses_check(const char *text, struct pm_err *err);

#endif
