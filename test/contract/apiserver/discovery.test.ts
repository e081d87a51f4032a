import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyResource } from '../../../src/machinery/api/node-lifecycle-policy.ts';
import { expect, openClient } from './client.ts';
import { aggregatedAccept, type DiscoveryRows, rowsOf } from './discovery-rows.ts';
import { recorded } from './recorded.ts';

const client = await openClient();
const all: DiscoveryRows = recorded('discovery');

/** What kube-apiserver serves and the embedded server does not. */
const unserved = [
  'apiextensions.k8s.io/v1/customresourcedefinitions',
  'apiextensions.k8s.io/v1/customresourcedefinitions/status',
  'apiregistration.k8s.io/v1/apiservices',
  'apiregistration.k8s.io/v1/apiservices/status',
  'autoscaling/v1/horizontalpodautoscalers',
  'autoscaling/v1/horizontalpodautoscalers/status',
  'certificates.k8s.io/v1/certificatesigningrequests/approval',
  'v1/bindings',
  'v1/componentstatuses',
  'v1/nodes/proxy',
  'v1/pods/attach',
  'v1/pods/ephemeralcontainers',
  'v1/pods/exec',
  'v1/pods/portforward',
  'v1/pods/proxy',
  'v1/pods/resize',
  'v1/serviceaccounts/token',
  'v1/services/proxy',
];

async function discovered(): Promise<DiscoveryRows> {
  const documents = [
    await client.get('/api', { accept: aggregatedAccept }),
    await client.get('/apis', { accept: aggregatedAccept }),
  ];
  const rows = Object.entries(rowsOf(documents.map((response) => expect(response, 200))));
  // Custom resources are no part of the record.
  return Object.fromEntries(rows.filter(([path]) => !path.startsWith(policyResource.group)));
}

test('discovery lists names, scope, verbs, categories and subresources as kube-apiserver does', async () => {
  const served =
    client.backend.kind === 'real'
      ? all
      : Object.fromEntries(Object.entries(all).filter(([path]) => !unserved.includes(path)));
  assert.deepEqual(await discovered(), served);
});

test('the groups are in the order of kube-apiserver, which decides between resources of the same name', async () => {
  const document = expect(await client.get('/apis', { accept: aggregatedAccept }), 200);
  const order = [
    ...new Set(
      Object.keys(all)
        .filter((path) => path.split('/').length > 2)
        .map((path) => path.split('/')[0]),
    ),
  ];
  const groups = document.items.map(({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name);
  const known = groups.filter((group: string) => order.includes(group));
  assert.deepEqual(
    known,
    order.filter((group) => groups.includes(group)),
  );
});

test('every unserved row is one of kube-apiserver', () => {
  for (const path of unserved) assert.ok(path in all, path);
});
