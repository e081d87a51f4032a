import { stringify } from 'yaml';

interface KrewRelease {
  readonly version: string;
  /** Where the archive can be downloaded. */
  readonly url: string;
  readonly homepage: string;
  /** Of the archive, in hexadecimal. */
  readonly sha256: string;
}

const description = `Shows what the node lifecycle controller of the cluster does: zones, rates and
queues, why a node is tainted or a pod is evicted, what is held and why, and
what happens next and when. It finds the leader by its lease, and reads its
pages through a port-forward with the permissions of the user.
`;

const caveats = `Node.js 24 or later must be on the PATH.
For completion, link kubectl_complete-node_lifecycle to kubectl-node_lifecycle
in a folder of the PATH.
`;

/** The manifest of the plugin for krew. It has no platform with Windows, where a script cannot be started by a link. */
export function buildKrewManifest({ version, url, homepage, sha256 }: KrewRelease): string {
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'node-lifecycle' },
    spec: {
      version: `v${version}`,
      homepage,
      shortDescription: 'Explain what the node lifecycle controller does',
      description,
      caveats,
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] },
          uri: url,
          sha256,
          bin: 'nlc.js',
        },
      ],
    },
  };
  return stringify(manifest, { lineWidth: 0 });
}
