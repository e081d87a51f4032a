// Policies as objects of the API: evaluates them when any of them changes, and once a minute, and adopts what is in force.
import { messageOf } from '../../api/api-error.ts';
import { policyObjectName, type PolicyObject } from '../../api/node-lifecycle-policy.ts';
import { sameJson } from '../../api/same-json.ts';
import type { NodePolicy } from '../../controller/model/policy.ts';
import type { Change, Informer } from '../../informer/informer.ts';
import type { Ambient } from '../../ports/ambient.ts';
import { Alarm } from '../../supervision/alarm.ts';
import {
  decidePoliciesInForce,
  type PolicyAssessment,
  type PolicyAssessments,
  type ReadPolicyObject,
  selectPoliciesInForce,
} from './decide-policies-in-force.ts';
import { policyObjectAccepted } from './metrics.ts';

/** How policies of the API get into the settings of a replica. */
export interface PolicyAdoption {
  readonly read: ReadPolicyObject;
  /** These policies are in force from now on. Called only when they changed. */
  readonly adopt: (policies: readonly NodePolicy[]) => void;
}

interface PolicyObjectsOptions extends Ambient, PolicyAdoption {
  readonly informer: Informer<PolicyObject>;
  /** The assessments changed. */
  readonly onChange: () => void;
}

const evaluateEveryMs = 60_000;
/** Time between two evaluations, at least: each change of a policy evaluates every node. */
const evaluateGapMs = 250;

export class PolicyObjects {
  readonly #options: PolicyObjectsOptions;
  readonly #alarm: Alarm;
  #assessments: PolicyAssessments = new Map();
  #policies: readonly NodePolicy[] = [];

  constructor(options: PolicyObjectsOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
    options.informer.onChange('policies', (change) => this.#onChange(change));
  }

  /** By the name of the object; empty before the first complete list. */
  get assessments(): PolicyAssessments {
    return this.#assessments;
  }

  /** Runs until the signal aborts. An error costs one evaluation. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#alarm.wait(evaluateEveryMs, signal);
      if (signal.aborted) return;
      try {
        this.evaluate();
      } catch (error) {
        this.#options.logger.error({ err: error }, 'evaluation of NodeLifecyclePolicy objects failed');
      }
      await this.#options.clock.sleep(evaluateGapMs, signal);
    }
  }

  /** Evaluates all objects, and adopts the policies if they changed. Does nothing before the first complete list. */
  evaluate(): void {
    const { informer, adopt, onChange } = this.#options;
    if (!informer.hasSynced()) return;
    const before = this.#assessments;
    this.#assessments = decidePoliciesInForce(informer.store.values(), before, (object) => this.#read(object));
    this.#report(before);
    const policies = selectPoliciesInForce(this.#assessments);
    if (!sameJson(policies, this.#policies)) {
      adopt(policies);
      this.#policies = policies;
    }
    onChange();
  }

  /** An unexpected error costs this object only. */
  #read(object: Parameters<ReadPolicyObject>[0]): ReturnType<ReadPolicyObject> {
    try {
      return this.#options.read(object);
    } catch (error) {
      return { problems: [`spec: cannot be read: ${messageOf(error)}`] };
    }
  }

  /** A status that the leader wrote changes no policy. */
  #onChange(change: Change<PolicyObject>): void {
    const isStatusOnly =
      change.kind === 'modified' &&
      change.previous.generation === change.object.generation &&
      sameJson(change.previous.spec, change.object.spec);
    if (!isStatusOnly) this.#alarm.wakeUp();
  }

  #report(before: PolicyAssessments): void {
    const { meter, logger } = this.#options;
    for (const [name, assessment] of this.#assessments) {
      const isAccepted = assessment.reason === 'Valid';
      meter.set(policyObjectAccepted, isAccepted ? 1 : 0, { policy: name });
      if (isSameAssessment(before.get(name), assessment)) continue;
      if (!isAccepted) logger.warn(fieldsOf(assessment), 'NodeLifecyclePolicy object is not accepted');
      else if (before.get(name)?.reason === 'Invalid')
        logger.info({ policy: policyObjectName(name) }, 'NodeLifecyclePolicy object is valid again');
    }
    for (const name of before.keys())
      if (!this.#assessments.has(name)) meter.forget(policyObjectAccepted, { policy: name });
  }
}

function fieldsOf({ object, problems, inForce }: PolicyAssessment): Readonly<Record<string, unknown>> {
  const { name, generation } = object;
  return { policy: policyObjectName(name), generation, problems, inForce: inForce?.generation ?? 'none' };
}

function isSameAssessment(before: PolicyAssessment | undefined, after: PolicyAssessment): boolean {
  return before?.reason === after.reason && sameJson(before.problems, after.problems);
}
