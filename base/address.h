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

#endif
