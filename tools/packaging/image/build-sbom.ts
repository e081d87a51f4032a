// Bills of materials of the image of one platform: what `npm sbom` prints for the program, and Node.js and Debian's packages. What
// differs between two runs or machines is replaced: times, random identifiers, the version of npm, the name of the folder.
import { createHash } from 'node:crypto';

type Json = Readonly<Record<string, unknown>>;

/** A package in the image that npm does not know. */
export interface ImagePackage {
  readonly name: string;
  readonly version: string;
  /** Package URL. */
  readonly purl: string;
  /** Of the package as it was downloaded, in hexadecimal. */
  readonly checksum: { readonly algorithm: 'SHA256' | 'SHA512'; readonly value: string };
  readonly supplier: string;
}

interface SbomContext {
  /** RFC 3339. */
  readonly created: string;
  readonly packages: readonly ImagePackage[];
}

interface CycloneDx extends Json {
  readonly metadata: { readonly component: Json } & Json;
  readonly components: readonly Json[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/** CycloneDX; `printed` is the output of npm. */
export function buildCycloneDx(printed: string, { created, packages }: SbomContext): Json {
  const { serialNumber: _random, metadata, components, dependencies, ...rest } = JSON.parse(printed) as CycloneDx;
  const { component, lifecycles: _phase, tools: _npm, timestamp: _now, ...others } = metadata;
  const root = { ...component, type: 'container', name: 'node-lifecycle-controller' };
  const added = packages.map(cycloneDxComponent);
  const refs = added.map((one) => one['bom-ref']);
  const sbom = {
    ...rest,
    metadata: { ...others, timestamp: created, component: root },
    components: [...components, ...added],
    dependencies: dependencies.map((one) =>
      one.ref === component['bom-ref'] ? { ...one, dependsOn: [...(one.dependsOn ?? []), ...refs] } : one,
    ),
  };
  return { ...sbom, serialNumber: `urn:uuid:${uuidOf(sbom)}` };
}

function cycloneDxComponent({ name, version, purl, checksum, supplier }: ImagePackage): Json & { 'bom-ref': string } {
  const alg = checksum.algorithm.replace('SHA', 'SHA-');
  return {
    'bom-ref': purl,
    type: 'library',
    name,
    version,
    purl,
    supplier: { name: supplier },
    hashes: [{ alg, content: checksum.value }],
  };
}

interface Spdx extends Json {
  readonly name: string;
  readonly documentDescribes: readonly string[];
  readonly packages: readonly Json[];
  readonly relationships: readonly Json[];
}

/** SPDX; `printed` is the output of npm. */
export function buildSpdx(printed: string, { created, packages }: SbomContext): Json {
  const npm = JSON.parse(printed) as Spdx;
  const [root = ''] = npm.documentDescribes;
  const added = packages.map(spdxPackage);
  const contained = added.map(({ SPDXID }) => ({
    spdxElementId: root,
    relatedSpdxElement: SPDXID,
    relationshipType: 'CONTAINS',
  }));
  const sbom = {
    ...npm,
    documentNamespace: '',
    creationInfo: { created, creators: ['Tool: npm sbom', 'Tool: npm run image'] },
    packages: [...npm.packages, ...added],
    relationships: [...npm.relationships, ...contained],
  };
  return { ...sbom, documentNamespace: `urn:uuid:${uuidOf(sbom)}` };
}

function spdxPackage({ name, version, purl, checksum, supplier }: ImagePackage): Json & { SPDXID: string } {
  const { algorithm, value: checksumValue } = checksum;
  return {
    name,
    SPDXID: `SPDXRef-Package-${`${name}-${version}`.replaceAll(/[^A-Za-z0-9.-]/g, '-')}`,
    versionInfo: version,
    supplier: `Organization: ${supplier}`,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: 'NOASSERTION',
    checksums: [{ algorithm, checksumValue }],
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
  };
}

/** A UUID (version 8, RFC 9562) from a hash of the content. */
function uuidOf(content: Json): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join('-');
}
