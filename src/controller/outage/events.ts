import type { EventDraft } from '../../machinery/api/event.ts';
import { zoneName } from '../../machinery/api/zone.ts';
import { describeControlPlane, describeHoldEnd, type OutageArithmetic } from '../model/decisions.ts';
import { aboutNodeLeases } from '../model/subjects.ts';

export function zoneFailure({ zone, together, of, windowMs }: OutageArithmetic): EventDraft {
  const message = `ZoneFailure: ${together} of ${of} nodes of zone ${zoneName(zone)} sent their last heartbeat within ${seconds(windowMs)}`;
  return { about: aboutNodeLeases, type: 'Warning', reason: 'ZoneFailure', message };
}

/** `holdMs` may be Infinity. */
export function actsHeld(why: OutageArithmetic, holdMs: number): EventDraft {
  const { together, of, zonesStruck, zones, windowMs } = why;
  const silent = `${together} of ${of} nodes in ${zonesStruck} of ${zones} zones sent their last heartbeat within ${seconds(windowMs)}`;
  const limit = Number.isFinite(holdMs) ? `for at most ${seconds(holdMs)}` : 'without a time limit';
  const message = `ControlPlanePathFailure: ${silent}, ${describeControlPlane(why.controlPlane)}; their pods stay ready and the nodes get no NoExecute taint ${limit}`;
  return { about: aboutNodeLeases, type: 'Warning', reason: 'ControlPlanePathFailure', message };
}

/** `evidence`: what ended the hold before its time; null: its time was over. */
export function actsResumed(
  { outage }: OutageArithmetic,
  heldMs: number,
  evidence: OutageArithmetic | null,
): EventDraft {
  const after = `after ${seconds(heldMs)}`;
  return evidence !== null
    ? {
        about: aboutNodeLeases,
        type: 'Normal',
        reason: `${outage}Over`,
        message: `Hold ended ${after}: ${describeHoldEnd(outage, evidence)}`,
      }
    : {
        about: aboutNodeLeases,
        type: 'Warning',
        reason: `${outage}HoldExpired`,
        message: `Hold expired ${after}: nodes that are still silent are marked, tainted and evicted like any other silent node`,
      };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)}s`;
}
