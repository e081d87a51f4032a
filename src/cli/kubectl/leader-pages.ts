// The pages of the leader, whichever replica leads.
import { ClusterClient } from '../../machinery/kube-client/cluster-client.ts';
import { loadConnection } from '../../machinery/kubeconfig/connection.ts';
import { mapOf, type Untrusted } from '../../machinery/api/json-map.ts';
import type { StatusOutlook } from '../../controller/report/pages.ts';
import { type PageAnswer, PageError, type PageSource, readPage } from '../client/page-source.ts';
import { userAgent } from '../io/version.ts';
import { findLeader } from './controller-finder.ts';
import type { ClusterValues } from './flags.ts';
import { openSecureLogin, plainLogin } from './page-login.ts';
import type { ControllerPod } from './parse-controller-pod.ts';
import { type PagesPod, PodPages } from './pod-pages.ts';
import { describePods } from './select-leader.ts';

const searchMsMax = 15_000;
/** Replicas that are asked at most; each costs a port-forward. */
const askedMax = 10;

export class LeaderPages implements PageSource {
  readonly #client: ClusterClient;
  readonly #values: ClusterValues;
  readonly #closed = new AbortController();
  #current: Promise<PodPages> | undefined;
  /** The replica that was read last. */
  #last: PodPages | undefined;

  /** Rejects with a ConnectionError if the kubeconfig is unusable. Looks for the controller with the first page. */
  static async open(values: ClusterValues): Promise<LeaderPages> {
    const { kubeconfig, context } = values;
    const connection = await loadConnection({ kubeconfig, context });
    return new LeaderPages(new ClusterClient(connection, userAgent('kubectl')), values);
  }

  private constructor(client: ClusterClient, values: ClusterValues) {
    this.#client = client;
    this.#values = values;
  }

  get name(): string {
    return this.#last?.name ?? 'the controller';
  }

  hintAfter(status: number): string | undefined {
    return this.#last?.hintAfter(status);
  }

  /** After a failure the leader is looked up again with the next page. */
  async get(path: string, signal: AbortSignal): Promise<PageAnswer> {
    const pages = await this.current(signal);
    try {
      return await pages.get(path, signal);
    } catch (error) {
      await this.leave(pages);
      throw error;
    }
  }

  /**
   * The pages of the leader as last known. Rejects with a PageError if there is none, or if the signal aborts: the search
   * continues then, because others may wait for it.
   */
  async current(signal: AbortSignal): Promise<PodPages> {
    this.#current ??= this.#search();
    this.#last = await unlessAborted(this.#current, signal);
    return this.#last;
  }

  /** Forgotten if it fails. */
  #search(): Promise<PodPages> {
    const finding = this.#find(AbortSignal.any([this.#closed.signal, AbortSignal.timeout(searchMsMax)]));
    finding.catch(() => {
      if (this.#current === finding) this.#current = undefined;
    });
    return finding;
  }

  /** With --pod the same replica is read again. */
  async follow(): Promise<void> {
    const pages = await this.#current?.catch(() => undefined);
    if (pages !== undefined && this.#values.pod === undefined) await this.leave(pages);
  }

  /** The leader is looked up again with the next page. The connections to this replica are closed. */
  async leave(pages: PodPages): Promise<void> {
    if ((await this.#current?.catch(() => undefined)) === pages) this.#current = undefined;
    await pages.close();
  }

  /** Ends a search, too. */
  async close(): Promise<void> {
    this.#closed.abort();
    const pages = await this.#current?.catch(() => undefined);
    await pages?.close();
    await this.#client.close();
  }

  async #find(signal: AbortSignal): Promise<PodPages> {
    const choice = await findLeader(this.#client, this.#values, signal);
    return choice.kind === 'pod' ? this.#open(choice.pod, signal) : this.#probe(choice.pods, signal);
  }

  /** The first replica that says that it leads, or that it runs in shadow mode. */
  async #probe(pods: readonly ControllerPod[], signal: AbortSignal): Promise<PodPages> {
    const failures: string[] = [];
    for (const pod of pods.slice(0, askedMax)) {
      const pages = await this.#open(pod, signal);
      const state = await readState(pages, signal);
      if (state === 'leads') return pages;
      await pages.close();
      failures.push(`${pod.name}: ${state}`);
    }
    const advice = 'wait for the next election, or read one of them with --pod';
    throw new PageError(`no replica leads (${failures.join('; ')}) of ${describePods(pods)}; ${advice}`);
  }

  async #open(pod: ControllerPod, signal: AbortSignal): Promise<PodPages> {
    if (!hasPages(pod)) throw new PageError(`the pages of ${pod.namespace}/${pod.name} are off`);
    const client = this.#client;
    const login = pod.pages.secure ? await openSecureLogin(client, pod, this.#values, signal) : plainLogin;
    return new PodPages({ client, pod, login });
  }
}

async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new PageError('the search for the controller was cancelled'));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function hasPages(pod: ControllerPod): pod is PagesPod {
  return pod.pages !== undefined;
}

/** `leads`, also in shadow mode, where there is no election; otherwise why not. */
export async function readState(pages: PodPages, signal: AbortSignal): Promise<string> {
  try {
    const { leading, shadow }: Untrusted<StatusOutlook> = mapOf(
      JSON.parse(await readPage(pages, '/status?output=json', signal)),
    );
    return leading === true || shadow === true ? 'leads' : 'stands by';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
