/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/actions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "node/act/mount.h"
#include "node/tools/tools.h"

#define MAX_WORDS 24

/*
 * mke2fs(8). DAX needs blocks of 4 KiB. Stripes of 2 MiB let files get huge pages. Inode tables
 * (an inode for each 64 KiB) are written now, so that no kernel thread writes them while a job
 * runs. Persistent memory has no discard. XFS refuses DAX with reflink before Linux 6.1.
 */
#define EXT4_FEATURES "quota,project"
#define EXT4_OPTIONS                                                                               \
	"quotatype=usrquota:prjquota,lazy_itable_init=0,nodiscard,stride=512,stripe_width=512"

/* The words of a command; `<…>` stands for a namespace that an earlier step makes. */
struct words {
	const char *argv[MAX_WORDS + 1];
	size_t n;
	char dev[64], device[64], chardev[64], uuid[64], xfs[96];
};

static void add(struct words *words, const char *const *list)
{
	for (; *list; list++)
		words->argv[words->n++] = *list;
}

#define ADD(words_, ...) add(words_, (const char *const[]){__VA_ARGS__, NULL})

void pm_action_device(const struct pm_inventory_ns *ns, char *ret, size_t size)
{
	const char *name = *ns->nd.chardev ? ns->nd.chardev : ns->nd.blockdev;

	snprintf(ret, size, "%s%s", *name ? "/dev/" : "", name);
}

static void name_target(struct words *words, const struct pm_step *step)
{
	const char *region = step->region->nd.dev;

	if (!step->ns) {
		snprintf(words->dev, sizeof(words->dev), "<namespace of %s>", region);
		snprintf(words->device, sizeof(words->device), "<device of %s>", region);
		strcpy(words->chardev, words->device);
		snprintf(words->uuid, sizeof(words->uuid), "<its UUID>");
		return;
	}
	snprintf(words->dev, sizeof(words->dev), "%s", step->ns->nd.dev);
	snprintf(words->chardev, sizeof(words->chardev), "%s", step->ns->nd.chardev);
	snprintf(words->uuid, sizeof(words->uuid), "%s", step->ns->nd.uuid);
	pm_action_device(step->ns, words->device, sizeof(words->device));
}

static void enable(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)step;
	ADD(words, config->ndctl_path, "enable-namespace", words->dev);
}

static void to_devdax(
	const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)step;
	ADD(words, config->daxctl_path, "reconfigure-device", "-m", "devdax", "-f", words->chardev);
}

static void unmount(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)config;
	ADD(words, "umount", step->region->mount_point);
}

/* The name makes it own, and lets a later run that wants devdax keep it. */
static void convert(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	ADD(words, config->ndctl_path, "create-namespace", "-m", "devdax", "-M", "dev", "-n",
		pm_substate_namespace(PM_SUBSTATE_DEVDAX));
	if (step->ns)
		ADD(words, "-f", "-e", words->dev);
	else
		ADD(words, "-r", step->region->nd.dev);
}

static void wipe(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)step;
	ADD(words, "wipe", words->device, "by", config->text[PM_KEY_WIPE]);
}

static void destroy(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)step;
	ADD(words, config->ndctl_path, "destroy-namespace", "-f", words->dev);
}

static void make(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	ADD(words, config->ndctl_path, "create-namespace", "-m",
		step->substate == PM_SUBSTATE_FSDAX ? "fsdax" : "devdax", "-M", "dev", "-n",
		pm_substate_namespace(step->substate), "-r", step->region->nd.dev);
}

static void format(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)step;
	snprintf(words->xfs, sizeof(words->xfs), "reflink=0,uuid=%s", words->uuid);
	if (!strcmp(config->file_system, "ext4"))
		ADD(words, config->mkfs_ext4_path, "-q", "-F", "-b", "4096", "-i", "65536", "-m",
			"0", "-O", EXT4_FEATURES, "-E", EXT4_OPTIONS, "-L", "slurm-fsdax", "-U",
			words->uuid, words->device);
	else
		ADD(words, config->mkfs_xfs_path, "-q", "-f", "-K", "-m", words->xfs, "-d",
			"su=2m,sw=1", "-L", "slurm-fsdax", words->device);
}

static void mount_it(
	const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	bool is_there = step->ns && *step->ns->fs.type;

	ADD(words, "mount", "-t", is_there ? step->ns->fs.type : config->file_system, "-o",
		"nosuid,nodev," PM_MOUNT_OPTIONS, words->device, step->region->mount_point);
}

static void to_ram(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)step;
	ADD(words, config->daxctl_path, "reconfigure-device", "-m", "system-ram", words->chardev);
}

static void online(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	(void)step;
	ADD(words, config->daxctl_path, "online-memory", words->chardev);
}

static const struct {
	void (*words)(
		const struct pm_config *config, const struct pm_step *step, struct words *words);
	const char *loss; /* in front of the namespace; NULL for none */
} rows[PM_STEP_KINDS] = {
	[PM_STEP_ENABLE] = {enable, NULL},
	[PM_STEP_OFFLINE] = {to_devdax, NULL},
	[PM_STEP_REPAIR] = {to_devdax, NULL},
	[PM_STEP_UNMOUNT] = {unmount, NULL},
	[PM_STEP_CONVERT] = {convert, "all that is on"},
	[PM_STEP_WIPE] = {wipe, "all that is on"},
	[PM_STEP_REMOVE] = {destroy, "the namespace"},
	[PM_STEP_MAKE] = {make, NULL},
	[PM_STEP_FORMAT] = {format, "all that is on"},
	[PM_STEP_MOUNT] = {mount_it, NULL},
	[PM_STEP_CLEAR] = {wipe, "all that is on"},
	[PM_STEP_RAM] = {to_ram, "all that is on"},
	[PM_STEP_ONLINE] = {online, NULL},
};

static void build(const struct pm_config *config, const struct pm_step *step, struct words *words)
{
	*words = (struct words){0};
	name_target(words, step);
	rows[step->kind].words(config, step, words);
}

int pm_action_run(const struct pm_config *config, const struct pm_step *step, unsigned timeout_s,
	struct pm_err *err)
{
	struct words words;

	build(config, step, &words);
	return pm_tool_act(config, words.argv, timeout_s, err);
}

char *pm_action_text(const struct pm_config *config, const struct pm_step *step)
{
	struct words words;

	build(config, step, &words);
	return pm_run_line(words.argv);
}

char *pm_action_loss(const struct pm_step *step)
{
	const char *loss = rows[step->kind].loss;

	if (!loss || !step->ns)
		return NULL;
	return pm_asprintf("%s %s%s%s%s (%llu bytes)", loss, step->ns->nd.dev,
		*step->ns->nd.name ? " named '" : "", step->ns->nd.name,
		*step->ns->nd.name ? "'" : "", (unsigned long long)step->ns->nd.size_bytes);
}
