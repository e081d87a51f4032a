import { isMap } from '../../machinery/api/json-map.ts';
import { type FlagDefinition, keyOf } from '../flags/flag-definition.ts';
import type { FlagInput } from '../flags/flags.ts';
import { readYamlText } from '../../machinery/yaml/yaml-text.ts';
import { nearestName } from '../flags/suggestions.ts';
import {
  defaultFileSettings,
  type FileSettings,
  fileSettingShape,
  readFileSettings,
} from '../../policy/schema/file-settings.ts';

/** The required apiVersion and kind of a config file. */
export const configApiVersion = 'nodelifecycle/v1alpha1';
export const configKind = 'ControllerConfiguration';

export interface ConfigFile {
  readonly inputs: ReadonlyMap<string, FlagInput>;
  /** Settings without a flag. */
  readonly settings: FileSettings;
  readonly problems: readonly string[];
}

/**
 * Parses the text of a config file. Settings have the flags' names in camel case. Unknown and duplicate keys, and a
 * missing or wrong apiVersion or kind, are problems; each problem names the file.
 */
export function readConfigFile(path: string, text: string, table: readonly FlagDefinition[]): ConfigFile {
  const read = readYamlText(path, text);
  if ('problems' in read) return emptyFile(read.problems);
  if (isMap(read.value)) return parseContent(path, read.value, table);
  return emptyFile([`${path}: must be a YAML mapping with ${headText}`]);
}

/** A file without settings, or none. */
export function emptyFile(problems: readonly string[] = []): ConfigFile {
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
    .map(([key, given]): [string, FlagInput] => [key, { given, origin: `${path}: ${key}` }]);
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
