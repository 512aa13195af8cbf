"""The names of a site profile's measures: pmem-profile(5)."""

# made by 'make tables' from site/measures.def
CURVES = {
    "copy-in": "copy from PMem to DRAM",
    "copy-out": "copy from DRAM to PMem",
    "both-in": "copy from PMem to DRAM while half of the threads copy back",
    "both-out": "copy from DRAM to PMem while half of the threads copy in",
}
VALUES = {
    "peak-in": "peak bandwidth from PMem to DRAM",
    "peak-out": "peak bandwidth from DRAM to PMem",
    "dram-read": "peak bandwidth of reading DRAM",
    "dram-write": "peak bandwidth of writing DRAM",
    "pmem-read": "peak bandwidth of reading PMem",
    "pmem-write": "peak bandwidth of writing PMem",
    "dram-sequential": "latency of sequential reads of DRAM",
    "dram-random": "latency of random reads of DRAM",
    "pmem-sequential": "latency of sequential reads of PMem",
    "pmem-random": "latency of random reads of PMem",
    "remote-dram-random": "latency of random reads of the next socket's DRAM",
    "remote-pmem-random": "latency of random reads of the next socket's PMem",
    "dram-loaded": "latency of random reads of DRAM that all other cores read",
    "pmem-loaded": "latency of random reads of PMem that all other cores read",
}
LOOPS = {
    "read": "reads alone: s += b[i]",
    "write": "writes alone: a[i] = s",
    "copy": "STREAM copy: a[i] = b[i]",
    "scale": "STREAM scale: a[i] = s * b[i]",
    "add": "STREAM add: a[i] = b[i] + c[i]",
    "triad": "STREAM triad: a[i] = b[i] + s * c[i]",
    "write-read4": "1 write, 4 reads: a[i] = b[i] + c[i] + d[i] + e[i]",
    "several": "two of 1 write, 4 reads in one loop",
    "strided": "1 write, 4 reads of each sixteenth element",
    "random": "1 write, 4 reads in random order",
    "bypass": "1 write, 4 reads past the caches",
    "rows": "matrices, row by row: a[i][j] = b[i][j] + c[i][j]",
    "columns": "matrices, column by column: a[i][j] = b[i][j] + c[i][j]",
    "mixed": "matrices, one by columns: a[i][j] = b[i][j] + c[j][i]",
    "stencil": "matrix, nine points: a[i][j] = the mean of b around i, j",
}
PLACES = {
    "dram": "all in DRAM",
    "pmem": "all in PMem",
    "remote-dram": "all in the next socket's DRAM",
    "remote-pmem": "all in the next socket's PMem",
    "read-pmem": "reads in PMem, writes in DRAM",
    "write-pmem": "reads in DRAM, writes in PMem",
    "persist-end": "all in PMem, persistent after each MiB written",
    "persist-write": "all in PMem, persistent after each line written",
    "memory": "in Memory Mode, within the DRAM that caches",
    "memory-large": "in Memory Mode, beyond the DRAM that caches",
}
LATENCIES = frozenset(("dram-sequential", "dram-random", "pmem-sequential", "pmem-random", "remote-dram-random",
    "remote-pmem-random", "dram-loaded", "pmem-loaded"))
