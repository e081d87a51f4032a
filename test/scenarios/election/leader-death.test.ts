// The node of the leader dies: the standby leads, and knows since when each node is silent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicaWorld } from '../../support/replica-world.ts';

/** The time of a death between two renewals decides how much of the grace period has passed. */
const offsetsMs = [0, 3_000, 6_000, 9_000];

test('three nodes that renew every 10 s: the node of a dead leader becomes Unknown within 52 s', async () => {
  for (const offsetMs of offsetsMs) {
    using cluster = new ReplicaWorld({}, offsetMs);
    await cluster.settle();
    await cluster.advance(offsetMs);
    const leader = cluster.leader();
    leader.kill(Infinity);
    cluster.cut('n1');
    const afterMs = await cluster.until('n1 is Unknown', 100_000, () => cluster.ready('n1') === 'Unknown');
    assert.ok(afterMs >= 38_000 && afterMs <= 52_000, `${afterMs} ms, ${offsetMs} ms later`);
    assert.deepEqual([cluster.ready('n2'), cluster.ready('n3')], ['True', 'True']);
  }
});

test('a standby sends no probe while the leases of many nodes bring frames', async () => {
  const nodes = Array.from({ length: 40 }, (_, index) => ({ name: `n${index + 1}`, zone: 'a' }));
  using cluster = new ReplicaWorld({ nodes, podsPerNode: 0 });
  await cluster.settle();
  const standby = cluster.standby();
  const fromMs = cluster.nowMs;
  await cluster.advance(60_000);
  const reads = cluster.sent.filter(({ atMs, replica, by }) => {
    return atMs > fromMs && replica === standby.name && by.client === 'freshness';
  });
  assert.ok(reads.length <= 2, `${reads.length} probes`);
});
