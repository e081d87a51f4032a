import type { Container } from '../../../machinery/api/pod.ts';

/** `refuse`: the image is missing, and the pull policy forbids to pull it. */
type ImagePullDecision = 'use-present' | 'pull' | 'refuse';

/** What the pull policy requires for an image that is present or not (kubelet `imagePullPrecheck`). */
export function decideImagePull(container: Container, isPresent: boolean): ImagePullDecision {
  const policy = pullPolicyOf(container);
  if (policy === 'Always') return 'pull';
  if (isPresent) return 'use-present';
  return policy === 'Never' ? 'refuse' : 'pull';
}

/** The container's pull policy, or the default for its tag, as on the API server. */
function pullPolicyOf({ imagePullPolicy, image = '' }: Container): string {
  if (imagePullPolicy !== undefined) return imagePullPolicy;
  const name = image.slice(image.lastIndexOf('/') + 1);
  if (name.includes('@')) return 'IfNotPresent';
  return !name.includes(':') || name.endsWith(':latest') ? 'Always' : 'IfNotPresent';
}
