/**
 * Writes src/hollow-cluster/apiserver/codec/descriptor.json: the protobuf messages of the embedded API server, and what their JSON form
 * looks like. Run it after a change of the served resources or of the release below, with Go on the PATH:
 *
 *     node tools/protobuf/generate-descriptor.ts
 *
 * It reads the generated.proto files that k8s.io/api and k8s.io/apimachinery publish through the Go module proxy (both
 * Apache-2.0), keeps the messages reachable from the served kinds, names each field as JSON does, and adds what only the
 * Go types know: whether a zero is left out of the JSON (`keep`), whether a struct is flattened (`inline`), and how
 * lists are merged (`patchStrategy`, `mergeKey`).
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { packageNameOf } from '../../src/hollow-cluster/apiserver/codec/message-table.ts';
import { servedResources } from '../../src/hollow-cluster/apiserver/resources.ts';

const release = 'v0.37.2';
const outputFile = new URL('../../src/hollow-cluster/apiserver/codec/descriptor.json', import.meta.url);
const modules = ['k8s.io/api', 'k8s.io/apimachinery'] as const;
const metaV1 = 'k8s.io.apimachinery.pkg.apis.meta.v1';

/** The kinds of requests and responses; all other messages are reached from these. */
const roots = [
  ...servedResources
    .flatMap((served) => [served, ...served.subresources.map(({ responseKind }) => responseKind)])
    .map((kind) => `${packageNameOf(kind)}.${kind.kind}`),
  ...['DeleteOptions', 'ListMeta', 'PartialObjectMetadata', 'Status', 'WatchEvent'].map((kind) => `${metaV1}.${kind}`),
  ...['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions'].map((kind) => `${metaV1}.${kind}`),
  'k8s.io.api.apidiscovery.v2.APIGroupDiscoveryList',
  'k8s.io.apimachinery.pkg.runtime.Unknown',
];

/** Messages with a single JSON value; the decoder handles them by name. */
const opaque = new Set([
  `${metaV1}.FieldsV1`,
  `${metaV1}.MicroTime`,
  `${metaV1}.Time`,
  `${metaV1}.Verbs`,
  'k8s.io.api.authentication.v1.ExtraValue',
  'k8s.io.api.authorization.v1.ExtraValue',
  'k8s.io.api.certificates.v1.ExtraValue',
  'k8s.io.apimachinery.pkg.api.resource.Quantity',
  'k8s.io.apimachinery.pkg.runtime.RawExtension',
  'k8s.io.apimachinery.pkg.runtime.TypeMeta',
  'k8s.io.apimachinery.pkg.runtime.Unknown',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString',
]);

/** The JSON properties of a Go struct field, from its tags and type. */
interface GoField {
  readonly json: string;
  readonly flags: readonly string[];
  readonly pointer: boolean;
  /** An embedded struct without a name in JSON: its fields are fields of the outer one. */
  readonly inline: boolean;
  /** How a strategic merge patch treats the field, if tagged. */
  readonly patch: Readonly<Record<string, string>>;
}

interface FieldDescriptor {
  readonly type: string;
  readonly id: number;
  readonly rule?: 'repeated';
  readonly keyType?: string;
  readonly options?: Readonly<Record<string, string | boolean>>;
}

interface MessageDescriptor {
  /** Of later editions the reader would take a zero for absent. */
  readonly edition: 'proto2';
  readonly fields: Readonly<Record<string, FieldDescriptor>>;
}

interface PackageDescriptor {
  readonly nested: Record<string, PackageDescriptor | MessageDescriptor>;
}

function moduleFolders(): ReadonlyMap<string, string> {
  const wanted = modules.map((name) => `${name}@${release}`);
  const text = execFileSync('go', ['mod', 'download', '-json', ...wanted], { encoding: 'utf8', cwd: '/' });
  const answers: readonly { Path: string; Dir: string }[] = JSON.parse(`[${text.replaceAll('}\n{', '},{')}]`);
  return new Map(answers.map((answer) => [answer.Path, answer.Dir]));
}

function pathInModules(path: string, folders: ReadonlyMap<string, string>): string {
  const name = modules.find((candidate) => path.startsWith(`${candidate}/`));
  const folder = name === undefined ? undefined : folders.get(name);
  if (name === undefined || folder === undefined) throw new Error(`${path} is in none of ${modules.join(', ')}`);
  return join(folder, path.slice(name.length + 1));
}

function protoPath(message: string): string {
  return `${message.split('.').slice(0, -1).join('/').replace('k8s/io', 'k8s.io')}/generated.proto`;
}

function loadMessages(folders: ReadonlyMap<string, string>): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => (target.startsWith('/') ? target : pathInModules(target, folders));
  root.loadSync(
    roots.map((message) => pathInModules(protoPath(message), folders)),
    { keepCase: true },
  );
  root.resolveAll();
  return root;
}

function fullName(message: protobuf.ReflectionObject): string {
  return message.fullName.replace(/^\./, '');
}

function reachable(root: protobuf.Root): readonly protobuf.Type[] {
  const found = new Map<string, protobuf.Type>();
  const waiting = roots.map((name) => root.lookupType(name));
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (found.has(fullName(type))) continue;
    found.set(fullName(type), type);
    for (const field of type.fieldsArray) {
      if (field.resolvedType instanceof protobuf.Type) waiting.push(field.resolvedType);
    }
  }
  return [...found.values()].sort((a, b) => (fullName(a) < fullName(b) ? -1 : 1));
}

/** The fields of a Go struct by protobuf number. */
function goFields(struct: string, source: string): ReadonlyMap<number, GoField> {
  const body = new RegExp(`^type ${struct} struct \\{\n([\\s\\S]*?)^\\}`, 'm').exec(source)?.[1];
  if (body === undefined) throw new Error(`no Go struct ${struct}`);
  const fields = new Map<number, GoField>();
  for (const line of body.split('\n')) {
    const id = /protobuf:"[a-z0-9]+,(\d+),/.exec(line)?.[1];
    const tag = /json:"([^"]*)"/.exec(line)?.[1];
    if (id === undefined || tag === undefined) continue;
    const [json = '', ...flags] = tag.split(',');
    const inline = json === '' && /^\s*[\w.]+\s+`/.test(line);
    fields.set(Number(id), { json, flags, inline, pointer: /^\s*(\w+\s+)?\*/.test(line), patch: patchTags(line) });
  }
  return fields;
}

function patchTags(line: string): Readonly<Record<string, string>> {
  const patchStrategy = /patchStrategy:"([^"]+)"/.exec(line)?.[1];
  const mergeKey = /patchMergeKey:"([^"]+)"/.exec(line)?.[1];
  return { ...(patchStrategy === undefined ? {} : { patchStrategy }), ...(mergeKey === undefined ? {} : { mergeKey }) };
}

/**
 * When the JSON has the field: `present` if the bytes have it (a Go pointer), `nonzero` if its value is not zero, or
 * `always`. Go never treats a struct as empty, so only `omitzero` omits one.
 */
function keepOf(field: protobuf.Field, go: GoField): 'always' | 'nonzero' | 'present' {
  if (go.pointer) return 'present';
  const droppedBy = field.resolvedType === null ? ['omitempty', 'omitzero'] : ['omitzero'];
  return go.flags.some((flag) => droppedBy.includes(flag)) ? 'nonzero' : 'always';
}

function describeField(field: protobuf.Field, go: GoField | undefined): FieldDescriptor {
  const type = field.resolvedType === null ? field.type : fullName(field.resolvedType);
  const plain = { type, id: field.id };
  if (field instanceof protobuf.MapField) return { keyType: field.keyType, ...plain, ...ofSeveral(go) };
  if (field.repeated) return { rule: 'repeated', ...plain, ...ofSeveral(go) };
  if (go === undefined) return plain;
  const json = go.inline ? { inline: true } : { keep: keepOf(field, go) };
  return { ...plain, options: { ...json, ...go.patch } };
}

/** The options of a list or a map. Without `omitempty` it is null when it is empty. */
function ofSeveral(go: GoField | undefined): Pick<FieldDescriptor, 'options'> {
  if (go === undefined) return {};
  const omitted = go.flags.some((flag) => flag === 'omitempty' || flag === 'omitzero');
  const options = { ...(omitted ? {} : { keep: 'always' }), ...go.patch };
  return Object.keys(options).length === 0 ? {} : { options };
}

function describeMessage(message: protobuf.Type, folders: ReadonlyMap<string, string>): MessageDescriptor {
  if (opaque.has(fullName(message))) {
    return {
      edition: 'proto2',
      fields: Object.fromEntries(message.fieldsArray.map((field) => [field.name, describeField(field, undefined)])),
    };
  }
  const folder = pathInModules(protoPath(fullName(message)), folders).replace(/\/[^/]*$/, '');
  const source = globSync(`${folder}/*.go`)
    .filter((file) => !/generated|_test\.go$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const go = goFields(message.name, source);
  const fields = message.fieldsArray.map((field) => {
    const goField = go.get(field.id);
    if (goField === undefined) throw new Error(`${fullName(message)}.${field.name} has no Go field`);
    return [goField.json === '' ? field.name : goField.json, describeField(field, goField)] as const;
  });
  return { edition: 'proto2', fields: Object.fromEntries(fields) };
}

function describeAll(messages: readonly protobuf.Type[], folders: ReadonlyMap<string, string>): PackageDescriptor {
  const root: PackageDescriptor = { nested: {} };
  for (const message of messages) {
    const path = fullName(message).split('.');
    let at = root;
    for (const part of path.slice(0, -1)) {
      const known = at.nested[part];
      const inner = known !== undefined && 'nested' in known ? known : { nested: {} };
      at.nested[part] = inner;
      at = inner;
    }
    at.nested[path.at(-1) ?? ''] = describeMessage(message, folders);
  }
  return root;
}

/** JSON with one field per line, so that a new release gives a readable diff. */
function format(value: object | string, indent = ''): string {
  if (typeof value === 'string' || 'id' in value) return JSON.stringify(value);
  const inner = `${indent} `;
  const entries = Object.entries(value).map(([name, part]: readonly [string, object | string]) => {
    return `${inner}${JSON.stringify(name)}: ${format(part, inner)}`;
  });
  return entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n${indent}}`;
}

const folders = moduleFolders();
const messages = reachable(loadMessages(folders));
writeFileSync(outputFile, `${format(describeAll(messages, folders))}\n`);
console.log(`${messages.length} messages of ${modules.join(' and ')} ${release}`);
