/** The resources that aggregated discovery lists, as rows for comparison and for the recorded file. */
import type { Json } from './client.ts';

/** One resource without its subresources, or one subresource, by its path below the group version. */
export type DiscoveryRows = Readonly<Record<string, Json>>;

export const aggregatedAccept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** `v1/pods`, `apps/v1/deployments/scale`, ... with what discovery says about each. */
export function rowsOf(documents: readonly Json[]): DiscoveryRows {
  const rows = documents
    .flatMap(({ items }) => items)
    .flatMap((group) => {
      const root = group.metadata?.name === undefined ? '' : `${group.metadata.name}/`;
      return group.versions.flatMap((version: Json) =>
        version.resources.flatMap((row: Json) => rowsOfResource(`${root}${version.version}/${row.resource}`, row)),
      );
    });
  return Object.fromEntries(rows);
}

function rowsOfResource(path: string, { resource: _resource, subresources = [], ...row }: Json): readonly Json[] {
  return [
    [path, sorted(row)],
    ...subresources.map(({ subresource, ...below }: Json) => [`${path}/${subresource}`, sorted(below)]),
  ];
}

/** The order of verbs has no meaning. */
function sorted(row: Json): Json {
  const verbs: readonly string[] = row.verbs;
  return { ...row, verbs: verbs.toSorted((a, b) => (a < b ? -1 : 1)) };
}
