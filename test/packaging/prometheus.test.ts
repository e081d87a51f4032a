// promtool checks of the alerts, of the dashboard's queries, and of `/metrics` of running processes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';
import { buildQueries } from '../../src/cli/report/build-queries.ts';
import { type AlertRule, alertRules, dashboard, dashboardFile, ruleFiles } from './alert-rules.ts';
import { helmTemplate, type KubeManifest, pick, renderChart, runTool } from '../../tools/manifests/render.ts';

const stories = join(import.meta.dirname, 'alerts.test.yaml');
const soonMs = 60_000;

test('promtool accepts the rules', () => {
  const { code, stdout, stderr } = runTool('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles]);
  assert.equal(code, 0, stdout + stderr);
  const wrong = { groups: [{ name: 'g', rules: [{ alert: 'A', expr: 'sum(' }] }] };
  assert.notEqual(runTool('promtool', ['check', 'rules'], stringify(wrong)).code, 0, 'an invalid rule is detected');
});

test('promtool: every alert fires when it should, and only then', () => {
  const { code, stdout, stderr } = runTool('promtool', ['test', 'rules', stories]);
  assert.equal(code, 0, stdout + stderr);
});

interface Story {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly object[] }[];
}

test('every alert has a test in which it fires and one in which it does not', () => {
  const { tests } = parse(readFileSync(stories, 'utf8')) as { tests: readonly Story[] };
  const expectations = tests.flatMap((story) => story.alert_rule_test);
  for (const { alert } of alertRules()) {
    const ofIt = expectations.filter(({ alertname }) => alertname === alert);
    assert.ok(
      ofIt.some(({ exp_alerts }) => exp_alerts.length > 0),
      `${alert} never fires`,
    );
    assert.ok(
      ofIt.some(({ exp_alerts }) => exp_alerts.length === 0),
      `${alert} always fires`,
    );
  }
});

test('promtool parses every query of the dashboard, and of `nlc report`', () => {
  const panels = dashboard().panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const queries = [
    ...panels,
    ...['', 'job="nlc"'].flatMap((selector) => Object.values(buildQueries(selector, '720h'))),
  ];
  const rules = queries.map((expr, index) => {
    return { record: `panel:query:${index}`, expr: expr.replaceAll(/\$__(rate_interval|range)\b/g, '5m') };
  });
  const { code, stdout, stderr } = runTool(
    'promtool',
    ['check', 'rules'],
    stringify({ groups: [{ name: 'g', rules }] }),
  );
  assert.equal(code, 0, stdout + stderr);
  assert.ok(rules.length > 50);
});

interface PrometheusRule extends KubeManifest {
  readonly spec: { readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[] };
}

function rendered(rule: string): readonly AlertRule[] {
  const values = `metrics: { prometheusRule: { enabled: true, ${rule} } }`;
  const { spec } = pick(renderChart({ values }), 'PrometheusRule') as PrometheusRule;
  return spec.groups.flatMap(({ rules }) => rules);
}

test('the chart renders the rules of the files unchanged', () => {
  assert.deepEqual(rendered(''), alertRules());
});

test('the chart: labels, a place for the runbooks, and alerts that are left out', () => {
  const wanted = alertRules().filter(({ alert }) => alert !== 'NodeLifecycleEvaluationPaused');
  const rules = rendered(
    'alertLabels: { team: a, severity: page }, runbookUrl: https://b/c/, disabled: [NodeLifecycleEvaluationPaused, NodeLifecycleShadowDivergence]',
  );
  assert.deepEqual(
    rules,
    wanted
      .filter(({ alert }) => alert !== 'NodeLifecycleShadowDivergence')
      .map((rule) => {
        const annotations = { ...rule.annotations, runbook_url: `https://b/c/${rule.alert}.md` };
        return { ...rule, labels: { team: 'a', severity: 'page' }, annotations };
      }),
  );
});

const rejectedValues: Readonly<Record<string, RegExp>> = {
  'prometheusRule: { enabled: true, disabled: [NodeLifecycleBlnd] }': /disabled: unknown alert NodeLifecycleBlnd/,
  'prometheusRule: { enabled: true }, enabled: false': /prometheusRule\.enabled: requires metrics\.enabled/,
  'prometheusRule: { runbookUrl: docs }': /\/metrics\/prometheusRule\/runbookUrl/,
};

for (const [values, words] of Object.entries(rejectedValues)) {
  test(`rejected: ${values}`, () => {
    const { code, stderr } = helmTemplate({ values: `metrics: { ${values} }` });
    assert.notEqual(code, 0);
    assert.match(stderr, words);
  });
}

test('the chart renders the dashboard with the label of the Grafana sidecar', () => {
  const { metadata, data } = pick(
    renderChart({ values: 'metrics: { dashboard: { enabled: true, annotations: { grafana_folder: a } } }' }),
    'ConfigMap',
    'node-lifecycle-controller-dashboard',
  ) as KubeManifest & { data: Record<string, string>; metadata: { annotations?: object } };
  assert.equal(metadata.labels?.['grafana_dashboard'], '1');
  assert.deepEqual(metadata.annotations, { grafana_folder: 'a' });
  assert.equal(`${data['node-lifecycle.json']}\n`, readFileSync(dashboardFile, 'utf8'));
});

/** Accepted complaints of promtool about metric names of libraries, with the reason. */
const accepted: Readonly<Record<string, string>> = {
  'nodejs_active_handles_total non-counter metrics should not have "_total" suffix': 'of the client library',
  'nodejs_active_requests_total non-counter metrics should not have "_total" suffix': 'of the client library',
  'nodejs_active_resources_total non-counter metrics should not have "_total" suffix': 'of the client library',
  "nodejs_eventloop_utilization_histogram metric name should not include type 'histogram'": 'of the client library',
  "nodejs_eventloop_utilization_summary metric name should not include type 'summary'": 'of the client library',
};

let world: SmallWorld;
const processes: NlcProcess[] = [];
const pages: Record<'leader' | 'standby' | 'fleet', string> = { leader: '', standby: '', fleet: '' };

before(async () => {
  world = await SmallWorld.start({ nodes: { a0: 'a', a1: 'a', a2: 'a', b0: 'b', b1: 'b' } });
  const fleet = startFleet();
  const leader = startController();
  await until('leading', soonMs, async () => leader.said('leading'));
  const standby = startController();
  await until('standing by', soonMs, async () => standby.said('the leader changed'));
  await work();
  const fleetUrl = await until('the fleet', soonMs, async () => /control address (http:\S+):/.exec(said(fleet))?.[1]);
  pages.leader = await pageOf(`http://${leader.address()}`);
  pages.standby = await pageOf(`http://${standby.address()}`);
  pages.fleet = await pageOf(fleetUrl);
});

after(async () => {
  for (const process of processes) await process.kill();
  await world.stop();
});

function started(process: NlcProcess): NlcProcess {
  processes.push(process);
  return process;
}

function startController(): NlcProcess {
  const times = ['--node-monitor-grace-period=6s', '--node-monitor-period=1s', '--node-eviction-rate=10'];
  return started(NlcProcess.controller(world.kubeconfigFile, ...times, '--watch-canary'));
}

function startFleet(): NlcProcess {
  const flags = ['--nodes=6', '--lease-duration=4s', '--control-address=127.0.0.1:0'];
  return started(new NlcProcess(['hollow-nodes', `--kubeconfig=${world.kubeconfigFile}`, ...flags]));
}

function said({ stdout, stderr }: NlcProcess): string {
  return stdout + stderr;
}

/** A node becomes silent, one of its pods is evicted, and it recovers. */
async function work(): Promise<void> {
  const tolerating = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' } as const;
  await world.addPod('patient', 'a0', [{ ...tolerating, tolerationSeconds: 600 }]);
  await world.addPod('evicted', 'a0', [{ ...tolerating, tolerationSeconds: 1 }]);
  world.fleet.cutOff(['a0']);
  await until('evicted', soonMs, async () => (await world.pods()).every(({ name }) => name !== 'evicted'));
  world.fleet.reconnect(['a0']);
  await until('back', soonMs, async () => taintsOf(await world.node('a0')).length === 0);
}

async function pageOf(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  assert.equal(response.status, 200);
  return response.text();
}

for (const page of ['leader', 'standby', 'fleet'] as const) {
  test(`promtool likes the metrics of the ${page}, but for names that others gave`, () => {
    const { stdout, stderr } = runTool('promtool', ['check', 'metrics'], pages[page]);
    const complaints = (stdout + stderr).split('\n').filter((line) => line !== '');
    const left = complaints.filter((line) => accepted[line] === undefined);
    assert.deepEqual(left, []);
  });
}

test('every accepted complaint still occurs', () => {
  const { stdout, stderr } = runTool('promtool', ['check', 'metrics'], pages.leader);
  for (const complaint of Object.keys(accepted)) assert.ok((stdout + stderr).includes(complaint), complaint);
});

/** The lines of a page that show this metric. */
function seriesOn(page: string, name: string): readonly string[] {
  return page.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line));
}

test('only the leader has series of zones, queues and staleness; a standby reports that it is not the leader', () => {
  for (const name of [
    'node_collector_zone_size',
    'node_collector_zone_health',
    'node_lifecycle_zone_eviction_rate',
    'node_lifecycle_zone_state',
    'node_lifecycle_zone_eviction_tokens',
    'node_lifecycle_taint_queue_depth',
    'node_lifecycle_taint_queue_oldest_seconds',
    'node_collector_evictions_total',
    'node_lifecycle_outage_hold',
    'node_lifecycle_stale',
  ]) {
    assert.notDeepEqual(seriesOn(pages.leader, name), [], `the leader shows ${name}`);
    assert.deepEqual(seriesOn(pages.standby, name), [], `a standby does not show ${name}`);
  }
  const held = seriesOn(pages.standby, 'node_lifecycle_held_nodes');
  assert.ok(held.length > 0 && held.every((line) => line.endsWith(' 0')), 'a standby holds no nodes');
  for (const [page, value] of [
    ['leader', 1],
    ['standby', 0],
  ] as const) {
    const status = `leader_election_master_status{name="node-lifecycle-controller"} ${value}`;
    assert.deepEqual(seriesOn(pages[page], 'leader_election_master_status'), [status]);
    assert.equal(seriesOn(pages[page], 'reflector_lists_total').length, 3, 'each exposes its initial list');
    assert.equal(seriesOn(pages[page], 'node_lifecycle_controller_build_info').length, 1);
  }
});
