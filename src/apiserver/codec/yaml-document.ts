/** YAML as kube-apiserver reads it (upstream `sigs.k8s.io/yaml`). */
import { parseDocument, type Tags } from 'yaml';
import { exactInteger } from './parse-exact-json.ts';

interface DecodedYaml {
  readonly value: unknown;
  /** Keys that occur twice; the last one counts. */
  readonly repeated: readonly RepeatedKey[];
}

interface RepeatedKey {
  readonly key: string;
  readonly line: number;
}

const keyPattern = /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^:\s]+/y;

/** A text that is not YAML. */
export class YamlProblem extends Error {}

/** Throws a {@link YamlProblem}. */
export function decodeYaml(text: string): DecodedYaml {
  const document = parseDocument(text, { version: '1.1', customTags: goTags, prettyErrors: true, intAsBigInt: true });
  const failed = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  if (failed !== undefined) throw new YamlProblem(`yaml: line ${failed.linePos?.[0].line ?? 1}: ${failed.message}`);
  const repeated = document.errors.map(({ pos, linePos }) => {
    keyPattern.lastIndex = pos[0];
    const [key = ''] = keyPattern.exec(text) ?? [];
    return { key: key.replace(/^["']|["']$/g, ''), line: linePos?.[0].line ?? 1 };
  });
  return { value: toExactIntegers(document.toJS()), repeated };
}

/** Changes the value: its integers, all of them bigints, to the form of `parseExactJson`. An alias is the object of its anchor. */
function toExactIntegers(value: unknown, seen = new Set<unknown>()): unknown {
  if (typeof value === 'bigint') return exactInteger(value);
  if (typeof value !== 'object' || value === null || seen.has(value)) return value;
  seen.add(value);
  for (const [key, item] of Object.entries(value)) {
    const exact = toExactIntegers(item, seen);
    if (exact !== item) Reflect.set(value, key, exact);
  }
  return value;
}

/** As in the message of kube-apiserver about one key. */
export function describeRepeated({ key, line }: RepeatedKey): string {
  return `line ${line}: key ${JSON.stringify(key)} already set in map`;
}

/** Go's parser reads YAML 1.1 without times and without numbers in base 60, which stay texts. */
function goTags(tags: Tags): Tags {
  return tags.filter((tag) => {
    return typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME');
  });
}
