/** YAML as kube-apiserver reads it (upstream `sigs.k8s.io/yaml`). */
import { parseDocument, type Tags } from 'yaml';

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
  const document = parseDocument(text, { version: '1.1', customTags: goTags, prettyErrors: true });
  const failed = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  if (failed !== undefined) throw new YamlProblem(`yaml: line ${failed.linePos?.[0].line ?? 1}: ${failed.message}`);
  const repeated = document.errors.map(({ pos, linePos }) => {
    keyPattern.lastIndex = pos[0];
    const [key = ''] = keyPattern.exec(text) ?? [];
    return { key: key.replace(/^["']|["']$/g, ''), line: linePos?.[0].line ?? 1 };
  });
  return { value: document.toJS(), repeated };
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
