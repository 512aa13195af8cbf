/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CRYPTO_ERASE_H
#define PM_AGENT_CRYPTO_ERASE_H

/*
 * New keys for the modules below some devices (`ndctl sanitize-dimm --crypto-erase`): what was on
 * the modules is gone within a second, whatever their size. Labels stay, namespaces come back raw
 * (ndctl-sanitize-dimm(1)).
 *
 * It is refused, before anything is touched, unless every module offers security and is neither
 * locked nor frozen, the node is not in a mode that uses the modules as memory too, and everything
 * else on the modules is ours. -EOPNOTSUPP and -EPERM, with what to set instead.
 */
#include "node/wipe/wipe.h"

int pm_crypto_erase(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	struct pm_err *err);

#endif
