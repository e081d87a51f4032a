import { parseDocument } from 'yaml';
import { type FlagDefinition, keyOf } from './flag-definition.ts';
import type { Input } from './flags.ts';
import { nearestName } from './near-miss.ts';

/** What stands at the head of a config file. */
export const configApiVersion = 'nodelifecycle/v1alpha1';
export const configKind = 'ControllerConfiguration';

export interface ConfigFile {
  readonly inputs: ReadonlyMap<string, Input>;
  readonly problems: readonly string[];
}

/** Aliases a file may unfold; more is an attack or an accident. */
const aliasesMax = 100;

/**
 * Reads a config file's text. The settings bear the flags' names in camel case. A key nobody knows, one given twice, a
 * missing or foreign apiVersion or kind are problems; each names the file.
 */
export function readConfigFile(path: string, text: string, table: readonly FlagDefinition[]): ConfigFile {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true, version: '1.2' });
  const errors = document.errors.map((error) => `--config: ${path} is not YAML: ${firstLine(error.message)}`);
  if (errors.length > 0) return refused(errors);
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    return refused([`--config: ${path} cannot be unfolded: ${firstLine(String(error))}`]);
  }
  if (isRecord(content)) return sorted(path, content, table);
  return refused([`--config: ${path} holds no settings; accepted: ${headText}, then settings`]);
}

function refused(problems: readonly string[]): ConfigFile {
  return { inputs: new Map(), problems };
}

const headText = `apiVersion: ${configApiVersion} and kind: ${configKind}`;

function sorted(
  path: string,
  content: Readonly<Record<string, unknown>>,
  table: readonly FlagDefinition[],
): ConfigFile {
  const { apiVersion, kind, ...settings } = content;
  const known = new Set(table.filter((flag) => flag.onlyAsFlag !== true).map((flag) => keyOf(flag.name)));
  const problems = [
    ...headProblems(`${path}: apiVersion`, apiVersion, configApiVersion),
    ...headProblems(`${path}: kind`, kind, configKind),
    ...Object.keys(settings).flatMap((key) => (known.has(key) ? [] : [unknownText(path, key, known)])),
  ];
  const inputs = Object.entries(settings)
    .filter(([key]) => known.has(key))
    .map(([key, given]): [string, Input] => [key, { given, origin: `${path}: ${key}` }]);
  return { inputs: new Map(inputs), problems };
}

function headProblems(origin: string, given: unknown, wanted: string): readonly string[] {
  if (given === wanted) return [];
  return [`${origin}: ${given === undefined ? 'is missing' : `got ${JSON.stringify(given)}`}; accepted: ${wanted}`];
}

function unknownText(path: string, key: string, known: ReadonlySet<string>): string {
  const near = nearestName(key, known);
  return `${path}: ${key}: unknown setting${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
