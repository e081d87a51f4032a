// The config file changes while two controllers run with it: a leader and a standby.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as configMetrics from '../../src/cli/controller/config-metrics.ts';
import { ConfigMapFolder } from '../support/config-map-folder.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const soonMs = 30_000;
const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\nnodeMonitorPeriod: 2s\n';
const patient = `${head}nodeMonitorGracePeriod: 1h\nnodeEvictionRate: 0\n`;

test('live settings of a changed file are applied, others are logged, and an invalid file changes nothing', async () => {
  const world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', a3: 'a' } });
  const mount = new ConfigMapFolder(patient);
  const start = (): NlcProcess =>
    NlcProcess.controller(world.kubeconfigFile, `--config=${mount.file}`, '--node-monitor-period=1s');
  const leader = start();
  const controllers = [leader];
  try {
    await until('it leads', soonMs, async () => leader.said('leading'));
    controllers.push(start());
    for (const one of controllers) await until('in sync', soonMs, async () => one.said('caches are in sync'));
    const exposed = await leader.page('/metrics');
    for (const { name } of Object.values(configMetrics)) assert.match(exposed, new RegExp(`^${name}[ {]`, 'm'));
    world.fleet.cutOff(['a0']);
    assert.equal(await gauge(leader, 'node_lifecycle_config_last_reload_successful'), 1);
    assert.equal(await gauge(leader, 'node_lifecycle_config_reloads_total'), 0);

    mount.turn(`${head}nodeMonitorGracePeriod: 5s\nnodeEvictionRate: 10\nconcurrentWrites: 4\nnodeMonitorPeriod: 9s\n`);
    for (const one of controllers) {
      const { problems } = await until('refused', soonMs, async () => lineOf(one, /config file reload failed/));
      assert.match(String(problems), /invalid YAML: line 7: key "nodeMonitorPeriod" already set in map/);
      assert.equal(await gauge(one, 'node_lifecycle_config_last_reload_successful'), 0);
    }
    mount.turn(`${head}nodeMonitorGracePeriod: 5s\nnodeEvictionRates: 10\nnodeEvictionRate: -1\n`);
    const rejections = (): number =>
      leader.logs().filter(({ msg }) => /config file reload failed/.test(String(msg))).length;
    await until('refused again', soonMs, async () => rejections() === 2);
    assert.match(await leader.page('/status?output=text'), /is invalid: the previous settings are in force/);
    const { problems } = leader.logs().findLast(({ msg }) => /config file reload failed/.test(String(msg))) ?? {};
    assert.equal((problems as readonly string[]).length, 2, 'all problems are reported');
    assert.deepEqual(taintsOf(await world.node('a0')), []);
    assert.deepEqual(await inForce(leader), { graceMs: 3_600_000, rate: 0, periodMs: 1_000, writes: 16 });

    mount.turn(`${head}nodeMonitorGracePeriod: 5s\nnodeEvictionRate: 10\nconcurrentWrites: 4\nv: 4\n`);
    for (const one of controllers) {
      const { changes } = await until('reloaded', soonMs, async () => lineOf(one, /^settings changed$/));
      assert.deepEqual(changes, [
        { setting: 'nodeMonitorGracePeriod', from: '1h0m0s', to: '5s' },
        { setting: 'nodeEvictionRate', from: '0', to: '10' },
        { setting: 'v', from: '0', to: '4' },
      ]);
      await until('loud', soonMs, async () => one.logs().some(({ level }) => level === 'debug'));
      const { waiting } = await until('logged', soonMs, async () => lineOf(one, /require a restart/));
      assert.deepEqual(waiting, [{ setting: 'concurrentWrites', from: '16', to: '4' }]);
      // A flag overrides the file, and a setting that needs a restart is not partly applied.
      assert.deepEqual(await inForce(one), { graceMs: 5_000, rate: 10, periodMs: 1_000, writes: 16 });
      assert.equal(await gauge(one, 'node_lifecycle_config_last_reload_successful'), 1);
      assert.equal(await gauge(one, 'node_lifecycle_config_settings_awaiting_restart'), 1);
    }
    const wanted = ['unreachable:NoExecute', 'unreachable:NoSchedule'];
    await until('a0 is tainted', soonMs, async () => {
      return taintsOf(await world.node('a0')).join() === wanted.join();
    });
    const status = await leader.page('/status?output=text');
    assert.match(status, /settings changed: nodeMonitorGracePeriod 1h0m0s -> 5s, nodeEvictionRate 0 -> 10, v 0 -> 4/);
    assert.match(status, /^ {2}restart +needed for concurrentWrites 16 -> 4$/m);
    assert.ok(controllers.every(({ hasEnded }) => !hasEnded));
  } finally {
    for (const controller of controllers) await controller.kill();
    await world.stop();
    mount.remove();
  }
});

function lineOf(controller: NlcProcess, message: RegExp): Readonly<Record<string, unknown>> | undefined {
  return controller.logs().find(({ msg }) => message.test(String(msg)));
}

async function gauge(controller: NlcProcess, name: string): Promise<number | undefined> {
  const value = new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(await controller.page('/metrics'))?.[1];
  return value === undefined ? undefined : Number(value);
}

async function inForce(controller: NlcProcess): Promise<object> {
  const options = JSON.parse(await controller.page('/configz'))['node-lifecycle-controller'];
  return {
    graceMs: options.nodeMonitorGracePeriodMs,
    rate: options.nodeEvictionRate,
    periodMs: options.nodeMonitorPeriodMs,
    writes: options.concurrentWrites,
  };
}
