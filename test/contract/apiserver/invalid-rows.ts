/** Requests that API servers reject, and what they answer. */
import { type ApiResponse, type Client, type Json, mergePatch } from './client.ts';

/** A request to create an object, or to change one that was created. */
export interface InvalidRow {
  readonly title: string;
  /** The path of the group version, as `apis/apps/v1`. */
  readonly version: string;
  readonly plural: string;
  readonly clusterScoped?: boolean;
  readonly body: Json;
  /** Merged into the object. */
  readonly change?: Json;
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

type Base = Omit<InvalidRow, 'title' | 'change'>;

/** Creations of a valid object with parts that are not; null removes a part. */
export function invalidCreations(base: Base, patches: Readonly<Record<string, Json>>): readonly InvalidRow[] {
  return Object.entries(patches).map(([title, patch]) => ({
    ...base,
    title: `${base.plural}: ${title}`,
    body: merged(base.body, patch),
  }));
}

/** Changes of a valid object that was created. */
export function invalidChanges(base: Base, patches: Readonly<Record<string, Json>>): readonly InvalidRow[] {
  return Object.entries(patches).map(([title, change]) => ({
    ...base,
    title: `${base.plural}, changed: ${title}`,
    change,
  }));
}

function merged(target: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = merged(result[field], value);
  }
  return result;
}

/** Sends the request and returns the code with the message of the answer, and what its causes say beyond the message. */
export async function runInvalid(client: Client, row: InvalidRow): Promise<Json> {
  const namespace = row.clusterScoped === true ? '' : await client.namespace();
  const collection = `/${row.version}/${namespace === '' ? '' : `namespaces/${namespace}/`}${row.plural}`;
  const name = client.name('refused');
  const body = { ...row.body, metadata: { name, ...row.body.metadata } };
  const response =
    row.change === undefined
      ? await client.post(`${collection}?dryRun=All`, body)
      : await changeOf(client, { collection, body, row });
  const text = JSON.stringify(shortened(response)).replaceAll(name, 'NAME').replaceAll(uuid, 'UID');
  return JSON.parse(namespace === '' ? text : text.replaceAll(namespace, 'NAMESPACE'));
}

async function changeOf(
  client: Client,
  { collection, body, row }: { readonly collection: string; readonly body: Json; readonly row: InvalidRow },
): Promise<ApiResponse> {
  const path = `${collection}/${body.metadata.name}`;
  await client.make(collection, body);
  const response = await client.patch(path, mergePatch, row.change);
  await client.delete(path);
  return response;
}

/** The message of a 422 consists of the causes, of which those about keys of a map have no order. */
function shortened({ code, body }: ApiResponse): Json {
  if (code < 300) return { code };
  const causes: readonly string[] = (body.details?.causes ?? []).map(
    ({ field, reason, message }: Json) => `${field} (${reason}): ${comparable(message)}`,
  );
  // Of a request that cannot be read, the message of kube-apiserver is that of Go's decoders.
  if (code === 400) return { code };
  if (code !== 422) return { code, message: body.message, ...(causes.length === 0 ? {} : { causes }) };
  return {
    code,
    message: body.message.split(' is invalid: ')[0],
    causes: [...new Set(causes)].sort((a, b) => (a < b ? -1 : 1)),
  };
}

/** Without objects, which kube-apiserver prints as JSON. */
function comparable(message: string): string {
  const [line = ''] = message.split('\n');
  return line.replace(/(value: )\{.*\}/, '$1{...}');
}
