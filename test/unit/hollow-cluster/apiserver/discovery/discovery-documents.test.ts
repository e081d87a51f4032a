import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aggregatedDiscovery,
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
} from '../../../../../src/hollow-cluster/apiserver/discovery/discovery-documents.ts';
import {
  apiVersionOf,
  findServedResource,
  servedGroups,
  servedResources,
} from '../../../../../src/hollow-cluster/apiserver/resources.ts';

interface Aggregated {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly { readonly resource: string; readonly subresources?: readonly object[] }[];
    }[];
  }[];
}

const aggregated = (root: '/api' | '/apis'): Aggregated => structuredClone(aggregatedDiscovery(root)) as never;

test('/api contains the core group, /apis every other group', () => {
  const groups = [
    'apps',
    'events.k8s.io',
    'authentication.k8s.io',
    'authorization.k8s.io',
    'autoscaling',
    'batch',
    'certificates.k8s.io',
    'networking.k8s.io',
    'policy',
    'rbac.authorization.k8s.io',
    'storage.k8s.io',
    'admissionregistration.k8s.io',
    'scheduling.k8s.io',
    'coordination.k8s.io',
    'node.k8s.io',
    'discovery.k8s.io',
    'resource.k8s.io',
    'flowcontrol.apiserver.k8s.io',
    'storagemigration.k8s.io',
  ];
  const metadataOf = (root: '/api' | '/apis'): readonly object[] => aggregated(root).items.map((item) => item.metadata);
  assert.deepEqual([metadataOf('/api'), metadataOf('/apis')], [[{}], groups.map((name) => ({ name }))]);
});

test('aggregated discovery contains exactly the served resources', () => {
  const listed = [...aggregated('/api').items, ...aggregated('/apis').items].flatMap((item) =>
    item.versions.flatMap(({ version, resources }) =>
      resources.map(({ resource }) => findServedResource(item.metadata.name ?? '', version, resource)),
    ),
  );
  assert.deepEqual(
    listed,
    [...servedResources].sort((a, b) => listed.indexOf(a) - listed.indexOf(b)),
  );
});

test('an entry of aggregated discovery has all fields of the resource', () => {
  const pods = aggregated('/api').items[0]?.versions[0]?.resources.find(({ resource }) => resource === 'pods');
  assert.deepEqual(pods?.subresources?.[1], {
    subresource: 'eviction',
    responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    verbs: ['create'],
  });
  const { subresources: _subresources, ...fields } = { ...pods };
  assert.deepEqual(fields, {
    resource: 'pods',
    responseKind: { group: '', version: '', kind: 'Pod' },
    scope: 'Namespaced',
    singularResource: 'pod',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['po'],
    categories: ['all'],
  });
});

test('a resource list contains the group of a subresource only if it differs', () => {
  const { resources } = resourceList('', 'v1') as { resources: readonly { name: string }[] };
  const named = (name: string): object | undefined => resources.find((resource) => resource.name === name);
  const eviction = { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] };
  const status = { kind: 'Node', verbs: ['get', 'patch', 'update'] };
  const unnamed = { singularName: '' };
  assert.deepEqual(named('pods/eviction'), { name: 'pods/eviction', ...unnamed, namespaced: true, ...eviction });
  assert.deepEqual(named('nodes/status'), { name: 'nodes/status', ...unnamed, namespaced: false, ...status });
});

test('every served group version has a resource list, and no other has', () => {
  for (const [group, versions] of servedGroups()) {
    for (const version of versions) {
      assert.equal(resourceList(group, version)?.['groupVersion'], apiVersionOf({ group, version }));
    }
  }
  assert.equal(resourceList('extensions', 'v1'), undefined);
  assert.equal(resourceList('apps', 'v2'), undefined);
});

test('legacy group documents list versions and the preferred one', () => {
  assert.deepEqual(coreVersions('127.0.0.1:6443'), {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
  });
  const version = { groupVersion: 'apps/v1', version: 'v1' };
  assert.deepEqual(groupDocument('apps'), {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'apps',
    versions: [version],
    preferredVersion: version,
  });
  assert.equal(groupDocument('extensions'), undefined);
  assert.equal(groupDocument(''), undefined);
  const { groups } = groupList() as { groups: readonly { name: string }[] };
  assert.equal(groups.length, servedGroups().size - 1);
});
