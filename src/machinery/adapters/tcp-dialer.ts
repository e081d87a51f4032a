import { connect, isIP } from 'node:net';
import type { Dialer, DialResult, DialTarget } from '../ports/dialer.ts';

/** A closed port answers with a reset: its machine is there. */
const answers: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);
/** Nothing answers to ARP, or a router says so: that of this machine's own network would be `ENETUNREACH`. */
const silences: ReadonlySet<string> = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN']);
const portMax = 65_535;
const againMs = 300;

/** Dials by TCP from this process. */
export const tcpDialer: Dialer = {
  async dial(target, timeoutMs, signal) {
    return canBeAsked(target) && !signal.aborted ? dial(target, timeoutMs, signal) : 'not-sent';
  },
};

/** Addresses and ports are of objects that other clients write. A name would be looked up, and its error would say nothing. */
function canBeAsked({ address, port }: DialTarget): boolean {
  return isIP(address) !== 0 && Number.isInteger(port) && port > 0 && port <= portMax;
}

/** What says at once that nothing is there may be the error of a moment: it is asked again until the time is over. */
async function dial(target: DialTarget, timeoutMs: number, signal: AbortSignal): Promise<DialResult> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const leftMs = untilMs - performance.now();
    const result = await dialOnce(target, leftMs, signal);
    if (result !== 'no-answer' || untilMs - performance.now() <= againMs || signal.aborted) return result;
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

function dialOnce({ address: host, port }: DialTarget, timeoutMs: number, signal: AbortSignal): Promise<DialResult> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (result: DialResult): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(result);
    };
    const onAbort = (): void => settle('not-sent');
    const timer = setTimeout(() => settle('no-answer'), timeoutMs);
    signal.addEventListener('abort', onAbort);
    socket.on('connect', () => settle('answered'));
    socket.on('error', (error: NodeJS.ErrnoException) => settle(resultOf(error.code)));
  });
}

function resultOf(code = ''): DialResult {
  if (answers.has(code)) return 'answered';
  return silences.has(code) ? 'no-answer' : 'not-sent';
}
