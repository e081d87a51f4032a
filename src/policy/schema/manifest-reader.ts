// Reads NodeLifecyclePolicy manifests from a file of one or more YAML documents.
import { isMap, mapOf, textOf } from '../../machinery/api/json-map.ts';
import {
  policiesMax,
  policyApiVersion,
  policyObjectName,
  policyResource,
} from '../../machinery/api/node-lifecycle-policy.ts';
import type { YamlProblem } from '../../machinery/yaml/value-builder.ts';
import { readYamlDocuments, type YamlDocument } from '../../machinery/yaml/yaml-reader.ts';
import { checkDocument } from '../../machinery/yaml/yaml-text.ts';
import { buildPolicyWarnings } from './build-policy-warnings.ts';
import { decodePolicies } from './decode-policies.ts';
import { readPolicyInput } from './policy-object-reader.ts';
import type { PolicyInput } from './policy-schema.ts';

type ReadManifests =
  | { readonly policies: readonly PolicyInput[]; readonly warnings: readonly string[] }
  | { readonly problems: readonly string[] };

/** Whether a document of the text is a NodeLifecyclePolicy, valid or not. */
export function hasPolicyManifest(text: string): boolean {
  return readYamlDocuments(text, 'kubernetes').some(
    (document) => 'value' in document && mapOf(document.value)['kind'] === policyResource.kind,
  );
}

/** Problems name the file, the object, the field, what is accepted and the value. */
export function readPolicyManifests(path: string, text: string): ReadManifests {
  const documents = readYamlDocuments(text, 'kubernetes');
  const read = documents.map((document, index) => readDocument(`${path}: document ${index + 1}`, path, document));
  const problems = read.flatMap((result) => ('problems' in result ? result.problems : []));
  const policies = read.flatMap((result) => ('input' in result ? [result.input] : []));
  const all = [...problems, ...validateSet(path, policies)];
  if (all.length > 0) return { problems: all };
  return {
    policies,
    warnings: buildPolicyWarnings(decodePolicies(policies)).map((text) => nameObjects(text, policies)),
  };
}

type ReadDocument = { readonly input: PolicyInput } | { readonly problems: readonly string[] };

function readDocument(place: string, path: string, document: YamlDocument | YamlProblem): ReadDocument {
  const checked = checkDocument(place, document);
  if ('problems' in checked) return checked;
  if (!isMap(checked.value)) return { problems: [`${place}: must be a mapping`] };
  const { apiVersion, kind, metadata, spec } = checked.value;
  const head = [
    ...headProblems(`${place}: apiVersion`, apiVersion, policyApiVersion),
    ...headProblems(`${place}: kind`, kind, policyResource.kind),
  ];
  if (head.length > 0) return { problems: head };
  const name = mapOf(metadata)['name'];
  const read = readPolicyInput({ metadata: { name }, spec });
  if ('input' in read) return read;
  const object = textOf(name) === '' ? place : `${path}: ${policyObjectName(textOf(name))}`;
  return { problems: read.problems.map((problem) => `${object}: ${problem}`) };
}

function headProblems(origin: string, given: unknown, wanted: string): readonly string[] {
  if (given === wanted) return [];
  return [`${origin}: must be ${wanted} (${given === undefined ? 'missing' : `got ${JSON.stringify(given)}`})`];
}

function validateSet(path: string, policies: readonly PolicyInput[]): readonly string[] {
  const names = policies.map(({ name }) => name);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return [
    ...[...repeated].map((name) => `${path}: ${policyObjectName(name)}: must be unique (got several)`),
    ...(policies.length > policiesMax
      ? [`${path}: must be at most ${policiesMax} NodeLifecyclePolicy objects (got ${policies.length})`]
      : []),
  ];
}

/** `policies[0].x` of a text about a list of policies as `nodelifecyclepolicy/NAME: spec.x`. */
function nameObjects(text: string, policies: readonly PolicyInput[]): string {
  return text.replaceAll(/policies\[(\d+)\](\.?)/g, (_, index: string, dot: string) => {
    const object = policyObjectName(policies[Number(index)]?.name ?? '');
    return dot === '' ? object : `${object}: spec.`;
  });
}
