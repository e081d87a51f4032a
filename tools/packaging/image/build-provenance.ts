import type { ImagePackage } from './build-sbom.ts';

/** The type of build that the fields of `externalParameters` belong to; docs/install.md describes it. */
const buildType = 'urn:node-lifecycle-controller:npm-run-image:v1';

export interface Source {
  /** Address of the repository; undefined if it was not given. */
  readonly url?: string | undefined;
  /** The commit; undefined outside of a git repository. */
  readonly commit?: string | undefined;
  /** Whether files differ from the commit. */
  readonly changed: boolean;
}

interface Dependency {
  readonly name?: string;
  readonly uri?: string;
  readonly digest: Readonly<Record<string, string>>;
}

/**
 * The predicate of SLSA provenance v1. It names what went in, not the machine: two builds of a commit are equal. Who built is what
 * the signature of the image says.
 */
export function buildProvenance(source: Source, packages: readonly ImagePackage[], lockFileSha256: string): object {
  const { url, commit, changed } = source;
  const sources: readonly Dependency[] =
    commit === undefined || changed
      ? []
      : [
          {
            ...(url === undefined ? { name: 'source' } : { uri: `git+${url}@${commit}` }),
            digest: { gitCommit: commit },
          },
        ];
  const lock: Dependency = { name: 'package-lock.json', digest: { sha256: lockFileSha256 } };
  const inputs = packages.map(({ purl, checksum }) => ({
    uri: purl,
    digest: { [checksum.algorithm.toLowerCase()]: checksum.value },
  }));
  return {
    buildDefinition: {
      buildType,
      externalParameters: {
        ...(url === undefined ? {} : { source: url }),
        ...(commit === undefined ? {} : { commit, changed }),
      },
      resolvedDependencies: [...sources, lock, ...inputs],
    },
    runDetails: { builder: { id: 'urn:node-lifecycle-controller:tools/packaging/image' } },
  };
}
