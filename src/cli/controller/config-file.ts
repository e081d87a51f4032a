import { parseDocument } from 'yaml';
import { type FlagDefinition, keyOf } from '../flags/flag-definition.ts';
import type { Input } from '../flags/flags.ts';
import { nearestName } from '../flags/suggestions.ts';
import {
  defaultFileSettings,
  type FileSettings,
  fileSettingShape,
  readFileSettings,
} from '../policies/file-settings.ts';

/** The required apiVersion and kind of a config file. */
export const configApiVersion = 'nodelifecycle/v1alpha1';
export const configKind = 'ControllerConfiguration';

export interface ConfigFile {
  readonly inputs: ReadonlyMap<string, Input>;
  /** Settings without a flag. */
  readonly settings: FileSettings;
  readonly problems: readonly string[];
}

/** Maximum number of YAML aliases that are expanded, against exponential expansion. */
const aliasesMax = 100;

/**
 * Parses the text of a config file. Settings have the flags' names in camel case. Unknown and duplicate keys, and a
 * missing or wrong apiVersion or kind, are problems; each problem names the file.
 */
export function readConfigFile(path: string, text: string, table: readonly FlagDefinition[]): ConfigFile {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true, version: '1.2' });
  const errors = document.errors.map((error) => `--config: ${path}: invalid YAML: ${firstLine(error.message)}`);
  if (errors.length > 0) return failedWith(errors);
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: aliasesMax });
  } catch (error) {
    return failedWith([`--config: ${path}: cannot expand YAML aliases: ${firstLine(String(error))}`]);
  }
  if (isRecord(content)) return parseContent(path, content, table);
  return failedWith([`--config: ${path}: must be a YAML mapping with ${headText}`]);
}

function failedWith(problems: readonly string[]): ConfigFile {
  return { inputs: new Map(), settings: defaultFileSettings, problems };
}

const headText = `apiVersion: ${configApiVersion} and kind: ${configKind}`;

function parseContent(
  path: string,
  content: Readonly<Record<string, unknown>>,
  table: readonly FlagDefinition[],
): ConfigFile {
  const { apiVersion, kind, ...settings } = content;
  const flags = new Set(table.filter((flag) => flag.onlyAsFlag !== true).map((flag) => keyOf(flag.name)));
  const known = new Set([...flags, ...Object.keys(fileSettingShape)]);
  const read = readFileSettings(content);
  const problems = [
    ...headProblems(`${path}: apiVersion`, apiVersion, configApiVersion),
    ...headProblems(`${path}: kind`, kind, configKind),
    ...Object.keys(settings).flatMap((key) => (known.has(key) ? [] : [unknownText(path, key, known)])),
    ...read.problems.map((problem) => `${path}: ${problem}`),
  ];
  const inputs = Object.entries(settings)
    .filter(([key]) => flags.has(key))
    .map(([key, given]): [string, Input] => [key, { given, origin: `${path}: ${key}` }]);
  return { inputs: new Map(inputs), settings: read.settings, problems };
}

function headProblems(origin: string, given: unknown, wanted: string): readonly string[] {
  if (given === wanted) return [];
  return [`${origin}: must be ${wanted} (${given === undefined ? 'missing' : `got ${JSON.stringify(given)}`})`];
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
