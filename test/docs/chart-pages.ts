// The chart's files that say again what is said elsewhere: the schema of its values, the part of values.yaml that holds
// the controller's flags, and its README. `npm run docs` writes them; a test compares them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { acceptedBy, type FlagDefinition, keyOf } from '../../src/cli/flag-definition.ts';
import { permissionsPage } from '../packaging/permissions.ts';
import { chartValuesSchema, configFlags } from './chart-values-schema.ts';
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

function readmeText(values: string): string {
  return [
    '# node-lifecycle-controller, the chart',
    '',
    'Notices when nodes fall silent, taints them and evicts their pods at the pace of their zone, **instead of** the node',
    'lifecycle and taint eviction controllers in kube-controller-manager. How to switch those off, and back on, is in',
    '`docs/install.md` of the project.',
    '',
    '```bash',
    'helm install node-lifecycle-controller charts/node-lifecycle-controller --namespace node-lifecycle-controller --create-namespace \\',
    '  --set image.repository=registry.example.com/node-lifecycle-controller',
    '```',
    '',
    'The image is built from the `Containerfile` of the project. The pods pass Pod Security `restricted`.',
    '',
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
