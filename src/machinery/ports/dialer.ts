/** An address of the network: an IP address without brackets, and a TCP port. */
export interface DialTarget {
  readonly address: string;
  readonly port: number;
}

/**
 * `answered`: the connection was accepted or refused, so a machine has this address. `no-answer`: nothing came back in time, or a
 * router says that the host cannot be reached. `not-sent`: this machine could not ask.
 */
export type DialResult = 'answered' | 'no-answer' | 'not-sent';

export interface Dialer {
  /** Opens a TCP connection and closes it without sending anything. Never rejects; takes `timeoutMs` at most. */
  dial(target: DialTarget, timeoutMs: number, signal: AbortSignal): Promise<DialResult>;
}
