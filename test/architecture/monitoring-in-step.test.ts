// Alerts, runbooks and the dashboard name only existing metrics, flags and values. test/packaging checks them with promtool.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { commandList } from '../../src/cli/commands/command-list.ts';
import { alertRules, dashboard } from '../packaging/alert-rules.ts';
import { exposedSeries, problemWith } from '../packaging/exposed-metrics.ts';
import { metricsOf } from '../packaging/promql-names.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const runbooks = globSync('docs/runbooks/NodeLifecycle*.md', { cwd: root });
const pages = [...globSync('docs/runbooks/*.md', { cwd: root }), 'docs/monitoring.md'];
const rules = alertRules();
/** Used in expressions only to select the series of this controller. */
const buildInfo = 'node_lifecycle_controller_build_info';
const sections = [
  'What it means',
  'What the controller does meanwhile',
  'Diagnosis',
  'Mitigation',
  'Escalation',
  'Silencing the alert',
];

test('every alert has one name, a severity, a summary, a description and its runbook', () => {
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  for (const { alert, labels, annotations } of rules) {
    assert.match(alert, /^NodeLifecycle([A-Z][a-z]+)+$/);
    assert.deepEqual(Object.keys(labels), ['severity'], alert);
    assert.match(labels['severity'] ?? '', /^(critical|warning|info)$/, alert);
    assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook_url'], alert);
    assert.equal(annotations['runbook_url'], `docs/runbooks/${alert}.md`);
    for (const text of ['summary', 'description']) assert.match(annotations[text] ?? '', /\S.*\.$/s, alert);
  }
});

test('every alert has a runbook, and every runbook an alert', () => {
  const wanted = rules.map(({ alert }) => alert).sort();
  assert.deepEqual(runbooks.map((path) => basename(path, '.md')).sort(), wanted);
});

test('every alert and every runbook is listed in docs/monitoring.md, with its severity', () => {
  const text = read('docs/monitoring.md');
  for (const { alert, labels } of rules) {
    const row = text.split('\n').find((line) => line.includes(`[${alert}](runbooks/${alert}.md)`));
    assert.ok(row?.includes(`| ${labels['severity']} |`), `docs/monitoring.md: ${alert}`);
  }
});

for (const { alert, expr, labels, for: patience } of rules) {
  test(`the runbook of ${alert} has every section, and names what the alert looks at`, () => {
    const text = read(`docs/runbooks/${alert}.md`);
    assert.ok(text.startsWith(`# ${alert}\n\nSeverity: ${labels['severity']}. `), 'title and severity');
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    assert.deepEqual(headings, sections);
    const metrics = metricsOf(expr).map(({ metric }) => metric.replace(/_bucket$/, ''));
    for (const metric of metrics.filter((name) => name !== buildInfo))
      assert.ok(text.includes(metric), `${metric} is not named`);
    if (patience !== undefined)
      assert.match(text, new RegExp(`\\b${Number.parseInt(patience)}\\sminutes?\\b`), 'how long');
  });
}

test('every metric in an alert or a panel exists, with the labels by which it is selected', async () => {
  const exposed = await exposedSeries();
  const { panels, annotations, templating } = dashboard();
  const inPanels = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr })));
  const variables = templating.list.flatMap(({ name, definition }) =>
    definition === undefined ? [] : [{ where: name, expr: definition.replace(/, \w+\)$/, ')') }],
  );
  const queries = [...rules.map(({ alert, expr }) => ({ where: alert, expr })), ...inPanels, ...variables];
  assert.ok(queries.length > 70);
  for (const { where, expr } of queries) {
    const named = metricsOf(expr);
    assert.ok(named.length > 0, `${where}: no metric in ${expr}`);
    const problems = named.map((metric) => problemWith(metric, exposed)).filter((problem) => problem !== undefined);
    assert.deepEqual(problems, [], `${where}: ${expr}`);
  }
  assert.ok(annotations.list.every(({ expr }) => metricsOf(expr).every(({ metric }) => metric === 'ALERTS')));
});

test('every label value in an alert occurs in the code', () => {
  const code = globSync('src/{cli,controller,machinery,policy}/**/*.ts', { cwd: root }).map(read).join('\n');
  const compared = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/\w+\s*[=!]~?\s*"([^"]*)"/g)].map(([, text = '']) => text),
  );
  const words = compared.flatMap((text) => text.split('|')).filter((word) => /^[A-Za-z_-]+$/.test(word));
  assert.ok(words.length > 8);
  for (const word of words) assert.ok(code.includes(`'${word}'`), word);
});

test('no alert needs a series of a single node or pod', () => {
  for (const { alert, expr } of rules)
    assert.doesNotMatch(expr.replace(/"[^"\n]*"/g, '""'), /\b(node|pod)\b(?!_)/, alert);
});

const families =
  'node_lifecycle|node_collector|taint_eviction|rest_client|informer|reflector|workqueue|leader_election';
const metricWord = new RegExp(`\\b(?:${families}|watch_canary|pod_gc|nodejs|process)_[a-z0-9_]+`, 'g');

test('every metric that a runbook names exists', async () => {
  const exposed = await exposedSeries();
  const families = new Set([...exposed.keys()].flatMap((name) => [name, name.replace(/_(bucket|sum|count)$/, '')]));
  for (const path of pages) {
    const text = read(path).replace(/"[^"\n]*"/g, '""');
    for (const [word] of text.matchAll(metricWord)) assert.ok(families.has(word), `${path} names ${word}`);
  }
});

test('every nlc command and flag that a runbook names exists', async () => {
  const flags = new Map<string, readonly string[]>();
  for (const entry of commandList) {
    const known = await entry.loadFlags();
    flags.set(
      entry.name,
      known.map(({ name }) => `--${name}`),
    );
  }
  const nlcFlags = [...flags.values()].flat();
  for (const path of pages) {
    const text = read(path);
    for (const [line, command = ''] of text.matchAll(/\bnlc(?:\.js)? ([a-z][a-z-]+)[^\n`]*/g)) {
      const known = flags.get(command);
      assert.ok(known !== undefined, `${path}: unknown command ${command}`);
      for (const [flag] of line.matchAll(/--[a-z][a-z-]+/g)) assert.ok(known.includes(flag), `${path}: ${line}`);
    }
    for (const [, flag = ''] of text.matchAll(/`(--[a-z][a-z-]+)[^`]*`/g))
      assert.ok(nlcFlags.includes(flag), `${path}: ${flag}`);
  }
});

test('every value of the chart that a runbook names exists', () => {
  const values = parse(read('charts/node-lifecycle-controller/values.yaml')) as Readonly<Record<string, unknown>>;
  for (const path of pages) {
    for (const [, name = ''] of read(path).matchAll(
      /`((?:metrics|networkPolicy|config|leaderElection|resources)\.[\w.]+)`/g,
    )) {
      const found = name.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], values);
      assert.notEqual(found, undefined, `${path}: ${name}`);
    }
  }
});

test('dashboard panels have unique ids, do not overlap, and have a description and the selected data source', () => {
  const { panels, templating } = dashboard();
  const seen = templating.list.map(({ name }) => name);
  assert.deepEqual(seen, ['datasource', 'cluster', 'job', 'zone']);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = new Set<string>();
  for (const { title, type, description = '', datasource, targets = [], gridPos } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(x < 24 && !cells.has(`${x}/${y}`), `${title} covers another, or leaves the page`);
        cells.add(`${x}/${y}`);
      }
    }
    if (type === 'row') continue;
    assert.match(description, /\.$/, title);
    assert.equal(datasource?.uid, '${datasource}', title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    for (const { expr } of targets) assert.match(expr, /job=~"\$job"/, title);
  }
});
