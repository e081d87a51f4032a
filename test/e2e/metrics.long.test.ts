// /metrics of both commands over HTTP: exactly the documented metrics are exposed, and the values after an outage are
// correct.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as configMetrics from '../../src/cli/controller/config-metrics.ts';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';

const graceSeconds = 4;
const ofConfigFile = Object.values(configMetrics).map(({ name }) => name);
const documented = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'metrics.md'), 'utf8');

/** The metric names in docs/metrics.md below these headings. */
function documentedNames(...headings: readonly string[]): readonly string[] {
  return documented
    .split(/^## /m)
    .filter((section) => headings.includes(section.split('\n')[0] ?? ''))
    .flatMap((section) => [...section.matchAll(/^(?:\| |- )`(\w+)`/gm)])
    .map(([, name = '']) => name)
    .sort();
}

/** Parses a page as Prometheus does. Throws where Prometheus would reject it. */
class Page {
  readonly names: readonly string[];
  readonly #samples = new Map<string, number>();

  constructor(text: string) {
    const types = new Map<string, string>();
    for (const line of text.split('\n')) {
      const [, name = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line) ?? [];
      if (name !== '') {
        assert.ok(!types.has(name), `${name} is repeated`);
        types.set(name, type);
      } else if (line !== '' && !line.startsWith('# HELP ')) this.#take(line, types);
    }
    this.names = [...types.keys()].sort();
    for (const name of this.names) assert.ok(text.includes(`# HELP ${name} `), `${name} has no help`);
  }

  #take(line: string, types: ReadonlyMap<string, string>): void {
    const [, series = '', value = ''] = /^([a-zA-Z_:][\w:]*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    assert.ok(series !== '' && value !== '', `no sample: ${line}`);
    assert.ok(!this.#samples.has(series), `${series} is repeated`);
    const [name = ''] = series.split('{');
    assert.ok(types.has(name) || types.has(name.replace(/_(bucket|sum|count)$/, '')), `${name} has no type`);
    this.#samples.set(series, Number(value));
  }

  value(series: string): number {
    const value = this.#samples.get(series);
    assert.ok(value !== undefined, `${series} is missing`);
    return value;
  }

  find(series: string): number | undefined {
    return this.#samples.get(series);
  }
}

async function read(url: string): Promise<Page> {
  return new Page(await (await fetch(`${url}/metrics`)).text());
}

function assertBetween(value: number, from: number, to: number): void {
  assert.ok(value >= from && value <= to, `${value} is not between ${from} and ${to}`);
}

test('the metrics of the controller are documented, and their values reflect an outage', {
  timeout: 160_000,
}, async () => {
  await using world = await SmallWorld.start({
    nodes: { a0: 'a', a1: 'a', a2: 'a', a3: 'a', b0: 'b', b1: 'b', b2: 'b' },
  });
  await using controller = NlcProcess.controller(
    world.kubeconfigFile,
    `--node-monitor-grace-period=${graceSeconds}s`,
    '--node-monitor-period=1s',
    '--node-eviction-rate=10',
  );
  await until('leading', 30_000, async () => controller.said('leading'));
  const url = `http://${controller.address()}`;
  const before = await until('zones evaluated', 30_000, async () => {
    const page = await read(url);
    return page.find('node_lifecycle_zone_state{zone="r/b",state="Normal"}') === 1 ? page : undefined;
  });
  const documentedHere = documentedNames('nlc controller', 'The process').filter(
    (name) => !ofConfigFile.includes(name),
  );
  assert.deepEqual(before.names, documentedHere, 'without --config there are no metrics of a rejected file');
  assert.equal(before.value('node_lifecycle_zone_eviction_tokens{zone="r/a"}'), 1);

  world.fleet.cutOff(['a0']);
  world.fleet.crash(['a1'], { downMs: 3_000 * graceSeconds, reboot: 'exited' });
  await until('both tainted', 60_000, async () =>
    (await Promise.all(['a0', 'a1'].map((name) => world.node(name)))).every((node) =>
      taintsOf(node).includes('unreachable:NoExecute'),
    ),
  );
  world.fleet.reconnect(['a0']);
  const after = await until('both are back', 60_000, async () => {
    const page = await read(url);
    const count = (boot: string): number => page.find(`node_lifecycle_recovered_nodes_total{boot="${boot}"}`) ?? 0;
    return count('same') + count('changed') + count('unknown') >= 2 ? page : undefined;
  });

  assert.equal(after.value('node_lifecycle_recovered_nodes_total{boot="same"}'), 1, 'a0 was not rebooted');
  assert.equal(after.value('node_lifecycle_recovered_nodes_total{boot="changed"}'), 1, 'a1 was rebooted');
  assert.equal(after.value('node_lifecycle_assessments_total{assessment="silent"}'), 2);
  assert.equal(after.value('node_lifecycle_detection_latency_seconds_count'), 2);
  // On a busy machine a transition may be late; it is never early.
  assertBetween(after.value('node_lifecycle_detection_latency_seconds_sum'), 2 * graceSeconds, 2 * graceSeconds + 20);
  assert.equal(after.value('node_lifecycle_taint_latency_seconds_count'), 2);
  assertBetween(after.value('node_lifecycle_taint_latency_seconds_sum'), 0, 20);
  assert.equal(after.value('node_lifecycle_taint_queue_oldest_seconds{zone="r/a"}'), 0);
  for (const reason of ['unconfirmed', 'full-disruption', 'outage', 'stale', 'zone-stopped'])
    assert.equal(after.value(`node_lifecycle_held_nodes{reason="${reason}"}`), 0);
  for (const resource of ['nodes', 'pods', 'leases'])
    assertBetween(after.value(`informer_stream_staleness_seconds{resource="${resource}"}`), 0, 90);
  assert.ok(after.value('process_cpu_seconds_total') > 0);
  assert.ok(after.value('nodejs_eventloop_lag_p99_seconds') > 0);
  assert.deepEqual(after.names, documentedHere);
});

test('the metrics of hollow nodes are documented', { timeout: 60_000 }, async () => {
  await using world = await SmallWorld.start({ nodes: {} });
  await using fleet = new NlcProcess([
    'hollow-nodes',
    `--kubeconfig=${world.kubeconfigFile}`,
    '--nodes=3',
    '--control-address=127.0.0.1:0',
    '--log-format=json',
  ]);
  const url = await until('its address', 30_000, async () => /http:\/\/[\d.]+:\d+/.exec(fleet.stdout)?.[0]);
  const page = await until('all registered', 30_000, async () => {
    const found = await read(url);
    return found.find('hollow_nodes{state="registered"}') === 3 ? found : undefined;
  });
  assert.deepEqual(page.names, documentedNames('nlc hollow-nodes', 'The process'));
});
