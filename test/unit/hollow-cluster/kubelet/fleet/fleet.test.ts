import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { findCondition, listConditions } from '../../../../../src/machinery/api/conditions.ts';
import type { Lease } from '../../../../../src/machinery/api/lease.ts';
import type { Node } from '../../../../../src/machinery/api/node.ts';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { HollowFleet } from '../../../../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { aPod } from '../../../../support/builders.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { MemoryApi } from '../../../../support/memory-api.ts';
import { RecordingLogger, SeededRandom } from '../../../../support/fakes.ts';

const secondMs = 1_000;
const names = ['node-0', 'node-1', 'node-2'];

describe('a fleet of hollow nodes', () => {
  let clock: ManualClock;
  let api: MemoryApi;
  let logger: RecordingLogger;
  let fleet: HollowFleet;
  let life: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    clock = new ManualClock();
    api = new MemoryApi(clock);
    logger = new RecordingLogger();
    fleet = new HollowFleet({
      nodes: names.map((name) => ({ name, labels: { 'topology.kubernetes.io/zone': 'a' } })),
      api,
      clock,
      random: new SeededRandom(1),
      logger,
    });
    life = new AbortController();
    running = fleet.run(life.signal);
  });

  afterEach(async () => {
    life.abort();
    await running;
    assert.equal(clock.sleeping, 0, 'no pending sleeps after the end');
    assert.deepEqual(logger.at('error'), []);
  });

  const node = (name: string): Node | undefined => api.peek('nodes', name);
  const lease = (name: string): Lease | undefined => api.peek('leases', `kube-node-lease/${name}`);
  const pod = (name: string): Pod | undefined => api.peek('pods', `default/${name}`);
  const nodeCondition = (name: string, type: string) =>
    findCondition(listConditions(node(name)?.status?.conditions), type);
  const podReady = (name: string) => findCondition(listConditions(pod(name)?.status?.conditions), 'Ready');

  async function bind(name: string, nodeName: string, graceSeconds = 30): Promise<Pod> {
    const containers = [{ name: 'main', image: 'pause' }];
    return await api.create(
      'pods',
      aPod(name, { spec: { nodeName, terminationGracePeriodSeconds: graceSeconds, containers } }),
    );
  }

  async function remove(name: string, gracePeriodSeconds?: number): Promise<void> {
    const uid = pod(name)?.metadata.uid ?? '';
    const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await api.delete('pods', { namespace: 'default', name }, { uid, ...grace, signal: life.signal });
  }

  it('registers every node not ready, and reports it ready within a second', async () => {
    await clock.advance(110);
    assert.equal(nodeCondition('node-0', 'Ready')?.status, 'False');
    assert.equal(nodeCondition('node-0', 'Ready')?.message, 'CSINode is not yet initialized');
    await clock.advance(secondMs);
    for (const name of names) assert.equal(nodeCondition(name, 'Ready')?.status, 'True', name);
    assert.equal(fleet.status().registered, names.length);
    assert.equal(fleet.status().ready, names.length);
    await fleet.whenRegistered(life.signal);
  });

  it('runs no bound pod before its own node is registered, whatever other nodes exist', async () => {
    await api.create('nodes', { metadata: { name: 'other' } });
    api.fail('create', 'nodes', 'unavailable', 18);
    await bind('web', 'node-0');
    await clock.advance(6 * secondMs);
    assert.equal(node('node-0'), undefined);
    assert.equal(pod('web')?.status?.phase, undefined);
    await clock.advance(20 * secondMs);
    assert.equal(pod('web')?.status?.phase, 'Running');
  });

  it('gives each node a lease owned by the node, and renews it four times per lease duration', async () => {
    await clock.advance(20 * secondMs);
    const before = api.count('replace', 'leases');
    await clock.advance(100 * secondMs);
    const renewals = (api.count('replace', 'leases') - before) / names.length;
    assert.ok(renewals >= 9 && renewals <= 10, `${renewals} renewals in 100 s`);
    assert.equal(api.count('create', 'leases'), names.length);
    assert.equal(lease('node-1')?.metadata.ownerReferences?.[0]?.uid, node('node-1')?.metadata.uid);
    assert.equal(lease('node-1')?.spec?.leaseDurationSeconds, 40);
  });

  it('writes an unchanged status once in five minutes, and sends no other request', async () => {
    await clock.advance(60 * secondMs);
    const patches = api.count('patch', 'nodes');
    const gets = api.count('get', 'nodes');
    await clock.advance(600 * secondMs);
    const written = (api.count('patch', 'nodes') - patches) / names.length;
    assert.ok(written >= 1 && written <= 3, `${written} reports in 10 minutes`);
    assert.equal(api.count('get', 'nodes'), gets);
  });

  it('runs a bound pod: Pending, then Running and ready', async () => {
    await clock.advance(2 * secondMs);
    await bind('web', 'node-1');
    await clock.advance(500);
    assert.equal(pod('web')?.status?.phase, 'Pending');
    assert.equal(podReady('web')?.status, 'False');
    await clock.advance(secondMs);
    assert.equal(pod('web')?.status?.phase, 'Running');
    assert.equal(podReady('web')?.status, 'True');
    assert.equal(pod('web')?.status?.hostIP, node('node-1')?.status?.addresses?.[0]?.address);
    assert.match(pod('web')?.status?.podIP ?? '', /^10\.128\.1\.\d+$/);
    assert.equal(fleet.status().unwrittenPods, 0);
  });

  it('sends no requests for an unchanged pod', async () => {
    await bind('web', 'node-0');
    await clock.advance(10 * secondMs);
    const requests = api.count('get', 'pods') + api.count('patch', 'pods');
    await clock.advance(300 * secondMs);
    assert.equal(api.count('get', 'pods') + api.count('patch', 'pods'), requests);
  });

  it('stops a deleted pod, writes its final status and deletes the object', async () => {
    await bind('web', 'node-0');
    await clock.advance(5 * secondMs);
    await remove('web');
    await clock.advance(500);
    assert.equal(pod('web')?.status?.phase, 'Running');
    await clock.advance(3 * secondMs);
    assert.equal(pod('web'), undefined);
    const phases = api.requests.filter(({ verb, resource }) => verb === 'patch' && resource === 'pods');
    assert.match(JSON.stringify(phases.at(-1)?.body), /"phase":"Succeeded"/);
    assert.equal(fleet.status().pods, 0);
  });

  it('completes the deletion of a pod that had not started', async () => {
    await clock.advance(secondMs);
    await bind('web', 'node-0');
    await clock.advance(100);
    await remove('web');
    await clock.advance(3 * secondMs);
    assert.equal(pod('web'), undefined);
  });

  it('forgets a force-deleted pod after its containers have stopped, and writes nothing about it', async () => {
    await bind('web', 'node-0');
    await clock.advance(5 * secondMs);
    await remove('web', 0);
    const requests = api.requests.length;
    await clock.advance(500);
    assert.equal(fleet.status().pods, 1);
    await clock.advance(2 * secondMs);
    assert.equal(fleet.status().pods, 0);
    const verbs = api.requests.slice(requests).flatMap(({ resource, verb }) => (resource === 'pods' ? [verb] : []));
    const seen = verbs.filter((verb) => verb !== 'get');
    assert.deepEqual(seen, []);
  });

  it('forgets a force-deleted pod that had not started', async () => {
    await clock.advance(secondMs);
    await bind('web', 'node-0');
    await clock.advance(100);
    await remove('web', 0);
    await clock.advance(3 * secondMs);
    assert.equal(fleet.status().pods, 0);
  });

  it('runs a new pod of the same name beside the old one', async () => {
    const first = await bind('web', 'node-0');
    await clock.advance(5 * secondMs);
    await remove('web', 0);
    const second = await bind('web', 'node-0');
    await clock.advance(3 * secondMs);
    assert.notEqual(first.metadata.uid, second.metadata.uid);
    assert.equal(pod('web')?.metadata.uid, second.metadata.uid);
    assert.equal(podReady('web')?.status, 'True');
    assert.equal(fleet.status().pods, 1);
  });

  it('reports a node unhealthy with the given reason, and healthy again', async () => {
    await clock.advance(5 * secondMs);
    const machine = fleet.kubelet('node-1')?.health;
    assert.ok(machine !== undefined);
    machine.fault = 'the disk is on fire';
    await clock.advance(11 * secondMs);
    const ready = nodeCondition('node-1', 'Ready');
    const expected = ['False', 'KubeletNotReady', 'the disk is on fire'];
    assert.deepEqual([ready?.status, ready?.reason, ready?.message], expected);
    assert.equal(fleet.status().unhealthy, 1);
    assert.equal(nodeCondition('node-0', 'Ready')?.status, 'True');
    machine.fault = undefined;
    await clock.advance(11 * secondMs);
    assert.equal(nodeCondition('node-1', 'Ready')?.status, 'True');
  });

  it('reports a forced condition, and its removal', async () => {
    await clock.advance(5 * secondMs);
    const machine = fleet.kubelet('node-0')?.health;
    machine?.setCondition('DiskPressure', true);
    machine?.setCondition('DiskMountPressure', true);
    await clock.advance(11 * secondMs);
    assert.equal(nodeCondition('node-0', 'DiskPressure')?.reason, 'KubeletHasDiskPressure');
    assert.equal(nodeCondition('node-0', 'DiskMountPressure')?.message, 'kubelet has disk mount pressure');
    machine?.setCondition('DiskPressure', false);
    await clock.advance(11 * secondMs);
    assert.equal(nodeCondition('node-0', 'DiskPressure')?.status, 'False');
  });

  it('changes no node if one of the names is unknown', () => {
    assert.throws(() => fleet.cutOff(['node-0', 'node-9']), RangeError);
    assert.equal(fleet.status().cutOff, 0);
  });

  it('does not receive changes of its node while it is cut off', async () => {
    await clock.advance(30 * secondMs);
    fleet.cutOff(['node-0']);
    await clock.advance(40 * secondMs);
    await markUnknown(api, 'node-0', life.signal);
    await clock.advance(11 * secondMs);
    fleet.reconnect(['node-0']);
    await clock.advance(0);
    assert.equal(nodeCondition('node-0', 'Ready')?.status, 'Unknown', 'no response was pending');
    await clock.advance(11 * secondMs);
    assert.equal(nodeCondition('node-0', 'Ready')?.status, 'True');
  });

  it('stops renewing while it is cut off, and renews at once when it is reconnected', async () => {
    await clock.advance(30 * secondMs);
    fleet.cutOff(['node-0']);
    const silentSince = lease('node-0')?.spec?.renewTime;
    await clock.advance(90 * secondMs);
    assert.equal(lease('node-0')?.spec?.renewTime, silentSince);
    assert.notEqual(lease('node-1')?.spec?.renewTime, silentSince);
    assert.equal(fleet.status().cutOff, 1);
    fleet.reconnect(['node-0']);
    await clock.advance(10.4 * secondMs);
    assert.ok((lease('node-0')?.spec?.renewTime ?? '') > (silentSince ?? ''));
  });

  it('catches up when it is reconnected: deletions completed, Unknown conditions corrected, pods ready again', async () => {
    await bind('kept', 'node-0');
    await bind('deleted', 'node-0');
    await bind('forced', 'node-0');
    await clock.advance(30 * secondMs);
    fleet.cutOff(['node-0']);
    await clock.advance(40 * secondMs);
    await markUnknown(api, 'node-0', life.signal);
    await markNotReady(api, 'kept', life.signal);
    await remove('deleted');
    await remove('forced', 0);
    await bind('late', 'node-0');
    await clock.advance(300 * secondMs);
    assert.equal(pod('deleted')?.status?.phase, 'Running', 'the cut-off node has not stopped it');
    assert.equal(pod('late')?.status, undefined, 'the cut-off node has not received it');
    assert.equal(fleet.status().pods, 3);

    fleet.reconnect(['node-0']);
    await clock.advance(15 * secondMs);
    assert.equal(pod('deleted'), undefined);
    assert.equal(podReady('kept')?.status, 'True');
    assert.equal(podReady('late')?.status, 'True');
    assert.equal(nodeCondition('node-0', 'Ready')?.status, 'True');
    assert.deepEqual([fleet.status().pods, fleet.status().unwrittenPods], [2, 0]);
  });

  it('does not recreate a deleted node', async () => {
    await clock.advance(5 * secondMs);
    const uid = node('node-0')?.metadata.uid ?? '';
    await api.delete('nodes', { name: 'node-0' }, { uid, signal: life.signal });
    await clock.advance(60 * secondMs);
    assert.equal(node('node-0'), undefined);
  });
});

describe('the node names of a fleet', () => {
  it('must be unique', () => {
    const clock = new ManualClock();
    const nodes = [
      { name: 'twin', labels: {} },
      { name: 'twin', labels: {} },
    ];
    const build = (): HollowFleet =>
      new HollowFleet({
        nodes,
        api: new MemoryApi(clock),
        clock,
        random: new SeededRandom(1),
        logger: new RecordingLogger(),
      });
    assert.throws(build, RangeError);
  });
});

function markNotReady(api: MemoryApi, name: string, signal: AbortSignal): Promise<unknown> {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2030-01-01T00:00:00Z' }];
  const body = { status: { conditions, reason: 'NodeLost' } };
  return api.patch('pods', { namespace: 'default', name }, { type: 'strategic-merge', body }, { signal });
}

function markUnknown(api: MemoryApi, name: string, signal: AbortSignal): Promise<unknown> {
  const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
    type,
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  }));
  const body = { status: { conditions } };
  return api.patch('nodes', { name }, { type: 'strategic-merge', body }, { signal });
}
