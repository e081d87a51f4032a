// Policies as objects of the embedded API server, with a leader and a standby: both follow them, an invalid one and a config
// file that does not fit them change nothing, and a new leader goes on with them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyApiVersion, policyResource } from '../../src/machinery/api/node-lifecycle-policy.ts';
import { ConfigMapFolder } from '../support/config-map-folder.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const soonMs = 30_000;
const zones = { a0: 'a', a1: 'a', a2: 'a', b0: 'b', b1: 'b', b2: 'b' };
const { signal } = new AbortController();
const settings = 'nodeMonitorGracePeriod: 5s\nnodeEvictionRate: 10\nunhealthyZoneThreshold: 1\n';
const configOf = (period: string): string =>
  `apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\n${settings}nodeMonitorPeriod: ${period}\n`;

async function create(world: SmallWorld, name: string, spec: object): Promise<void> {
  const nodeSelector = { matchLabels: { 'topology.kubernetes.io/zone': name } };
  const object = { apiVersion: policyApiVersion, kind: policyResource.kind, metadata: { name } };
  await world.api.create('nodelifecyclepolicies', { ...object, spec: { nodeSelector, ...spec } } as never, { signal });
}

async function change(world: SmallWorld, name: string, spec: object): Promise<void> {
  await world.api.patch('nodelifecyclepolicies', { name }, { type: 'merge', body: { spec } }, { signal });
}

async function accepted(world: SmallWorld, name: string): Promise<string> {
  const { status } = (await world.api.get('nodelifecyclepolicies', { name }, { signal })) as {
    readonly status?: { readonly mode?: string; readonly conditions: readonly { readonly status: string }[] };
  };
  return `${status?.mode} ${status?.conditions[0]?.status}`;
}

const policies = async (controller: NlcProcess): Promise<readonly string[]> => {
  const page = await controller.page('/metrics');
  return [...page.matchAll(/^node_lifecycle_policy_nodes\{policy="(\w+)",mode="(\w+)"\} (\d+)$/gm)].map(
    ([, name, mode, nodes]) => `${name} ${mode} ${nodes}`,
  );
};

test('a leader and a standby follow the objects, and neither an invalid object nor a file that does not fit ends a pause', async () => {
  await using world = await SmallWorld.start({ nodes: zones });
  const mount = new ConfigMapFolder(configOf('1s'));
  const start = (): NlcProcess =>
    NlcProcess.controller(
      world.kubeconfigFile,
      '--policy-source=crd',
      `--config=${mount.file}`,
      '--leader-elect-lease-duration=4s',
      '--leader-elect-renew-deadline=3s',
      '--leader-elect-retry-period=500ms',
    );
  const controllers = [start()];
  const [leader] = controllers;
  assert.ok(leader);
  const isUntouched = async (name: string): Promise<boolean> => taintsOf(await world.node(name)).length === 0;
  try {
    await until('it leads', soonMs, async () => leader.said('leading'));
    const standby = start();
    controllers.push(standby);
    await until('the standby is in sync', soonMs, async () => standby.said('caches are in sync'));
    await create(world, 'a', { mode: 'Paused', nodeMonitorGracePeriod: '4s' });
    for (const one of controllers)
      await until('it follows', soonMs, async () => (await policies(one)).join() === 'a Paused 3');
    await until('the status', soonMs, async () => (await accepted(world, 'a')) === 'Paused True');
    world.fleet.cutOff(['a0']);

    mount.turn(configOf('4s'));
    await until('the file is rejected', soonMs, async () =>
      leader.said('config file reload failed; keeping the current settings'),
    );
    assert.match(
      await leader.page('/status?output=text'),
      /invalid +nodelifecyclepolicy\/a: spec\.nodeMonitorGracePeriod: must be > --node-monitor-period \(got 4s and 4s\)/,
    );
    await change(world, 'a', { nodeMonitorGracePeriod: '900ms', mode: 'Enforce' });
    await until('the object is not accepted', soonMs, async () => (await accepted(world, 'a')) === 'Paused False');
    assert.match(
      await leader.page('/status?output=text'),
      /invalid +nodelifecyclepolicy\/a: .*generation 1 stays in force/,
    );
    await until('it looks silent', soonMs, async () => {
      return (await leader.page('/metrics')).includes('held_nodes{reason="paused"} 1\n');
    });
    assert.ok(await isUntouched('a0'));

    await change(world, 'a', { nodeMonitorGracePeriod: '5s', mode: 'Paused' });
    await until('the file fits now', soonMs, async () => leader.said('config file is valid again'));
    const configz = JSON.parse(await leader.page('/configz'))['node-lifecycle-controller'];
    assert.deepEqual([configz.nodeMonitorPeriodMs, configz.policies.length], [4_000, 1]);

    await leader.kill();
    await until('the standby leads', soonMs, async () => standby.said('leading'));
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    assert.ok(await isUntouched('a0'), 'the pause goes on under the new leader');
    await world.api.delete('nodelifecyclepolicies', { name: 'a' }, { signal, uid: await uidOf(world, 'a') });
    await until('a0 is tainted', soonMs, async () => !(await isUntouched('a0')));
  } finally {
    for (const controller of controllers) await controller.kill();
    mount.remove();
  }
});

async function uidOf(world: SmallWorld, name: string): Promise<string> {
  return (await world.api.get('nodelifecyclepolicies', { name }, { signal })).metadata.uid ?? '';
}
