// Long lists: encoded in parts, between which the server answers other requests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SystemClock } from '../../../../../src/machinery/adapters/system-clock.ts';
import { anonymous } from '../../../../../src/hollow-cluster/apiserver/authentication/user.ts';
import { ListEncoder } from '../../../../../src/hollow-cluster/apiserver/codec/protobuf-encoder.ts';
import { JsonPresenter } from '../../../../../src/hollow-cluster/apiserver/http/json-presenter.ts';
import type { Presenter } from '../../../../../src/hollow-cluster/apiserver/http/presenter.ts';
import { ProtobufPresenter } from '../../../../../src/hollow-cluster/apiserver/http/protobuf-presenter.ts';
import { sendReply } from '../../../../../src/hollow-cluster/apiserver/http/reply.ts';
import { decodeManagers } from '../../../../../src/hollow-cluster/apiserver/managed-fields/manager-entry.ts';
import { servedResources } from '../../../../../src/hollow-cluster/apiserver/resources.ts';
import { type Draft, StoredObject } from '../../../../../src/hollow-cluster/apiserver/storage/stored-object.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const golden = join(import.meta.dirname, '../../../../contract/kube-api/golden/pods-rich.json');
const text = readFileSync(golden, 'utf8');
const pods = servedResources.find(({ plural }) => plural === 'pods')!;
const form = { as: 'object', version: 'v1' } as const;
const metadata = { resourceVersion: '9' };
const clock = new SystemClock();

/** They share their content, so that a test needs little memory. */
function storedPods(count: number): readonly StoredObject[] {
  const draft: Draft = JSON.parse(text);
  const { managedFields, ...rest } = draft.metadata;
  const managers = decodeManagers(managedFields);
  return Array.from({ length: count }, (_, index) => {
    const name = `pod-${index}`;
    const located = { namespace: 'default', name, uid: 'u', revision: 1, labels: {}, fields: {} } as const;
    const content = { ...draft, metadata: { ...rest, name } };
    return new StoredObject({ key: `default/${name}`, ...located }, content, managers);
  });
}

const json = (pretty: boolean, as: 'object' | 'table' = 'object'): Presenter =>
  new JsonPresenter(pods, { as, version: 'v1', format: 'json', pretty, includeObject: 'Metadata' }, new ManualClock());
const protobuf = new ProtobufPresenter(pods, form);

/** A server whose `/list` sends the items, and which answers every other path at once. */
async function serveList(presenter: Presenter, items: readonly StoredObject[]): Promise<string> {
  const respond = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (incoming.url !== '/list') return void outgoing.end('ok');
    const { signal } = new AbortController();
    const exchange = { method: 'GET', path: '/list', query: new URLSearchParams(), incoming, outgoing, signal };
    const reply = { code: 200, contentType: presenter.contentType, body: presenter.list(metadata, items) };
    void sendReply({ ...exchange, user: anonymous }, reply, {}, clock);
  };
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const total = (parts: Iterable<Uint8Array>): Buffer => Buffer.concat([...parts]);

function encodeAtOnce(items: readonly StoredObject[]): Buffer {
  const type = { apiVersion: 'v1', kind: 'Pod' };
  const list = new ListEncoder({ apiVersion: 'v1', kind: 'PodList' }, type);
  for (const item of items.toReversed()) list.prepend(item.encodable());
  return total(list.finish(metadata));
}

interface Measured {
  readonly listMs: number;
  /** Of the other requests that were sent meanwhile. */
  readonly slowestMs: number;
}

async function measureList(url: string): Promise<Measured> {
  const list = { bytes: 0, ms: 0, ended: false };
  const listing = (async () => {
    const startedMs = performance.now();
    const { body } = await fetch(`${url}/list`);
    for await (const part of body!) list.bytes += part.length;
    list.ms = performance.now() - startedMs;
    list.ended = true;
  })();
  let slowestMs = 0;
  while (!list.ended) {
    const sentMs = performance.now();
    await (await fetch(`${url}/other`)).text();
    slowestMs = Math.max(slowestMs, performance.now() - sentMs);
  }
  await listing;
  assert.ok(list.bytes > 10_000_000);
  return { listMs: list.ms, slowestMs };
}

for (const [name, presenter] of [
  ['protobuf', protobuf],
  ['JSON', json(false)],
  ['indented JSON', json(true)],
  ['a table', json(false, 'table')],
] as const) {
  test(`while a list of 20,000 pods is encoded in ${name}, other requests are answered`, async () => {
    // On a busy machine this process may have to wait for its turn; encoding in one step delays requests in every attempt.
    const attempts: Measured[] = [];
    while (attempts.length < 3 && !attempts.some(({ slowestMs, listMs }) => slowestMs < listMs / 3)) {
      attempts.push(await measureList(await serveList(presenter, storedPods(20_000))));
    }
    const { slowestMs, listMs } = attempts.at(-1)!;
    assert.ok(slowestMs < listMs / 3, JSON.stringify(attempts));
  });
}

test('a list that is encoded in parts has the same bytes as one that is encoded at once', async () => {
  for (const count of [0, 1, 2, 3_000]) {
    const items = storedPods(count);
    const url = await serveList(protobuf, items);
    const received = Buffer.from(await (await fetch(`${url}/list`)).arrayBuffer());
    assert.ok(received.equals(encodeAtOnce(items)), `${count} pods`);
  }
});

test('an indented list has the same bytes as one that is indented at once', () => {
  for (const as of ['object', 'table'] as const) {
    for (const count of [0, 1, 3]) {
      const items = storedPods(count);
      const plain: unknown = JSON.parse(total(json(false, as).list(metadata, items)).toString());
      assert.equal(total(json(true, as).list(metadata, items)).toString(), JSON.stringify(plain, undefined, 2));
    }
  }
});
