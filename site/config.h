/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONFIG_H
#define PM_CONFIG_H

/*
 * pmem.conf: lines of Key=Value in Slurm's form. Names are case-insensitive, '#' starts a comment
 * when it is at the start of a line or behind white space, and a line may hold several pairs. A
 * value ends where the next Key= begins; in double quotes it may hold anything. A line that starts
 * with NodeName=LIST holds for these nodes only, one that starts with PartitionName=LIST, for what
 * jobs get, in these partitions only, and a later line overrides an earlier one. One table of keys
 * drives parsing, show-config and the manual page. An unknown key, a key twice on one line or a bad
 * value is an error "FILE:LINE: ...", also on lines for others.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "site/modes.h"
#include "site/policy.h"

#define PM_CONFIG_DEFAULT_PATH "/etc/slurm/pmem.conf"

enum pm_key {
	PM_KEY_MODES,
	PM_KEY_IPMCTL_PATH,
	PM_KEY_NDCTL_PATH,
	PM_KEY_DAXCTL_PATH,
	PM_KEY_SCONTROL_PATH,
	PM_KEY_SCANCEL_PATH,
	PM_KEY_SQUEUE_PATH,
	PM_KEY_PMCTL_PATH,
	PM_KEY_REBOOT_COMMAND,
	PM_KEY_TOOL_TIMEOUT,
	PM_KEY_STATE_DIR,
	PM_KEY_RUN_DIR,
	PM_KEY_BAD_IPMCTL_VERSIONS,
	PM_KEY_APPDIRECT_TYPE,
	PM_KEY_FS_ROOT,
	PM_KEY_PROVISION,
	PM_KEY_FILE_SYSTEM,
	PM_KEY_MOUNT_DIR,
	PM_KEY_MKFS_EXT4_PATH,
	PM_KEY_MKFS_XFS_PATH,
	PM_KEY_OFFLINE_TIMEOUT,
	PM_KEY_WIPE,
	PM_KEY_DEFAULT_MODE,
	PM_KEY_USABLE_MEMORY,
	PM_KEY_USABLE_PMEM,
	PM_KEY_USABLE_DRAM,
	PM_KEY_IMPLY_MODE,
	PM_KEY_DELAY_BOOT,
	PM_KEY_REBOOT_USERS,
	PM_KEY_EXCLUSIVE,
	PM_KEY_MIXED_PERCENT,
	PM_KEY_RESERVED_PERCENT,
	PM_KEY_DRAM_RESERVE,
	PM_KEY_METADATA_SPACE,
	PM_KEY_TEMPORARY_SPACE,
	PM_KEY_MIGRATION_SPACE,
	PM_KEY_REMOTE_MEMORY,
	PM_KEY_MEMORY_NODES,
	PM_KEY_CONTROLLER_ADDR,
	PM_KEY_TURN_AWAY_LIMIT,
	PM_KEY_MUNGE_SOCKET,
	PM_KEY_MAX,
};

/* How bytes are made unreadable. */
enum pm_wipe { PM_WIPE_ZERO, PM_WIPE_DISCARD, PM_WIPE_CRYPTO_ERASE };

/* Of a socket's DRAM, kept back from the ranks: so much, or that share of it. */
struct pm_reserve {
	uint64_t bytes;
	unsigned percent; /* 0 to 90 */
};

struct pm_key_info {
	enum pm_key key;
	const char *name;  /* "ToolTimeout" */
	const char *type;  /* for people: "seconds", "absolute path", ... */
	const char *value; /* the default, as one would write it */
	const char *help;  /* one sentence */
	bool by_partition; /* may stand on a line PartitionName=LIST: what jobs get */
};

struct pm_config {
	unsigned modes; /* bit 1 << enum pm_mode for each allowed mode */
	char *ipmctl_path;
	char *ndctl_path;
	char *daxctl_path;
	char *scontrol_path;
	char *scancel_path;
	char *squeue_path;
	char *pmctl_path;
	char **reboot_command; /* words, NULL at the end */
	unsigned tool_timeout_s;
	char *state_dir;
	char *run_dir;
	char **bad_ipmctl_versions; /* NULL at the end */
	char *appdirect_type;	    /* "AppDirect" or "AppDirectNotInterleaved", spelt so */
	char *fs_root;
	bool provision;
	char *file_system; /* "ext4" or "xfs" */
	char *mount_dir;
	char *mkfs_ext4_path;
	char *mkfs_xfs_path;
	unsigned offline_timeout_s;
	enum pm_wipe wipe;
	enum pm_mode default_mode;		       /* PM_MODE_UNKNOWN for none */
	uint64_t usable_memory_bytes[PM_POLICY_MODES]; /* by enum pm_mode, 0 when not told */
	uint64_t usable_pmem_bytes;		       /* of a socket, 0 when not told */
	uint64_t usable_dram_bytes;		       /* likewise */
	bool imply_mode;
	unsigned delay_boot_s;
	char *reboot_users; /* "*" or "a,b" */
	bool exclusive;
	unsigned mixed_percent;	   /* MemoryMode= of the goal of mixed, 1 to 99 */
	unsigned reserved_percent; /* Reserved= of all goals, 0 to 90 */
	struct pm_reserve dram_reserve;
	uint64_t metadata_space_bytes;	/* of a rank; 0: none was said, for this and the next two */
	uint64_t temporary_space_bytes; /* without its spare */
	uint64_t migration_space_bytes;
	bool remote_memory;    /* a rank may have the other socket's memory when its own is full */
	char *memory_nodes;    /* "none" or as pm_memory_hints_parse() reads it */
	char *controller_addr; /* "none" or HOST[:PORT], see pm_ask_address() */
	unsigned turn_away_limit; /* nodes, 1 to 1000 */
	char *munge_socket;

	struct pm_partition_pairs by_partition;
	char *text[PM_KEY_MAX];	  /* each value as it was written */
	char *origin[PM_KEY_MAX]; /* "default", "/etc/slurm/pmem.conf:12" or "argument" */
	char *file;		  /* the file that was read, NULL when there is none */
	char *node;		  /* the node name that NodeName= lines were compared with */
};

/*
 * Reads `path` for this node: the one that SLURMD_NODENAME names, else the host name up to its
 * first dot. NULL is PM_CONFIG_DEFAULT_PATH, which may be missing: then all is default. When root
 * reads it, the file must be one that only root can change (base/secure.h).
 * Release with pm_config_done(). On failure *ret is untouched.
 */
int pm_config_load(const char *path, struct pm_config *ret, struct pm_err *err);

/* The same for a node by name; `node` NULL as above. */
int pm_config_load_for(
	const char *path, const char *node, struct pm_config *ret, struct pm_err *err);

/* One Key=Value of plugstack's arguments; overrides the file. -EINVAL: unknown key, bad value. */
int pm_config_set(struct pm_config *config, const char *key, const char *value, struct pm_err *err);

/* Is this mode one of Modes=? PM_MODE_UNKNOWN never is. */
bool pm_config_allows(const struct pm_config *config, enum pm_mode mode);

/*
 * The mode of a job in this partition that names none, which also tells the modes of one feature
 * apart; PM_MODE_UNKNOWN for none. `partition` NULL: what holds for all.
 */
enum pm_mode pm_config_default_mode(const struct pm_config *config, const char *partition);

/* "memory, appdirect": the allowed modes' names in the order of the mode table; malloc'ed. */
char *pm_config_mode_names(const struct pm_config *config);

/* The row of a key; NULL when out of range. */
const struct pm_key_info *pm_key_info(enum pm_key key);

/* Releases all; an all-zero struct is fine. */
void pm_config_done(struct pm_config *config);

#endif
