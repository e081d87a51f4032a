import type { EventDraft } from '../../machinery/api/event.ts';
import { flappingAnnotation, type NodeView } from '../../machinery/api/node.ts';
import { formatTime } from '../../machinery/api/timestamps.ts';
import { describeRecoveries } from '../model/flapping.ts';
import type { FlappingRule } from '../model/policy.ts';
import { aboutNode, type NodeIdentity } from '../model/subjects.ts';

interface Keeping {
  readonly recoveries: number;
  readonly rule: Pick<FlappingRule, 'withinMs'>;
  /** Wall time. */
  readonly untilMs: number;
}

/** Event of each recovery after which the node is kept from new pods. */
export function keptFlapping(node: NodeIdentity, { recoveries, rule, untilMs }: Keeping): EventDraft {
  const message = `The node ${describeRecoveries(recoveries, rule)}: it gets no new pods until ${formatTime(untilMs)} (taint ${flappingAnnotation}); kubectl annotate node ${node.name} ${flappingAnnotation}- ends it`;
  return { about: aboutNode(node), type: 'Warning', reason: 'NodeFlapping', message };
}

/** `why`: a clause. */
export function releasedFlapping(node: NodeIdentity, why: string): EventDraft {
  const message = `Removed the taint ${flappingAnnotation}: ${why}`;
  return { about: aboutNode(node), type: 'Normal', reason: 'NodeNoLongerKept', message };
}

export function malformedFlapping(node: NodeIdentity & Pick<NodeView, 'flapping'>): EventDraft {
  const message = `Annotation ${flappingAnnotation} must be {"level":N,"until":"RFC 3339 time"} (got ${JSON.stringify(node.flapping ?? '')}); the taint and the annotation are removed`;
  return { about: aboutNode(node), type: 'Warning', reason: 'MalformedFlappingAnnotation', message };
}
