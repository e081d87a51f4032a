// Failures of reads and watches: of one object, of one resource, of all connections.
import assert from 'node:assert/strict';
import { makeLease } from '../protobuf-lease.ts';
import type { Scenario } from '../scenario.ts';
import { graceMs, type Scene, tolerating, unreachable } from '../scene.ts';

const bothTaints = ['unreachable:NoExecute', 'unreachable:NoSchedule'];
const undecodableSeconds = 2 ** 60;
/** Time from the end of the grace period until Unknown is written, without other faults. */
const promptMs = 5_000;

async function silenceOf(scene: Scene, node: string): Promise<number> {
  scene.cluster.stopHeartbeats(node);
  return scene.untilUnknown(node, graceMs + 25_000);
}

const undecodableAtStart: Scenario = {
  title: 'a lease whose renewTime no decoder can represent, there at the start, hides no other lease',
  prepare: (scene) => makeLease(scene.plane, 'undecodable', undecodableSeconds),
  async play(scene) {
    const tookMs = await silenceOf(scene, 'a0');
    assert.ok(tookMs < graceMs + promptMs, `a0 is Unknown after ${tookMs} ms`);
    return { silent: ['a0'] };
  },
};

const undecodableLater: Scenario = {
  title: 'a lease whose renewTime no decoder can represent, made while leases are watched, hides no other lease',
  async play(scene) {
    await makeLease(scene.plane, 'undecodable', undecodableSeconds);
    const tookMs = await silenceOf(scene, 'a0');
    assert.ok(tookMs < graceMs + promptMs, `a0 is Unknown after ${tookMs} ms`);
    await scene.cluster.resumeHeartbeats('a0');
    await scene.untilTaints('a0', [], promptMs);
    return { recovered: ['a0'] };
  },
};

const eighteenNodes = Object.fromEntries(Array.from({ length: 18 }, (_, index) => [`n${index}`, `zone-${index % 3}`]));

const halfOpenWrites: Scenario = {
  title:
    'with half-open connections, including idle ones for writes, a silent node is Unknown within its grace period and 15 s',
  nodes: eighteenNodes,
  async play(scene) {
    // The taints of new nodes were just removed, so there are idle connections for writes.
    scene.proxy.freezeConnections();
    scene.cluster.stopHeartbeats('n0');
    await scene.untilUnknown('n0', graceMs + 15_000);
    return { silent: ['n0'] };
  },
};

const halfOpenReads: Scenario = {
  title:
    'with half-open connections, including idle ones for probes, a silent node is Unknown within its grace period and 15 s',
  nodes: eighteenNodes,
  async play(scene) {
    const silent = Array.from({ length: 8 }, (_, index) => `n${index + 1}`);
    for (const name of silent) scene.cluster.stopHeartbeats(name);
    for (const name of silent) await scene.untilUnknown(name, graceMs + promptMs);
    for (const name of silent) await scene.cluster.resumeHeartbeats(name);
    for (const name of silent) await scene.untilTaints(name, [], promptMs);
    scene.proxy.freezeConnections();
    scene.cluster.stopHeartbeats('n0');
    await scene.untilUnknown('n0', graceMs + 15_000);
    return { silent: ['n0'], recovered: silent };
  },
};

/** Interval of the reads of a lease that could not be read. */
const readAgainMs = 5_000;

const unreadableLease: Scenario = {
  title: 'one lease whose GET answers 500 does not keep other silent nodes from becoming Unknown',
  async play(scene) {
    const unreadable = scene.proxy.inject({
      methods: ['GET'],
      path: /\/leases\/a0(\?|$)/,
      fault: { kind: 'answer', code: 500, form: 'status', message: 'etcdserver: request timed out' },
    });
    scene.cluster.stopHeartbeats('a0');
    const tookMs = await silenceOf(scene, 'b0');
    assert.ok(unreadable.hits > 0, 'the lease of a0 was requested');
    assert.ok(tookMs < graceMs + promptMs, `b0 is Unknown after ${tookMs} ms`);
    unreadable.remove();
    await scene.untilUnknown('a0', readAgainMs + promptMs);
    return { silent: ['a0', 'b0'] };
  },
};

const deadNodesStream: Scenario = {
  title: 'while only the nodes watch is dead, a recovered node that renews its lease loses no pods',
  pods: [['twelve-seconds', 'a0', [tolerating(unreachable, 12)]]],
  async play(scene) {
    scene.cluster.stopHeartbeats('a0');
    await scene.untilTaints('a0', bothTaints, graceMs + 8_000);
    await scene.sleep(1_000);
    const frozen = scene.proxy.freezeAnswers(/^\/api\/v1\/nodes\?.*watch=/);
    assert.equal(frozen.count, 1, 'watches of nodes');
    await scene.cluster.resumeHeartbeats('a0');
    await scene.sleep(16_000);
    assert.equal(scene.deletedAtMs('twelve-seconds'), undefined, 'its pod was deleted');
    frozen.cut();
    await scene.untilTaints('a0', [], 10_000);
    return { recovered: ['a0'] };
  },
};

export const readingScenarios: readonly Scenario[] = [
  undecodableAtStart,
  undecodableLater,
  halfOpenWrites,
  halfOpenReads,
  unreadableLease,
  deadNodesStream,
];
