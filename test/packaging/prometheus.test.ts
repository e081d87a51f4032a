// What Prometheus itself says, by its promtool: of the alerts, of the dashboard's queries, and of `/metrics` as processes
// that run and work show it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { NlcProcess } from '../support/nlc-process.ts';
import { SmallWorld, taintsOf, until } from '../support/small-world.ts';
import { type AlertRule, alertRules, dashboard, dashboardFile, ruleFiles } from './alert-rules.ts';
import { helmTemplate, type KubeManifest, pick, renderChart, runTool } from './render.ts';

const stories = join(import.meta.dirname, 'alerts.test.yaml');
const soonMs = 60_000;

test('promtool finds nothing to complain about in the rules', () => {
  const { code, stdout, stderr } = runTool('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles]);
  assert.equal(code, 0, stdout + stderr);
  const wrong = { groups: [{ name: 'g', rules: [{ alert: 'A', expr: 'sum(' }] }] };
  assert.notEqual(runTool('promtool', ['check', 'rules'], stringify(wrong)).code, 0, 'it does look');
});

test('promtool: every alert fires when it should, and only then', () => {
  const { code, stdout, stderr } = runTool('promtool', ['test', 'rules', stories]);
  assert.equal(code, 0, stdout + stderr);
});

interface Story {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly object[] }[];
}

test('of every alert there is a story in which it fires and one in which it does not', () => {
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

test('promtool understands every query of the dashboard', () => {
  const queries = dashboard().panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
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

test('the chart brings the rules as they are in the files', () => {
  assert.deepEqual(rendered(''), alertRules());
});

test('the chart: labels, a place for the runbooks, and alerts that are left out', () => {
  const wanted = alertRules().filter(({ alert }) => alert !== 'NodeLifecycleBlind');
  const rules = rendered(
    'alertLabels: { team: a, severity: page }, runbookUrl: https://b/c/, disabled: [NodeLifecycleBlind, NodeLifecycleShadowDivergence]',
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

const refusals: Readonly<Record<string, RegExp>> = {
  'prometheusRule: { enabled: true, disabled: [NodeLifecycleBlnd] }': /disabled: there is no alert NodeLifecycleBlnd/,
  'prometheusRule: { enabled: true }, enabled: false': /prometheusRule\.enabled: needs metrics\.enabled/,
  'prometheusRule: { runbookUrl: docs }': /\/metrics\/prometheusRule\/runbookUrl/,
};

for (const [values, words] of Object.entries(refusals)) {
  test(`the chart refuses: ${values}`, () => {
    const { code, stderr } = helmTemplate({ values: `metrics: { ${values} }` });
    assert.notEqual(code, 0);
    assert.match(stderr, words);
  });
}

test('the chart brings the dashboard where the sidecar of Grafana looks for it', () => {
  const { metadata, data } = pick(
    renderChart({ values: 'metrics: { dashboard: { enabled: true, annotations: { grafana_folder: a } } }' }),
    'ConfigMap',
    'node-lifecycle-controller-dashboard',
  ) as KubeManifest & { data: Record<string, string>; metadata: { annotations?: object } };
  assert.equal(metadata.labels?.['grafana_dashboard'], '1');
  assert.deepEqual(metadata.annotations, { grafana_folder: 'a' });
  assert.equal(`${data['node-lifecycle.json']}\n`, readFileSync(dashboardFile, 'utf8'));
});

/** What promtool dislikes, and why it stays: names that are not ours to give. */
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
  await until('leading', soonMs, async () => leader.logs().some(({ msg }) => msg === 'leading'));
  const standby = startController();
  await until('standing by', soonMs, async () => standby.logs().some(({ msg }) => msg === 'the leader changed'));
  await work();
  const fleetUrl = await until('the fleet', soonMs, async () => /control at (http:\S+):/.exec(said(fleet))?.[1]);
  pages.leader = await pageOf(addressOf(leader));
  pages.standby = await pageOf(addressOf(standby));
  pages.fleet = await pageOf(fleetUrl);
});

after(async () => {
  for (const process of processes) await process.kill();
  await world.stop();
});

function start(args: readonly string[]): NlcProcess {
  const started = new NlcProcess([...args, `--kubeconfig=${world.kubeconfigFile}`, '--log-format=json']);
  processes.push(started);
  return started;
}

function startController(): NlcProcess {
  return start([
    'controller',
    '--metrics-bind-address=127.0.0.1:0',
    '--health-probe-bind-address=0',
    '--node-monitor-grace-period=6s',
    '--node-monitor-period=1s',
    '--node-eviction-rate=10',
    '--watch-canary',
  ]);
}

function startFleet(): NlcProcess {
  return start(['hollow-nodes', '--nodes=6', '--lease-duration=4s', '--control-address=127.0.0.1:0']);
}

function said({ stdout, stderr }: NlcProcess): string {
  return stdout + stderr;
}

/** A node goes dark, loses a pod that does not tolerate it for long, and comes back. */
async function work(): Promise<void> {
  const tolerating = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' } as const;
  await world.addPod('patient', 'a0', [{ ...tolerating, tolerationSeconds: 600 }]);
  await world.addPod('evicted', 'a0', [{ ...tolerating, tolerationSeconds: 1 }]);
  world.fleet.cutOff(['a0']);
  await until('evicted', soonMs, async () => (await world.pods()).every(({ name }) => name !== 'evicted'));
  world.fleet.bringBack(['a0']);
  await until('back', soonMs, async () => taintsOf(await world.node('a0')).length === 0);
}

function addressOf(controller: NlcProcess): string {
  return `http://127.0.0.1:${String(controller.logs().find(({ msg }) => msg === 'serving /metrics')?.['port'])}`;
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
    assert.deepEqual(
      complaints.filter((line) => accepted[line] === undefined),
      [],
    );
  });
}

test('what is accepted is still complained of', () => {
  const { stdout, stderr } = runTool('promtool', ['check', 'metrics'], pages.leader);
  for (const complaint of Object.keys(accepted)) assert.ok((stdout + stderr).includes(complaint), complaint);
});

/** The lines of a page that show this metric. */
function seriesOn(page: string, name: string): readonly string[] {
  return page.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line));
}

test('only the leader has series of zones, lines and blindness; a standby says that it stands by', () => {
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
    'node_lifecycle_blind',
  ]) {
    assert.notDeepEqual(seriesOn(pages.leader, name), [], `the leader shows ${name}`);
    assert.deepEqual(seriesOn(pages.standby, name), [], `a standby does not show ${name}`);
  }
  const held = seriesOn(pages.standby, 'node_lifecycle_held_nodes');
  assert.ok(held.length > 0 && held.every((line) => line.endsWith(' 0')), 'a standby holds nobody back');
  for (const [page, value] of [
    ['leader', 1],
    ['standby', 0],
  ] as const) {
    const status = `leader_election_master_status{name="node-lifecycle-controller"} ${value}`;
    assert.deepEqual(seriesOn(pages[page], 'leader_election_master_status'), [status]);
    assert.equal(seriesOn(pages[page], 'reflector_lists_total').length, 3, 'each says when it is in sync');
    assert.equal(seriesOn(pages[page], 'node_lifecycle_controller_build_info').length, 1);
  }
});
