# libpm: the rooms that know neither Slurm nor a command line.
LIB_SRCS += $(wildcard $(addsuffix /*.c,base site plan plan/apply protocol node/tools node/state node/see node/wipe node/act))
