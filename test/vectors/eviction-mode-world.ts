// The whole controller in the older mode, in which a node's pods are deleted and not its taints left to send them away.
import { viewDaemonSet } from '../../src/api/daemonset.ts';
import { podKey, viewPod } from '../../src/api/pod.ts';
import { zoneOf } from '../../src/api/topology.ts';
import type { PodEvictor } from '../../src/controller/pod-eviction/pod-evictor.ts';
import { equals } from './comparing.ts';
import { drainLines } from './draining-lines.ts';
import type { DaemonSetGiven, GivenPod, Vector } from './format.ts';
import { podOf } from './given-objects.ts';
import { NodeLifecycleWorld } from './node-lifecycle-world.ts';
import { NotSupported, type Operation, type StepContext } from './world.ts';

export class EvictionModeWorld extends NodeLifecycleWorld {
  #asked = '';

  constructor(vector: Pick<Vector, 'given' | 'then' | 'mode'>) {
    super(vector);
    // No cloud is asked here, whatever it would answer.
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
        drainLines(this.lifecycle.stages.queues, {
          nowMs: () => this.time.clock.monotonicMs(),
          wait: (ms) => this.runAhead(ms),
          serve: () => this.serveLines(),
        }),
    };
  }

  #evictor(): PodEvictor {
    const { podEvictor } = this.lifecycle.stages;
    if (podEvictor === undefined) throw new Error('the controller is not in eviction mode');
    return podEvictor;
  }

  #putDaemonSet({ namespace, name, selector }: DaemonSetGiven): void {
    const view = viewDaemonSet({ metadata: { namespace, name }, spec: { selector } });
    this.informers.daemonSets.set(`${namespace}/${name}`, view);
  }

  /** Has the evictor live through what the vector says that it did, before there are pods. */
  #mark(marks: Readonly<Record<string, string>>): void {
    const named = (mark: string): readonly string[] => Object.keys(marks).filter((node) => marks[node] === mark);
    const pods = [...this.informers.pods.keys()];
    for (const key of pods) this.informers.pods.delete(key);
    for (const name of named('evicted')) this.#letPass(name);
    for (const name of named('toBeEvicted')) this.#putInLine(name);
    if (pods.length > 0) this.sync();
    if (Object.keys(marks).length > 0) this.meter.series.clear();
  }

  /** Its turn came when nothing had been heard of it for long enough; what is remembered of it now is another matter. */
  #letPass(name: string): void {
    const { health, queues } = this.lifecycle.stages;
    const node = this.informers.nodes.get(name);
    if (node === undefined) throw new NotSupported(`an evicted node that does not exist: ${name}`);
    const nowMs = this.time.clock.monotonicMs();
    const agoMs = this.options.podEvictionTimeoutMs + 1;
    health.forget(name);
    health.observe(node, undefined, { monotonicMs: nowMs - agoMs, wallMs: this.time.nowMs - agoMs });
    this.#putInLine(name);
    // A pass hands out its turns before it returns.
    void this.#evictor().pass();
    if (this.#evictor().markOf(name) !== 'evicted') throw new NotSupported(`an evicted node that is not due: ${name}`);
    queues.get(zoneOf(node.labels))?.giveTokenBack(nowMs);
    health.forget(name);
    health.observe(node, undefined, { monotonicMs: nowMs, wallMs: this.time.nowMs });
  }

  #putInLine(name: string): void {
    const labels = this.informers.nodes.get(name)?.labels ?? {};
    this.lifecycle.stages.queues.add(name, zoneOf(labels), this.time.clock.monotonicMs());
  }

  /** A pod appears, or changes, and the evictor hears of it as it does while it leads. */
  async #podEvent(now: GivenPod | null): Promise<void> {
    if (now === null) throw new NotSupported('the deletion of a pod, here');
    const pod = podOf(now, this.time);
    const key = podKey(viewPod(pod));
    const previous = this.informers.pods.get(key);
    this.api.put('pods', pod);
    this.sync();
    const object = viewPod(this.api.pod(key) ?? pod);
    this.#evictor().onPod(
      previous === undefined ? { kind: 'added', key, object } : { kind: 'modified', key, object, previous },
    );
    await this.#evictor().drain();
  }

  /** At least once, so that what must not happen has had its chance. */
  async #passUntil(maxSeconds: number, { expectationsHold }: StepContext): Promise<void> {
    await this.noExecutePass();
    for (let left = maxSeconds; left > 0 && !expectationsHold(); left -= 1) {
      await this.advance(1);
      await this.noExecutePass();
    }
  }

  /** As when this node's turn comes. */
  async #deletePods(name: string): Promise<void> {
    this.#asked = name;
    this.#putInLine(name);
    await this.noExecutePass();
  }
}
