// The taint out-of-service is added only to a node with evidence that its boot was ended, while the machine really has ended that
// boot, and removed only when another boot has reported itself.
import { listConditions } from '../../../src/machinery/api/conditions.ts';
import { mapOf } from '../../../src/machinery/api/json-map.ts';
import { fencedAnnotation, type Node, outOfServiceAnnotation } from '../../../src/machinery/api/node.ts';
import { hasTaint, outOfServiceTaintKey, type Taint, taintKeys } from '../../../src/machinery/api/taints.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import type { StoreChange } from '../../../src/hollow-cluster/apiserver/storage/store-change.ts';
import type { OutOfServiceRule } from '../../../src/controller/model/policy.ts';
import { readyOf } from '../../../src/simulator/node-fields.ts';
import { policyOf } from '../policy-zones.ts';
import type { World } from '../../../src/simulator/world.ts';
import type { Report } from './violation.ts';

const ownValue = 'node-lifecycle-controller';
/** After a restore of etcd an earlier state may be the latest one, under a version that was used before. */
const restoredMs = 300_000;

export function isOwnOutOfService({ key, value }: Taint): boolean {
  return key === outOfServiceTaintKey && value === ownValue;
}

export class OutOfServiceChecker {
  readonly #world: World;
  readonly #report: Report;
  readonly #latenessMs: number;

  /** `latenessMs`: a policy may have ended so long before a write. */
  constructor(world: World, report: Report, latenessMs: number) {
    this.#world = world;
    this.#report = report;
    this.#latenessMs = latenessMs;
  }

  begin(): void {
    this.#world.storage.onCommit((resource, change, { process }) => {
      if (resource === 'nodes' && process.startsWith('replica-')) this.#onNode(change);
    });
  }

  #onNode({ kind, object, previous }: StoreChange): void {
    const { storage, timeline, restoredAtMs } = this.#world;
    if (kind === 'deleted' || previous === undefined || timeline.nowMs - restoredAtMs < restoredMs) return;
    const before: Node = storage.decode('nodes', previous);
    const after: Node = storage.decode('nodes', object);
    const [had, has] = [before, after].map(hasOwn);
    if (had === has) return;
    const why = has === true ? this.#whyNotAdded(object.name, before) : whyNotRemoved(before);
    const text = `the taint out-of-service was ${has === true ? 'added' : 'removed'} although ${why}`;
    if (why !== undefined) this.#report('out-of-service-has-evidence', object.name, text);
  }

  #whyNotAdded(name: string, node: Node): string | undefined {
    const rules = this.#rulesOf(node);
    if (rules.length === 0) return 'no policy of the node allows it';
    if (node.metadata.labels?.[outOfServiceLabel] !== 'allowed') return 'the label of the node does not allow it';
    return this.#whyNotEnded(name, node, rules) ?? whyNotEvicted(node);
  }

  #whyNotEnded(name: string, node: Node, rules: readonly OutOfServiceRule[]): string | undefined {
    const boot = bootOf(node);
    if (boot === '') return 'the node has no boot ID';
    if (!rules.some((rule) => hasEvidence(node, rule))) return `nothing says that boot ${boot} was ended`;
    const isRunning = this.#world.fleet.kubelet(name)?.health.bootId === boot;
    return isRunning ? `the machine runs in boot ${boot}` : undefined;
  }

  /** Rules that applied to the node a short time ago. */
  #rulesOf({ metadata }: Node): readonly OutOfServiceRule[] {
    const { settings, timeline } = this.#world;
    const sinceMs = timeline.nowMs - this.#latenessMs;
    return settings.flatMap(({ options }, index) => {
      const untilMs = settings[index + 1]?.fromMs ?? Infinity;
      return untilMs < sinceMs ? [] : (policyOf(metadata, options.policies)?.outOfService ?? []);
    });
  }
}

function whyNotEvicted(node: Node): string | undefined {
  if (readyOf(node) !== 'Unknown') return `Ready is ${readyOf(node)}`;
  const isEvicted = hasTaint(node.spec?.taints ?? [], taintKeys.unreachable, 'NoExecute');
  return isEvicted ? undefined : 'the node has no NoExecute taint as unreachable';
}

function whyNotRemoved(node: Node): string | undefined {
  return isBack(node) ? undefined : `the node has boot ID ${bootOf(node)}, which was fenced`;
}

/** True if another boot than the one that was fenced has reported itself. */
function isBack(node: Node): boolean {
  const record = mapOf(JSON.parse(node.metadata.annotations?.[outOfServiceAnnotation] ?? 'null'));
  return bootOf(node) !== '' && bootOf(node) !== record['bootID'];
}

/** The controller has yet to remove its taint. */
export function isBackAndOut(node: Node): boolean {
  return hasOwn(node) && isBack(node);
}

/** True if the node has evidence that only a fencing agent sets, for the boot that it reported last, true or not. */
function hasEvidence(node: Node, { conditions, taints }: OutOfServiceRule): boolean {
  if (node.metadata.annotations?.[fencedAnnotation] === bootOf(node)) return true;
  const reported = listConditions(node.status?.conditions);
  const hasCondition = reported.some(({ type, status }) => conditions.includes(type) && status === 'True');
  return hasCondition || (node.spec?.taints ?? []).some(({ key }) => taints.includes(key));
}

function bootOf({ status }: Node): string {
  return status?.nodeInfo?.['bootID'] ?? '';
}

function hasOwn({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(isOwnOutOfService);
}
