/** Reads YAML and JSON from outside, within bounds of time and memory. */
import { Composer, type Document, Lexer, LineCounter, Parser, type ScalarTag, type Tags } from 'yaml';
import { depthMax, findRepeatedKeys, isTooDeep, type RepeatedKey } from './json-reader.ts';
import { isEmpty, ValueBuilder, YamlProblem } from './value-builder.ts';

export interface YamlDocument {
  /** Null for an empty text. */
  readonly value: unknown;
  /** At most 100. */
  readonly repeated: readonly RepeatedKey[];
}

/**
 * `kubernetes`: as kubelets, kubectl and kube-apiserver read it (upstream `sigs.k8s.io/yaml`), which is YAML 1.1 without
 * times and without numbers in base 60. `core`: YAML 1.2, for files of this project.
 */
export type YamlDialect = 'kubernetes' | 'core';

/** Forms of integers as values; by default they are numbers, as of `JSON.parse`. */
interface NumberForms {
  /** Throws a SyntaxError. */
  readonly parseJson: (text: string) => unknown;
  readonly integer: (value: bigint) => unknown;
}

const numbers: NumberForms = { parseJson: (text) => JSON.parse(text), integer: Number };

/** Maximum number of tokens of a text that is not JSON: about 20,000 fields. */
const tokensMax = 100_000;

/** The document of a text, in YAML or JSON. Throws a {@link YamlProblem} if there are several. */
export function readYaml(text: string, dialect: YamlDialect, forms: NumberForms = numbers): YamlDocument {
  const [document, ...others] = readYamlDocuments(text, dialect, forms);
  if (document instanceof YamlProblem) throw document;
  if (others.length > 0) throw new YamlProblem(`documents: must be exactly 1 (got ${others.length + 1})`);
  return document ?? { value: null, repeated: [] };
}

/** The documents of a text, without empty ones, and in place of each that is invalid its problem. */
export function readYamlDocuments(
  text: string,
  dialect: YamlDialect,
  forms: NumberForms = numbers,
): readonly (YamlDocument | YamlProblem)[] {
  const json = parseJson(text, forms);
  if (json !== undefined) return [readJson(text, json.value)];
  const lines = new LineCounter();
  try {
    const composer = new Composer({ ...dialects[dialect], logLevel: 'silent', uniqueKeys: false });
    const documents = [...composer.compose(tokensOf(text, lines), false, text.length)];
    return documents
      .filter((document) => !isEmpty(document))
      .map((document) => readDocument(document, new ValueBuilder(lines, forms.integer), lines));
  } catch (error) {
    return [asProblem(error)];
  }
}

/** Texts that begin like JSON and are not are YAML. */
function parseJson(text: string, forms: NumberForms): { readonly value: unknown } | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return { value: forms.parseJson(text) };
  } catch {
    return undefined;
  }
}

function readJson(text: string, value: unknown): YamlDocument | YamlProblem {
  if (isTooDeep(text, value)) return new YamlProblem(`exceeded max depth of ${depthMax}`);
  return { value, repeated: findRepeatedKeys(text) };
}

function* tokensOf(text: string, lines: LineCounter): ReturnType<Parser['parse']> {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > tokensMax)
      throw new YamlProblem(`must have at most ${tokensMax} tokens; larger documents must be JSON`);
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}

function readDocument(
  document: Document.Parsed,
  builder: ValueBuilder,
  lines: LineCounter,
): YamlDocument | YamlProblem {
  const [error] = document.errors;
  if (error?.code === 'RESOURCE_EXHAUSTION') return new YamlProblem(`exceeded max depth of ${depthMax}`);
  if (error !== undefined) return new YamlProblem(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
  try {
    return { value: builder.build(document.contents), repeated: builder.repeated };
  } catch (error) {
    return asProblem(error);
  }
}

/** A stack overflow is a text that is nested too deeply. */
function asProblem(error: unknown): YamlProblem {
  if (error instanceof YamlProblem) return error;
  if (error instanceof RangeError) return new YamlProblem(`exceeded max depth of ${depthMax}`);
  throw error;
}

const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7_]+$/,
  resolve: (text) => Number(text.replaceAll(/[-+_]/g, '')) * (text.startsWith('-') ? -1 : 1),
};

function goTags(tags: Tags): Tags {
  const kept = tags.filter((tag) => {
    return typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME');
  });
  return [octal, ...kept];
}

const dialects = {
  kubernetes: { version: '1.1', customTags: goTags, intAsBigInt: true },
  core: { version: '1.2', intAsBigInt: true },
} as const;
