import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Lease } from '../../../src/machinery/api/lease.ts';
import { NodeWorld } from '../../support/node-world.ts';

const secondMs = 1_000;
const key = 'kube-node-lease/n1';

describe('the lease of a node', () => {
  let world: NodeWorld;

  beforeEach(() => {
    world = new NodeWorld();
  });

  afterEach(() => world.stop());

  const stored = (): Lease | undefined => world.api.peek('leases', key);

  /** Requests for leases, and for the node as long as no other component reads it, in order. */
  function requests(): readonly string[] {
    return world.api.requests
      .filter(({ verb, resource }) => resource === 'leases' || (resource === 'nodes' && verb === 'get'))
      .map(({ verb, resource }) => `${verb} ${resource}`);
  }

  async function edit(spec: Lease['spec'] & object): Promise<void> {
    const lease = stored();
    assert.ok(lease !== undefined);
    const edited: Lease = { ...lease, spec: { ...lease.spec, ...spec } };
    await world.api.replace('leases', edited);
    world.api.requests.pop();
  }

  async function remove(): Promise<void> {
    const uid = stored()?.metadata.uid ?? '';
    await world.api.delete('leases', { namespace: 'kube-node-lease', name: 'n1' }, { uid, signal: world.signal });
    world.api.requests.pop();
  }

  it('is created one period after the start: before that there is no node to own it [K1]', async () => {
    await world.startFor(50);
    assert.deepEqual(requests(), ['get leases', 'get nodes']);
    await world.clock.advance(9_900);
    assert.equal(stored(), undefined);
    await world.clock.advance(450);
    const [createdAt = 0] = world.times('create', 'leases');
    assert.ok(createdAt >= 10 && createdAt <= 10.4, `${createdAt} s`);
    assert.deepEqual([stored()?.spec?.leaseDurationSeconds, stored()?.spec?.holderIdentity], [40, 'n1']);
    assert.deepEqual(stored()?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: world.node()?.metadata.uid },
    ]);
    assert.match(stored()?.spec?.renewTime ?? '', /\.\d{6}Z$/);
  });

  it('is renewed at once by a kubelet that finds it, even before registration, and after that without reads [K2]', async () => {
    await world.settle();
    await world.restartFor(50);
    assert.deepEqual(requests(), ['get leases', 'replace leases']);
    world.forget();
    await world.clock.advance(60 * secondMs);
    assert.deepEqual(new Set(world.verbs('leases')), new Set(['replace']));
  });

  it('is renewed every ten seconds and never read [K3]', async () => {
    await world.settle();
    await world.clock.advance(3_600 * secondMs);
    const renewals = world.times('replace', 'leases').length;
    assert.ok(renewals >= 359 && renewals <= 361, `${renewals} in an hour`);
    assert.equal(world.times('get', 'leases').length, 0);
  });

  it('is recreated in the same period after its deletion: eight requests [K4]', async () => {
    await world.settle();
    await remove();
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(requests(), [
      ...Array.from({ length: 5 }, () => 'replace leases'),
      'get leases',
      'get nodes',
      'create leases',
    ]);
    assert.equal(new Set(world.api.requests.map(({ atMs }) => atMs)).size, 1);
    assert.equal(world.hooks, 4);
  });

  it('is recreated after one conflict, which a real API server returns for a deleted lease', async () => {
    await world.settle();
    await remove();
    world.api.fail('replace', 'leases', 'conflict');
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(requests(), ['replace leases', 'get leases', 'get nodes', 'create leases', 'replace leases']);
    assert.equal(world.hooks, 0);
  });

  it('is read again after a write by another client, without reporting the connection [K5]', async () => {
    await world.settle();
    await edit({ leaseTransitions: 3 });
    world.forget();
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(requests(), ['replace leases', 'get leases', 'replace leases']);
    assert.equal(world.hooks, 0);
    assert.equal(stored()?.spec?.leaseTransitions, 3);
  });

  it('is requested with exponential back-off while the API server fails, and renewed after that [K6]', async () => {
    await world.settle();
    world.api.fail('replace', 'leases', 'internal', 5);
    world.api.fail('get', 'leases', 'internal', 13);
    await world.clock.advance(75 * secondMs);
    const renewals = world.times('replace', 'leases');
    const [brokeAt = 0] = renewals;
    const seen = renewals.slice(0, 6).map((at) => Math.round((at - brokeAt) * 10) / 10);
    assert.deepEqual(seen, [0, 0, 0, 0, 0, 61.6]);
    const looks = world.times('get', 'leases').map((at) => Math.round((at - brokeAt) * 10) / 10);
    assert.deepEqual(looks, [0, 0.2, 0.6, 1.4, 3, 6.2, 12.6, 19.6, 26.6, 33.6, 40.6, 47.6, 54.6, 61.6]);
    assert.equal(world.hooks, 4);
  });

  it('changes its duration and its interval when the kubelet restarts with new ones [K7]', async () => {
    await world.settle();
    world.forget();
    await world.restart({ leaseDurationSeconds: 20 });
    await world.clock.advance(50);
    const first = world.api.requests.find(({ verb, resource }) => verb === 'replace' && resource === 'leases');
    assert.equal((first?.body as Lease | undefined)?.spec?.leaseDurationSeconds, 20);
    assert.equal(stored()?.spec?.holderIdentity, 'n1');
    world.forget();
    await world.clock.advance(60 * secondMs);
    assert.equal(world.times('replace', 'leases').length, 12);
  });

  it('keeps a holder that another client has set [K8]', async () => {
    await world.settle();
    await edit({ holderIdentity: 'x' });
    await world.clock.advance(60 * secondMs);
    assert.equal(stored()?.spec?.holderIdentity, 'x');
    assert.ok(world.times('replace', 'leases').length >= 6);
  });

  it('is not deleted at the end [K9]', async () => {
    await world.settle();
    await world.stop();
    assert.ok(stored() !== undefined);
    assert.deepEqual(world.verbs('leases'), []);
  });

  it('is deleted with its node and created again with the next one as its owner [K10]', async () => {
    await world.settle();
    const before = stored()?.metadata.ownerReferences?.[0]?.uid;
    await world.deleteNode();
    await remove();
    await world.clock.advance(10 * secondMs);
    assert.equal(stored(), undefined, 'there is no owner');
    world.forget();
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(world.verbs('leases'), ['get'], 'there is no lease to renew');
    await world.api.create('nodes', { metadata: { name: 'n1' } });
    await world.clock.advance(10 * secondMs);
    const after = stored()?.metadata.ownerReferences?.[0]?.uid;
    assert.equal(after, world.node()?.metadata.uid);
    assert.notEqual(after, before);
  });

  it('is created at the phase of its node, if the fleet is configured so', async () => {
    await world.stop();
    world = new NodeWorld({ profile: { leasePhase: 'hash' } });
    await world.startFor(9_900);
    assert.ok(stored() !== undefined, 'before a full period has passed');
  });
});
