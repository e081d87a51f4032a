// Names of objects in the cluster of a kubeconfig, for shell completion: within two seconds, and none in case of any failure.
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterClient } from '../../machinery/kube-client/cluster-client.ts';
import { loadConnection } from '../../machinery/kubeconfig/connection.ts';
import { mapOf, mapsOf, textOf } from '../../machinery/api/json-map.ts';
import { userAgent } from '../io/version.ts';

const timeMsMax = 2_000;
const namesMax = 500;
/** Only names are read, not the objects. */
const metadataOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

interface NamesQuery {
  /** Of the list: `nodes`, `namespaces`, `namespaces/default/pods`. */
  readonly path: string;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

export async function readNames(query: NamesQuery): Promise<readonly string[]> {
  const ended = new AbortController();
  const late = sleep(timeMsMax, [], { signal: ended.signal }).catch(() => []);
  try {
    return await Promise.race([listNames(query, ended.signal), late]);
  } catch {
    return []; // a shell that waits for a completion has no place for an error
  } finally {
    ended.abort();
  }
}

async function listNames({ path, kubeconfig, context }: NamesQuery, signal: AbortSignal): Promise<readonly string[]> {
  const connection = await loadConnection({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const client = new ClusterClient(connection, userAgent('completion'));
  try {
    const list = await client.get(`/api/v1/${path}?limit=${namesMax}`, signal, metadataOnly);
    return mapsOf(list['items']).map((item) => textOf(mapOf(item['metadata'])['name']));
  } finally {
    await client.close();
  }
}
