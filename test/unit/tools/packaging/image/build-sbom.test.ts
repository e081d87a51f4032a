import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildCycloneDx, buildSpdx } from '../../../../../tools/packaging/image/build-sbom.ts';
import { listImagePackages } from '../../../../../tools/packaging/image/image-packages.ts';
import { readPins } from '../../../../../tools/packaging/image/pinned-inputs.ts';

const packages = listImagePackages(readPins(), 'arm64');
const created = '2026-11-25T00:00:00Z';

/** What npm prints on a machine, in short. */
function printedBy(machine: string): { readonly cyclonedx: string; readonly spdx: string } {
  const component = { 'bom-ref': 'nlc@1', name: `folder-of-${machine}`, version: '1' };
  const cyclonedx = {
    bomFormat: 'CycloneDX',
    serialNumber: `urn:uuid:${machine}`,
    metadata: { timestamp: machine, tools: [{ version: machine }], lifecycles: [], component },
    components: [{ 'bom-ref': 'a@1' }],
    dependencies: [{ ref: 'nlc@1', dependsOn: ['a@1'] }, { ref: 'a@1' }],
  };
  const spdx = {
    spdxVersion: 'SPDX-2.3',
    name: 'nlc@1',
    documentNamespace: machine,
    creationInfo: { created: machine, creators: [machine] },
    documentDescribes: ['SPDXRef-root'],
    packages: [{ SPDXID: 'SPDXRef-root' }],
    relationships: [],
  };
  return { cyclonedx: JSON.stringify(cyclonedx), spdx: JSON.stringify(spdx) };
}

test('both bills of materials are equal on two machines, and differ when a package does', () => {
  const [a, b] = [printedBy('a'), printedBy('b')];
  const context = { created, packages };
  assert.deepEqual(buildCycloneDx(a.cyclonedx, context), buildCycloneDx(b.cyclonedx, context));
  assert.deepEqual(buildSpdx(a.spdx, context), buildSpdx(b.spdx, context));
  const fewer = { created, packages: packages.slice(1) };
  assert.notEqual(buildSpdx(a.spdx, fewer)['documentNamespace'], buildSpdx(a.spdx, context)['documentNamespace']);
  assert.notEqual(
    buildCycloneDx(a.cyclonedx, fewer)['serialNumber'],
    buildCycloneDx(a.cyclonedx, context)['serialNumber'],
  );
});

test('the packages of Debian and Node.js are dependencies of the image', () => {
  const { components, dependencies } = buildCycloneDx(printedBy('a').cyclonedx, { created, packages }) as {
    components: { 'bom-ref': string }[];
    dependencies: { ref: string; dependsOn?: string[] }[];
  };
  assert.equal(components.length, packages.length + 1);
  assert.deepEqual(dependencies[0]?.dependsOn, ['a@1', ...packages.map(({ purl }) => purl)]);
  const { relationships } = buildSpdx(printedBy('a').spdx, { created, packages }) as { relationships: object[] };
  assert.equal(relationships.length, packages.length);
  assert.ok(packages.some(({ purl }) => /^pkg:deb\/debian\/libstdc%2B%2B6@14.*\?arch=arm64&distro=trixie$/.test(purl)));
});
