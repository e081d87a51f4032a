import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Node } from '../../../../src/api/node.ts';
import { formatMicroTime } from '../../../../src/api/timestamps.ts';
import { HollowFleet } from '../../../../src/kubelet/fleet.ts';
import { FleetWorld } from '../../../support/fleet-world.ts';
import { SeededRandom, silentLogger } from '../../../support/quiet.ts';

const minute = 60;
const hour = 60 * minute;
const dark = { kind: 'partition', direction: 'all', manner: 'silent' } as const;

/** Four nodes and the node controller: a grace period of 40 s, a look every 5 s, 300 s of patience in every pod. */
describe('faults of hollow nodes, and what the node controller makes of them', () => {
  let world: FleetWorld;

  afterEach(async () => {
    assert.equal(await world.end(), 0, 'nobody sleeps on after the end');
    assert.deepEqual(
      world.logger.lines.filter(({ level }) => level === 'error'),
      [],
    );
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

  it('a node in the dark: Unknown after its grace period, tainted, its pods marked and told to go, and there to stay [J1]', async () => {
    await aWorld();
    world.post(dark);
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

  it('a node that is back in time: a renewal, a status, no taint, no pod lost, and pods ready as of old [J2]', async () => {
    await aWorld();
    const readySince = world.podReady('web')?.lastTransitionTime;
    const fault = world.post(dark);
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

  it('a node that is back too late: its pods end as they were told to, others are left alone [J3]', async () => {
    await aWorld();
    await world.bind('elsewhere', 'n2');
    const fault = world.post(dark);
    await world.advance(15 * minute);
    assert.notEqual(world.pod('web')?.metadata.deletionTimestamp, undefined);
    world.fleet.faults.withdraw(fault.id);
    await world.until('the pod gone', 34, () => world.pod('web') === undefined);
    assert.equal(world.podReady('elsewhere')?.status, 'True');
  });

  it('without its statuses alone a node stays ready for an hour [J4]', async () => {
    await aWorld();
    world.post({ kind: 'silence', heartbeat: 'status' });
    const patches = world.api.count('patch', 'nodes');
    await world.advance(hour);
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.deepEqual(world.taints(), []);
    assert.ok(world.api.count('patch', 'nodes') > patches, 'the others report');
  });

  it('without its lease alone a node is Unknown and ready again about once a minute [J5]', async () => {
    await aWorld();
    world.post({ kind: 'silence', heartbeat: 'lease' });
    await world.until('Unknown', 56, () => world.ready()?.status === 'Unknown');
    await world.until('Ready again', 10.5, () => world.ready()?.status === 'True');
    const since = world.seconds;
    await world.advance(10 * minute);
    const flaps = world.turns('n1', 'Unknown', since);
    assert.ok(flaps >= 9 && flaps <= 15, `${flaps} in 10 minutes`);
    assert.equal(world.told.filter((line) => line === 'n1 NodeReady').length > 0, true);
  });

  it('requests that take 12 s are given up at 10 s; where only the answers do, what was asked for happens [J6]', async () => {
    await aWorld();
    const fault = world.post({ kind: 'lag', delayMs: 12_000, jitterMs: 0, on: 'request' });
    await world.until('Unknown', 60, () => world.ready()?.status === 'Unknown');
    world.fleet.faults.withdraw(fault.id);
    await world.until('Ready', 30, () => world.ready()?.status === 'True');
    // Until its lease has recovered, too.
    await world.advance(30);
    const puts = (): number =>
      world.api.requests.filter(({ verb, resource, name }) => {
        return verb === 'replace' && resource === 'leases' && name === 'n1';
      }).length;
    const before = puts();
    const renewedBefore = world.lease()?.spec?.renewTime;
    world.post({ kind: 'lag', delayMs: 12_000, jitterMs: 0, on: 'response' });
    await world.advance(50);
    assert.notEqual(world.lease()?.spec?.renewTime, renewedBefore, 'the write has landed');
    assert.ok(puts() - before >= 3, 'and is repeated, in vain, as its answer never comes in time');
    const since = world.seconds;
    await world.advance(5 * minute);
    const [unknown, ready] = [world.turns('n1', 'Unknown', since), world.turns('n1', 'True', since)];
    assert.ok(unknown > 0 && Math.abs(unknown - ready) <= 1, 'each Unknown is answered by a status that lands');
  });

  it('answers that take 8 s come in time: nobody notices [J6]', async () => {
    await aWorld();
    world.post({ kind: 'lag', delayMs: 8_000, jitterMs: 0, on: 'response' });
    await world.advance(10 * minute);
    assert.equal(world.turns('n1', 'Unknown'), 0);
  });

  it('30 s down and 30 s up is never Unknown in an hour; 50 s down is, each time [J7]', async () => {
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

  it('a clock that is two hours ahead is nobody\u2019s concern [J8]', async () => {
    await aWorld();
    world.post({ kind: 'clock-skew', offsetMs: 2 * hour * 1_000, driftMsPerHour: 0 });
    await world.advance(20 * minute);
    const aheadMs = Date.parse(world.lease()?.spec?.renewTime ?? '') - world.clock.nowMs();
    assert.ok(aheadMs > 1.9 * hour * 1_000, 'its timestamps are of its own clock');
    world.post({ kind: 'crash', of: 'process', downMs: 1_000 });
    await world.advance(minute);
    const told = world.drafts.findLast(({ reason }) => reason === 'Starting');
    assert.ok((told?.toldAtMs ?? 0) > world.clock.nowMs() + 1.9 * hour * 1_000, 'and so are its events');
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.deepEqual(world.taints(), []);
  });

  it('a clock that steps back: renewals go through, and whether they count is the controller\u2019s affair [J9]', async () => {
    await aWorld();
    world.post({ kind: 'clock-skew', offsetMs: -10 * minute * 1_000, driftMsPerHour: 0 });
    await world.advance(11);
    const stepped = world.lease()?.spec?.renewTime ?? '';
    assert.ok(Date.parse(stepped) < world.clock.nowMs() - 9 * minute * 1_000, 'the API server takes it');
    await world.advance(20 * minute);
    // Here any change of a lease is a heartbeat, whatever time it names: there is nothing to flap about.
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.equal(world.ready()?.status, 'True');
  });

  it('a runtime that is down: not ready and never Unknown, and pods that cannot end until it is back [J10]', async () => {
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

  it('a network that is not ready keeps nothing from ending [J10]', async () => {
    await aWorld();
    world.post({ kind: 'network-not-ready', message: 'cni plugin not initialized' });
    await world.until('not ready', 15.5, () => world.ready()?.status === 'False');
    assert.match(world.ready()?.message ?? '', /cni plugin not initialized/);
    await world.until('the pod gone', 360, () => world.pod('web') === undefined, 5);
  });

  it('a node that ignores deletions keeps its pods Terminating, others do not [J12]', async () => {
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

  it('a kubelet that is away for 20 s: nobody notices but for its event [J13]', async () => {
    await aWorld();
    const running = world.fleet.kubelet('n1')?.host.live(world.pod('web')?.metadata.uid ?? '');
    world.told.length = 0;
    world.post({ kind: 'crash', of: 'process', downMs: 20_000 });
    await world.advance(10 * minute);
    assert.equal(world.turns('n1', 'Unknown'), 0);
    assert.equal(world.told.filter((line) => line === 'n1 Starting').length, 1);
    const after = world.fleet.kubelet('n1')?.host.live(world.pod('web')?.metadata.uid ?? '');
    assert.deepEqual(
      after?.map(({ id }) => id),
      running?.map(({ id }) => id),
    );
    assert.equal(world.podReady('web')?.status, 'True');
  });

  it('two kubelets of one name: both run on, conflicts over the lease, a status that changes hands [J14]', async () => {
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
    assert.ok(conflicts >= 40, `${conflicts} times somebody had to look who was there before`);
    assert.ok(world.api.count('replace', 'leases') - puts >= 2 * 55 + conflicts);
    assert.deepEqual(cpus, new Set(['8', '16']));
    assert.equal(world.turns('n1', 'Unknown'), 0);
    await world.end();
    await running;
  });

  it('a node that is deleted under its kubelet is not made again until that starts anew [J15]', async () => {
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

  it('a zone of 100 of which 56 are dark is thought to be in trouble itself; all dark, nobody is sent away [J11]', async () => {
    world = new FleetWorld({ nodes: 100, controller: { largeClusterSizeThreshold: 50 } });
    await world.advance(60);
    const fault = world.fleet.faults.post({ selector: { zone: 'a', share: 0.56 }, fault: dark, id: 'part' });
    assert.equal(fault.nodes.length, 56);
    await world.advance(2 * minute);
    const tainted = (): number =>
      [...world.fleet.nodes()].filter(({ name }) => world.taints(name).includes('unreachable:NoExecute')).length;
    const before = tainted();
    await world.advance(5 * minute);
    // 0.01 nodes a second instead of 0.1.
    assert.ok(tainted() - before <= 4, `${tainted() - before} more in 5 minutes`);
    world.fleet.faults.post({ selector: {}, fault: dark, id: 'all' });
    await world.advance(2 * minute);
    const atDark = tainted();
    await world.advance(10 * minute);
    assert.ok(tainted() <= atDark, 'with all of it dark nobody is sent away any more');
    const renew = formatMicroTime(world.clock.nowMs());
    assert.ok(renew > (world.lease()?.spec?.renewTime ?? ''));
  });
});
