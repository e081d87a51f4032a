// Objects for the table printers: few fields, many fields, special states.
import assert from 'node:assert/strict';
import { type Client, strategicPatch } from '../client.ts';

export interface PrintedObject {
  /** Of the collection. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string };
  };
  /** Written through the subresource `status` after the creation. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Deleted at the end; a finalizer keeps it terminating. */
  readonly deleted?: true;
}

/** An object with these fields beside its metadata. */
export function anObject(
  path: string,
  name: string,
  fields: object = {},
  more: Partial<PrintedObject> & { readonly metadata?: object } = {},
): PrintedObject {
  const { metadata, ...rest } = more;
  const finalizers = more.deleted === true ? { finalizers: ['example.com/keep'] } : {};
  return { path, body: { metadata: { name, ...finalizers, ...metadata }, ...fields }, ...rest };
}

/** Fails with all responses that reject an object. */
export async function createAll(client: Client, objects: readonly PrintedObject[]): Promise<void> {
  const rejected: string[] = [];
  for (const { path, body, status } of objects) {
    const own = `${path}/${body.metadata.name}`;
    const responses = [await client.post(path, body)];
    if (status !== undefined) responses.push(await client.patch(`${own}/status`, strategicPatch, { status }));
    rejected.push(...responses.filter(({ code }) => code >= 300).map(({ text }) => `${own}: ${text}`));
  }
  for (const { path, body } of objects.filter(({ deleted }) => deleted === true)) {
    const { code, text } = await client.delete(`${path}/${body.metadata.name}`);
    if (code >= 300) rejected.push(`${path}/${body.metadata.name}: ${text}`);
  }
  assert.deepEqual(rejected, []);
}
