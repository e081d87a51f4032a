import type { EventDraft } from '../../machinery/api/event.ts';
import type { StaleReason } from '../model/freshness.ts';
import { describeStaleness } from '../model/decisions.ts';
import { aboutNodeLeases } from '../model/subjects.ts';

export function evaluationPaused(reason: StaleReason): EventDraft {
  const message = `Node health evaluation paused: ${describeStaleness(reason)}`;
  return { about: aboutNodeLeases, type: 'Warning', reason: 'NodeHealthEvaluationPaused', message };
}

export function evaluationResumed(staleMs: number): EventDraft {
  const seconds = (staleMs / 1_000).toFixed(1);
  const message = `Node health evaluation resumed; the ${seconds}s gap is not counted against any node`;
  return { about: aboutNodeLeases, type: 'Normal', reason: 'NodeHealthEvaluationResumed', message };
}
