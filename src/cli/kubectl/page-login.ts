// Credentials for secure pages of a pod. Unless the serving certificate is verified, the only credential that is sent is a
// token that no other server accepts: of a service account that may read the pages, for their audience, valid for ten minutes.
// A certificate that is verified for a name that the plugin derived from the pod it found may be a tenant's, so the user's own
// credentials also need a namespace or a server name that the user chose.
import type { ClusterClient } from '../../machinery/kube-client/cluster-client.ts';
import type { Headers, TlsOptions } from '../../machinery/kube-client/connection.ts';
import { ApiError } from '../../machinery/api/api-error.ts';
import { mapOf, textOf } from '../../machinery/api/json-map.ts';
import { pagesAudience } from '../../machinery/api/reviews.ts';
import { readAuthority } from '../client/page-access.ts';
import { PageError } from '../client/page-source.ts';
import type { ClusterValues } from './flags.ts';
import type { ControllerPod } from './parse-controller-pod.ts';

type LoginValues = Pick<ClusterValues, 'namespace' | 'serviceAccount' | 'certificateAuthority' | 'tlsServerName'>;

export interface PageLogin {
  /** For connections; undefined: without TLS. */
  readonly tls: TlsOptions | undefined;
  /** For each request. Rejects with a PageError. */
  headers(signal: AbortSignal): Promise<Headers>;
  /** The pages responded with 401 to these headers. True if calling {@link headers} again may return others. */
  refused(headers: Headers): boolean;
}

/** The shortest lifetime that the API server accepts. */
const tokenSeconds = 600;
/** A token is replaced when less than this is left. */
const tokenSpareMs = 120_000;

export const plainLogin: PageLogin = { tls: undefined, headers: () => Promise.resolve({}), refused: () => false };

/** Rejects with a PageError if there is no credential that may be sent. */
export async function openSecureLogin(
  client: ClusterClient,
  pod: ControllerPod,
  values: LoginValues,
  signal: AbortSignal,
): Promise<PageLogin> {
  const tls = verification(pod, values);
  const tokens = new ReaderTokens(client, pod, values.serviceAccount);
  try {
    await tokens.current(signal);
    return { tls, headers: (each) => tokenHeaders(tokens, each), refused: (headers) => tokens.forget(headers) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const isUnavailable = error.reason === 'forbidden' || error.reason === 'not-found';
    if (!isUnavailable || !isChosenServer(values)) throw describeNoToken(tokens, error);
    return userLogin(client, tls);
  }
}

async function tokenHeaders(tokens: ReaderTokens, signal: AbortSignal): Promise<Headers> {
  try {
    return bearer(await tokens.current(signal));
  } catch (error) {
    throw error instanceof ApiError ? describeNoToken(tokens, error) : error;
  }
}

function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

/** The certificate is verified, for a name in a namespace that the user named, or for a name that the user gave. */
function isChosenServer({ certificateAuthority, namespace, tlsServerName }: LoginValues): boolean {
  return certificateAuthority !== undefined && (namespace !== undefined || tlsServerName !== undefined);
}

/** Without a CA the certificate is not verified: it may be one that the controller generated. */
function verification(pod: ControllerPod, { certificateAuthority, tlsServerName }: LoginValues): TlsOptions {
  if (certificateAuthority === undefined) return { rejectUnauthorized: false };
  const servername = tlsServerName ?? `${pod.fullname}-metrics.${pod.namespace}.svc`;
  return { ca: readAuthority(certificateAuthority), servername, rejectUnauthorized: true };
}

/** The user of the kubeconfig, for a verified server only. */
async function userLogin({ connection }: ClusterClient, tls: TlsOptions): Promise<PageLogin> {
  const headers = await connection.authorization();
  if (headers['impersonate-user'] !== undefined) throw new PageError('impersonation is not supported by secure pages');
  const { cert, key } = connection.tls;
  return {
    tls: { ...tls, cert, key },
    headers: () => connection.authorization(),
    refused: (each) => connection.refused(each),
  };
}

function describeNoToken({ account, namespace }: ReaderTokens, error: ApiError): PageError {
  const create = `kubectl create rolebinding NAME --clusterrole=node-lifecycle-controller-kubectl --user=USER --namespace=${namespace}`;
  const needed = `create on serviceaccounts/token of ${account} in namespace ${namespace} (${create})`;
  const verified =
    '--certificate-authority with --namespace or --tls-server-name sends the credentials of the kubeconfig instead, to a verified server';
  const message = `the pages are secure, and no token for them can be requested: ${error.message}; needed: ${needed}; ${verified}`;
  return new PageError(message, { cause: error });
}

class ReaderTokens {
  readonly namespace: string;
  readonly account: string;
  readonly #client: ClusterClient;
  #token = '';
  #replaceAtMs = -Infinity;

  constructor(client: ClusterClient, { namespace, fullname }: ControllerPod, account: string | undefined) {
    this.#client = client;
    this.namespace = namespace;
    this.account = account ?? `${fullname}-pages-reader`;
  }

  async current(signal: AbortSignal): Promise<string> {
    if (performance.now() < this.#replaceAtMs) return this.#token;
    const [namespace, account] = [this.namespace, this.account].map(encodeURIComponent);
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [pagesAudience], expirationSeconds: tokenSeconds },
    };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const answer = await this.#client.create(path, body, signal);
    this.#token = textOf(mapOf(answer['status'])['token']);
    this.#replaceAtMs = performance.now() + tokenSeconds * 1_000 - tokenSpareMs;
    return this.#token;
  }

  /** The next request has another token. Needed while the token is valid by this clock, which stops while the machine is suspended. */
  forget({ authorization }: Headers): boolean {
    if (authorization === bearer(this.#token)['authorization']) this.#replaceAtMs = -Infinity;
    return true;
  }
}
