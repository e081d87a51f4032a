import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Lease } from '../../../../src/api/lease.ts';
import { NodeWorld } from '../node-status/node-world.ts';

const secondMs = 1_000;
const key = 'kube-node-lease/n1';

describe('the lease of a node', () => {
  let world: NodeWorld;

  beforeEach(() => {
    world = new NodeWorld();
  });

  afterEach(async () => {
    await world.stop();
  });

  const stored = (): Lease | undefined => world.api.peek('leases', key);

  /** Requests for leases, and for the node as long as nothing else asks for it, in order. */
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

  it('is made a period after the start: at first there is no node to own it [K1]', async () => {
    world.start();
    await world.clock.advance(50);
    assert.deepEqual(requests(), ['get leases', 'get nodes']);
    await world.clock.advance(9_900);
    assert.equal(stored(), undefined);
    await world.clock.advance(450);
    const [createdAt = 0] = world.times('create', 'leases');
    assert.ok(createdAt >= 10 && createdAt <= 10.4, `${createdAt} s`);
    assert.equal(stored()?.spec?.leaseDurationSeconds, 40);
    assert.equal(stored()?.spec?.holderIdentity, 'n1');
    assert.deepEqual(stored()?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: world.node()?.metadata.uid },
    ]);
    assert.match(stored()?.spec?.renewTime ?? '', /\.\d{6}Z$/);
  });

  it('is renewed at once by a kubelet that finds it, before it has registered, and then without being read [K2]', async () => {
    await world.settle();
    await world.restart();
    await world.clock.advance(50);
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

  it('is made again in the same period when somebody deleted it: eight requests [K4]', async () => {
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

  it('is made again after one conflict, as a real API server answers to a lease that is gone', async () => {
    await world.settle();
    await remove();
    world.api.fail('replace', 'leases', 'conflict');
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(requests(), ['replace leases', 'get leases', 'get nodes', 'create leases', 'replace leases']);
    assert.equal(world.hooks, 0);
  });

  it('is read again when somebody else wrote it, and the connection is not blamed [K5]', async () => {
    await world.settle();
    await edit({ leaseTransitions: 3 });
    world.forget();
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(requests(), ['replace leases', 'get leases', 'replace leases']);
    assert.equal(world.hooks, 0);
    assert.equal(stored()?.spec?.leaseTransitions, 3);
  });

  it('is asked for with growing waits while the API server fails, and renewed when it answers [K6]', async () => {
    await world.settle();
    world.api.fail('replace', 'leases', 'internal', 5);
    world.api.fail('get', 'leases', 'internal', 13);
    await world.clock.advance(75 * secondMs);
    const renewals = world.times('replace', 'leases');
    const [brokeAt = 0] = renewals;
    assert.deepEqual(
      renewals.slice(0, 6).map((at) => Math.round((at - brokeAt) * 10) / 10),
      [0, 0, 0, 0, 0, 61.6],
    );
    const looks = world.times('get', 'leases').map((at) => Math.round((at - brokeAt) * 10) / 10);
    assert.deepEqual(looks, [0, 0.2, 0.6, 1.4, 3, 6.2, 12.6, 19.6, 26.6, 33.6, 40.6, 47.6, 54.6, 61.6]);
    assert.equal(world.hooks, 4);
  });

  it('takes another duration, and with it another interval, when the kubelet restarts with one [K7]', async () => {
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

  it('keeps the holder that somebody wrote on it [K8]', async () => {
    await world.settle();
    await edit({ holderIdentity: 'x' });
    await world.clock.advance(60 * secondMs);
    assert.equal(stored()?.spec?.holderIdentity, 'x');
    assert.ok(world.times('replace', 'leases').length >= 6);
  });

  it('is left behind at the end [K9]', async () => {
    await world.settle();
    await world.stop();
    assert.ok(stored() !== undefined);
    assert.deepEqual(world.verbs('leases'), []);
  });

  it('goes with its node and comes again with the next one, owned by that [K10]', async () => {
    await world.settle();
    const before = stored()?.metadata.ownerReferences?.[0]?.uid;
    await world.deleteNode();
    await remove();
    await world.clock.advance(10 * secondMs);
    assert.equal(stored(), undefined, 'nobody could own it');
    world.forget();
    await world.clock.advance(10 * secondMs);
    assert.deepEqual(world.verbs('leases'), ['get'], 'there is nothing to renew');
    await world.api.create('nodes', { metadata: { name: 'n1' } });
    await world.clock.advance(10 * secondMs);
    const after = stored()?.metadata.ownerReferences?.[0]?.uid;
    assert.equal(after, world.node()?.metadata.uid);
    assert.notEqual(after, before);
  });

  it('is made at a phase of its own in a fleet that wants that', async () => {
    await world.stop();
    world = new NodeWorld({ profile: { leasePhase: 'hash' } });
    world.start();
    await world.clock.advance(9_900);
    assert.ok(stored() !== undefined, 'a period after the start would be too late');
  });
});
