// The whole controller in pod eviction mode (v1.8), in which the pods of a node are deleted instead of tainting the node.
import { transformDaemonSet } from '../../src/machinery/api/daemonset.ts';
import { podKey, transformPod } from '../../src/machinery/api/pod.ts';
import { zoneOf } from '../../src/machinery/api/topology.ts';
import type { PodEvictor } from '../../src/controller/pod-eviction-mode/pod-evictor.ts';
import { equals } from './comparing.ts';
import { drainQueues } from './draining-queues.ts';
import type { DaemonSetGiven, GivenPod, Vector } from './format.ts';
import { podOf } from './given-objects.ts';
import { NodeLifecycleWorld } from './node-lifecycle-world.ts';
import { NotSupported, type Operation, type StepContext } from './world.ts';

export class EvictionModeWorld extends NodeLifecycleWorld {
  #asked = '';

  constructor(vector: Pick<Vector, 'given' | 'then' | 'mode'>) {
    super(vector);
    // No cloud provider is called, whatever the vector's cloud would return.
    this.givens = [...this.givens, 'daemonSets', 'cloud', 'nodeEvictionStatus'];
    this.operations = { ...this.operations, ...this.#evictionOperations() };
    this.checks = { ...this.checks, remaining: equals(() => this.#evictor().remaining(this.#asked).length > 0) };
    for (const daemonSet of vector.given.daemonSets ?? []) this.#putDaemonSet(daemonSet);
    this.#mark(vector.given.nodeEvictionStatus ?? {});
    const { taintNodesByCondition } = vector.given.flags ?? {};
    const asked = Object.keys(vector.then).includes('taints');
    if (taintNodesByCondition === false && asked) throw new NotSupported('nodes that conditions do not taint');
  }

  #evictionOperations(): Readonly<Record<string, Operation>> {
    return {
      podEvent: ({ new: now }) => this.#podEvent(now as GivenPod | null),
      evictionPass: () => this.noExecutePass(),
      evictionPassUntil: ({ maxSeconds }, context) => this.#passUntil(maxSeconds as number, context),
      deletePods: ({ node }) => this.#deletePods(node as string),
      drainQueueWithDeletePods: () =>
        drainQueues(this.lifecycle.stages.queues, {
          nowMs: () => this.time.clock.monotonicMs(),
          wait: (ms) => this.runAhead(ms),
          serve: () => this.serveQueues(),
        }),
    };
  }

  #evictor(): PodEvictor {
    const { podEvictor } = this.lifecycle.stages;
    if (podEvictor === undefined) throw new Error('the controller is not in eviction mode');
    return podEvictor;
  }

  #putDaemonSet({ namespace, name, selector }: DaemonSetGiven): void {
    const view = transformDaemonSet({ metadata: { namespace, name }, spec: { selector } });
    this.informers.daemonSets.set(`${namespace}/${name}`, view);
  }

  /** Lets the evictor perform the earlier evictions of the vector, before its pods exist. */
  #mark(marks: Readonly<Record<string, string>>): void {
    const named = (mark: string): readonly string[] => Object.keys(marks).filter((node) => marks[node] === mark);
    const pods = [...this.informers.pods.keys()];
    for (const key of pods) this.informers.pods.delete(key);
    for (const name of named('evicted')) this.#grantSlot(name);
    for (const name of named('toBeEvicted')) this.#enqueueNode(name);
    if (pods.length > 0) this.sync();
    if (Object.keys(marks).length > 0) this.meter.series.clear();
  }

  /** The slot was granted when the node had been silent for long enough; its current health record is separate. */
  #grantSlot(name: string): void {
    const { health, queues } = this.lifecycle.stages;
    const node = this.informers.nodes.get(name);
    if (node === undefined) throw new NotSupported(`evicted node not found: ${name}`);
    const nowMs = this.time.clock.monotonicMs();
    const agoMs = this.options.podEvictionTimeoutMs + 1;
    health.forget(name);
    health.observe(node, undefined, { monotonicMs: nowMs - agoMs, wallMs: this.time.nowMs - agoMs });
    this.#enqueueNode(name);
    // A pass grants its slots before it returns.
    void this.#evictor().pass();
    if (this.#evictor().markOf(name) !== 'evicted') throw new NotSupported(`evicted node not due: ${name}`);
    queues.get(zoneOf(node.labels))?.returnToken(nowMs);
    health.forget(name);
    health.observe(node, undefined, { monotonicMs: nowMs, wallMs: this.time.nowMs });
  }

  #enqueueNode(name: string): void {
    const labels = this.informers.nodes.get(name)?.labels ?? {};
    this.lifecycle.stages.queues.add(name, zoneOf(labels), this.time.clock.monotonicMs());
  }

  /** A pod is added or changed, and the evictor is notified as while leading. */
  async #podEvent(now: GivenPod | null): Promise<void> {
    if (now === null) throw new NotSupported('deletion of a pod');
    const pod = podOf(now, this.time);
    const key = podKey(transformPod(pod));
    const previous = this.informers.pods.get(key);
    this.api.put('pods', pod);
    this.sync();
    const object = transformPod(this.api.pod(key) ?? pod);
    this.#evictor().onPod(
      previous === undefined ? { kind: 'added', key, object } : { kind: 'modified', key, object, previous },
    );
    await this.drainPods();
  }

  /** At least once, so that an unexpected action can happen. */
  async #passUntil(maxSeconds: number, { expectationsHold }: StepContext): Promise<void> {
    await this.noExecutePass();
    for (let left = maxSeconds; left > 0 && !expectationsHold(); left -= 1) {
      await this.advance(1);
      await this.noExecutePass();
    }
  }

  /** As when this node's slot is granted. */
  async #deletePods(name: string): Promise<void> {
    this.#asked = name;
    this.#enqueueNode(name);
    await this.noExecutePass();
  }
}
