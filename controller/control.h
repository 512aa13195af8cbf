/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CONTROL_H
#define PM_CONTROL_H

/*
 * Whether this host's slurmctld is in control of the cluster, and with that, whether this service
 * serves. With one SlurmctldHost it always does. With several, it serves from the moment at which
 * its host's slurmctld answers a request until one fails; before and after it has no table, no
 * state and no waiter, and tells peers who serves. So the service that takes over reads from the
 * state directory what the last one wrote there.
 */
#include <stdbool.h>

#include "controller/service.h"

/*
 * The first time: the state is read with one SlurmctldHost, or the service stands by with several.
 */
int pm_control_begin(struct pm_service *service, struct pm_err *err);

/*
 * In each turn, and when a peer asks for anything: a service that stands by may take over. True if
 * it serves.
 */
void pm_control_look(struct pm_service *service);
bool pm_control_look_for(struct pm_service *service);

/* In each turn: the service stands by if this host's slurmctld did not answer. */
void pm_control_check(struct pm_service *service);

/* Tells the peer that the service of another host serves. */
void pm_control_refuse(struct pm_service *service, struct pm_peer *peer);

#endif
