import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Lease } from '../../../../../src/machinery/api/lease.ts';
import { LeaseRenewer } from '../../../../../src/hollow-cluster/kubelet/lease/lease-renewer.ts';
import { completeProfile } from '../../../../../src/hollow-cluster/kubelet/profile.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';
import { RecordingLogger, SeededRandom } from '../../../../support/fakes.ts';

describe('the lease renewer', () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let renewer: LeaseRenewer;
  const { signal } = new AbortController();
  const key = 'kube-node-lease/node-1';
  const stored = (): Lease | undefined => api.peek('leases', key);

  beforeEach(() => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    renewer = new LeaseRenewer({
      name: 'node-1',
      api,
      clock,
      random: new SeededRandom(1),
      logger: new RecordingLogger(),
      profile: completeProfile(),
    });
  });

  const makeNode = () => api.create('nodes', { metadata: { name: 'node-1' } });

  it('creates no lease for a node that does not exist, without an error', async () => {
    await renewer.renew(signal);
    assert.equal(stored(), undefined);
    assert.equal(renewer.renewedAtMs, undefined);
    await makeNode();
    await renewer.renew(signal);
    assert.equal(stored()?.spec?.holderIdentity, 'node-1');
  });

  it('renews with one request, without a read', async () => {
    await makeNode();
    await renewer.renew(signal);
    const before = api.requests.length;
    const created = stored()?.spec?.renewTime ?? '';
    await clock.advance(1);
    await renewer.renew(signal);
    const seen = api.requests.slice(before).map(({ verb, resource }) => `${verb} ${resource}`);
    assert.deepEqual(seen, ['replace leases']);
    assert.ok((stored()?.spec?.renewTime ?? '') > created);
    assert.equal(renewer.renewedAtMs, clock.monotonicMs());
  });

  it('reads the lease again after a conflict and then succeeds', async () => {
    await makeNode();
    await renewer.renew(signal);
    const foreign = stored();
    assert.ok(foreign);
    await api.replace('leases', { ...foreign, metadata: { ...foreign.metadata, labels: { by: 'another' } } });
    await clock.advance(5);
    const before = api.requests.length;
    await renewer.renew(signal);
    const verbs = api.requests.slice(before).map(({ verb }) => verb);
    assert.deepEqual(verbs, ['replace', 'get', 'replace']);
    assert.equal(stored()?.metadata.labels?.['by'], 'another');
    assert.equal(renewer.renewedAtMs, clock.monotonicMs());
  });

  it('recreates a deleted lease in the same renewal: five tries, a read, the owner, a create', async () => {
    await makeNode();
    await renewer.renew(signal);
    await api.delete('leases', { namespace: 'kube-node-lease', name: 'node-1' }, { uid: uidOf(stored()), signal });
    const before = api.requests.length;
    await renewer.renew(signal);
    assert.deepEqual(
      api.requests.slice(before).map(({ verb, resource }) => `${verb} ${resource}`),
      [...Array.from({ length: 5 }, () => 'replace leases'), 'get leases', 'get nodes', 'create leases'],
    );
  });

  it('sets the owner of a lease that has none', async () => {
    const node = await makeNode();
    await api.create('leases', { metadata: { name: 'node-1', namespace: 'kube-node-lease' } });
    await renewer.renew(signal);
    assert.equal(stored()?.metadata.ownerReferences?.[0]?.uid, node.metadata.uid);
  });

  it('backs off exponentially while the lease cannot be read', async () => {
    await makeNode();
    api.fail('get', 'leases', 'unavailable', 3);
    const done = renewer.renew(signal);
    await clock.advance(200 + 400 + 799);
    assert.equal(stored(), undefined);
    await clock.advance(1);
    await done;
    assert.ok(stored() !== undefined);
  });

  it('ends at once when the signal aborts, also during a back-off', async () => {
    const life = new AbortController();
    api.fail('get', 'leases', 'unavailable', 100);
    const running = renewer.run(life.signal);
    await clock.advance(5_000);
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0);
  });
});

function uidOf(lease: Lease | undefined): string {
  return lease?.metadata.uid ?? '';
}
