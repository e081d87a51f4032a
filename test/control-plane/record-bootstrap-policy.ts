// Writes the roles and bindings of a real kube-apiserver for the embedded one. Run it after an update of the control
// plane to another release:
//
//     node test/control-plane/record-bootstrap-policy.ts
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBootstrapPolicy } from './bootstrap-policy.ts';
import { startControlPlane } from './control-plane.ts';

const file = join(
  import.meta.dirname,
  '..',
  '..',
  'src',
  'hollow-cluster',
  'apiserver',
  'kinds',
  'rbac',
  'bootstrap-policy.json',
);

await using plane = await startControlPlane();
const policy = await readBootstrapPolicy(plane.client());
// One object per line, so that a new release shows as a readable change.
const lines = Object.entries(policy).map(([plural, objects]) => {
  return `${JSON.stringify(plural)}: [\n${objects.map((object) => JSON.stringify(object)).join(',\n')}\n]`;
});
writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`);
console.log(
  Object.entries(policy)
    .map(([plural, objects]) => `${plural}: ${objects.length}`)
    .join(', '),
);
