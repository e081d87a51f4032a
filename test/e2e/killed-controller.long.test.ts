// A controller that is killed during its work and started again must leave the cluster in the same state as one that was
// never killed: all its state is restored from the API.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const patienceSeconds = 9;
const unreachable = 'node.kubernetes.io/unreachable';
const forSeconds = (tolerationSeconds: number) => [
  { key: unreachable, operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
];

function startController(world: SmallWorld): NlcProcess {
  return NlcProcess.controller(
    world.kubeconfigFile,
    '--node-monitor-grace-period=3s',
    '--node-monitor-period=1s',
    '--node-eviction-rate=10',
    '--leader-elect-lease-duration=3s',
    '--leader-elect-renew-deadline=2s',
    '--leader-elect-retry-period=500ms',
  );
}

interface EndState {
  readonly nodes: readonly string[];
  readonly pods: readonly string[];
  readonly patienceMs: number;
}

/** One node becomes silent, its pods are evicted in time, it recovers. `disturb` is called at two points in between. */
async function runScenario(
  disturb: (running: NlcProcess, world: SmallWorld) => Promise<NlcProcess>,
): Promise<EndState> {
  await using world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b', b1: 'b' } });
  let controller = startController(world);
  try {
    await world.addPod('impatient', 'a0', forSeconds(0));
    await world.addPod('patient', 'a0', forSeconds(patienceSeconds));
    await world.addPod('very-patient', 'a0', forSeconds(300));
    for (let i = 0; i < 12; i++) await world.addPod(`crowd-${i}`, 'a0', [{ operator: 'Exists' }]);
    await until('all clean and running', 20_000, async () => {
      const nodes = await world.nodes();
      const pods = await world.pods();
      return nodes.every((node) => taintsOf(node).length === 0) && pods.every(({ ready }) => ready === 'True');
    });
    world.fleet.cutOff(['a0']);
    await until('a0 Unknown', 20_000, async () =>
      (await world.node('a0')).conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown'),
    );
    controller = await disturb(controller, world);
    const taintedAtMs = await until('a0 tainted', 20_000, async () => {
      const taint = (await world.node('a0')).taints.find(({ effect }) => effect === 'NoExecute');
      return taint === undefined ? undefined : Date.parse(taint.timeAdded ?? '');
    });
    controller = await disturb(controller, world);
    const leftAtMs = await until('patient evicted', 30_000, async () => {
      const patient = (await world.pods()).find(({ name }) => name === 'patient');
      return patient === undefined || patient.terminating ? Date.now() : undefined;
    });
    await until('the crowd marked', 20_000, async () =>
      (await world.pods()).filter(({ name }) => name.startsWith('crowd')).every(({ ready }) => ready === 'False'),
    );
    world.fleet.reconnect(['a0']);
    await until('a0 clean', 30_000, async () => taintsOf(await world.node('a0')).length === 0);
    await until('pods settled', 20_000, async () =>
      (await world.pods()).every(({ ready, terminating }) => ready === 'True' && !terminating),
    );
    return {
      nodes: (await world.nodes()).map(
        (node) =>
          `${node.name} ${taintsOf(node).join(' ')} ${node.conditions.find(({ type }) => type === 'Ready')?.status}`,
      ),
      pods: (await world.pods()).map(({ name, ready }) => `${name} ${ready}`),
      patienceMs: leftAtMs - taintedAtMs,
    };
  } finally {
    await controller.kill();
  }
}

const undisturbed = (running: NlcProcess): Promise<NlcProcess> => Promise.resolve(running);

async function killAndRestart(running: NlcProcess, world: SmallWorld): Promise<NlcProcess> {
  await running.kill();
  return startController(world);
}

test('killed with SIGKILL twice and started again: the end state is the same', { timeout: 150_000 }, async () => {
  const [calm, killed] = await Promise.all([runScenario(undisturbed), runScenario(killAndRestart)]);
  assert.deepEqual(killed.nodes, calm.nodes);
  assert.deepEqual(killed.pods, calm.pods);
  assert.ok(killed.pods.includes('very-patient True') && !killed.pods.some((pod) => pod.startsWith('patient')));
  for (const { patienceMs } of [calm, killed]) {
    // timeAdded is truncated to whole seconds, so up to one second more is correct; any time less is an error.
    assert.ok(patienceMs >= patienceSeconds * 1_000, `left ${patienceMs} ms after the taint`);
    assert.ok(patienceMs <= patienceSeconds * 1_000 + 3_500, `left ${patienceMs} ms after the taint`);
  }
});

test('SIGTERM: the lease is released at once and the exit code is 0', { timeout: 60_000 }, async () => {
  await using world = await SmallWorld.start({ nodes: { a0: 'a' } });
  await using first = startController(world);
  await until('leading', 20_000, async () => first.said('leading'));
  assert.deepEqual(await first.terminate(), { code: 0, signal: null });
  const startedAtMs = performance.now();
  await using second = startController(world);
  await until('leading again', 20_000, async () => second.said('leading'));
  assert.ok(performance.now() - startedAtMs < 2_900, 'a released lease is acquired before its duration is over');
});
