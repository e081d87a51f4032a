// Writes the status of NodeLifecyclePolicy objects while this replica leads, through a client of its own: one write at a time,
// only when the status changes. Everything is derived from current state at each pass, so a write that fails is made again.
import { apiReason } from '../../machinery/api/api-error.ts';
import { type JsonMap, mapsOf, textOf } from '../../machinery/api/json-map.ts';
import { policyObjectName, type PolicyObject } from '../../machinery/api/node-lifecycle-policy.ts';
import { coversJson, sameJson } from '../../machinery/api/json-values.ts';
import type { PolicyFigures } from '../../controller/model/policy.ts';
import type { StoreReader } from '../../machinery/informer/informer.ts';
import type { Ambient } from '../../machinery/ports/ambient.ts';
import type { EventRecorder } from '../../machinery/ports/event-recorder.ts';
import type { KubeWriter } from '../../machinery/ports/kube-writer.ts';
import type { Leadership } from '../../machinery/ports/leadership.ts';
import { Backoff } from '../../machinery/queueing/backoff.ts';
import { Alarm } from '../../machinery/supervision/alarm.ts';
import { buildAccepted, buildPolicyStatus } from './build-policy-status.ts';
import type { PolicyAssessment, PolicyAssessments } from './decide-policies-in-force.ts';
import { invalidResetAnnotation, policyNotAccepted } from './events.ts';
import { policyStatusWrites } from './metrics.ts';

/** Counts change all the time in an outage: the time between two of them. */
const countPeriodMs = 5_000;
/** Time between two passes, at least and at most: a new assessment is written soon, whatever wake-up was missed. */
const passGapMs = 500;
const passPeriodMs = 60_000;
/** Writes of one pass: very many objects do not delay the next count. The next pass begins after the last written one. */
const writesMax = 25;
/** Nodes are counted for this long at once, and for this share of the time. */
const countingMsMax = 4;
const countingShareMax = 0.005;

interface PolicyStatusWriterOptions extends Ambient {
  readonly api: Pick<KubeWriter, 'patch'>;
  readonly leadership: Leadership;
  readonly recorder: EventRecorder;
  readonly store: Pick<StoreReader<PolicyObject>, 'get'>;
  readonly assessments: () => PolicyAssessments;
  /** Figures by the name of the policy, counted in steps. */
  readonly figures: () => Generator<undefined, ReadonlyMap<string, PolicyFigures>>;
}

/** A status that this replica has written, until the informer delivers it. */
interface Written {
  /** The version that it replaced. */
  readonly before: string;
  readonly resourceVersion: string;
  readonly status: JsonMap;
}

/** The last write of an object failed. */
interface Failure {
  /** Each reason is logged once. */
  readonly reason: string;
  /** The version that is not written again before this time, on the monotonic clock: the reason may last for days. */
  readonly version: string;
  readonly notBeforeMs: number;
}

export class PolicyStatusWriter {
  readonly #options: PolicyStatusWriterOptions;
  readonly #alarm: Alarm;
  readonly #written = new Map<string, Written>();
  readonly #failures = new Map<string, Failure>();
  readonly #backoff = new Backoff({ delayMsMin: countPeriodMs, delayMsMax: passPeriodMs });
  /** Versions whose Event was recorded, by uid. */
  readonly #reported = new Map<string, number>();
  /** Problems of annotations whose Event was recorded, by uid. */
  readonly #reportedResets = new Map<string, string>();
  #lastWritten = '';
  #figures: ReadonlyMap<string, PolicyFigures> = new Map();

  constructor(options: PolicyStatusWriterOptions) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** An assessment changed. */
  wakeUp(): void {
    this.#alarm.wakeUp();
  }

  /** Runs until the signal aborts, and a request in flight has ended: it has a short time limit. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#keepCounting(signal), this.#keepWriting(signal)]);
  }

  async #keepCounting(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#logged(this.#count(signal));
      this.#alarm.wakeUp();
      await this.#options.clock.sleep(countPeriodMs, signal);
    }
  }

  async #keepWriting(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#logged(this.#pass(signal));
      await this.#alarm.wait(passPeriodMs, signal);
      await this.#options.clock.sleep(passGapMs, signal);
    }
  }

  async #logged(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#options.logger.error({ err: error }, 'evaluation of the status of NodeLifecyclePolicy objects failed');
    }
  }

  /** Counts figures in slices, so that no heartbeat waits for it in a cluster of any size. */
  async #count(signal: AbortSignal): Promise<void> {
    const { assessments, figures, clock } = this.#options;
    if (assessments().size === 0) return;
    const counting = figures();
    let fromMs = clock.monotonicMs();
    while (!signal.aborted) {
      const step = counting.next();
      if (step.done === true) {
        this.#figures = step.value;
        return;
      }
      const spentMs = clock.monotonicMs() - fromMs;
      if (spentMs < countingMsMax) continue;
      await clock.sleep(spentMs / countingShareMax, signal);
      fromMs = clock.monotonicMs();
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    this.#forgetRemoved();
    let writes = 0;
    for (const assessment of this.#inTurn()) {
      if (signal.aborted || writes >= writesMax) return;
      if (await this.#write(assessment)) writes += 1;
    }
  }

  /** All assessments, beginning after the object that was written last. */
  #inTurn(): readonly PolicyAssessment[] {
    const all = [...this.#options.assessments().values()];
    const next = all.findIndex(({ object }) => object.name === this.#lastWritten) + 1;
    return [...all.slice(next), ...all.slice(0, next)];
  }

  /** Whether a request was sent. */
  async #write(assessment: PolicyAssessment): Promise<boolean> {
    const { clock, store } = this.#options;
    const object = store.get(assessment.object.name);
    // Another version is evaluated first.
    if (object?.uid !== assessment.object.uid || object.generation !== assessment.object.generation) return false;
    const { status: current, resourceVersion } = this.#currentOf(object);
    const status = buildPolicyStatus(assessment, this.#figures.get(object.name), current, clock.nowMs());
    this.#report(assessment, current);
    this.#reportReset(assessment, current);
    if (sameJson(current, status) || this.#mustWait(object)) return false;
    this.#lastWritten = object.name;
    await this.#patch(object, resourceVersion, current, status);
    return true;
  }

  #mustWait({ name, resourceVersion }: PolicyObject): boolean {
    const failure = this.#failures.get(name);
    return failure?.version === resourceVersion && this.#options.clock.monotonicMs() < failure.notBeforeMs;
  }

  /** Including a write of this replica that the informer has not delivered. */
  #currentOf(object: PolicyObject): Pick<PolicyObject, 'status' | 'resourceVersion'> {
    const written = this.#written.get(object.name);
    if (written?.before === object.resourceVersion) return written;
    this.#written.delete(object.name);
    return object;
  }

  async #patch(object: PolicyObject, resourceVersion: string, current: JsonMap, status: JsonMap): Promise<void> {
    const { api, leadership, store } = this.#options;
    const { name, uid } = object;
    const removed = Object.keys(current).filter((field) => !Object.hasOwn(status, field));
    const body = {
      metadata: { uid, resourceVersion },
      status: { ...status, ...Object.fromEntries(removed.map((field) => [field, null])) },
    };
    try {
      const answer = await api.patch(
        'nodelifecyclepolicies',
        { name },
        { type: 'merge', body },
        {
          // Not aborted: whether an aborted write was made is unknown, and the client limits its time.
          signal: new AbortController().signal,
          subresource: 'status',
          lane: 'housekeeping',
          stillWanted: () => leadership.holds() && store.get(name)?.resourceVersion === object.resourceVersion,
        },
      );
      const { resourceVersion: after = '' } = answer.metadata;
      this.#written.set(name, { before: object.resourceVersion, resourceVersion: after, status });
      this.#noteWritten(name);
    } catch (error) {
      this.#noteFailure(object, error);
    }
  }

  #noteWritten(name: string): void {
    this.#options.meter.add(policyStatusWrites, 1, { result: 'written' });
    this.#forgetFailure(name);
  }

  #noteFailure({ name, resourceVersion: version }: PolicyObject, error: unknown): void {
    const { meter, logger, clock } = this.#options;
    const reason = apiReason(error);
    meter.add(policyStatusWrites, 1, { result: reason });
    // Nothing was sent: leadership has ended, or a newer version is evaluated with the next pass.
    if (reason === 'aborted') return;
    const isNew = this.#failures.get(name)?.reason !== reason;
    this.#failures.set(name, { reason, version, notBeforeMs: clock.monotonicMs() + this.#backoff.nextMs(name) });
    // After a conflict another version is about to arrive.
    if (isNew && reason !== 'conflict')
      logger.warn({ policy: policyObjectName(name), reason, err: error }, 'write of a policy status failed');
  }

  #forgetFailure(name: string): void {
    this.#failures.delete(name);
    this.#backoff.forget(name);
  }

  /** One Event for each version that is not accepted, unless the status shows that a leader before has recorded it. */
  #report(assessment: PolicyAssessment, current: JsonMap): void {
    const { uid, generation } = assessment.object;
    if (assessment.reason === 'Valid' || this.#reported.get(uid) === generation) return;
    this.#reported.set(uid, generation);
    const finding = buildAccepted(assessment);
    const isKnown = conditionsOf(current).some((condition) => coversFinding(condition, finding.message, generation));
    if (!isKnown) this.#options.recorder.record(policyNotAccepted(assessment.object, finding.message));
  }

  /** Reports the annotation of a reset that does not count, once for each value. */
  #reportReset({ object, reset }: PolicyAssessment, current: JsonMap): void {
    const { uid } = object;
    const problem = reset?.problem;
    if (problem === undefined) this.#reportedResets.delete(uid);
    if (problem === undefined || this.#reportedResets.get(uid) === problem) return;
    this.#reportedResets.set(uid, problem);
    const isKnown = conditionsOf(current).some((condition) => textOf(condition['message']).includes(problem));
    if (!isKnown) this.#options.recorder.record(invalidResetAnnotation(object, problem));
  }

  #forgetRemoved(): void {
    const assessments = this.#options.assessments();
    for (const name of [...this.#written.keys(), ...this.#failures.keys()]) {
      if (assessments.has(name)) continue;
      this.#written.delete(name);
      this.#forgetFailure(name);
    }
    const uids = new Set([...assessments.values()].map(({ object }) => object.uid));
    for (const reported of [this.#reported, this.#reportedResets])
      for (const uid of reported.keys()) if (!uids.has(uid)) reported.delete(uid);
  }
}

function conditionsOf(status: JsonMap): readonly JsonMap[] {
  return mapsOf(status['conditions']);
}

function coversFinding(condition: unknown, message: string, observedGeneration: number): boolean {
  return coversJson(condition, { type: 'Accepted', status: 'False', message, observedGeneration });
}
