// JSON schemas of the kinds of a kube-apiserver and of custom resource definitions, for kubeconform: strict, so that an
// unknown field is an error.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Schema = Readonly<Record<string, unknown>>;

interface OpenApi {
  readonly definitions: Readonly<Record<string, Schema>>;
}

interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The template for kubeconform's `-schema-location`. */
export const schemaFileTemplate = '{{ .Group }}-{{ .ResourceAPIVersion }}-{{ .ResourceKind }}.json';
const definitionsFile = 'definitions.json';

/** Writes the schemas of every kind in the server's `/openapi/v2` into the folder. */
export function writeServerSchemas(folder: string, { definitions }: OpenApi): void {
  mkdirSync(folder, { recursive: true });
  const strict = Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [name, strictly(schema)]));
  writeFileSync(join(folder, definitionsFile), JSON.stringify({ definitions: strict }));
  for (const [name, schema] of Object.entries(definitions)) {
    const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as readonly Gvk[];
    for (const kind of kinds) writeSchema(folder, kind, { $ref: `${definitionsFile}#/definitions/${name}` });
  }
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Writes the schemas of a custom resource definition. */
export function writeDefinitionSchemas(folder: string, file: string): void {
  const { spec } = parse(readFileSync(file, 'utf8')) as Definition;
  for (const { name, schema } of spec.versions) {
    const kind = { group: spec.group, version: name, kind: spec.names.kind };
    writeSchema(folder, kind, strictly(withMetadata(schema.openAPIV3Schema)) as Schema);
  }
}

/** A custom resource definition does not describe metadata, so it is taken from the API server's schema. */
function withMetadata(schema: Schema): Schema {
  const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
  const properties = schema['properties'] as Schema;
  return { ...schema, properties: { ...properties, metadata: { $ref: `${definitionsFile}#/definitions/${meta}` } } };
}

function writeSchema(folder: string, { group, version, kind }: Gvk, schema: Schema): void {
  const name = schemaFileTemplate
    .replace('{{ .Group }}', group === '' ? version : group)
    .replace('{{ .ResourceAPIVersion }}', version)
    .replace('{{ .ResourceKind }}', kind.toLowerCase());
  writeFileSync(join(folder, name), JSON.stringify(schema));
}

function strictly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strictly);
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  if (isIntOrString(schema)) return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  const inner = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, strictly(part)]));
  return closes(schema) ? { ...inner, additionalProperties: false } : inner;
}

function isIntOrString(schema: Schema): boolean {
  return schema['format'] === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true;
}

function closes(schema: Schema): boolean {
  return (
    schema['type'] === 'object' &&
    typeof schema['properties'] === 'object' &&
    schema['additionalProperties'] === undefined &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true
  );
}
