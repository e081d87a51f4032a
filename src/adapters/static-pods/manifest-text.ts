import { createHash } from 'node:crypto';
import { type Document, isScalar, parseAllDocuments } from 'yaml';
import { messageOf } from '../../api/api-error.ts';
import type { ManifestText } from '../../ports/static-pod-manifests.ts';

/** YAML or JSON, one document. */
export const manifestText: ManifestText = {
  parse: (text) => (text.trimStart().startsWith('{') ? parseJson(text) : undefined) ?? parseYaml(text),
  digest: (text) => createHash('md5').update(text).digest('hex'),
};

/** JSON is also YAML, but the JSON parser is much faster. Undefined if it is not JSON. */
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
  if (document === undefined) return { problem: 'is empty' };
  const [problem] = document.errors;
  if (problem !== undefined) return { problem: problem.message.split('\n')[0] ?? problem.code };
  if (documents.length > 1) return { problem: `documents: must be exactly 1 (got ${documents.length})` };
  try {
    return { document: document.toJS() };
  } catch (error) {
    // Aliases that would expand without limit.
    return { problem: messageOf(error) };
  }
}

/** For example after a trailing `---`. */
function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}
