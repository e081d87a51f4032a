import { createHash } from 'node:crypto';
import { type Document, isScalar, parseAllDocuments } from 'yaml';
import type { ManifestText } from '../ports/static-pod-manifests.ts';

/** YAML or JSON, one document. */
export const manifestText: ManifestText = {
  parse: (text) => (text.trimStart().startsWith('{') ? parseJson(text) : undefined) ?? parseYaml(text),
  digest: (text) => createHash('md5').update(text).digest('hex'),
};

/** JSON is YAML as well, but is read much faster as what it is. Undefined where it is not quite JSON. */
function parseJson(text: string): { readonly document: unknown } | undefined {
  try {
    return { document: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function parseYaml(text: string): { readonly document: unknown } | { readonly problem: string } {
  const parsed = parseAllDocuments(text, { merge: true, logLevel: 'silent' });
  const documents = [...parsed].filter((document) => document.errors.length > 0 || !isEmpty(document));
  const [document] = documents;
  if (document === undefined) return { problem: 'it is empty' };
  const [flaw] = document.errors;
  if (flaw !== undefined) return { problem: flaw.message.split('\n')[0] ?? flaw.code };
  if (documents.length > 1) return { problem: `documents: got ${documents.length}; accepted: 1` };
  try {
    return { document: document.toJS() };
  } catch (error) {
    // Aliases that would grow without end.
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** As what comes behind the last `---`. */
function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}
