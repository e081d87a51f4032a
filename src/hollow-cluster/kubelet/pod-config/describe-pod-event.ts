import type { ObjectReference } from '../../../machinery/api/meta.ts';
import type { Pod } from '../../../machinery/api/pod.ts';

export function podReference({ metadata: { namespace = '', name = '', uid = '' } }: Pod): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}
