/** The requests that kube-apiserver answers and this server refuses, in one table, with what answers them. */
import type { Attributes } from '../authorization/parse-attributes.ts';

const byKubeApiserver = 'kube-apiserver serves it: nlc demo --control-plane=DIR, or another cluster';
const byKubelets = 'a cluster with kube-apiserver and kubelets that run containers serves it';

/** By resource and subresource. */
const unserved: ReadonlyMap<string, string> = new Map([
  ['certificatesigningrequests/approval', byKubeApiserver],
  ['pods/ephemeralcontainers', byKubeApiserver],
  ['pods/resize', byKubeApiserver],
  ['serviceaccounts/token', byKubeApiserver],
  ['nodes/proxy', byKubelets],
  ['pods/attach', byKubelets],
  ['pods/exec', byKubelets],
  ['pods/portforward', byKubelets],
  ['pods/proxy', byKubelets],
  ['services/proxy', byKubelets],
]);

/** Why a request for a path that this server does not have is refused; undefined if kube-apiserver does not have it either. */
export function describeUnserved(attributes: Attributes): string | undefined {
  if (attributes.kind !== 'resource') return undefined;
  const path = `${attributes.resource}/${attributes.subresource}`;
  const server = unserved.get(path);
  return server === undefined ? undefined : `${path} is not served by the embedded API server; ${server}`;
}
