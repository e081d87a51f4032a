/** Answers in both formats, compared: the JSON, encoded here, must be the bytes of the protobuf. */
import assert from 'node:assert/strict';
import {
  encodeEnvelope,
  encodeWatchFrame,
  ListEncoder,
} from '../../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';
import type { ApiResponse, Json } from './client.ts';

const attemptsMax = 10;
export const protobufType = 'application/vnd.kubernetes.protobuf';

export function encodeDocument(document: Json): Buffer {
  const type = { apiVersion: '', ...document };
  const isList = Array.isArray(document.items) && document.kind !== 'APIGroupDiscoveryList';
  if (!isList) return encodeEnvelope(type, document);
  const kind = document.kind.slice(0, -'List'.length);
  const list = new ListEncoder(document, { apiVersion: document.apiVersion, kind });
  for (const item of document.items.toReversed()) list.prepend(item);
  return Buffer.concat(list.finish(document.metadata));
}

/** The events of a watch in JSON, as frames. */
export function encodeEvents(lines: string): Buffer {
  const events: readonly { type: string; object: Json }[] = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return Buffer.concat(events.map(({ type, object }) => encodeWatchFrame(type, object, object)));
}

export function assertSameBytes(actual: Buffer, expected: Buffer, what: string): void {
  // Text in which the first difference can be read.
  const readable = (bytes: Buffer): string => JSON.stringify(bytes.toString('latin1'));
  if (!actual.equals(expected)) assert.equal(readable(actual), readable(expected), what);
}

/** Sends the request in both formats, and returns the answer in JSON and in protobuf. */
export async function assertBothFormats(
  send: (accept: string) => Promise<ApiResponse>,
  code = 200,
): Promise<{ readonly body: Json; readonly bytes: Buffer }> {
  const [json, protobuf] = await sendBoth(send);
  assert.deepEqual([json.code, protobuf.code], [code, code], `${json.text}\n${protobuf.text}`);
  assert.equal(protobuf.headers['content-type'], protobufType);
  assertSameBytes(protobuf.bytes, encodeDocument(json.body), json.text);
  return { body: json.body, bytes: protobuf.bytes };
}

/** Repeated if a controller of a real server has changed the object meanwhile. */
async function sendBoth(
  send: (accept: string) => Promise<ApiResponse>,
): Promise<readonly [json: ApiResponse, protobuf: ApiResponse]> {
  for (let attempt = 1; ; attempt += 1) {
    const json = await send('application/json');
    const protobuf = await send(`${protobufType},application/json`);
    const again = await send('application/json');
    if (again.text === json.text || attempt === attemptsMax) return [json, protobuf];
  }
}
