// One function, called once.
import { type NodeView, transformNode } from '../../src/machinery/api/node.ts';
import { diffTaints, noExecuteTaints, type Taint } from '../../src/machinery/api/taints.ts';
import type { Toleration } from '../../src/machinery/api/tolerations.ts';
import { isExcludedFromDisruption, zoneOf } from '../../src/machinery/api/topology.ts';
import { DecisionLog } from '../../src/controller/decision-log/decision-log.ts';
import { decideEviction } from '../../src/controller/taint-eviction/decide-eviction.ts';
import { defaultControllerOptions } from '../../src/controller/model/options.ts';
import type { ApiWriter } from '../../src/controller/writer/api-writer.ts';
import { planRates } from '../../src/controller/zones/plan-rates.ts';
import { MutationCache } from '../../src/machinery/informer/mutation-cache.ts';
import { backOffAtLeast, forget, type WorkOutcome, WorkQueue } from '../../src/machinery/queueing/work-queue.ts';
import { WorkLoop } from '../../src/machinery/supervision/work-loop.ts';
import { RecordingLogger, RecordingMeter } from '../support/fakes.ts';
import { rethrow } from '../support/rethrow.ts';
import { ApiChecks } from './api-checks.ts';
import { equals, equalsAsSet, isSame, show } from './comparing.ts';
import { type Given, type GivenTaint, faultOf } from './format.ts';
import { nodeOf, taintOf } from './given-objects.ts';
import { writerOnto } from './node-workers.ts';
import { RecordingApi } from './recording-api.ts';
import { VectorClock } from './vector-clock.ts';
import { type Check, NotSupported, type Operation, type World } from './world.ts';
import { upstreamZoneState, upstreamZone } from './zone-names.ts';

const namelessZone = 'zone';

export class FunctionWorld implements World {
  readonly givens: readonly (keyof Given)[] = [
    'nodes',
    'labels',
    'taints',
    'desired',
    'existing',
    'kubeletVersion',
    'readyConditions',
    'unhealthyZoneThreshold',
    'usedTolerationSeconds',
  ];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #given: Given;
  readonly #answers = new Map<string, unknown>();

  constructor(given: Given) {
    this.#given = given;
    this.operations = {
      isExcludedFromDisruption: () => this.#answer('result', isExcludedFromDisruption(this.#labels())),
      getZoneKey: () => this.#answer('key', upstreamZone(zoneOf(this.#labels()))),
      computeZoneState: () => {
        this.#computeZoneState();
      },
      minTolerationTime: () => this.#answer('seconds', this.#patienceSeconds()),
      filterNoExecute: () =>
        this.#answer(
          'keys',
          noExecuteTaints(this.#taints()).map(({ key }) => key),
        ),
      taintSetDiff: () => {
        const { add, remove } = diffTaints(this.#given.desired ?? [], this.#given.existing ?? []);
        this.#answer('toAdd', add);
        this.#answer('toRemove', remove);
      },
      nodeRunningOutdatedKubelet: () => {
        throw new NotSupported('nodeRunningOutdatedKubelet: kubelet versions are not evaluated');
      },
    };
    this.checks = {
      ...Object.fromEntries(
        ['result', 'key', 'state', 'unhealthy', 'seconds', 'outdated'].map((key) => [key, this.#equalsAnswer(key)]),
      ),
      keys: equalsAsSet(() => this.#found('keys') as readonly unknown[]),
      toAdd: equalsAsSet(() => this.#found('toAdd') as readonly unknown[]),
      toRemove: equalsAsSet(() => this.#found('toRemove') as readonly unknown[]),
    };
  }

  #answer(key: string, value: unknown): void {
    this.#answers.set(key, value);
  }

  #found(key: string): unknown {
    if (!this.#answers.has(key)) throw new NotSupported(`${key} of this operation`);
    return this.#answers.get(key);
  }

  #equalsAnswer(key: string): Check {
    return equals(() => this.#found(key));
  }

  #labels(): Readonly<Record<string, string>> {
    return this.#given.labels ?? this.#given.nodes?.[0]?.labels ?? {};
  }

  #taints(): readonly Taint[] {
    return (this.#given.taints ?? []).map((taint) => taintOf(taint, 0));
  }

  #computeZoneState(): void {
    const { readyConditions = [], unhealthyZoneThreshold } = this.#given;
    const ready = readyConditions.filter((status) => status === 'True').length;
    const tally = { ready, unready: readyConditions.length - ready };
    const threshold = unhealthyZoneThreshold ?? defaultControllerOptions.unhealthyZoneThreshold;
    const options = { ...defaultControllerOptions, unhealthyZoneThreshold: threshold };
    const zone = planRates(new Map([[namelessZone, tally]]), () => options).zones[0];
    this.#answer('state', upstreamZoneState(zone?.condition ?? 'initial'));
    this.#answer('unhealthy', zone?.why.unready);
  }

  /** How long a pod stays with one matching toleration per taint of these durations; without any, a taint that nothing matches. */
  #patienceSeconds(): number {
    const used = this.#given.usedTolerationSeconds ?? [];
    const tolerations = used.map((seconds, at): Toleration => {
      return { key: `k${at}`, operator: 'Exists', ...(seconds === null ? {} : { tolerationSeconds: seconds }) };
    });
    const keys = used.length === 0 ? ['k'] : used.map((_, at) => `k${at}`);
    const running = keys.map((key) => ({ taint: { key, effect: 'NoExecute' }, sinceMs: 0 }));
    const decision = decideEviction({ tolerations, terminating: false }, { taints: running, boundMs: 0 });
    return decision.kind === 'evict' ? decision.atMs / 1_000 : -1;
  }
}

const retryLimits = { delayMsMin: 100, delayMsMax: 30_000 } as const;
const settleSeconds = 10;

/** A change of one node's taints by the taint writer, retried while it fails, as all its callers do. */
export class TaintHelperWorld implements World {
  readonly givens: readonly (keyof Given)[] = ['t0', 'nodes', 'faults', 'concurrentWrite'];
  readonly operations: Readonly<Record<string, Operation>>;
  readonly checks: Readonly<Record<string, Check>>;
  readonly #time: VectorClock;
  readonly #api: RecordingApi;
  readonly #writer: ApiWriter;
  readonly #nodes: MutationCache<NodeView>;
  readonly #stop = new AbortController();
  #asked = '';
  #error: string | undefined;

  constructor(given: Given) {
    this.#time = new VectorClock(given.t0);
    this.#api = new RecordingApi(this.#time);
    for (const node of given.nodes ?? []) this.#api.put('nodes', nodeOf(node, this.#time.nowMs));
    const cached = new Map(this.#api.nodes().map((node) => [node.metadata.name, transformNode(node)]));
    this.#nodes = new MutationCache((name) => cached.get(name));
    for (const fault of given.faults ?? []) this.#api.fail(fault);
    if (given.concurrentWrite !== undefined) this.#api.writeConcurrently(given.concurrentWrite);
    this.#writer = this.#newWriter();
    this.operations = {
      addTaints: ({ node, taints }) => this.#change(node as string, taints as readonly GivenTaint[], 'add'),
      removeTaints: ({ node, taints }) => this.#change(node as string, taints as readonly GivenTaint[], 'remove'),
      failNext: (step) => {
        this.#api.fail(faultOf(step));
      },
    };
    this.checks = this.#checks();
  }

  #newWriter(): ApiWriter {
    const { clock } = this.#time;
    const decisions = new DecisionLog(new RecordingLogger(), new RecordingMeter(), () => clock.nowMs());
    return writerOnto(this.#api, this.#nodes, decisions, this.#stop.signal);
  }

  async #change(name: string, given: readonly GivenTaint[], kind: 'add' | 'remove'): Promise<void> {
    this.#asked = name;
    const taints = given.map((taint) => taintOf(taint, this.#time.nowMs));
    const change = { add: kind === 'add' ? taints : [], remove: kind === 'remove' ? taints : [] };
    const handle = (): Promise<WorkOutcome> => this.#carryOut(name, change);
    const queue = new WorkQueue(retryLimits);
    const loop = new WorkLoop({ queue, clock: this.#time.clock, workersMax: 1, handle, onFault: rethrow });
    const running = loop.run(this.#stop.signal);
    loop.add(name);
    await this.#time.advance(settleSeconds);
    this.#stop.abort();
    await running;
  }

  async #carryOut(
    name: string,
    change: { readonly add: readonly Taint[]; readonly remove: readonly Taint[] },
  ): Promise<WorkOutcome> {
    const node =
      this.#nodes.get(name) ?? transformNode({ metadata: { name, uid: `uid-${name}`, resourceVersion: '1' } });
    const outcome = await this.#writer.carryOut(
      { kind: 'change-taints', node, ...change, lane: 'housekeeping' },
      () => true,
    );
    if (outcome.result === 'gone') this.#error = 'NotFound';
    return outcome.result === 'failed' ? backOffAtLeast(outcome.retryAfterMs) : forget;
  }

  #checks(): Readonly<Record<string, Check>> {
    return {
      ...new ApiChecks(this.#api, this.#time).all(),
      taints: (expected: unknown) => this.#taints(expected),
      error: (expected: unknown) => {
        const found = typeof expected === 'boolean' ? this.#error !== undefined : (this.#error ?? null);
        return found === expected ? undefined : show(found);
      },
    };
  }

  /** The list in its order: a replaced item keeps its position. */
  #taints(expected: unknown): string | undefined {
    const node = this.#api.node(this.#asked);
    const found = node === undefined ? null : (node.spec?.taints ?? []);
    return isSame(found, expected) ? undefined : show(found);
  }
}
