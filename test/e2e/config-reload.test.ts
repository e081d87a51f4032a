// The config file changes while two controllers run by it: one leads, one stands by.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMetrics } from '../../src/cli/config-metrics.ts';
import { ConfigMapFolder } from '../support/config-map-folder.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const soonMs = 30_000;
const head = 'apiVersion: nodelifecycle/v1alpha1\nkind: ControllerConfiguration\nnodeMonitorPeriod: 2s\n';
const patient = `${head}nodeMonitorGracePeriod: 1h\nnodeEvictionRate: 0\n`;

test('what is live in a changed file is in force, what is not is named, and a broken file changes nothing', async () => {
  const world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', a3: 'a' } });
  const mount = new ConfigMapFolder(patient);
  const start = (): NlcProcess => controllerOn(world.kubeconfigFile, mount.file);
  const leader = start();
  const controllers = [leader];
  try {
    await until('it leads', soonMs, async () => said(leader, 'leading'));
    controllers.push(start());
    for (const one of controllers) await until('in sync', soonMs, async () => said(one, 'caches are in sync'));
    const exposed = await page(leader, '/metrics');
    for (const { name } of configMetrics) assert.match(exposed, new RegExp(`^${name}[ {]`, 'm'));
    world.fleet.cutOff(['a0']);
    assert.equal(await gauge(leader, 'node_lifecycle_config_last_reload_successful'), 1);
    assert.equal(await gauge(leader, 'node_lifecycle_config_reloads_total'), 0);

    mount.turn(`${head}nodeMonitorGracePeriod: 5s\nnodeEvictionRate: 10\nconcurrentWrites: 4\nnodeMonitorPeriod: 9s\n`);
    for (const one of controllers) {
      const { problems } = await until('refused', soonMs, async () => lineOf(one, /is refused/));
      assert.match(String(problems), /is not YAML: Map keys must be unique/);
      assert.equal(await gauge(one, 'node_lifecycle_config_last_reload_successful'), 0);
    }
    mount.turn(`${head}nodeMonitorGracePeriod: 5s\nnodeEvictionRates: 10\nnodeEvictionRate: -1\n`);
    const refusals = (): number => logs(leader).filter(({ msg }) => /is refused/.test(String(msg))).length;
    await until('refused again', soonMs, async () => refusals() === 2);
    assert.match(await page(leader, '/status?output=text'), /is refused: older settings are in force/);
    const { problems } = logs(leader).findLast(({ msg }) => /is refused/.test(String(msg))) ?? {};
    assert.equal((problems as readonly string[]).length, 2, 'all that is wrong is told');
    assert.deepEqual(taintsOf(await world.node('a0')), []);
    assert.deepEqual(await inForce(leader), { graceMs: 3_600_000, rate: 0, periodMs: 1_000, writes: 16 });

    mount.turn(`${head}nodeMonitorGracePeriod: 5s\nnodeEvictionRate: 10\nconcurrentWrites: 4\nv: 4\n`);
    for (const one of controllers) {
      const { msg } = await until('taken up', soonMs, async () => lineOf(one, /^settings changed/));
      assert.equal(msg, 'settings changed: nodeMonitorGracePeriod 1h0m0s -> 5s, nodeEvictionRate 0 -> 10, v 0 -> 4');
      await until('loud', soonMs, async () => logs(one).some(({ level }) => level === 'debug'));
      const { waiting } = await until('told', soonMs, async () => lineOf(one, /need a restart/));
      assert.deepEqual(waiting, [{ setting: 'concurrentWrites', from: '16', to: '4' }]);
      // The flag wins over the file, and what needs a restart is not half in force.
      assert.deepEqual(await inForce(one), { graceMs: 5_000, rate: 10, periodMs: 1_000, writes: 16 });
      assert.equal(await gauge(one, 'node_lifecycle_config_last_reload_successful'), 1);
      assert.equal(await gauge(one, 'node_lifecycle_config_settings_awaiting_restart'), 1);
    }
    const wanted = ['unreachable:NoExecute', 'unreachable:NoSchedule'];
    await until('a0 is tainted', soonMs, async () => {
      return taintsOf(await world.node('a0')).join() === wanted.join();
    });
    const status = await page(leader, '/status?output=text');
    assert.match(status, /settings changed: nodeMonitorGracePeriod 1h0m0s -> 5s, nodeEvictionRate 0 -> 10, v 0 -> 4/);
    assert.match(status, /^ {2}restart +concurrentWrites 16 -> 4 needs one$/m);
    assert.ok(controllers.every(({ hasEnded }) => !hasEnded));
  } finally {
    for (const controller of controllers) await controller.kill();
    await world.stop();
    mount.remove();
  }
});

function controllerOn(kubeconfig: string, file: string): NlcProcess {
  return new NlcProcess([
    'controller',
    `--kubeconfig=${kubeconfig}`,
    `--config=${file}`,
    '--node-monitor-period=1s',
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=0',
    '--log-format=json',
  ]);
}

function logs(controller: NlcProcess): readonly Readonly<Record<string, unknown>>[] {
  return controller.logs();
}

function said(controller: NlcProcess, message: string): boolean {
  return logs(controller).some(({ msg }) => msg === message);
}

function lineOf(controller: NlcProcess, message: RegExp): Readonly<Record<string, unknown>> | undefined {
  return logs(controller).find(({ msg }) => message.test(String(msg)));
}

async function page(controller: NlcProcess, path: string): Promise<string> {
  const port = logs(controller).find(({ msg }) => msg === 'serving /metrics')?.['port'];
  const response = await fetch(`http://127.0.0.1:${String(port)}${path}`);
  return response.text();
}

async function gauge(controller: NlcProcess, name: string): Promise<number | undefined> {
  const value = new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(await page(controller, '/metrics'))?.[1];
  return value === undefined ? undefined : Number(value);
}

async function inForce(controller: NlcProcess): Promise<object> {
  const { controller: options, api } = JSON.parse(await page(controller, '/configz'))['node-lifecycle-controller'];
  return {
    graceMs: options.nodeMonitorGracePeriodMs,
    rate: options.nodeEvictionRate,
    periodMs: options.nodeMonitorPeriodMs,
    writes: api.concurrentWritesMax,
  };
}
