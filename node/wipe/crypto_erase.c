/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "node/wipe/crypto_erase.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/state/state.h"
#include "node/tools/nvdimm.h"
#include "node/tools/tools.h"

#define INSTEAD "set Wipe=zero in pmem.conf"

struct erasure {
	int root_fd;
	struct pm_nvdimm_names regions, dimms;
};

static void done(struct erasure *erasure)
{
	pm_nvdimm_names_done(&erasure->regions);
	pm_nvdimm_names_done(&erasure->dimms);
	if (erasure->root_fd >= 0)
		close(erasure->root_fd);
}

static int add_dimms(struct erasure *erasure, const char *region, struct pm_err *err)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names dimms = {0};
	int rc = pm_nvdimm_dimms_of(erasure->root_fd, region, &dimms, err);

	for (size_t i = 0; !rc && i < dimms.n; i++)
		if (pm_nvdimm_names_add(&erasure->dimms, dimms.list[i]))
			rc = pm_err_nomem(err);
	return rc;
}

static int find(
	struct erasure *erasure, const struct pm_wipe_target *list, size_t n, struct pm_err *err)
{
	for (size_t i = 0; i < n; i++) {
		char region[PM_NVDIMM_NAME_MAX];
		int rc = pm_nvdimm_region_of(erasure->root_fd, list[i].path, region, err);

		if (!rc && pm_nvdimm_names_add(&erasure->regions, region))
			rc = pm_err_nomem(err);
		if (!rc)
			rc = add_dimms(erasure, region, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Documentation/driver-api/nvdimm/security.rst: a module without the file offers no security.
 * *ret_zero_key: no passphrase is set, so ndctl needs --zero-key.
 */
static int check_security(int root_fd, const char *dimm, bool *ret_zero_key, struct pm_err *err)
{
	cleanup_free char *state = NULL;

	if (pm_nvdimm_text(root_fd, dimm, "security", &state, NULL) || !*state)
		return pm_err_set(err, -EOPNOTSUPP,
			"Wipe=crypto-erase: module %s offers no security, " INSTEAD, dimm);
	if (strcmp(state, "disabled") && strcmp(state, "unlocked"))
		return pm_err_set(err, -EPERM,
			"Wipe=crypto-erase: security of module %s is %s; unlock it with 'ndctl "
			"load-keys' and reboot, or " INSTEAD,
			dimm, state);
	*ret_zero_key = !strcmp(state, "disabled");
	return 0;
}

/* The new keys would destroy the bytes of another region on the same modules. */
static int check_other_regions(const struct erasure *erasure, struct pm_err *err)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names all = {0};
	int rc = pm_nvdimm_list(erasure->root_fd, "region", &all, err);

	for (size_t i = 0; !rc && i < all.n; i++) {
		cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names dimms = {0};

		if (pm_nvdimm_names_have(&erasure->regions, all.list[i]))
			continue;
		rc = pm_nvdimm_dimms_of(erasure->root_fd, all.list[i], &dimms, err);
		for (size_t k = 0; !rc && k < dimms.n; k++)
			if (pm_nvdimm_names_have(&erasure->dimms, dimms.list[k]))
				rc = pm_err_set(err, -EPERM,
					"Wipe=crypto-erase: module %s is also part of %s, " INSTEAD,
					dimms.list[k], all.list[i]);
	}
	return rc;
}

/* True for a namespace of one of the regions: "namespace3.1" is on region3. */
static bool is_on(const struct erasure *erasure, const char *namespace)
{
	const char *number = namespace + strlen("namespace");
	char region[PM_NVDIMM_NAME_MAX];

	snprintf(region, sizeof(region), "region%.*s", (int)strcspn(number, "."), number);
	return pm_nvdimm_names_have(&erasure->regions, region);
}

static int check_namespace(const struct erasure *erasure, const char *name, struct pm_err *err)
{
	cleanup_free char *owner = NULL;
	long long size = 0;
	int rc = pm_nvdimm_number(erasure->root_fd, name, "size", &size, err);

	if (rc || !size || !is_on(erasure, name))
		return rc;
	if (!pm_nvdimm_text(erasure->root_fd, name, "alt_name", &owner, NULL) &&
		!strncmp(owner, "slurm-", strlen("slurm-")))
		return 0;
	return pm_err_set(
		err, -EPERM, "Wipe=crypto-erase: %s is foreign and would be lost, " INSTEAD, name);
}

static int check_namespaces(const struct erasure *erasure, struct pm_err *err)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names all = {0};
	int rc = pm_nvdimm_list(erasure->root_fd, "namespace", &all, err);

	for (size_t i = 0; !rc && i < all.n; i++)
		rc = check_namespace(erasure, all.list[i], err);
	return rc;
}

/* In Mixed mode part of the node's main memory is on the modules. */
static int check_mode(const struct pm_operation *op, struct pm_err *err)
{
	struct pm_record record;
	int rc = pm_state_read_record(&op->config, &record, err);

	if (rc)
		return pm_err_prefix(err, "Wipe=crypto-erase: the node's mode is not known");
	if (record.verdict.platform == PM_PLATFORM_APPDIRECT)
		return 0;
	return pm_err_set(err, -EPERM,
		"Wipe=crypto-erase: node is in %s, its memory is on the modules, " INSTEAD,
		pm_platform_name(record.verdict.platform));
}

static int check(const struct pm_operation *op, const struct erasure *erasure, struct pm_err *err)
{
	bool zero_key;
	int rc = check_mode(op, err);

	for (size_t i = 0; !rc && i < erasure->dimms.n; i++)
		rc = check_security(erasure->root_fd, erasure->dimms.list[i], &zero_key, err);
	if (!rc)
		rc = check_other_regions(erasure, err);
	return rc ? rc : check_namespaces(erasure, err);
}

static int switch_regions(const struct pm_operation *op, const struct erasure *erasure,
	const char *verb, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < erasure->regions.n; i++) {
		const char *const argv[] = {
			op->config.ndctl_path, verb, erasure->regions.list[i], NULL};

		rc = pm_tool_act(&op->config, argv, 0, err);
	}
	return rc;
}

static int erase_dimms(
	const struct pm_operation *op, const struct erasure *erasure, struct pm_err *err)
{
	for (size_t i = 0; i < erasure->dimms.n; i++) {
		const char *dimm = erasure->dimms.list[i];
		bool zero_key;
		int rc = check_security(erasure->root_fd, dimm, &zero_key, err);
		const char *const argv[] = {op->config.ndctl_path, "sanitize-dimm",
			"--crypto-erase", dimm, zero_key ? "--zero-key" : NULL, NULL};

		if (!rc)
			rc = pm_tool_act(&op->config, argv, 0, err);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Under new keys the info block of a namespace, which has its mode, is unreadable: the namespace
 * is raw.
 */
static int check_gone(const struct erasure *erasure, struct pm_err *err)
{
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names all = {0};
	int rc = pm_nvdimm_list(erasure->root_fd, "namespace", &all, err);

	for (size_t i = 0; !rc && i < all.n; i++) {
		cleanup_free char *mode = NULL;

		if (!is_on(erasure, all.list[i]))
			continue;
		rc = pm_nvdimm_text(erasure->root_fd, all.list[i], "mode", &mode, err);
		if (!rc && strcmp(mode, "raw"))
			rc = pm_err_set(err, -EIO,
				"Wipe=crypto-erase: %s is still '%s', its bytes were not erased",
				all.list[i], mode);
	}
	return rc;
}

int pm_crypto_erase(const struct pm_operation *op, const struct pm_wipe_target *list, size_t n,
	struct pm_err *err)
{
	cleanup_with(done) struct erasure erasure = {
		.root_fd = open(op->config.fs_root, O_PATH | O_DIRECTORY | O_CLOEXEC)};
	struct pm_err enable_err;
	int rc, enable_rc;

	if (erasure.root_fd < 0)
		return pm_err_sys(err, -errno, "open '%s'", op->config.fs_root);
	rc = find(&erasure, list, n, err);
	if (!rc)
		rc = check(op, &erasure, err);
	if (rc)
		return rc;
	rc = switch_regions(op, &erasure, "disable-region", err);
	if (!rc)
		rc = erase_dimms(op, &erasure, err);
	enable_rc = switch_regions(op, &erasure, "enable-region", rc ? &enable_err : err);
	if (!rc)
		rc = enable_rc ? enable_rc : check_gone(&erasure, err);
	if (!rc)
		pm_report(op, "wiped %zu modules by new keys", erasure.dimms.n);
	return rc;
}
