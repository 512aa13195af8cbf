# Loops are measured as a compiler makes them when it is asked for speed.
$(call objects,measure/loops.c): EXTRA_CFLAGS += -O3
