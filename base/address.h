/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ADDRESS_H
#define PM_ADDRESS_H

#include "base/err.h"

#define PM_ADDRESS_PORT "6827"

/*
 * HOST[:PORT], an IPv6 address in brackets where a port is behind it; both malloc'ed. -EINVAL: it
 * is neither. Names are not looked up.
 */
int pm_address_parse(const char *text, char **ret_host, char **ret_port, struct pm_err *err);

#endif
