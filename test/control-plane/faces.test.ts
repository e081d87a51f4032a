// Tables, discovery and OpenAPI schemas of the embedded server compared with a real kube-apiserver: the same objects must
// be printed the same, and discovery and schemas of common resources must be equal. The tables of the embedded server are
// computed from the objects that the real server stores.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Agent, request } from 'undici';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import {
  aggregatedDiscovery,
  aggregatedDiscoveryParameters,
  groupDocument,
  resourceList,
} from '../../src/hollow-cluster/apiserver/discovery/discovery-documents.ts';
import { OpenApi } from '../../src/hollow-cluster/apiserver/discovery/open-api.ts';
import { apiVersionOf, servedGroups } from '../../src/hollow-cluster/apiserver/resources.ts';
import { printTable, type Table, type TableRow } from '../../src/hollow-cluster/apiserver/printing/table.ts';
import { findControlPlane } from '../../tools/control-plane/binaries.ts';
import { comparableTable } from '../contract/apiserver/printed/comparable-table.ts';
import { createAll } from '../contract/apiserver/printed/printed-object.ts';
import { printedObjects, printedResources } from '../contract/apiserver/printed/printed-objects.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { realClient } from './real-client.ts';

const binaries = findControlPlane();
const skip = 'missing' in binaries ? binaries.missing : false;

describe('tables, discovery and schemas of a real server', { skip }, () => {
  let plane: ControlPlane;
  let agent: Agent;

  async function get<T>(path: string, accept = '*/*'): Promise<T> {
    const headers = { authorization: `Bearer ${plane.adminToken}`, accept };
    const answer = await request(plane.url + path, { dispatcher: agent, headers });
    const text = await answer.body.text();
    assert.ok(answer.statusCode < 300, `${path}: ${text}`);
    const parsed: T = JSON.parse(text);
    return parsed;
  }

  before(async () => {
    plane = await startControlPlane();
    agent = new Agent({ connect: { ca: readFileSync(plane.caFile, 'utf8') } });
    const client = realClient(plane);
    await createAll(client, printedObjects);
    await client.close();
  });
  after(async () => {
    await agent.close();
    await plane.stop();
  });

  for (const { path, served } of printedResources) {
    for (const includeObject of ['None', 'Metadata', 'Object'] as const) {
      test(`the table of ${path} is equal, with includeObject=${includeObject}`, async () => {
        const list = await get<{ items: KubeObject[] }>(path);
        const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
        const earlierMs = Date.now();
        const real = await get<Table>(`${path}?includeObject=${includeObject}`, accept);
        // Ages change at whole seconds, so the real table equals one of two.
        const embedded = [earlierMs, Date.now()].map((nowMs) => {
          return comparable(structuredClone(printTable(served, list.items, {}, { nowMs, includeObject })));
        });
        assert.ok(real.rows.length > 0);
        const matching = embedded.find((table) => JSON.stringify(table) === JSON.stringify(comparable(real)));
        assert.deepEqual(comparable(real), matching ?? embedded[0]);
      });
    }
  }

  for (const root of ['/api', '/apis'] as const) {
    test(`aggregated discovery of ${root} contains that of the embedded server`, async () => {
      const real = await get<Discovery>(root, `application/json;${aggregatedDiscoveryParameters}`);
      const embedded: Discovery = structuredClone(aggregatedDiscovery(root)) as never;
      for (const { metadata, versions } of embedded.items) {
        const group = real.items.find((item) => item.metadata.name === metadata.name);
        for (const { version, resources } of versions) {
          const known = group?.versions.find((each) => each.version === version)?.resources ?? [];
          for (const resource of resources) assert.deepEqual(onlyServed(known, resource), resource);
        }
      }
    });
  }

  test('the resource list of each group version contains that of the embedded server', async () => {
    for (const [group, versions] of servedGroups()) {
      for (const version of versions) {
        const path = `${group === '' ? '/api' : '/apis'}/${apiVersionOf({ group, version })}`;
        const real = await get<ResourceList>(path);
        const embedded: ResourceList = structuredClone(resourceList(group, version)) as never;
        assert.deepEqual({ ...real, resources: [] }, { ...embedded, resources: [] });
        for (const resource of embedded.resources) {
          const { storageVersionHash: _hash, ...known } =
            real.resources.find(({ name }) => name === resource.name) ?? {};
          assert.deepEqual(known, resource);
        }
      }
    }
  });

  test('the document of an API group is equal', async () => {
    assert.deepEqual(await get('/apis/apps'), structuredClone(groupDocument('apps')));
  });

  test('the schemas are equal: fields, types and list merge strategies', async () => {
    const openApi = new OpenApi({ title: 'embedded', version: 'v1' });
    for (const path of ['api/v1', 'apis/apps/v1', 'apis/coordination.k8s.io/v1', 'apis/events.k8s.io/v1']) {
      const real = (await get<OpenApiDocument>(`/openapi/v3/${path}`)).components.schemas;
      const embedded: OpenApiDocument = JSON.parse(openApi.document(path)?.text ?? '');
      for (const [name, schema] of Object.entries(embedded.components.schemas)) {
        if (name.endsWith('List')) continue;
        assert.deepEqual(shapes(schema), shapes(real[name] ?? {}), name);
      }
    }
  });
});

interface Discovered {
  readonly resource: string;
  readonly subresources?: readonly { readonly subresource: string }[];
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly Discovered[] }[];
  }[];
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly storageVersionHash?: string }[];
}

interface Schema extends Readonly<Record<string, unknown>> {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

function comparable(table: Table): object {
  const objectOf = ({ object }: TableRow): unknown =>
    object === null ? null : [object.kind, object.apiVersion, object.metadata.uid, Object.keys(object).sort()];
  return {
    kind: table.kind,
    apiVersion: table.apiVersion,
    ...comparableTable(table),
    objects: table.rows.map(objectOf),
  };
}

/** The real server's entry for a resource, without the subresources that the embedded server does not have. */
function onlyServed(known: readonly Discovered[], embedded: Discovered): Discovered | undefined {
  const real = known.find(({ resource }) => resource === embedded.resource);
  if (real?.subresources === undefined) return real;
  const names = new Set(embedded.subresources?.map(({ subresource }) => subresource));
  const { subresources, ...rest } = real;
  const served = subresources.filter(({ subresource }) => names.has(subresource));
  return served.length === 0 ? rest : { ...rest, subresources: served };
}

/** Type, format, $ref and merge strategy of each property. */
function shapes(schema: Schema): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, property]) => [name, shape(property)]),
  );
}

function shape(schema: Schema | undefined): unknown {
  if (schema === undefined) return undefined;
  const { type, format, $ref } = { ...schema, ...schema.allOf?.[0] };
  const merged = [schema['x-kubernetes-patch-strategy'], schema['x-kubernetes-patch-merge-key']];
  return [type, format, $ref, ...merged, shape(schema.items), shape(schema.additionalProperties)];
}
