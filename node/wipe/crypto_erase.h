/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CRYPTO_ERASE_H
#define PM_AGENT_CRYPTO_ERASE_H

/*
 * Gives new keys to the modules below the devices (`ndctl sanitize-dimm --crypto-erase`): all bytes
 * on the modules become unreadable within a second, whatever their size. Labels stay, namespaces
 * come back raw (ndctl-sanitize-dimm(1)).
 *
 * Refused before anything is touched, unless each module offers security and is neither locked nor
 * frozen, no main memory is on the modules, and they have no other region and no foreign namespace.
 * -EOPNOTSUPP, -EPERM, with the setting that works. The regions are disabled during the erasure,
 * and enabled again also after a failure.
 */
#include "node/wipe/wipe.h"

int pm_crypto_erase(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	struct pm_err *err);

#endif
