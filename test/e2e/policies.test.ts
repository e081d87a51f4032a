// Policies, their change in the config file, and the pause of a node, with a controller process on the wire's encoding.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseAnnotation } from '../../src/machinery/api/node.ts';
import { ConfigMapFolder } from '../support/config-map-folder.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const soonMs = 30_000;
const zones = { a0: 'a', a1: 'a', a2: 'a', a3: 'a', b0: 'b', b1: 'b' };
const wanted = 'unreachable:NoExecute,unreachable:NoSchedule';

const configOf = (mode: string): string => `apiVersion: nodelifecycle/v1alpha1
kind: ControllerConfiguration
nodeMonitorPeriod: 1s
nodeMonitorGracePeriod: 5s
nodeEvictionRate: 10
policies:
  - name: watched
    nodeSelector: { matchLabels: { topology.kubernetes.io/zone: b } }
    mode: ${mode}
`;

test('an observed and a paused node are untouched, until the policy and the annotation change', async () => {
  await using world = await SmallWorld.start({ nodes: zones });
  const mount = new ConfigMapFolder(configOf('Observe'));
  const controller = NlcProcess.controller(world.kubeconfigFile, `--config=${mount.file}`, '--leader-elect=false');
  const taints = async (name: string): Promise<string> => taintsOf(await world.node(name)).join();
  try {
    await until('it leads', soonMs, async () => controller.said('leading'));
    await annotate(world, 'a1', 'true');
    world.fleet.cutOff(['a0', 'a1', 'b0']);
    await until('the neighbour is tainted', soonMs, async () => (await taints('a0')) === wanted);
    await until('the others look silent', soonMs, async () => {
      const page = await controller.page('/metrics');
      return /held_nodes\{reason="paused"\} 1$/m.test(page) && /act="mark-unknown"\} 1$/m.test(page);
    });
    assert.deepEqual([await taints('a1'), await taints('b0')], ['', 'not-ready:NoSchedule'], 'as it registered');
    assert.match(await controller.page('/explain/nodes/b0?output=text'), /^ {2}policy +watched, mode Observe$/m);
    assert.match(await controller.page('/explain/nodes/a1?output=text'), /paused by an annotation of the node/);

    mount.turn(configOf('Observed'));
    await until('the wrong mode is refused', soonMs, async () => {
      return /invalid +.*policies\[0\]\.mode: must be one of Enforce/.test(
        await controller.page('/status?output=text'),
      );
    });
    mount.turn(configOf('Enforce'));
    await until('the observed node is tainted', soonMs, async () => (await taints('b0')) === wanted);
    assert.equal(await taints('a1'), '');
    await annotate(world, 'a1', null);
    await until('the paused node is tainted', soonMs, async () => (await taints('a1')) === wanted);
  } finally {
    await controller.kill();
    mount.remove();
  }
});

/** null removes it. */
async function annotate(world: SmallWorld, name: string, value: string | null): Promise<void> {
  const body = { metadata: { annotations: { [pauseAnnotation]: value } } };
  await world.api.patch('nodes', { name }, { type: 'strategic-merge', body }, { signal: AbortSignal.timeout(5_000) });
}
