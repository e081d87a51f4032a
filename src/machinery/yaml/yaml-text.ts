import { YamlProblem } from './value-builder.ts';
import { readYaml, type YamlDocument } from './yaml-reader.ts';

/** Result of reading a document of a user: its value, or all problems with it. */
export type Read<T> = { readonly value: T } | { readonly problems: readonly string[] };

/** The value of a file of this project, in YAML or JSON. Problems begin with `origin`; repeated keys are problems. */
export function readYamlText(origin: string, text: string): Read<unknown> {
  try {
    return checkDocument(origin, readYaml(text, 'core'));
  } catch (error) {
    if (error instanceof YamlProblem) return checkDocument(origin, error);
    throw error;
  }
}

/** The value of a document, or its problems. */
export function checkDocument(origin: string, document: YamlDocument | YamlProblem): Read<unknown> {
  if (document instanceof YamlProblem) return { problems: [`${origin}: invalid YAML: ${document.message}`] };
  const { value, repeated } = document;
  if (repeated.length === 0) return { value };
  return {
    problems: repeated.map(
      ({ key, line }) => `${origin}: invalid YAML: line ${line}: key ${JSON.stringify(key)} already set in map`,
    ),
  };
}
