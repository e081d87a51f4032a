/** The kind and version that a body names (upstream `serializer/json`, `runtime.NewMissingKindErr`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { badRequest } from '../api-errors/api-errors.ts';
import { apiVersionOf, type GroupVersionKind, servedResources } from '../resources.ts';
import { isMap, textAt } from '../select-field.ts';

/** Upstream shows so much of a body that it cannot read. */
const summaryBytesMax = 30;
const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;
/** Named in a message of kube-apiserver. */
const scheme = 'pkg/runtime/scheme.go:111';
/** Another version that kube-apiserver accepts as well. */
const alsoAccepted: ReadonlySet<string> = new Set(['policy/v1beta1 Eviction']);

/** All kinds, as `v1 Pod`. */
const registered: ReadonlySet<string> = new Set(
  servedResources.flatMap((served) => [
    nameOf(served),
    `${nameOf(served)}List`,
    ...served.subresources.map(({ responseKind }) => nameOf(responseKind)),
  ]),
);

/** The 400 ApiError for a body whose kind cannot be read. */
export function unrecognized(bytes: Uint8Array, kind: string, why: string): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summarize(bytes)})`);
}

function summarize(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const head = Buffer.from(bytes.subarray(0, summaryBytesMax));
  const shown = bytes[0] === '{'.charCodeAt(0) ? head.toString() : head.toString('hex');
  return bytes.length > summaryBytesMax ? `${shown} ...` : shown;
}

/** Why kind and version cannot be read from a body; undefined if they can. */
export function findTypeProblem(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isMap(value)) return parseProblem(value, `Go value of type ${typeMeta}`);
  for (const field of ['apiVersion', 'kind']) {
    const given = ownValue(value, field) ?? '';
    if (typeof given !== 'string') return parseProblem(given, `Go struct field .${field} of type string`);
  }
  const version = textAt(value, 'apiVersion');
  return version.split('/').length > 2 ? `unexpected GroupVersion string: ${version}` : undefined;
}

function parseProblem(value: unknown, into: string): string {
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into ${into}`;
}

/** Throws a 400 ApiError unless the body is of the expected kind; a body that names none is. */
export function assertBodyKind(value: Readonly<Record<string, unknown>>, expected: GroupVersionKind): void {
  const apiVersion = textAt(value, 'apiVersion') || apiVersionOf(expected);
  const kind = textAt(value, 'kind') || expected.kind;
  const given = `${apiVersion} ${kind}`;
  if (given === nameOf(expected) || (kind === expected.kind && alsoAccepted.has(given))) return;
  const version = apiVersion.split('/').at(-1) ?? '';
  const internal = expected.group === '' ? 'core' : expected.group.split('.')[0];
  const why = registered.has(given)
    ? `converting (${version}.${kind}) to (${internal}.${expected.kind}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${JSON.stringify(scheme)}`;
  throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${why}`);
}

function nameOf(kind: GroupVersionKind): string {
  return `${apiVersionOf(kind)} ${kind.kind}`;
}
