// The API server is away for longer than a lease lasts, and the replicas are restarted meanwhile: how long it takes until
// a replica leads with caches in sync.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicaWorld } from '../../support/replica-world.ts';

const electionMs = 15_000;

/** Milliseconds after the first answer, for a node that died with the API server. */
interface Recovery {
  readonly inSyncMs: number;
  readonly leadsMs: number;
  readonly unknownMs: number;
}

async function recover(awayMs: number, seed: number): Promise<Recovery> {
  using cluster = new ReplicaWorld({}, seed);
  await cluster.settle();
  const start = cluster.world.stopServers([...cluster.world.servers.keys()]);
  for (const replica of cluster.world.replicas.values()) replica.kill(5_000);
  cluster.cut('n1');
  await cluster.advance(awayMs);
  const { length } = cluster.sent;
  start();
  await cluster.until('a request', 10_000, () => cluster.sent.length > length);
  const answeredAtMs = cluster.sent[length]?.atMs ?? Number.NaN;
  const after = async (what: string, holds: () => boolean): Promise<number> => {
    await cluster.until(what, 100_000, holds);
    return cluster.nowMs - answeredAtMs;
  };
  return {
    inSyncMs: await after('in sync', () => cluster.inSync()),
    leadsMs: await after('a leader', () => cluster.world.leader() !== undefined),
    unknownMs: await after('n1 is Unknown', () => cluster.ready('n1') === 'Unknown'),
  };
}

test('after an outage the replicas are in sync within 3 s of the first answer, and one leads within 16 s', async () => {
  for (const [seed, awayMs] of [45_000, 45_000, 150_000, 150_000].entries()) {
    const { inSyncMs, leadsMs, unknownMs } = await recover(awayMs, seed);
    const label = `${awayMs} ms away: in sync ${inSyncMs}, leads ${leadsMs}, Unknown ${unknownMs}`;
    assert.ok(inSyncMs <= 3_000, label);
    // No replica may lead before the lease of the former leader has expired.
    assert.ok(leadsMs > electionMs && leadsMs <= 16_000, label);
    // A grace period of 50 s, from when the replica saw the node first.
    assert.ok(unknownMs <= 56_000, label);
  }
});

test('a standby that outlives an outage has all its watches open 3 s after the first answer', async () => {
  for (const awayMs of [45_000, 150_000]) {
    using cluster = new ReplicaWorld({}, awayMs);
    await cluster.settle();
    const standby = cluster.standby();
    const start = cluster.world.stopServers([...cluster.world.servers.keys()]);
    await cluster.advance(awayMs);
    const { length } = cluster.sent;
    start();
    const ofStandby = (): boolean => cluster.sent.slice(length).some(({ replica }) => replica === standby.name);
    await cluster.until('a request', 10_000, ofStandby);
    await cluster.until('all watches are open', 3_000, () => cluster.isWatching(standby));
  }
});

test('an informer that alone fails is asked no more often because others succeed', async () => {
  using cluster = new ReplicaWorld();
  await cluster.settle();
  const remove = cluster.world.network.add({
    leg: 'request',
    effect: { kind: 'reset' },
    rate: 1,
    matches: ({ resource, by }) => resource === 'pods' && by.client === 'main',
  });
  cluster.world.servers.forEach((server) => server.endWatches());
  await cluster.advance(30_000);
  const fromMs = cluster.nowMs;
  await cluster.advance(120_000);
  remove();
  const attempts = cluster.sent.filter(({ atMs, resource }) => atMs > fromMs && resource === 'pods');
  // The leader asks for a list once a minute besides, as no watch of pods is open.
  assert.ok(attempts.length > 0 && attempts.length <= 24, `${attempts.length} requests of two replicas`);
});

test('a request that was under way when the API server answered again, and fails 10 s later, is repeated soon', async () => {
  for (const [seed, awayMs] of [45_000, 45_000, 45_000, 150_000, 150_000, 150_000].entries()) {
    using cluster = new ReplicaWorld({}, seed);
    await cluster.settle();
    const standby = cluster.standby();
    // No route: each attempt to connect times out.
    const effects = [{ kind: 'delay', msMin: 10_000, msMax: 10_000 }, { kind: 'reset' }] as const;
    const removals = effects.map((effect) =>
      cluster.world.network.add({ leg: 'request', effect, rate: 1, matches: () => true }),
    );
    cluster.world.servers.forEach((server) => server.endWatches());
    await cluster.advance(awayMs);
    for (const remove of removals) remove();
    await cluster.until(`all watches are open (seed ${seed})`, 14_000, () => cluster.isWatching(standby));
  }
});
