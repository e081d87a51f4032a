/**
 * The ConfigMap from which kube-scheduler, kube-controller-manager and aggregated API servers learn how to authenticate
 * requests (upstream `clusterauthenticationtrust`). The CA signs no client certificate: tokens are reviewed instead.
 */
import { sameJson } from '../../../machinery/api/json-values.ts';
import type { ObjectRegistry } from './object-registry.ts';
import type { ServedTargets } from './served-targets.ts';

const name = 'extension-apiserver-authentication';
const options = { dryRun: false, fieldValidation: 'Strict', manager: 'kube-apiserver' } as const;

/** Creates it, or brings it up to date. `caPem` is the CA of the server; undefined on plain HTTP, as without its flags. */
export function writeAuthenticationConfig(
  registry: ObjectRegistry,
  targets: ServedTargets,
  caPem: string | undefined,
): void {
  const all = { ...targets.of('', 'configmaps'), namespace: 'kube-system' };
  const one = { ...all, name };
  const object = { metadata: { name }, data: dataOf(caPem) };
  if (!registry.exists(one)) registry.create(all, object, options);
  else if (!sameJson(registry.get(one).content['data'] ?? {}, object.data)) registry.update(one, object, options);
}

/** The values of kubeadm, as JSON texts. */
function dataOf(caPem: string | undefined): Readonly<Record<string, string>> {
  if (caPem === undefined) return {};
  return {
    'client-ca-file': caPem,
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': caPem,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  };
}
