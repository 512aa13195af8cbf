# libpm: pure C, no Slurm. The first group needs nothing but the C library: the plugin uses only it.
LIB_SRCS += lib/err.c lib/modes.c lib/features.c lib/strv.c lib/file.c lib/secure.c lib/run.c \
	lib/hostlist.c lib/config.c lib/config_file.c lib/policy.c lib/units.c lib/kernel.c lib/kernel_dax.c lib/directory.c \
	lib/goal.c lib/partition.c lib/lock.c lib/holder.c lib/timestamp.c \
	lib/address.c
LIB_SRCS += lib/cpulist.c lib/scrub.c lib/scrub_device.c lib/nvdimm.c lib/jobview.c lib/takeover.c lib/rmtree.c lib/quota.c lib/archive.c

# Launching ranks.
LIB_SRCS += lib/memory_limit.c lib/preload.c lib/attach.c

# The second group needs libxml2 and json-c.
LIB_SRCS += lib/ipmctl.c lib/json.c lib/json_file.c lib/evidence.c lib/journal.c lib/record.c lib/roster.c lib/admit.c

# Regions, namespaces and what is made of them.
LIB_SRCS += lib/tool_json.c lib/ndctl.c lib/daxctl.c lib/superblock.c lib/mounts.c lib/inventory.c \
	lib/steps.c lib/pins.c lib/os_journal.c lib/node_memory.c

# What jobs left in file systems of ours.
LIB_SRCS += lib/detach.c lib/trash.c

# The machine and the plan; hwloc.
LIB_SRCS += lib/memory_kind.c lib/topology.c lib/topology_hwloc.c \
	lib/plan.c lib/plan_seats.c lib/plan_memory.c lib/plan_names.c lib/plan_apply.c lib/plan_site.c lib/plan_words.c

# The plan as people and programs see it.
LIB_SRCS += lib/columns.c lib/plan_table.c lib/plan_json.c lib/plan_svg.c

# The controller service, and who asks it; credentials need libmunge.
LIB_SRCS += lib/frame.c lib/message.c lib/ask.c lib/ask_tcp.c lib/credential.c

# Jobs.
LIB_SRCS += lib/jobs.c
