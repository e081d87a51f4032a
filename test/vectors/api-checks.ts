// Expectations about the writes that reached the API server, and about its state: the same for every controller.
import { type Condition, findCondition } from '../../src/machinery/api/conditions.ts';
import { podKey, type Pod } from '../../src/machinery/api/pod.ts';
import { isHealthTaint, type Taint } from '../../src/machinery/api/taints.ts';
import { byName, contains, counts, equals, equalsAsSet, isMap, isSame, show } from './comparing.ts';
import type { ApiRequest, RecordingApi } from './recording-api.ts';
import { modernTaintKey } from './taint-names.ts';
import type { VectorClock } from './vector-clock.ts';
import type { Check } from './world.ts';

interface ExpectedRequest {
  readonly verb?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly patchType?: string;
  readonly mustContain?: Readonly<Record<string, unknown>>;
  readonly options?: Readonly<Record<string, unknown>>;
}

interface ExpectedTaints {
  readonly exact?: readonly Taint[];
  readonly has?: readonly Taint[];
  readonly hasNot?: readonly Taint[];
  readonly count?: number;
}

interface DatedCondition extends Omit<Condition, 'lastHeartbeatTime' | 'lastTransitionTime'> {
  readonly heartbeatAt: number | null;
  readonly transitionAt: number | null;
  /** The state of the node at that time. */
  readonly createdAt: number | null;
}

interface ExpectedCondition extends Partial<Omit<DatedCondition, 'heartbeatAt' | 'transitionAt' | 'createdAt'>> {
  readonly heartbeatAt?: number | 'created';
  readonly transitionAt?: number | 'created';
}

export class ApiChecks {
  readonly #api: RecordingApi;
  readonly #time: VectorClock;
  readonly #postedConditions = new Map<string, readonly Condition[]>();

  constructor(api: RecordingApi, time: VectorClock) {
    this.#api = api;
    this.#time = time;
  }

  /** The conditions that the vector itself set, for later comparison. */
  notePosted(node: string): void {
    this.#postedConditions.set(node, this.#api.node(node)?.status?.conditions ?? []);
  }

  all(): Readonly<Record<string, Check>> {
    return { ...this.#nodeChecks(), ...this.#writeChecks(), ...this.#podChecks(), ...this.#deleteChecks() };
  }

  #nodeChecks(): Readonly<Record<string, Check>> {
    return {
      taints: byName((name) => this.#taints(name), isExpectedTaints),
      taintTimeAddedAt: byName((name) => this.#taintedAt(name)),
      taintedCount: equals(() => this.#api.nodes().filter(({ metadata }) => this.#isTainted(metadata.name)).length),
      conditions: byName(
        (name) => this.#conditions(name).map((condition) => this.#dated(condition, name)),
        areConditions,
      ),
      readyStatus: byName((name) => findCondition(this.#conditions(name), 'Ready')?.status ?? null),
      conditionUnchanged: byName(
        (name) => this.#unchangedTypes(name),
        (found, expected) => contains(found, expected),
      ),
      labels: byName((name) => this.#api.node(name)?.metadata.labels ?? {}),
      nodeDeleted: equalsAsSet(() => this.#accepted('delete', 'nodes').map(({ name }) => name)),
    };
  }

  #writeChecks(): Readonly<Record<string, Check>> {
    const patches = counts((name) => this.#accepted('patch', 'nodes', name).filter(isOfSpec).length);
    return {
      nodeStatusWrites: counts((name) => this.#accepted('patch', 'nodes', name).filter(isOfStatus).length),
      nodeStatusWriteAttempts: counts((name) => this.#sent('patch', 'nodes', name).filter(isOfStatus).length),
      nodeGets: counts((name) => this.#sent('get', 'nodes', name).length),
      nodePatches: patches,
      patches,
      podStatusWrites: counts((name) => this.#accepted('patch', 'pods', name).filter(isOfStatus).length),
      podStatusWriteAttempts: counts((name) => this.#sent('patch', 'pods', name).filter(isOfStatus).length),
      requests: (expected: unknown) => this.#requests(expected),
    };
  }

  #podChecks(): Readonly<Record<string, Check>> {
    return {
      podStatusPatched: this.#ofPods((name) => this.#patchedPods().some((patched) => isNamed(patched, name))),
      podStatusReason: this.#ofPods((name) => this.#lastSeen(name)?.status?.reason ?? ''),
      patched: equals(() => this.patchedNames()),
      patchedStatus: (expected: unknown) => this.#patchedStatus(expected),
    };
  }

  #deleteChecks(): Readonly<Record<string, Check>> {
    return {
      podDeleted: this.#ofPods((name) => this.#isDeleted(name)),
      deleted: equalsAsSet(() => this.#deletedNames()),
      neverDeleted: (expected: unknown) => {
        const gone = (expected as readonly string[]).filter((name) => this.#isDeleted(name));
        return gone.length === 0 ? undefined : `deleted: ${show(gone)}`;
      },
      deletedAt: this.#ofPods((name) => this.#deletedAtS(name)),
      podDeletedAt: this.#ofPods((name) => this.#deletedAtS(name)),
      deletedCount: equals(() => this.#api.gone.size),
      podDeleteCalls: counts((name) => this.#sent('delete', 'pods', name).length),
      forceDeleteCalls: equals(
        () => this.#sent('delete', 'pods').filter(({ options }) => options['gracePeriodSeconds'] === 0).length,
      ),
      deletedUID: equals(() => this.#deletedUid()),
      deleteOptions: (expected: unknown) => this.#deleteOptions(expected),
      retrySpacingMs: (expected: unknown) => this.#retrySpacing(expected),
    };
  }

  /** The pod that is meant if the vector names none: the only one, or all must agree. */
  #ofPods(find: (name: string) => unknown): Check {
    return (expected: unknown) => {
      if (isMap(expected)) return byName(find)(expected as never);
      const answers = this.#podNames().map((name) => find(name));
      return answers.length > 0 && answers.every((answer) => isSame(answer, expected)) ? undefined : show(answers);
    };
  }

  #podNames(): readonly string[] {
    return [...new Set([...this.#api.pods().map(keyOfPod), ...this.#api.gone.keys()])];
  }

  #sent(verb: string, resource: string, name?: string): readonly ApiRequest[] {
    return this.#api.requests.filter(
      (request) =>
        request.verb === verb && request.resource === resource && (name === undefined || isNamed(request, name)),
    );
  }

  #accepted(verb: string, resource: string, name?: string): readonly ApiRequest[] {
    return this.#sent(verb, resource, name).filter(({ refused }) => refused === undefined);
  }

  #taints(name: string): readonly Taint[] {
    return this.#api.node(name)?.spec?.taints ?? [];
  }

  #isTainted(name: string): boolean {
    return this.#taints(name).some(isManagedNoExecute);
  }

  #taintedAt(name: string): number | null {
    const stamp = this.#taints(name).find(isManagedNoExecute)?.timeAdded;
    return stamp === undefined ? null : this.#secondsOf(stamp);
  }

  #conditions(name: string): readonly Condition[] {
    return this.#api.node(name)?.status?.conditions ?? [];
  }

  #secondsOf(stamp: string | undefined): number | null {
    return stamp === undefined ? null : (Date.parse(stamp) - this.#time.t0Ms) / 1_000;
  }

  #dated(condition: Condition, node: string): DatedCondition {
    const { lastHeartbeatTime, lastTransitionTime, ...fields } = condition;
    return {
      ...fields,
      heartbeatAt: this.#secondsOf(lastHeartbeatTime),
      transitionAt: this.#secondsOf(lastTransitionTime),
      createdAt: this.#secondsOf(this.#api.node(node)?.metadata.creationTimestamp),
    };
  }

  #unchangedTypes(name: string): readonly string[] {
    const now = this.#conditions(name);
    const posted = this.#postedConditions.get(name) ?? [];
    return posted.filter((before) => now.some((after) => isSame(before, after))).map(({ type }) => type);
  }

  /** Names of the pods whose status was patched, in the order of their first patch. */
  patchedNames(): readonly string[] {
    return [...new Set(this.#patchedPods().map(({ name }) => name))];
  }

  #patchedPods(): readonly ApiRequest[] {
    return this.#accepted('patch', 'pods').filter(isOfStatus);
  }

  #lastSeen(name: string): Pod | undefined {
    const living = this.#api.pods().find((pod) => isNamed({ key: keyOfPod(pod), name: pod.metadata.name }, name));
    return living ?? this.#goneNamed(name)?.pod;
  }

  #goneNamed(name: string): { readonly pod: Pod; readonly atS: number } | undefined {
    const found = [...this.#api.gone].find(([key]) => key === name || key.slice(key.indexOf('/') + 1) === name);
    return found?.[1];
  }

  #patchedStatus(expected: unknown): string | undefined {
    const last = this.#patchedPods().at(-1);
    if (last === undefined) return 'no pod status was patched';
    const status = (this.#lastSeen(last.key)?.status ?? {}) as Readonly<Record<string, unknown>>;
    const wanted = expected as Readonly<Record<string, unknown>>;
    const wantedConditions = (wanted['conditions'] ?? []) as readonly unknown[];
    const conditions = (status['conditions'] ?? []) as readonly unknown[];
    const same = contains(status, wanted) && conditions.length === wantedConditions.length;
    return same ? undefined : show(status);
  }

  #isDeleted(name: string): boolean {
    return this.#goneNamed(name) !== undefined;
  }

  #deletedAtS(name: string): number | null {
    return this.#goneNamed(name)?.atS ?? null;
  }

  #deletedNames(): readonly string[] {
    return [...this.#api.gone.keys()].map((key) => key.slice(key.indexOf('/') + 1));
  }

  #deletedUid(): unknown {
    const last = this.#accepted('delete', 'pods').at(-1);
    return last === undefined ? null : (this.#goneNamed(last.key)?.pod.metadata.uid ?? null);
  }

  #deleteOptions(expected: unknown): string | undefined {
    const sent = this.#accepted('delete', 'pods').map(({ options }) => options);
    const same = sent.length > 0 && sent.every((options) => contains(options, expected));
    return same ? undefined : show(sent);
  }

  #retrySpacing(expected: unknown): string | undefined {
    const times = this.#sent('delete', 'pods').map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs));
    return gaps.length > 0 && gaps.every((gap) => isSame(gap, expected)) ? undefined : show(gaps);
  }

  #requests(expected: unknown): string | undefined {
    const made = this.#api.requests;
    if (typeof expected === 'number') return made.length === expected ? undefined : show(made.length);
    const wanted = expected as readonly ExpectedRequest[];
    const same = made.length === wanted.length && wanted.every((one, at) => isRequest(made[at], one));
    return same ? undefined : show(made.map(asExpected));
  }
}

function keyOfPod({ metadata }: Pod): string {
  return podKey({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });
}

/** A vector names a pod by its name alone, or with its namespace. */
function isNamed({ key, name }: { readonly key: string; readonly name: string }, wanted: string): boolean {
  return wanted === name || wanted === key;
}

/** The same types, and of each the fields in the vector. Timestamps have whole seconds. */
function areConditions(found: unknown, expected: unknown): boolean {
  const conditions = found as readonly DatedCondition[];
  const wanted = expected as readonly ExpectedCondition[];
  return conditions.length === wanted.length && wanted.every((one) => conditions.some((at) => isCondition(at, one)));
}

function isCondition(found: DatedCondition, { heartbeatAt, transitionAt, ...fields }: ExpectedCondition): boolean {
  const { createdAt } = found;
  return (
    contains(found, fields) &&
    isAt(found.heartbeatAt, heartbeatAt, createdAt) &&
    isAt(found.transitionAt, transitionAt, createdAt)
  );
}

function isAt(foundS: number | null, expected: number | 'created' | undefined, createdAtS: number | null): boolean {
  if (expected === undefined) return true;
  if (expected === 'created') return isSame(foundS, createdAtS);
  return isSame(foundS, expected) || isSame(foundS, Math.floor(expected));
}

function isOfStatus({ subresource }: ApiRequest): boolean {
  return subresource === 'status';
}

function isOfSpec({ subresource, body }: ApiRequest): boolean {
  return subresource === undefined && isMap(body) && body['spec'] !== undefined;
}

function isManagedNoExecute(taint: Taint): boolean {
  return taint.effect === 'NoExecute' && isHealthTaint(taint);
}

function isSuchTaint(taint: Taint, expected: Taint): boolean {
  const sameValue = expected.value === undefined || (taint.value ?? '') === expected.value;
  return taint.key === modernTaintKey(expected.key) && taint.effect === expected.effect && sameValue;
}

function isExpectedTaints(found: unknown, expected: unknown): boolean {
  const taints = found as readonly Taint[];
  const { exact, has = [], hasNot = [], count, ...unknown } = expected as ExpectedTaints;
  if (Object.keys(unknown).length > 0) throw new Error(`taints: unknown words ${Object.keys(unknown).join(', ')}`);
  const isThere = (one: Taint): boolean => taints.some((taint) => isSuchTaint(taint, one));
  return (
    (exact === undefined || (exact.length === taints.length && exact.every(isThere))) &&
    has.every(isThere) &&
    !hasNot.some(isThere) &&
    (count === undefined || taints.length === count)
  );
}

function isRequest(made: ApiRequest | undefined, expected: ExpectedRequest): boolean {
  if (made === undefined) return false;
  const { mustContain = {}, options, ...fields } = expected;
  const sameFields = Object.entries(fields).every(([field, value]) => made[field as keyof ApiRequest] === value);
  const sameOptions = options === undefined || isSame(made.options, options);
  const hasContent = Object.entries(mustContain).every(([path, value]) => contains(at(made.body, path), value));
  return sameFields && made.subresource === expected.subresource && sameOptions && hasContent;
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => (isMap(inner) ? inner[key] : undefined), value);
}

function asExpected({ verb, resource, subresource, options }: ApiRequest): object {
  return {
    verb,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(verb === 'delete' ? { options } : {}),
  };
}
