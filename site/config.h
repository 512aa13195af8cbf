/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONFIG_H
#define PM_CONFIG_H

/*
 * pmem.conf: lines of Key=Value in Slurm's form. Names are case-insensitive, '#' starts a comment
 * when it is at the start of a line or after white space, and a line may hold several pairs. A
 * value ends where the next Key= begins; in double quotes it may hold any text without a double
 * quote. A line that starts with NodeName=LIST holds for these nodes only. A line that starts with
 * conditions of jobs holds for jobs that meet all of them, and may have only keys for jobs:
 * PartitionName=, Account=, QOS=, User=, Reservation=, each with a comma list. A later line
 * overrides an earlier one. The table of keys is site/keys.def. An unknown key, a key twice on one
 * line or a bad value is an error "FILE:LINE: ...", also on lines for other nodes.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "site/config_file.h"
#include "site/modes.h"
#include "site/policy.h"

#define PM_CONFIG_DEFAULT_PATH "/etc/slurm/pmem.conf"

enum pm_key {
#define PM_KEY(KEY, ...) PM_KEY_##KEY,
#include "site/keys.def"
	PM_KEY_MAX,
};

/* Methods to make bytes unreadable. */
enum pm_wipe { PM_WIPE_ZERO, PM_WIPE_DISCARD, PM_WIPE_CRYPTO_ERASE };

/* The part of a socket's DRAM that is kept back from the ranks: bytes, or a percentage. */
struct pm_reserve {
	uint64_t bytes;
	unsigned percent; /* 0 to 90 */
};

struct pm_key_info {
	enum pm_key key;
	const char *name;  /* "ToolTimeout" */
	const char *value; /* the default, as one would write it */
	bool by_job;	   /* allowed on a line with conditions of jobs */
};

/* The struct field for each kind of value. The configuration owns strings and lists. */
#define PM_FIELD_address(field)	    char *field	   /* "auto", "none" or addresses with commas */
#define PM_FIELD_appdirect(field)   char *field	   /* "AppDirect" or "AppDirectNotInterleaved" */
#define PM_FIELD_check(field)	    char **field   /* words, NULL at the end; NULL for none */
#define PM_FIELD_clusters(field)    char *field	   /* "none" or "a,b" */
#define PM_FIELD_command(field)	    char **field   /* words, NULL at the end */
#define PM_FIELD_count(field)	    unsigned field /* 1 to 1000 */
#define PM_FIELD_days(field)	    unsigned field /* 0 to 3650 */
#define PM_FIELD_delay(field)	    unsigned field /* seconds, 0 to 86400 */
#define PM_FIELD_dram(field)	    struct pm_reserve field
#define PM_FIELD_comment(field)	    char *field	       /* "none", "Comment" or "AdminComment" */
#define PM_FIELD_fstype(field)	    char *field	       /* "ext4" or "xfs" */
#define PM_FIELD_hours(field)	    char *field	       /* as site/hours.h reads them */
#define PM_FIELD_limit(field)	    uint64_t field     /* bytes, 0 for none */
#define PM_FIELD_minutes(field)	    unsigned field     /* 0 to 525600 */
#define PM_FIELD_mode(field)	    enum pm_mode field /* PM_MODE_UNKNOWN for none */
#define PM_FIELD_modes(field)	    unsigned field     /* bit 1 << enum pm_mode for each */
#define PM_FIELD_nodes(field)	    char *field /* "none" or as pm_memory_hints_parse() reads it */
#define PM_FIELD_node_counts(field) uint64_t field[PM_POLICY_MODES] /* by enum pm_mode, or 0 */
#define PM_FIELD_per_day(field)	    unsigned field		    /* 1 to 4000, 0 for none */
#define PM_FIELD_path(field)	    char *field
#define PM_FIELD_reserve(field)	    unsigned field		    /* percent, 0 to 90 */
#define PM_FIELD_seconds(field)	    unsigned field		    /* 1 to 86400 */
#define PM_FIELD_peaks(field)	    uint64_t field[2]		    /* bytes per second, or 0 */
#define PM_FIELD_profile(field)	    char *field			    /* "none" or a class */
#define PM_FIELD_program(field)	    char *field			    /* "none" or a path */
#define PM_FIELD_share(field)	    unsigned field		    /* percent, 1 to 99 */
#define PM_FIELD_usable(field)	    uint64_t field[PM_POLICY_MODES] /* bytes by enum pm_mode, or 0 */
#define PM_FIELD_users(field)	    char *field			    /* "*" or "a,@b" */
#define PM_FIELD_versions(field)    char **field		    /* NULL at the end */
#define PM_FIELD_wipe(field)	    enum pm_wipe field
#define PM_FIELD_yes_no(field)	    bool field

struct pm_config {
#define PM_KEY(KEY, name, kind, field, ...) PM_FIELD_##kind(field);
#include "site/keys.def"

	struct pm_job_pairs for_jobs;
	char *text[PM_KEY_MAX];	  /* each value as it was written */
	char *origin[PM_KEY_MAX]; /* "default", "/etc/slurm/pmem.conf:12" or "argument" */
	char *file;		  /* the file that was read, NULL when there is none */
	char *node;		  /* the node name that NodeName= lines were compared with */
};

/*
 * Reads `path` for this node, named by SLURMD_NODENAME, else by the host name up to its first dot.
 * `path` NULL is PM_CONFIG_DEFAULT_PATH, which may be missing: then each key has its default. When
 * root reads the file, only root may be able to change it (base/secure.h).
 * Release with pm_config_done(). On failure *ret is untouched.
 */
int pm_config_load(const char *path, struct pm_config *ret, struct pm_err *err);

/* The same for a node by name; `node` NULL as above. */
int pm_config_load_for(
	const char *path, const char *node, struct pm_config *ret, struct pm_err *err);

/*
 * The same from the text of a file, which it changes; each error of a line is handed to `wrong`,
 * and the line left out.
 */
int pm_config_load_text(const char *file, char *text, const char *node, pm_config_wrong *wrong,
	void *context, struct pm_config *ret, struct pm_err *err);

/* One Key=Value of plugstack's arguments; overrides the file. -EINVAL: unknown key, bad value. */
int pm_config_set(struct pm_config *config, const char *key, const char *value, struct pm_err *err);

/* True: the mode is one of Modes=. PM_MODE_UNKNOWN never is. */
bool pm_config_allows(const struct pm_config *config, enum pm_mode mode);

/*
 * The mode of a job that names none, in this partition; PM_MODE_UNKNOWN for none. It also decides
 * between modes of the same feature. `partition` NULL: the value for all partitions.
 */
enum pm_mode pm_config_default_mode(const struct pm_config *config, const char *partition);

/* "memory, appdirect": the allowed modes' names in the order of the mode table; malloc'ed. */
char *pm_config_mode_names(const struct pm_config *config);

/* The row of a key; NULL when out of range. */
const struct pm_key_info *pm_key_info(enum pm_key key);

/* Releases all; an all-zero struct is fine. */
void pm_config_done(struct pm_config *config);

#endif
