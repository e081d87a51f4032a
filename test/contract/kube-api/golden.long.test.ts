// Recorded responses of a real kube-apiserver (test/control-plane/record-golden.ts): JSON and protobuf must give the same
// transformed objects, in chunks of any size.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { ResponseDecoder, statusOf } from '../../../src/machinery/kube-client/response-decoder.ts';
import { errorFromResponse } from '../../../src/machinery/kube-client/errors.ts';
import { watchStream } from '../../../src/machinery/kube-client/watch-stream.ts';
import { jsonType, protobufType, type WireType } from '../../../src/machinery/wire/wire-format.ts';
import { ApiError } from '../../../src/machinery/api/api-error.ts';
import { transformLease } from '../../../src/machinery/api/lease.ts';
import type { KubeObject, ListMeta } from '../../../src/machinery/api/meta.ts';
import { transformNode } from '../../../src/machinery/api/node.ts';
import { transformPod } from '../../../src/machinery/api/pod.ts';
import type { WatchEvent } from '../../../src/machinery/ports/kube-reader.ts';
import { Readable } from 'node:stream';

const folder = join(import.meta.dirname, 'golden');
const resourceNames = ['nodes', 'pods', 'leases'] as const;
type Name = (typeof resourceNames)[number];
const views: Readonly<Record<Name, (object: KubeObject) => unknown>> = {
  nodes: transformNode,
  pods: transformPod,
  leases: transformLease,
};
const forms = [
  { type: protobufType, extension: 'pb' },
  { type: jsonType, extension: 'json' },
] as const;

const bytesOf = (name: string): Buffer => readFileSync(join(folder, name));
const names = (pattern: string): readonly string[] =>
  globSync(join(folder, pattern)).map((file) => basename(file, '.pb'));

async function* chunked(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % Math.max(1, sizes.length)] ?? bytes.length;
    // A copy: what the decoder keeps must not depend on the chunk's buffer.
    yield Buffer.from(bytes.subarray(at, at + size));
    at += size;
  }
}

interface List {
  readonly metadata: ListMeta;
  readonly items: readonly KubeObject[];
}

async function readList(
  resource: Name,
  contentType: WireType,
  bytes: Buffer,
  sizes: readonly number[] = [],
): Promise<List> {
  const items: KubeObject[] = [];
  const reading = {
    bytesMax: bytes.length,
    take: (item: KubeObject): unknown => items.push(item),
    skip: (): void => undefined,
  };
  const metadata = await new ResponseDecoder().readList(
    resource,
    { contentType, chunks: chunked(bytes, sizes) },
    reading,
  );
  return { metadata, items };
}

async function readWatch(
  resource: Name,
  contentType: WireType,
  bytes: Buffer,
  sizes: readonly number[] = [],
): Promise<readonly WatchEvent[]> {
  const body = Readable.from(chunked(bytes, sizes));
  const watch = {
    contentType,
    body,
    progress: (): void => undefined,
    release: (): void => undefined,
    aborted: (): boolean => false,
  };
  const events: WatchEvent[] = [];
  for await (const batch of watchStream(watch, new ResponseDecoder().watchDecoder(resource, contentType))) {
    events.push(...batch);
  }
  return events;
}

const readObject = (resource: Name, contentType: WireType, bytes: Buffer): Promise<KubeObject> =>
  new ResponseDecoder().readObject(resource, { contentType, chunks: chunked(bytes, []) }, bytes.length);

/** The parts of an event that an informer uses; the number of bookmarks may differ. */
function seen(resource: Name, events: readonly WatchEvent[]): readonly unknown[] {
  return events
    .filter(({ type, object }) => type !== 'BOOKMARK' || 'annotations' in (object as KubeObject).metadata)
    .map(({ type, object }) => {
      if (type === 'ERROR') return { type, code: object.code, reason: object.reason, message: object.message };
      if (type === 'BOOKMARK') return { type, annotations: object.metadata.annotations };
      assert.notEqual(type, 'UNDECODABLE');
      return { type, view: views[resource](object as KubeObject) };
    });
}

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 20_000 })), {
  minLength: 1,
  maxLength: 8,
});

describe('responses of a real API server', () => {
  test('the boot ID is decoded in both encodings', async () => {
    for (const { type, extension } of forms) {
      const { items } = await readList('nodes', type, bytesOf(`nodes-list.${extension}`));
      assert.ok(items.some((item) => transformNode(item).bootID.length === 36));
    }
  });

  for (const resource of resourceNames) {
    for (const name of names(`${resource}-*.pb`)) {
      if (/-(list|page|none|watch|state|expired)$/.test(name)) continue;
      test(`${name}: both encodings give the same transformed object`, async () => {
        const [pb, json] = await Promise.all(
          forms.map(({ type, extension }) => readObject(resource, type, bytesOf(`${name}.${extension}`))),
        );
        assert.deepStrictEqual(views[resource](pb!), views[resource](json!));
      });
    }

    for (const kind of ['list', 'page', 'none']) {
      test(`${resource}-${kind}: both encodings give the same list`, async () => {
        const [pb, json] = await Promise.all(
          forms.map(({ type, extension }) => readList(resource, type, bytesOf(`${resource}-${kind}.${extension}`))),
        );
        assert.deepStrictEqual(pb!.items.map(views[resource]), json!.items.map(views[resource]));
        assert.equal(pb!.items.length === 0, kind === 'none');
        assert.deepStrictEqual({ ...pb!.metadata, continue: '' }, { ...json!.metadata, continue: '' });
        assert.equal((pb!.metadata.continue ?? '') !== '', kind === 'page');
      });
    }

    for (const kind of ['watch', 'state']) {
      test(`${resource}-${kind}: both encodings give the same events, in chunks of any size`, async () => {
        const json = seen(resource, await readWatch(resource, jsonType, bytesOf(`${resource}-${kind}.jsonl`)));
        assert.ok(json.length > 1);
        await fc.assert(
          fc.asyncProperty(sizes, fc.constantFrom('pb', 'jsonl'), async (sizes, extension) => {
            const bytes = bytesOf(`${resource}-${kind}.${extension}`);
            const type = extension === 'pb' ? protobufType : jsonType;
            assert.deepStrictEqual(seen(resource, await readWatch(resource, type, bytes, sizes)), json);
          }),
          { numRuns: 30 },
        );
      });
    }

    test(`${resource}-list: is the same in chunks of any size`, async () => {
      const whole = (await readList(resource, jsonType, bytesOf(`${resource}-list.json`))).items.map(views[resource]);
      await fc.assert(
        fc.asyncProperty(sizes, fc.constantFrom(...forms), async (sizes, { type, extension }) => {
          const { items } = await readList(resource, type, bytesOf(`${resource}-list.${extension}`), sizes);
          assert.deepStrictEqual(items.map(views[resource]), whole);
        }),
        { numRuns: 30 },
      );
    });

    test(`${resource}: corrupt or missing bytes are an ApiError, or decode to another object`, async () => {
      const damage = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }), cut: fc.option(fc.nat()) });
      const reads = { list: readList, watch: readWatch };
      await fc.assert(
        fc.asyncProperty(damage, fc.constantFrom('list', 'watch'), async ({ at, byte, cut }, kind) => {
          const bytes = bytesOf(`${resource}-${kind}.pb`);
          bytes[at % bytes.length] = byte;
          const left = cut === null ? bytes : bytes.subarray(0, cut % bytes.length);
          const read = reads[kind](resource, protobufType, left);
          await read.catch((error: unknown) => assert.ok(error instanceof ApiError, String(error)));
        }),
        { numRuns: 300 },
      );
    });
  }

  test('an expired resourceVersion ends the watch with its reason, in both encodings', async () => {
    const [pb] = await readWatch('leases', protobufType, bytesOf('leases-expired.pb'));
    const [json] = await readWatch('leases', jsonType, bytesOf('leases-expired.jsonl'));
    assert.equal(pb?.type, 'ERROR');
    assert.deepStrictEqual(seen('leases', [pb]), seen('leases', [json!]));
  });

  for (const name of ['refused-not-found', 'refused-invalid']) {
    test(`${name}: the error is the same in both encodings`, () => {
      const [pb, json] = [bytesOf(`${name}.pb`), bytesOf(`${name}.json`)].map((body, place) => {
        const status = statusOf(place === 0 ? `${protobufType};charset=utf-8` : jsonType, body);
        const refusal = { code: 400, headers: {}, body: body.toString('utf8'), status };
        return errorFromResponse({ method: 'GET', path: '/' }, refusal, 0);
      });
      assert.equal(pb!.message, json!.message);
      assert.equal(pb!.reason, json!.reason);
      assert.deepStrictEqual(pb!.status?.details, json!.status?.details);
    });
  }

  test('another kind than the requested one is rejected; in a watch each event of it is undecodable', async () => {
    for (const read of [
      readObject('pods', protobufType, bytesOf('nodes-bare.pb')),
      readList('pods', protobufType, bytesOf('nodes-list.pb')),
    ]) {
      await assert.rejects(read, { name: 'ApiError', reason: 'internal' });
    }
    const events = await readWatch('pods', protobufType, bytesOf('nodes-watch.pb'));
    assert.ok(events.length > 0 && events.every(({ type }) => type === 'UNDECODABLE'));
  });

  test('a frame above the size limit is rejected before it is buffered', async () => {
    const head = Buffer.from([0x7f, 0xff, 0xff, 0xff]);
    await assert.rejects(readWatch('pods', protobufType, head), { name: 'ApiError', reason: 'too-large' });
  });

  test('a partial frame at the end is a broken stream', async () => {
    const bytes = bytesOf('pods-watch.pb');
    const cut = readWatch('pods', protobufType, bytes.subarray(0, bytes.length - 1));
    await assert.rejects(cut, { name: 'ApiError', reason: 'unavailable' });
  });

  test('an object of several megabytes is decoded', async () => {
    const [event] = bytesOf('nodes-watch.jsonl').toString('utf8').split('\n');
    const { object } = JSON.parse(event!) as { object: KubeObject };
    const annotations = { 'example.com/long': '"[,{\\'.repeat(1_000_000) };
    const large = { ...object, metadata: { ...object.metadata, annotations } };
    const list = Buffer.from(JSON.stringify({ metadata: { resourceVersion: '7' }, items: [large, object, large] }));
    const { items } = await readList('nodes', jsonType, list, [65_536]);
    assert.deepStrictEqual(items, [large, object, large]);
  });
});
