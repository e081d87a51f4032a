import { type ImagePackage } from './build-sbom.ts';
import { type Architecture, debianPackagesOf, type PinnedInputs } from './pinned-inputs.ts';

/** Node.js and Debian's packages in the image of an architecture, with package URLs. */
export function listImagePackages(pins: PinnedInputs, architecture: Architecture): readonly ImagePackage[] {
  const { name, integrity } = pins.node[architecture];
  const node: ImagePackage = {
    name: 'node',
    version: pins.node.version,
    purl: `pkg:npm/${name}@${pins.node.version}`,
    checksum: { algorithm: 'SHA512', value: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') },
    supplier: 'OpenJS Foundation',
  };
  const debian = debianPackagesOf(pins, architecture).map(
    (one): ImagePackage => ({
      name: one.name,
      version: one.version,
      purl: `pkg:deb/debian/${encodeURIComponent(one.name)}@${encodeURIComponent(one.version)}?arch=${one.architecture}&distro=${pins.debian.suite}`,
      checksum: { algorithm: 'SHA256', value: one.sha256 },
      supplier: 'Debian',
    }),
  );
  return [node, ...debian];
}
