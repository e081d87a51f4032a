/** Why a request or the event stream failed. `status` 0: no answer arrived. */
export interface Problem {
  readonly status: number;
  /** The message of the answer; empty if it has none. */
  readonly message: string;
}

const texts: Readonly<Record<number, string>> = {
  0: 'The server does not answer: it is restarting, or the network between this browser and it is interrupted',
  401: 'This address requires authentication, and a browser sends no Kubernetes token. Run "kubectl node-lifecycle dashboard", which adds the credentials of your kubeconfig',
  403: 'Your user may not read these pages. The non-resource URLs /dashboard and /explain need the verb "get" in a ClusterRole that is bound to it',
  404: 'This server does not know it',
  503: 'The server does not accept a further dashboard now, because as many are open as it allows, or because it is starting or stopping',
};

/** Sentences for the user. */
export function describeProblem({ status, message }: Problem): string {
  const text = texts[status] ?? `The server answered with HTTP status ${status}`;
  return message === '' ? `${text}.` : `${text}. It reports: ${message.replace(/\.$/u, '')}.`;
}

const charactersMax = 300;

/** The problem of an answer: `error.message` of a JSON body, or else the beginning of its text. */
export function parseProblem(status: number, body: string): Problem {
  return { status, message: parseMessage(body) ?? body.trim().slice(0, charactersMax) };
}

function parseMessage(body: string): string | undefined {
  try {
    const parsed: { readonly error?: { readonly message?: unknown } } | null = JSON.parse(body);
    const message = parsed?.error?.message;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

const waitsMs: readonly number[] = [500, 1_000, 2_000, 5_000];

/** The time until the next attempt. `retryAfter`: the header, in seconds; `failures`: in a row, from 1. */
export function estimateRetryMs(failures: number, retryAfter: string | null): number {
  const wanted = Number(retryAfter ?? Number.NaN);
  if (Number.isFinite(wanted) && wanted >= 0 && retryAfter !== '')
    return Math.min(60_000, Math.max(500, wanted * 1_000));
  return waitsMs[Math.min(failures, waitsMs.length) - 1] ?? 500;
}
