/* The guest's clock, kept with its host's: the stand-in for a site's time server. */
#ifndef PMTWIN_CLOCK_H
#define PMTWIN_CLOCK_H

#define CLOCK_CHECK_MS 10000

/*
 * Sets the clock by the emulated RTC, which follows the host's, when they are more than two
 * seconds apart. Linux takes 32 bits of the HPET: a guest that its host keeps from running for
 * more than 21 s loses 43, and what it signs has expired for Slurm's daemons on the others.
 */
void clock_follow(void);

#endif
