/* Keeps the guest's clock with the host's, in place of a site's time server. */
#ifndef PMTWIN_CLOCK_H
#define PMTWIN_CLOCK_H

#define CLOCK_CHECK_MS 10000

/*
 * Sets the clock by the emulated RTC, which follows the host's clock, when they are more than two
 * seconds apart. Linux takes 32 bits of the HPET: if the host keeps a guest from running for more
 * than 21 s, the guest's clock loses 43 s. Its credentials have then expired for Slurm's daemons on
 * other guests.
 */
void clock_follow(void);

#endif
