// A stored version is shared: with later versions of the object, with watches, and with clients in the same process.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../../src/machinery/api/meta.ts';
import type { ResourceName } from '../../../../../src/machinery/api/resources.ts';
import type { ObjectPatch } from '../../../../../src/hollow-cluster/apiserver/patch/object-patch.ts';
import { Storage, writeOptions } from '../../../../../src/simulator/server/storage.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { SeededRandom } from '../../../../support/fakes.ts';

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}

/** Every version that is stored is frozen: a write that changes one throws. */
class FrozenVersions {
  readonly #storage: Storage;
  readonly #resource: ResourceName;
  readonly #registry: ReturnType<Storage['registry']>;
  readonly texts = new Map<unknown, string>();

  constructor(resource: ResourceName) {
    const clock = new ManualClock();
    const random = new SeededRandom(1);
    this.#resource = resource;
    this.#storage = new Storage(clock, random);
    this.#registry = this.#storage.registry(clock, random);
    this.#storage.onCommit((_resource, { object }) => {
      freeze(object.content);
      this.texts.set(object.content, JSON.stringify(object.content));
    });
  }

  create(object: KubeObject): void {
    this.#storage.create(this.#resource, object);
  }

  patch(patch: ObjectPatch, endpoint: '' | 'status' = ''): void {
    this.#registry.patch(this.#target(endpoint), patch, writeOptions);
  }

  /** Replaces the object by itself with a change. */
  update(change: object, endpoint: '' | 'status' = ''): void {
    const target = this.#target(endpoint);
    this.#registry.update(target, { ...this.#registry.get(target).draft(), ...change }, writeOptions);
  }

  delete(gracePeriodSeconds?: number): void {
    this.#registry.delete(this.#target(''), { dryRun: false, gracePeriodSeconds });
  }

  #target(endpoint: '' | 'status'): ReturnType<Storage['target']> {
    return this.#storage.target(this.#resource, { namespace: 'default', name: 'x' }, endpoint);
  }
}

const annotated = { metadata: { annotations: { 'example.com/a': 'b' } } };
const finalized = { metadata: { finalizers: ['example.com/f'] } };

describe('a stored version of an object', () => {
  it('of a node is changed by no later write', () => {
    const nodes = new FrozenVersions('nodes');
    nodes.create({ metadata: { name: 'x', labels: { a: 'b' } } });
    nodes.patch({ type: 'strategic-merge', body: { status: { capacity: { cpu: '4' } } } }, 'status');
    nodes.patch({ type: 'json', body: [{ op: 'add', path: '/metadata/labels/c', value: 'd' }] });
    nodes.patch({ type: 'merge', body: { ...finalized, spec: { taints: null, podCIDR: '10.0.0.0/24' } } });
    nodes.update({ spec: { unschedulable: true }, status: {} }, 'status');
    nodes.update({ status: {}, spec: { podCIDR: '10.0.0.0/24', unschedulable: true } });
    nodes.delete();
    nodes.patch({ type: 'merge', body: { metadata: { finalizers: null } } });
    assert.equal(nodes.texts.size, 8);
    for (const [content, text] of nodes.texts) assert.equal(JSON.stringify(content), text);
  });

  it('of a pod is changed by no later write', () => {
    const pods = new FrozenVersions('pods');
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 30 };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
    const pod = { metadata: { name: 'x', namespace: 'default', ownerReferences }, spec };
    pods.create(pod);
    pods.patch({ type: 'strategic-merge', body: { status: { phase: 'Running' } } }, 'status');
    pods.patch({ type: 'merge', body: annotated });
    pods.patch({ type: 'json', body: [{ op: 'add', path: '/spec/activeDeadlineSeconds', value: 5 }] });
    pods.update({ status: { phase: 'Running', reason: 'r' } }, 'status');
    pods.delete(10);
    pods.delete(5);
    pods.delete(0);
    assert.equal(pods.texts.size, 9);
    for (const [content, text] of pods.texts) assert.equal(JSON.stringify(content), text);
  });

  it('shares what did not change with the version before', () => {
    const nodes = new FrozenVersions('nodes');
    const node = { metadata: { name: 'x' }, spec: { unschedulable: true } };
    nodes.create(node);
    nodes.patch({ type: 'merge', body: { status: { capacity: { cpu: '4' } } } }, 'status');
    const [before, after] = [...nodes.texts.keys()].slice(-2).map(Object);
    assert.equal(after.spec, before.spec);
  });
});
