import type { GroupVersionKind } from '../resources.ts';

/** The protobuf package of a built-in group version: it is named after the first part of the group. */
export function packageNameOf({ group, version }: Pick<GroupVersionKind, 'group' | 'version'>): string {
  const [first = ''] = group.split('.', 1);
  return `k8s.io.api.${first === '' ? 'core' : first}.${version}`;
}
