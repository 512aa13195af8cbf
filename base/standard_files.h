/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STANDARD_FILES_H
#define PM_STANDARD_FILES_H

/*
 * For the first line of a main(): stdin, stdout and stderr that the caller has closed become
 * /dev/null, opened with `flags` (O_RDONLY: what is written there fails, as to a closed one). Else
 * the next file that the program opens, a state file or a device, has the number of stdout, and
 * gets what the program prints. slurmctld 22.05 closes all three for the programs of power saving.
 */
void pm_standard_files_open(int flags);

#endif
