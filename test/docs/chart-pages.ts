// The chart's files that say again what is said elsewhere: the schema of its values, the part of values.yaml that holds
// the controller's flags, and its README. `npm run docs` writes them; a test compares them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { controllerFlags } from '../../src/cli/controller-flags.ts';
import { acceptedBy, type FlagDefinition, keyOf } from '../../src/cli/flag-definition.ts';
import { permissionsPage } from '../packaging/permissions.ts';
import { chartValuesSchema, configFlags } from './chart-values-schema.ts';
import { dashboardText } from './dashboard.ts';
import type { Page } from './reference-pages.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = 'charts/node-lifecycle-controller';
const configHeading = '# ---- The settings of the controller, as in its config file: written by `npm run docs` ----\n';

export function chartPages(): readonly Page[] {
  const values = valuesText();
  return [
    { path: `${folder}/values.yaml`, text: values },
    { path: `${folder}/values.schema.json`, text: schemaText() },
    { path: `${folder}/README.md`, text: readmeText(values) },
    { path: `${folder}/templates/_live-settings.tpl`, text: liveSettingsText() },
    { path: `${folder}/dashboards/node-lifecycle.json`, text: dashboardText() },
  ];
}

/** What stands above the heading is kept; what stands below is the flags' tables. */
function valuesText(): string {
  const [own = ''] = readFileSync(join(root, folder, 'values.yaml'), 'utf8').split(configHeading);
  return `${own.trimEnd()}\n\n${configHeading}\nconfig:\n${configFlags.map(settingText).join('')}`;
}

function settingText(flag: FlagDefinition): string {
  const value = stringify(flag.default ?? null, { singleQuote: true }).trim();
  return `  # -- ${flag.description} (${acceptedBy(flag)})\n  ${keyOf(flag.name)}: ${value}\n`;
}

/** A change of these alone restarts nothing: the running controllers take it up. */
function liveSettingsText(): string {
  const flags = controllerFlags.filter((flag: FlagDefinition) => flag.live === true);
  const keys = JSON.stringify(flags.map(({ name }) => keyOf(name)));
  return `{{/* Settings that a running controller takes up: written by \`npm run docs\`. */}}\n{{- define "nlc.liveSettings" -}}\n${keys}\n{{- end -}}\n`;
}

function schemaText(): string {
  const schema = z.toJSONSchema(chartValuesSchema, { target: 'draft-7', io: 'input' });
  return `${JSON.stringify(forHelm(schema), undefined, 2)}\n`;
}

/**
 * Helm takes defaults from values.yaml alone; a second set could only differ. Each value may be left out. And its
 * regular expressions are Go's, which cannot look ahead.
 */
function forHelm(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forHelm);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { default: _default, required: _required, pattern, ...rest } = schema as Readonly<Record<string, unknown>>;
  const entries = Object.entries(rest).map(([key, value]) => [key, forHelm(value)]);
  return { ...Object.fromEntries(entries), ...(typeof pattern === 'string' ? withoutLookahead(pattern) : {}) };
}

const lengthLookahead = /^\^\(\?=\.\{1,(\d+)\}\$\)/;

function withoutLookahead(pattern: string): object {
  const length = lengthLookahead.exec(pattern)?.[1];
  const rest = pattern.replace(lengthLookahead, '^');
  if (rest.includes('(?=') || rest.includes('(?!')) throw new Error(`not a regular expression of Go: ${pattern}`);
  return { pattern: rest, ...(length === undefined ? {} : { maxLength: Number(length) }) };
}

const modesText = [
  '## Modes',
  '',
  '| `mode` | it | kube-controller-manager | its `--controllers` gets |',
  '| --- | --- | --- | --- |',
  '| `replace` | detects and evicts | neither | `-node-lifecycle-controller,-taint-eviction-controller` |',
  '| `detector-only` | detects and taints | evicts | `-node-lifecycle-controller` (from Kubernetes 1.33) |',
  '| `evictor-only` | evicts | detects and taints | `-taint-eviction-controller` |',
  '| `shadow` | writes nothing, and compares | detects and evicts | nothing |',
  '',
  '`helm install` prints the line for the mode. `config.controllers` may add `pod-garbage-collector-controller`; what contradicts the',
  'mode is refused. In `shadow` there is one replica, no lease, no disruption budget and no permission to write.',
  '',
];

/** Measured with the sources of `npm run bench:informer`, once all nodes are loaded. */
const memoryText = [
  '| nodes | pods | most that it took | `resources.limits.memory` |',
  '| --- | --- | --- | --- |',
  '| 1,000 | 10,000 | 226 MiB | 512Mi, the default |',
  '| 5,000 | 150,000 | 359 MiB | 512Mi |',
  '| 15,000 | 450,000 | 514 MiB | 1Gi |',
  '| 100,000 | 1,000,000 | 889 MiB | 2Gi |',
  '',
  'Measured from the start until caches were full and every node was known, with objects of the usual size in protobuf and three',
  'quarters of the limit as heap; at 5,000 nodes also while all of them were silent. Requests and limits are best equal.',
  '',
];

function readmeText(values: string): string {
  return [
    '# node-lifecycle-controller, the chart',
    '',
    'Notices when nodes fall silent, taints them and evicts their pods at the pace of their zone, **instead of** the node',
    'lifecycle and taint eviction controllers in kube-controller-manager, or of one of them, or beside both without writing. How to',
    'switch those off, and back on, is in `docs/install.md` of the project.',
    '',
    '```bash',
    'helm install node-lifecycle-controller charts/node-lifecycle-controller --namespace node-lifecycle-controller --create-namespace \\',
    '  --set image.repository=registry.example.com/node-lifecycle-controller',
    '```',
    '',
    'The image is built from the `Containerfile` of the project. The pods pass Pod Security `restricted`.',
    '',
    'A change of settings that are live (`docs/flags.md`) restarts no pod: the kubelet renews the mounted file within a minute or so,',
    'and the controllers take it up. A change of any other setting restarts them.',
    '',
    ...modesText,
    '## Where it runs, and in how much memory',
    '',
    'By default: on control plane nodes if there are any, two replicas apart. `presets/control-plane.yaml` and',
    '`presets/dedicated-pool.yaml` beside this file are values for those nodes and nowhere else: `--values`, and rename the pool.',
    '',
    ...memoryText,
    '## Permissions',
    '',
    ...permissionsPage(),
    '',
    '## Values',
    '',
    '| value | default | what it does |',
    '| --- | --- | --- |',
    ...valueRows(values),
    '',
  ].join('\n');
}

function valueRows(values: string): readonly string[] {
  const { contents } = parseDocument(values);
  if (!isMap(contents)) throw new Error('values.yaml holds no values');
  return rowsOf(contents, '');
}

function rowsOf(map: YAMLMap, prefix: string): readonly string[] {
  // The comment of a map's first key is the map's own, to the parser.
  return map.items.flatMap((pair, index) => {
    const comment = commentOf(pair) ?? (index === 0 ? map.commentBefore : undefined);
    return rowOf(pair, prefix, comment ?? '');
  });
}

function rowOf(pair: Pair, prefix: string, comment: string): readonly string[] {
  const name = `${prefix}${String(pair.key)}`;
  const [, described] = /^ -- (.+)$/m.exec(comment) ?? [];
  if (described !== undefined) return [`| \`${name}\` | ${shown(pair.value)} | ${described.replaceAll('|', '\\|')} |`];
  if (isMap(pair.value) && pair.value.items.length > 0) return rowsOf(pair.value, `${name}.`);
  throw new Error(`values.yaml: ${name} is not described`);
}

function commentOf({ key }: Pair): string | undefined {
  return isScalar(key) ? (key.commentBefore ?? undefined) : undefined;
}

const shownLengthMax = 40;

function shown(value: unknown): string {
  const json = JSON.stringify(value);
  if (json === 'null') return '';
  return json.length > shownLengthMax ? 'see `values.yaml`' : `\`${json}\``;
}
