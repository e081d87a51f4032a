// Writes test/contract/kube-api/golden: responses of a real kube-apiserver, as protobuf and as JSON. Run it after an update
// of the control plane to another release:
//
//     node test/control-plane/record-golden.ts
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { startControlPlane } from './control-plane.ts';
import { goldenObjects, leasesPath, nodesPath, podsPath } from './golden-objects.ts';

const folder = join(import.meta.dirname, '..', 'contract', 'kube-api', 'golden');
const types = { pb: 'application/vnd.kubernetes.protobuf', json: 'application/json' } as const;
/** The timeout of a watch, which sends a bookmark shortly before. */
const watchSeconds = 4;

await using plane = await startControlPlane();
const agent = new Agent({ connect: { ca: readFileSync(plane.caFile, 'utf8') } });
const client = plane.client();

async function read(path: string, form: keyof typeof types): Promise<Buffer> {
  const answer = await request(plane.url + path, {
    dispatcher: agent,
    headers: { authorization: `Bearer ${plane.adminToken}`, accept: types[form] },
  });
  assert.ok(String(answer.headers['content-type']).startsWith(types[form]), path);
  return Buffer.from(await answer.body.arrayBuffer());
}

async function record(name: string, path: string): Promise<void> {
  const [pb, json] = await Promise.all([read(path, 'pb'), read(path, 'json')]);
  writeFileSync(join(folder, `${name}.pb`), pb);
  const extension = path.includes('watch=true') ? 'jsonl' : 'json';
  writeFileSync(join(folder, `${name}.${extension}`), json);
  console.log(`${name}: ${pb.length} bytes of protobuf, ${json.length} of JSON`);
}

async function versionOf(path: string): Promise<string> {
  const list = await client.must<{ readonly metadata: { readonly resourceVersion: string } }>('GET', path);
  return list.metadata.resourceVersion;
}

const from = await versionOf(nodesPath);
mkdirSync(folder, { recursive: true });
for (const { path, body, status } of goldenObjects) {
  await client.must('POST', path, body);
  const patch = { contentType: 'application/strategic-merge-patch+json' };
  if (status !== undefined) await client.must('PATCH', `${path}/${body.metadata.name}/status`, { status }, patch);
}
for (const { path, body } of goldenObjects.filter(({ deleted }) => deleted === true)) {
  await client.must('DELETE', `${path}/${body.metadata.name}`);
}
for (const { path, body } of goldenObjects.filter(({ body }) => body.metadata.name !== 'gone')) {
  await record(`${path.split('/').at(-1)}-${body.metadata.name}`, `${path}/${body.metadata.name}`);
}
for (const [name, path] of Object.entries({ nodes: nodesPath, pods: podsPath, leases: leasesPath })) {
  await record(`${name}-list`, path);
  await record(`${name}-page`, `${path}?limit=1`);
  await record(`${name}-none`, `${path}?labelSelector=none%3Dset`);
  const watch = `${path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}`;
  await record(`${name}-watch`, `${watch}&resourceVersion=${from}`);
  await record(`${name}-state`, `${watch}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
}
await record('refused-not-found', `${nodesPath}/absent`);
await record('refused-invalid', `${nodesPath}?fieldSelector=nothing%3Dx`);
// A server that was just started has no history in its watch cache.
await plane.restartApiServer();
await record('leases-expired', `${leasesPath}?watch=true&resourceVersion=1`);
await agent.close();
