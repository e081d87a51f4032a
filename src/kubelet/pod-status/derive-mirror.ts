import type { Node } from '../../api/node.ts';
import type { Pod } from '../../api/pod.ts';
import { configAnnotations, mirrorHash } from '../pod-config/classify-pod.ts';

/**
 * The API object that shows a static pod: the pod itself, marked with its hash and owned by its node (kubelet
 * `pod.basicMirrorClient.CreateMirrorPod`). Its uid is the API server's to give: the one in here is not kept.
 */
export function deriveMirror(pod: Pod, node: Node): Pod {
  const { name = '', uid = '' } = node.metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: { ...pod.metadata.annotations, [configAnnotations.mirror]: mirrorHash(pod) },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
    },
  };
}
