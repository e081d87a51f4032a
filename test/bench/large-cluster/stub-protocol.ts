// Messages between the bench and the stub API server.

export interface StubOptions {
  readonly nodes: number;
  readonly pods: number;
  readonly renewalsPerSecond: number;
  /** Metrics address of the controller, where its heartbeat times are read. */
  readonly controller: string;
}

/** How old a renewal was when the controller applied it. */
interface LagSample {
  readonly atMs: number;
  readonly lagMs: number;
}

export interface StubReport {
  readonly renewals: number;
  /** Largest number of renewals that were due and not yet sent. */
  readonly behindMax: number;
  /** Requests that a controller of a healthy cluster does not send, by method and path. */
  readonly unexpected: Readonly<Record<string, number>>;
  readonly lags: readonly LagSample[];
}

export type StubCommand =
  | ({ readonly kind: 'start' } & StubOptions)
  | { readonly kind: 'measure' }
  | { readonly kind: 'report' };

export type StubMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'report'; readonly report: StubReport };
