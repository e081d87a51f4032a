// The CustomResourceDefinition of NodeLifecyclePolicy, for helm and for kubectl. Generated from the schema of policies in the
// config file.
import { stringify } from 'yaml';
import { policyCrd } from '../../src/policy/schema/policy-crd.ts';

export interface ManifestPage {
  readonly path: string;
  readonly text: string;
}

const head = '# Generated from src/policy/schema/policy-schema.ts by `npm run manifests`.\n';

export function policyCrdPages(): readonly ManifestPage[] {
  const text = head + stringify(policyCrd(), { lineWidth: 0, singleQuote: true, aliasDuplicateObjects: false });
  return ['charts/node-lifecycle-controller/crds', 'manifests/crds'].map((folder) => {
    return { path: `${folder}/nodelifecyclepolicies.yaml`, text };
  });
}
