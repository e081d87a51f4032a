// The CustomResourceDefinition of NodeLifecyclePolicy, for helm, for kubectl and for the embedded API server. Generated from the
// schema of policies in the config file.
import { stringify } from 'yaml';
import { policyCrd } from './policy-crd.ts';

export interface ManifestPage {
  readonly path: string;
  readonly text: string;
}

const head = '# Generated from src/policy/schema/policy-schema.ts by `npm run manifests`.\n';

export function policyCrdPages(): readonly ManifestPage[] {
  const crd = policyCrd();
  const text = head + stringify(crd, { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false });
  return [
    { path: 'charts/node-lifecycle-controller/crds/nodelifecyclepolicies.yaml', text },
    { path: 'manifests/crds/nodelifecyclepolicies.yaml', text },
    { path: 'src/cli/simulation/policy-crd.json', text: `${JSON.stringify(crd, undefined, 2)}\n` },
  ];
}
