/* SPDX-License-Identifier: Apache-2.0 */
/* An archive of pmctl gather, recorded on a node with a job on it, is a machine for tests. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/run.h"
#include "node/see/evidence.h"
#include "node/see/inventory.h"
#include "node/state/jobs.h"
#include "node/state/jobview.h"
#include "node/state/record.h"
#include "node/tools/node_memory.h"
#include "node/tools/nvdimm.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define ARCHIVE "tests/fixtures/gathered/appdirect-fsdax.tar.gz"

static void unpack(void)
{
	char here[2000], archive[2200];
	const char *const argv[] = {
		"/usr/bin/tar", "-xzf", archive, "-C", scratch_dir(), "--strip-components=1", NULL};
	const struct pm_program run = {.argv = argv, .timeout_ms = 60000};
	struct pm_output output = {0};

	snprintf(archive, sizeof(archive), "%s/%s", getcwd(here, sizeof(here)), ARCHIVE);
	ok(!pm_run(&run, &output, NULL) && output.status == 0, "the archive is unpacked");
	is_text(output.err ? output.err : "", "", "without a word");
	pm_output_done(&output);
}

static char *read_tool(const char *words, size_t *ret_length)
{
	char name[400];
	char *text = NULL;

	snprintf(name, sizeof(name), "tools/%s", words);
	ok(!pm_file_read(AT_FDCWD, scratch_path(name), 1 << 20, &text, ret_length, NULL), "%s",
		name);
	return text ? text : strdup("");
}

#define READ(parse_, words_, ret_)                                                                 \
	({                                                                                         \
		size_t length_ = 0;                                                                \
		cleanup_free char *text_ = read_tool(words_, &length_);                            \
		is_number(parse_(text_, length_, ret_, NULL), 0, "is understood");                 \
	})

static void test_mode(void)
{
	cleanup_with(pm_evidence_done) struct pm_evidence evidence = {0};
	struct pm_verdict verdict;
	struct pm_record record;
	struct pm_err err = {0};

	is_number(pm_kernel_read(scratch_path("root"), &evidence.kernel, &err), 0, err.text);
	READ(pm_ipmctl_resources, "ipmctl.show.-u.B.-o.nvmxml.-memoryresources",
		&evidence.resources);
	READ(pm_ipmctl_capabilities, "ipmctl.show.-u.B.-o.nvmxml.-system.-capabilities",
		&evidence.capabilities);
	READ(pm_ipmctl_dimms, "ipmctl.show.-d." PM_DIMM_ATTRIBUTES ".-u.B.-o.nvmxml.-dimm",
		&evidence.dimms);
	READ(pm_ipmctl_regions, "ipmctl.show.-u.B.-o.nvmxml.-region", &evidence.regions);
	pm_evidence_decide(&evidence, &verdict);
	is_text(pm_mode_name(verdict.mode), "appdirect", verdict.why);
	is_number(pm_record_read(scratch_path("run/mode.json"), &record, &err), 0, err.text);
	is_number(pm_record_check(&record, &evidence.kernel, &err), 0, err.text);
}

static int socket_of(void *context, int numa_node)
{
	return pm_node_socket(context, numa_node);
}

static void test_regions(void)
{
	cleanup_with(pm_nd_regions_done) struct pm_nd_regions regions = {0};
	cleanup_with(pm_daxes_done) struct pm_daxes daxes = {0};
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	char root[2000];

	snprintf(root, sizeof(root), "%s", scratch_path("root"));
	READ(pm_ndctl_regions, "ndctl.list.-R.-N.-i.-v", &regions);
	READ(pm_daxctl_devices, "daxctl.list.-D.-i", &daxes);
	is_number(pm_inventory_make(
			  &regions, &daxes, "/mnt/slurm-pmem", socket_of, root, &inventory, NULL),
		0, "an inventory");
	is_number((long long)inventory.n, 2, "of two regions");
	for (size_t i = 0; i < inventory.n; i++) {
		const struct pm_inventory_ns *ns =
			pm_inventory_serving(&inventory.list[i], PM_SUBSTATE_FSDAX);

		is_number(inventory.list[i].socket, (long long)i, "a socket each");
		ok(ns && ns->is_own, "with a namespace of ours");
	}
}

static void test_mounts(void)
{
	cleanup_with(pm_mounts_done) struct pm_mounts mounts = {0};
	cleanup_free char *text = NULL;

	is_number(pm_file_read(AT_FDCWD, scratch_path("root/proc/self/mountinfo"), 1 << 20, &text,
			  NULL, NULL),
		0, "mounts");
	is_number(pm_mounts_read(text ? text : "", &mounts, NULL), 0, "are understood");
	is_number((long long)mounts.n, 2, "only those of persistent memory");
	ok(pm_mounts_at(&mounts, "/mnt/slurm-pmem/socket1"), "by their places");
}

static void test_kernel_names(void)
{
	cleanup_close int fd = open(scratch_path("root"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_with(pm_nvdimm_names_done) struct pm_nvdimm_names dimms = {0}, all = {0};
	cleanup_free char *owner = NULL;
	char region[PM_NVDIMM_NAME_MAX] = "";
	long long node = -1;
	struct pm_err err = {0};

	is_number(pm_nvdimm_region_of(fd, "/dev/pmem1", region, &err), 0, err.text);
	is_text(region, "region1", "the region of a block device");
	is_number(pm_nvdimm_region_of(fd, "/dev/sda", region, NULL), -ENODEV, "of another device");
	is_number(pm_nvdimm_dimms_of(fd, "region1", &dimms, &err), 0, err.text);
	is_number((long long)dimms.n, 2, "modules of a region");
	is_number(pm_nvdimm_list(fd, "nmem", &all, &err), 0, err.text);
	is_number((long long)all.n, 4, "of four");
	is_number(pm_nvdimm_number(fd, "region1", "numa_node", &node, &err), 0, err.text);
	is_number(node, 1, "a number");
	is_number(pm_nvdimm_number(fd, "region1", "devtype", &node, NULL), -EBADMSG, "no number");
	is_number(pm_nvdimm_text(fd, "namespace0.0", "alt_name", &owner, &err), 0, err.text);
	ok(owner && !strncmp(owner, "slurm-", 6), "the namespace is own");
	is_number(pm_nvdimm_text(fd, dimms.n ? dimms.list[0] : "", "security", &owner, NULL),
		-ENOENT, "these modules offer no security");
}

static void test_job(void)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	struct pm_err err = {0};

	is_number(pm_jobs_read(scratch_path("state/jobs"), &jobs, &err), 0, err.text);
	ok(jobs.n == 1 && jobs.list[0].id == 4711 && jobs.list[0].size_bytes == 1 << 30,
		"the job's record");
	is_number(pm_jobview_read(scratch_path("run/jobs/4711"), &view, &err), 0, err.text);
	is_number((long long)view.n, 2, "two places");
	is_text(view.n ? view.allotments[0].value : "", "/mnt/slurm-pmem/socket0/job_4711",
		"a directory");
}

int main(void)
{
	unpack();
	test_mode();
	test_regions();
	test_mounts();
	test_kernel_names();
	test_job();
	return tap_done();
}
