// The report of a standby to the leader: which nodes do not answer it. An annotation of a lease in the namespace of the node leases.
import { ApiError } from '../machinery/api/api-error.ts';
import { isMap, mapOf, parsedOf, textOf } from '../machinery/api/json-map.ts';
import type { KubeObject } from '../machinery/api/meta.ts';
import { nodeLeaseNamespace, witnessLeaseName } from '../machinery/api/resources.ts';
import { formatMicroTime, parseTimestamp } from '../machinery/api/timestamps.ts';
import type { Clock } from '../machinery/ports/clock.ts';
import type { KubeReader } from '../machinery/ports/kube-reader.ts';
import type { KubeWriter } from '../machinery/ports/kube-writer.ts';
import type { WitnessReport, WitnessReports } from '../controller/model/detection.ts';

/** JSON: the node of the replica, and each node that does not answer with its last heartbeat. */
const reportAnnotation = 'nodelifecycle/unanswered';
const name = { namespace: nodeLeaseNamespace, name: witnessLeaseName };
/** A longer report is not of a replica of this controller. */
const reportCharsMax = 100_000;

interface WitnessLease extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string; readonly renewTime?: string };
}

type WitnessApi = Pick<KubeReader, 'get'> & Pick<KubeWriter, 'create' | 'patch'>;

/** The lease on the API server; created if it does not exist. */
export class ApiWitnessReports implements WitnessReports {
  readonly own: WitnessReports['own'];
  readonly #api: WitnessApi;
  readonly #clock: Clock;

  constructor(api: WitnessApi, clock: Clock, own: WitnessReports['own']) {
    this.#api = api;
    this.#clock = clock;
    this.own = own;
  }

  async read(signal: AbortSignal): Promise<WitnessReport | undefined> {
    try {
      return toReport(await this.#api.get('leases', name, { whole: true, signal }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'not-found') throw error;
      return undefined;
    }
  }

  async write(unanswered: WitnessReport['unanswered'], signal: AbortSignal): Promise<void> {
    const { identity, place } = this.own;
    const report = JSON.stringify({ place, nodes: Object.fromEntries(unanswered) });
    const lease = {
      metadata: { annotations: { [reportAnnotation]: report } },
      spec: { holderIdentity: identity, renewTime: formatMicroTime(this.#clock.nowMs()) },
    };
    try {
      await this.#api.patch('leases', name, { type: 'merge', body: lease }, { signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'not-found') throw error;
      const created: WitnessLease = { ...lease, metadata: { ...lease.metadata, ...name } };
      await this.#api.create('leases', created, { signal });
    }
  }
}

/** Undefined: it is not a report of a replica. Other clients can write the lease too. */
function toReport({ metadata, spec }: WitnessLease): WitnessReport | undefined {
  const text = metadata.annotations?.[reportAnnotation];
  const reportedAtMs = parseTimestamp(spec?.renewTime);
  const found = text === undefined || text.length > reportCharsMax ? undefined : parseReport(text);
  if (found === undefined || reportedAtMs === undefined || spec?.holderIdentity === undefined) return undefined;
  return { identity: spec.holderIdentity, reportedAtMs, ...found };
}

function parseReport(text: string): Pick<WitnessReport, 'place' | 'unanswered'> | undefined {
  const { place, nodes } = mapOf(parsedOf(text));
  if (typeof place !== 'string' || !isMap(nodes)) return undefined;
  return { place, unanswered: new Map(Object.entries(nodes).map(([node, heartbeat]) => [node, textOf(heartbeat)])) };
}
