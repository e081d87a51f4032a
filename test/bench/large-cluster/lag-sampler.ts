// How old a renewal is when the controller applies it: reads the time of a node's last heartbeat from the controller's page
// once a second, and compares it with the time of the node's last renewal.
import type { StubReport } from './stub-protocol.ts';
import type { Renewals } from './renewals.ts';

const everyMs = 1_000;
/** The nodes that are asked about renewed this long before; a longer lag is not measured, but counts as this one. */
const lagMsMax = 5_000;
/** The time on the page is computed from two clocks. */
const clockToleranceMs = 2;

interface LagOptions {
  readonly nodes: number;
  readonly perSecond: number;
  /** Host and port. */
  readonly controller: string;
  readonly renewals: Renewals;
}

interface ExplainedNode {
  readonly lastHeartbeat: { readonly at: string; readonly channel: string } | null;
}

export class LagSampler {
  readonly #options: LagOptions;
  readonly #lags: StubReport['lags'][number][] = [];

  constructor(options: LagOptions) {
    this.#options = options;
  }

  get lags(): StubReport['lags'] {
    return [...this.#lags];
  }

  /** Runs until the process ends. */
  run(): void {
    setInterval(() => void this.#sample(), everyMs);
  }

  async #sample(): Promise<void> {
    const { renewals, controller, nodes, perSecond } = this.#options;
    const place = renewals.sent - Math.round((lagMsMax / 1_000) * perSecond);
    if (place < 0) return;
    const node = place % nodes;
    const renewedAtMs = renewals.renewedAtMs(node);
    const page = `http://${controller}/explain/nodes/node-${String(node).padStart(7, '0')}`;
    const response = await fetch(page).catch(() => undefined);
    // The controller has ended; the bench reports it.
    if (response === undefined) return;
    const { lastHeartbeat } = (await response.json()) as ExplainedNode;
    const lagMs = lastHeartbeat === null ? Infinity : Date.parse(lastHeartbeat.at) - renewedAtMs;
    // An earlier heartbeat than the last renewal: it has not been applied yet.
    const isApplied = lagMs > -clockToleranceMs;
    this.#lags.push({ atMs: renewedAtMs, lagMs: isApplied ? Math.min(Math.max(0, lagMs), lagMsMax) : lagMsMax });
  }
}
