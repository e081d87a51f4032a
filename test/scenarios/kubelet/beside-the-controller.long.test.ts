import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Node } from '../../../src/machinery/api/node.ts';
import { formatMicroTime } from '../../../src/machinery/api/timestamps.ts';
import { HollowFleet } from '../../../src/hollow-cluster/kubelet/fleet/fleet.ts';
import { FleetWorld } from '../../support/fleet-world.ts';
import { SeededRandom, silentLogger } from '../../support/fakes.ts';

const minute = 60;
const hour = 60 * minute;
const partition = { kind: 'partition', direction: 'all', manner: 'silent' } as const;

/** Four nodes and the node controller: a grace period of 40 s, a monitor pass every 5 s, tolerations of 300 s in every pod. */
describe('faults of hollow nodes, observed through the node controller', () => {
  let world: FleetWorld;

  afterEach(async () => {
    assert.equal(await world.end(), 0, 'no pending sleeps after the end');
    assert.deepEqual(world.logger.at('error'), []);
  });

  async function aWorld(seconds = 60, nodes: number | readonly string[] = 4): Promise<FleetWorld> {
    world = new FleetWorld({ nodes, controller: {} });
    await world.advance(5);
    await world.bind('web');
    await world.advance(seconds - 5);
    assert.equal(world.ready()?.status, 'True');
    assert.equal(world.podReady('web')?.status, 'True');
    return world;
  }

  function secondsSinceRenewal(): number {
    return (world.clock.nowMs() - Date.parse(world.lease()?.spec?.renewTime ?? '')) / 1_000;
  }

  it('a partitioned node becomes Unknown after its grace period and tainted; its pods become not ready and Terminating, and stay [J1]', async () => {
    await aWorld();
    world.post(partition);
    await world.until('Unknown', 60, () => world.ready()?.status === 'Unknown');
    assert.ok(secondsSinceRenewal() > 40 && secondsSinceRenewal() <= 55, `${secondsSinceRenewal()} s`);
    await world.advance(10);
    assert.deepEqual([...world.taints()].sort(), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
    assert.equal(world.podReady('web')?.status, 'False');
    await world.advance(280);
    assert.equal(world.pod('web')?.metadata.deletionTimestamp, undefined);
    await world.advance(30);
    assert.notEqual(world.pod('web')?.metadata.deletionTimestamp, undefined);
    await world.advance(hour);
    assert.notEqual(world.pod('web'), undefined);
    assert.equal(world.ready('n2')?.status, 'True');
  });

  it('a partition shorter than the grace period causes no taint and no deletion; the pods become ready again [J2]', async () => {
    await aWorld();
    const readySince = world.podReady('web')?.lastTransitionTime;
    const fault = world.post(partition);
    await world.advance(200);
    assert.equal(world.podReady('web')?.status, 'False');
    const renewedBefore = world.lease()?.spec?.renewTime;
    world.fleet.faults.withdraw(fault.id);
    await world.until('a renewal', 17.5, () => world.lease()?.spec?.renewTime !== renewedBefore);
    await world.until('Ready', 20.5, () => world.ready()?.status === 'True');
    await world.until('the pod ready', 10.5, () => world.podReady('web')?.status === 'True');
    await world.until('no taint', 10, () => world.taints().length === 0);
    assert.equal(world.podReady('web')?.lastTransitionTime, readySince);
    await world.advance(10 * minute);
    assert.equal(world.pod('web')?.metadata.deletionTimestamp, undefined);
  });

  it('after a partition longer than the tolerations, the deleted pods terminate and the others keep running [J3]', async () => {
    await aWorld();
    await world.bind('elsewhere', 'n2');
    const fault = world.post(partition);
    await world.advance(15 * minute);
    assert.notEqual(world.pod('web')?.metadata.deletionTimestamp, undefined);
    world.fleet.faults.withdraw(fault.id);
    await world.until('the pod gone', 34, () => world.pod('web') === undefined);
    assert.equal(world.podReady('elsewhere')?.status, 'True');
  });

  it('a node without status reports stays ready for an hour [J4]', async () => {
    await aWorld();
    world.post({ kind: 'silence', heartbeat: 'status' });
    const patches = world.api.count('patch', 'nodes');
    await world.advance(hour);
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.deepEqual(world.taints(), []);
    assert.ok(world.api.count('patch', 'nodes') > patches, 'the other nodes report');
  });

  it('a node without lease renewals alternates between Unknown and Ready about once a minute [J5]', async () => {
    await aWorld();
    world.post({ kind: 'silence', heartbeat: 'lease' });
    await world.until('Unknown', 56, () => world.ready()?.status === 'Unknown');
    await world.until('Ready again', 10.5, () => world.ready()?.status === 'True');
    const since = world.seconds;
    await world.advance(10 * minute);
    const flaps = world.turns('n1', 'Unknown', since);
    assert.ok(flaps >= 9 && flaps <= 15, `${flaps} in 10 minutes`);
    assert.equal(world.events.filter((line) => line === 'n1 NodeReady').length > 0, true);
  });

  it('requests delayed by 12 s time out at 10 s; with delayed responses the writes still take effect [J6]', async () => {
    await aWorld();
    const fault = world.post({ kind: 'lag', delayMs: 12_000, jitterMs: 0, on: 'request' });
    await world.until('Unknown', 60, () => world.ready()?.status === 'Unknown');
    world.fleet.faults.withdraw(fault.id);
    await world.until('Ready', 30, () => world.ready()?.status === 'True');
    // Wait until its lease has recovered, too.
    await world.advance(30);
    const puts = (): number =>
      world.api.requests.filter(({ verb, resource, name }) => {
        return verb === 'replace' && resource === 'leases' && name === 'n1';
      }).length;
    const before = puts();
    const renewedBefore = world.lease()?.spec?.renewTime;
    world.post({ kind: 'lag', delayMs: 12_000, jitterMs: 0, on: 'response' });
    await world.advance(50);
    assert.notEqual(world.lease()?.spec?.renewTime, renewedBefore, 'the write has taken effect');
    assert.ok(puts() - before >= 3, 'and is retried, as its response always times out');
    const since = world.seconds;
    await world.advance(5 * minute);
    const [unknown, ready] = [world.turns('n1', 'Unknown', since), world.turns('n1', 'True', since)];
    assert.ok(unknown > 0 && Math.abs(unknown - ready) <= 1, 'each Unknown is followed by a status that takes effect');
  });

  it('responses delayed by 8 s arrive in time: no effect [J6]', async () => {
    await aWorld();
    world.post({ kind: 'lag', delayMs: 8_000, jitterMs: 0, on: 'response' });
    await world.advance(10 * minute);
    assert.equal(world.turns('n1', 'Unknown'), 0);
  });

  it('flapping with 30 s down and 30 s up causes no Unknown in an hour; 50 s down causes one each time [J7]', async () => {
    await aWorld();
    const fault = world.post({ kind: 'flap', upMs: 30_000, downMs: 30_000, phase: 'aligned' });
    await world.advance(hour);
    assert.equal(world.turns('n1', 'Unknown'), 0);
    world.fleet.faults.withdraw(fault.id);
    await world.advance(minute);
    const since = world.seconds;
    world.post({ kind: 'flap', upMs: 30_000, downMs: 50_000, phase: 'aligned' });
    await world.advance(20 * minute);
    const flaps = world.turns('n1', 'Unknown', since);
    assert.ok(flaps >= 12 && flaps <= 15, `${flaps} in 15 cycles`);
  });

  it('a clock that is two hours ahead has no effect [J8]', async () => {
    await aWorld();
    world.post({ kind: 'clock-skew', offsetMs: 2 * hour * 1_000, driftMsPerHour: 0 });
    await world.advance(20 * minute);
    const aheadMs = Date.parse(world.lease()?.spec?.renewTime ?? '') - world.clock.nowMs();
    assert.ok(aheadMs > 1.9 * hour * 1_000, 'its timestamps are of its own clock');
    world.post({ kind: 'crash', of: 'process', downMs: 1_000 });
    await world.advance(minute);
    const events = world.drafts.findLast(({ reason }) => reason === 'Starting');
    assert.ok((events?.reportedAtMs ?? 0) > world.clock.nowMs() + 1.9 * hour * 1_000, 'and so are those of its Events');
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.deepEqual(world.taints(), []);
  });

  it('a clock that steps back: renewals are accepted, and every one counts as a heartbeat [J9]', async () => {
    await aWorld();
    world.post({ kind: 'clock-skew', offsetMs: -10 * minute * 1_000, driftMsPerHour: 0 });
    await world.advance(11);
    const stepped = world.lease()?.spec?.renewTime ?? '';
    assert.ok(Date.parse(stepped) < world.clock.nowMs() - 9 * minute * 1_000, 'the API server accepts it');
    await world.advance(20 * minute);
    // Any change of a lease is a heartbeat, whatever its renewTime: the node does not flap.
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.equal(world.ready()?.status, 'True');
  });

  it('a runtime that is down: the node is not ready but never Unknown, and its pods terminate only when the runtime is back [J10]', async () => {
    await aWorld();
    const fault = world.post({ kind: 'runtime-down', message: 'connection refused' });
    await world.until('not ready', 60, () => world.ready()?.status === 'False');
    await world.until('the taint', 10, () => world.taints().includes('not-ready:NoExecute'));
    await world.until('deletion', 320, () => world.pod('web')?.metadata.deletionTimestamp !== undefined, 5);
    await world.advance(10 * minute);
    assert.notEqual(world.pod('web'), undefined);
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.ok(secondsSinceRenewal() < 11);
    world.fleet.faults.withdraw(fault.id);
    await world.until('the pod gone', 34 + 10, () => world.pod('web') === undefined);
  });

  it('a network that is not ready does not keep pods from terminating [J10]', async () => {
    await aWorld();
    world.post({ kind: 'network-not-ready', message: 'cni plugin not initialized' });
    await world.until('not ready', 15.5, () => world.ready()?.status === 'False');
    assert.match(world.ready()?.message ?? '', /cni plugin not initialized/);
    await world.until('the pod gone', 360, () => world.pod('web') === undefined, 5);
  });

  it('a node that ignores deletions keeps its pods Terminating; other nodes do not [J12]', async () => {
    await aWorld();
    await world.bind('other', 'n2');
    await world.advance(5);
    world.post({ kind: 'ignore-deletes' });
    world.post({ kind: 'unhealthy', reason: 'made so' }, ['n1', 'n2']);
    await world.until('the other pod gone', 400, () => world.pod('other') === undefined, 5);
    await world.advance(5 * minute);
    assert.notEqual(world.pod('web')?.metadata.deletionTimestamp, undefined);
    assert.equal(world.api.requests.filter(({ verb, name }) => verb === 'delete' && name === 'web').length, 1);
  });

  it('a kubelet process that is down for 20 s has no effect but a Starting event [J13]', async () => {
    await aWorld();
    const running = world.fleet.kubelet('n1')?.host.live(world.pod('web')?.metadata.uid ?? '');
    world.events.length = 0;
    world.post({ kind: 'crash', of: 'process', downMs: 20_000 });
    await world.advance(10 * minute);
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.equal(world.events.filter((line) => line === 'n1 Starting').length, 1);
    const after = world.fleet.kubelet('n1')?.host.live(world.pod('web')?.metadata.uid ?? '');
    const ids = after?.map(({ id }) => id);
    assert.deepEqual(
      ids,
      running?.map(({ id }) => id),
    );
    assert.equal(world.podReady('web')?.status, 'True');
  });

  it('two kubelets with one node name: both keep running, with conflicts over the lease and alternating statuses [J14]', async () => {
    await aWorld();
    const twin = new HollowFleet({
      nodes: [{ name: 'n1', labels: {} }],
      machine: { cpuCores: 16 },
      api: world.api,
      clock: world.clock,
      random: new SeededRandom(9),
      logger: silentLogger,
      profile: { nodeStatusReportFrequencyMs: 10_000 },
    });
    const running = twin.run(world.signal);
    const cpus = new Set<unknown>();
    const leave = world.api.onEvent((resource, { object }) => {
      const node = object as Node;
      if (resource === 'nodes' && node.metadata.name === 'n1') cpus.add(node.status?.capacity?.['cpu']);
    });
    const [gets, puts] = [world.api.count('get', 'leases'), world.api.count('replace', 'leases')];
    await world.advance(10 * minute);
    leave();
    const conflicts = world.api.count('get', 'leases') - gets;
    assert.ok(conflicts >= 40, `${conflicts} conflicts`);
    assert.ok(world.api.count('replace', 'leases') - puts >= 2 * 55 + conflicts);
    assert.deepEqual(cpus, new Set(['8', '16']));
    assert.equal(world.turns('n1', 'Unknown'), 0);
    await world.end();
    await running;
  });

  it('a Node object that is deleted while its kubelet runs is recreated only after a kubelet restart [J15]', async () => {
    await aWorld();
    const uid = world.node()?.metadata.uid;
    world.post({ kind: 'delete-node' });
    await world.advance(1);
    assert.equal(world.node(), undefined);
    await world.until('the pod collected', 90, () => world.pod('web') === undefined, 5);
    assert.equal(world.node(), undefined);
    world.post({ kind: 'crash', of: 'process', downMs: 1_000 });
    await world.until('a node again', 20, () => world.ready()?.status === 'True');
    assert.notEqual(world.node()?.metadata.uid, uid);
    await world.advance(minute);
    assert.ok(Date.parse(world.lease()?.spec?.renewTime ?? '') > world.clock.nowMs() - 11_000);
  });

  it('a zone with 56 of 100 nodes partitioned is partially disrupted; with all of them partitioned, evictions stop [J11]', async () => {
    world = new FleetWorld({ nodes: 100, controller: { largeClusterSizeThreshold: 50 } });
    await world.advance(60);
    const fault = world.fleet.faults.post({ selector: { zone: 'a', share: 0.56 }, fault: partition, id: 'part' });
    assert.equal(fault.nodes.length, 56);
    await world.advance(2 * minute);
    const tainted = (): number =>
      [...world.fleet.nodes()].filter(({ name }) => world.taints(name).includes('unreachable:NoExecute')).length;
    const before = tainted();
    await world.advance(5 * minute);
    // 0.01 nodes per second instead of 0.1.
    assert.ok(tainted() - before <= 4, `${tainted() - before} more in 5 minutes`);
    world.fleet.faults.post({ selector: {}, fault: partition, id: 'all' });
    await world.advance(2 * minute);
    const atDisruption = tainted();
    await world.advance(10 * minute);
    assert.ok(tainted() <= atDisruption, 'no evictions during full disruption');
    const renew = formatMicroTime(world.clock.nowMs());
    assert.ok(renew > (world.lease()?.spec?.renewTime ?? ''));
  });
});
