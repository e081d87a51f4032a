import type { EventDraft } from '../../api/event.ts';
import { nodeLeaseNamespace } from '../../api/resources.ts';
import { zoneName } from '../../api/zone.ts';
import type { OutageReckoning } from '../decisions.ts';

// About the namespace of the nodes' leases: an outage is about many of them, and no node of its own is to blame.
const about: EventDraft['about'] = { apiVersion: 'v1', kind: 'Namespace', name: nodeLeaseNamespace };

export function zoneFailure({ zone, together, of, windowMs }: OutageReckoning): EventDraft {
  const message = `ZoneFailure: ${together} of ${of} nodes of zone ${zoneName(zone)} fell silent within ${seconds(windowMs)}`;
  return { about, type: 'Warning', reason: 'ZoneFailure', message };
}

export function actsHeld({ together, of, zonesStruck, zones, windowMs }: OutageReckoning, holdMs: number): EventDraft {
  const message = `ControlPlanePathFailure: ${together} of ${of} nodes in ${zonesStruck} of ${zones} zones fell silent within ${seconds(windowMs)}; for ${seconds(holdMs)} at the most their pods stay ready and get no NoExecute taint`;
  return { about, type: 'Warning', reason: 'ControlPlanePathFailure', message };
}

export function actsResumed({ outage }: OutageReckoning, heldMs: number, ending: 'recovered' | 'expired'): EventDraft {
  const after = `after ${seconds(heldMs)}`;
  return ending === 'recovered'
    ? { about, type: 'Normal', reason: `${outage}Over`, message: `Enough nodes are heard again ${after}` }
    : {
        about,
        type: 'Warning',
        reason: `${outage}HoldExpired`,
        message: `The nodes are still silent ${after}: they are treated like any other`,
      };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
