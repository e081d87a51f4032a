/** What an API server does with an example: creates, changes and deletes it. */
import { type Client, type Json, mergePatch } from './client.ts';
import type { Example } from './example-objects.ts';

const transition = /("lastPhaseTransitionTime":)"[^"]*"/g;

/** Runs the example in a namespace of its own and returns what was answered, without what differs between runs. */
export async function runExample(client: Client, example: Example): Promise<Json> {
  const namespace = await client.namespace();
  const collection = `/${example.version}/${example.clusterScoped ? '' : `namespaces/${namespace}/`}${example.plural}`;
  const path = `${collection}/${example.body.metadata.name}`;
  if (example.clusterScoped) await client.delete(path);
  const created = await client.post(collection, example.body);
  // An API version that the server does not have is answered with plain text.
  if (created.body === undefined) return { created: created.code };
  const uid = created.body?.metadata?.uid ?? 'none';
  const answers: Record<string, Json> = { created: created.body };
  if (example.status !== undefined) {
    answers['status'] = (await client.patch(`${path}/status`, mergePatch, { status: example.status })).body;
  }
  if (example.change !== undefined) answers['changed'] = (await client.patch(path, mergePatch, example.change)).body;
  answers['deleted'] = (await client.delete(path)).body;
  const text = JSON.stringify(answers)
    .replaceAll(uid, 'UID')
    .replaceAll(namespace, 'NAMESPACE')
    .replaceAll(transition, '$1"TIME"');
  const { created: first, status, changed, deleted } = JSON.parse(text);
  return {
    created: shortened(first),
    ...(status === undefined ? {} : { status: shortStatus(status) }),
    ...(changed === undefined ? {} : { changed: generationOf(changed) }),
    deleted: deleted?.kind === 'Status' ? (deleted.details ?? deleted.message) : deleted?.kind,
  };
}

function shortened(object: Json): Json {
  if (object?.kind === 'Status') return object;
  const { creationTimestamp: _time, managedFields: _fields, resourceVersion: _version, ...metadata } = object.metadata;
  // Those of an admission plugin that the embedded server does not have.
  const finalizers = metadata.finalizers?.filter((finalizer: string) => !finalizer.endsWith('-protection'));
  if (finalizers?.length === 0) delete metadata.finalizers;
  return { ...object, metadata };
}

function shortStatus({ kind, message, metadata, status }: Json): Json {
  return kind === 'Status' ? { message } : { generation: metadata.generation ?? null, status };
}

function generationOf({ kind, message, metadata }: Json): Json {
  return kind === 'Status' ? { message } : { generation: metadata.generation ?? null };
}
