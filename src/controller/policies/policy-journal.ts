import type { NodeView } from '../../machinery/api/node.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { DecisionSink } from '../model/decisions.ts';
import type { PolicySelection } from '../model/policy.ts';
import { malformedPause } from './events.ts';
import type { NodePolicies } from './node-policies.ts';
import { parsePause } from '../holds/decide-node-hold.ts';

interface PolicyJournalOptions {
  readonly policies: Pick<NodePolicies, 'selectionOf'>;
  readonly recorder: EventRecorder;
  readonly decisions: DecisionSink;
}

/** Records changes of each node's policy and pause annotation, once each. */
export class PolicyJournal {
  readonly #options: PolicyJournalOptions;
  /** Names of the policies that claim the node, where they are not none. */
  readonly #claims = new Map<string, readonly string[]>();
  readonly #pauses = new Map<string, string>();

  constructor(options: PolicyJournalOptions) {
    this.#options = options;
  }

  /** The node is being evaluated. */
  observe(node: NodeView): void {
    this.#observePolicy(node.name);
    this.#observePause(node);
  }

  forget(node: string): void {
    this.#claims.delete(node);
    this.#pauses.delete(node);
  }

  get size(): number {
    return Math.max(this.#claims.size, this.#pauses.size);
  }

  #observePolicy(node: string): void {
    const before = this.#claims.get(node) ?? [];
    const after = namesOf(this.#options.policies.selectionOf(node));
    if (before.join() === after.join()) return;
    if (after.length === 0) this.#claims.delete(node);
    else this.#claims.set(node, after);
    const { decisions } = this.#options;
    if (after.length > 1) decisions.note({ kind: 'policy-conflict', node, policies: after });
    else decisions.note({ kind: 'policy-changed', node, from: nameOf(before), to: nameOf(after) });
  }

  #observePause(node: NodeView): void {
    const { name, pause } = node;
    if (this.#pauses.get(name) === pause) return;
    if (pause === undefined) this.#pauses.delete(name);
    else this.#pauses.set(name, pause);
    const { decisions, recorder } = this.#options;
    const reading = parsePause(pause).kind;
    decisions.note({ kind: 'pause-annotation-changed', node: name, value: pause ?? null, reading });
    if (reading === 'malformed') recorder.record(malformedPause(node));
  }
}

function namesOf(selection: PolicySelection): readonly string[] {
  switch (selection.kind) {
    case 'default':
      return [];
    case 'policy':
      return [selection.policy.name];
    case 'conflict':
      return selection.policies.map(({ name }) => name);
  }
}

/** Name of the policy that applies; of several that claim the node equally none does. */
function nameOf(claims: readonly string[]): string | null {
  return claims.length === 1 ? (claims[0] ?? null) : null;
}
