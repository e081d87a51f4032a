// Policies as objects of the API: evaluates them when any of them changes, when a time in them comes, and once a minute, and
// adopts what is in force.
import { messageOf } from '../../machinery/api/api-error.ts';
import { problemsMax } from '../../machinery/api/field-reader.ts';
import type { NodeView } from '../../machinery/api/node.ts';
import { policyObjectName, type PolicyObject } from '../../machinery/api/node-lifecycle-policy.ts';
import { cutText } from '../../machinery/api/limits.ts';
import { sameJson } from '../../machinery/api/json-values.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import type { Change, Informer } from '../../machinery/informer/informer.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import { Alarm } from '../../machinery/supervision/alarm.ts';
import {
  decidePoliciesInForce,
  type PolicyAssessment,
  type PolicyAssessments,
  type ReadPolicyObject,
  selectPoliciesInForce,
} from './decide-policies-in-force.ts';
import { DeletedObjects, deletionGraceMs } from './deleted-objects.ts';
import { policyObjectAccepted } from './metrics.ts';
import { selectWithoutConflicts } from './select-without-conflicts.ts';
import type { PolicyObjectsReport } from '../../controller/report/pages.ts';

/** How policies of the API get into the settings of a replica. */
export interface PolicyAdoption {
  readonly read: ReadPolicyObject;
  /** Puts policies in force. Called only when they changed. */
  readonly adopt: (policies: readonly NodePolicy[]) => void;
}

interface PolicyObjectsOptions extends Ambient, PolicyAdoption {
  readonly informer: Informer<PolicyObject>;
  readonly nodes: () => Iterable<Pick<NodeView, 'labels'>>;
  /** The assessments changed. */
  readonly onChange: () => void;
}

const evaluateEveryMs = 60_000;
/** Time between two evaluations, at least: each change of a policy evaluates every node. */
const evaluateGapMs = 250;

export class PolicyObjects {
  readonly #options: PolicyObjectsOptions;
  readonly #alarm: Alarm;
  readonly #deleted: DeletedObjects;
  #assessments: PolicyAssessments = new Map();
  #policies: readonly NodePolicy[] = [];

  constructor(options: PolicyObjectsOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
    this.#deleted = new DeletedObjects(options.clock);
    options.informer.onChange('policies', (change) => this.#onChange(change));
  }

  /** Assessments by the name of the object; empty before the first complete list. */
  get assessments(): PolicyAssessments {
    return this.#assessments;
  }

  /** Runs until the signal aborts. An error costs one evaluation. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#alarm.wait(this.#dueInMs(), signal);
      if (signal.aborted) return;
      try {
        this.evaluate();
      } catch (error) {
        this.#options.logger.error({ err: error }, 'evaluation of NodeLifecyclePolicy objects failed');
      }
      await this.#options.clock.sleep(evaluateGapMs, signal);
    }
  }

  /** To be called when the first list is complete. An object that is being replaced may be missing in it, for a moment. */
  async settle(signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(deletionGraceMs, signal);
    this.evaluate();
  }

  /** Evaluates all objects, and adopts the policies if they changed. Does nothing before the first complete list. */
  evaluate(): void {
    const { informer, adopt, onChange } = this.#options;
    if (!informer.hasSynced()) return;
    const before = this.#assessments;
    this.#assessments = this.#decide(before);
    this.#report(before);
    const policies = selectPoliciesInForce(this.#assessments);
    if (!sameJson(policies, this.#policies)) {
      adopt(policies);
      this.#policies = policies;
    }
    onChange();
  }

  #decide(before: PolicyAssessments): PolicyAssessments {
    const { informer, clock, nodes } = this.#options;
    const known = [...before.values()].map(({ object }) => object);
    const deleted = this.#deleted.select(known, informer.store);
    const objects = [...informer.store.values(), ...deleted];
    const after = decidePoliciesInForce(objects, before, (object) => this.#read(object), clock.nowMs());
    return selectWithoutConflicts(after, before, new Set(deleted.map(({ name }) => name)), nodes);
  }

  /** Milliseconds until an evaluation may have another result without a change of an object; a minute at most. */
  #dueInMs(): number {
    const nowMs = this.#options.clock.nowMs();
    const resets = [...this.#assessments.values()].map(({ reset }) => (reset?.changesAtMs ?? Infinity) - nowMs);
    return Math.max(0, Math.min(evaluateEveryMs, this.#deleted.dueInMs(), ...resets));
  }

  /** An unexpected error costs this object only. */
  #read(object: Parameters<ReadPolicyObject>[0]): ReturnType<ReadPolicyObject> {
    try {
      const result = this.#options.read(object);
      return 'problems' in result ? { ...result, problems: boundProblems(result.problems) } : result;
    } catch (error) {
      return { problems: boundProblems([`spec: cannot be read: ${messageOf(error)}`]), guard: undefined };
    }
  }

  /** A status that the leader wrote changes no policy. */
  #onChange(change: Change<PolicyObject>): void {
    const isStatusOnly =
      change.kind === 'modified' &&
      change.previous.generation === change.object.generation &&
      change.previous.reset === change.object.reset &&
      sameJson(change.previous.spec, change.object.spec);
    if (change.kind === 'deleted') this.#deleted.note(change.object.name);
    if (change.kind === 'added') this.#deleted.forget(change.object.name);
    if (!isStatusOnly) this.#alarm.wakeUp();
  }

  #report(before: PolicyAssessments): void {
    const { meter, logger } = this.#options;
    for (const [name, assessment] of this.#assessments) {
      const isAccepted = assessment.reason === 'Valid';
      meter.set(policyObjectAccepted, isAccepted ? 1 : 0, { policy: name });
      this.#reportReset(before.get(name), assessment);
      if (isSameAssessment(before.get(name), assessment)) continue;
      if (!isAccepted) logger.warn(fieldsOf(assessment), 'NodeLifecyclePolicy object is not accepted');
      else if (before.get(name)?.reason === 'Invalid')
        logger.info({ policy: policyObjectName(name) }, 'NodeLifecyclePolicy object is valid again');
    }
    for (const name of before.keys())
      if (!this.#assessments.has(name)) meter.forget(policyObjectAccepted, { policy: name });
  }

  #reportReset(before: PolicyAssessment | undefined, { object, reset }: PolicyAssessment): void {
    const problem = reset?.problem;
    if (problem === undefined || problem === before?.reset?.problem) return;
    const policy = policyObjectName(object.name);
    this.#options.logger.warn({ policy, problem }, 'annotation of a NodeLifecyclePolicy object does not count');
  }
}

/** A spec may have any number of problems, with any names of fields in them. */
function boundProblems(problems: readonly string[]): readonly string[] {
  return problems.slice(0, problemsMax).map((problem) => cutText(problem));
}

function fieldsOf({ object, problems, inForce }: PolicyAssessment): Readonly<Record<string, unknown>> {
  const { name, generation } = object;
  return { policy: policyObjectName(name), generation, problems, inForce: inForce?.generation ?? 'none' };
}

function isSameAssessment(before: PolicyAssessment | undefined, after: PolicyAssessment): boolean {
  return before?.reason === after.reason && sameJson(before.problems, after.problems);
}

/** Report of the policies for the status page, in the order of the names. */
export function buildPolicyObjectsReport(assessments: PolicyAssessments): PolicyObjectsReport {
  const all = [...assessments.values()].sort((a, b) => (a.object.name < b.object.name ? -1 : 1));
  return {
    inForce: all.filter(({ inForce }) => typeof inForce?.generation === 'number').length,
    refused: all
      .filter(({ reason }) => reason !== 'Valid')
      .map(({ object, problems, inForce }) => {
        return { object: policyObjectName(object.name), problems, generation: inForce?.generation ?? null };
      }),
    annotations: all.flatMap(({ object, reset }) => {
      return reset?.problem === undefined ? [] : [{ object: policyObjectName(object.name), problem: reset.problem }];
    }),
  };
}
