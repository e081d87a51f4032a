// The requests of users to kube-apiserver, from its audit log.
import { closeSync, openSync, readSync } from 'node:fs';

const chunkBytes = 1 << 20;

/** One completed request, or a watch that was opened. */
export interface AuditedRequest {
  /** When it was received, milliseconds of the wall clock, with fractions. */
  readonly atMs: number;
  /** When its response was complete, or the watch was started. */
  readonly endedAtMs: number;
  readonly user: string;
  readonly verb: string;
  readonly uri: string;
  readonly resource: string;
  readonly namespace: string;
  /** Empty for requests to a collection. */
  readonly name: string;
  readonly subresource: string;
  readonly code: number;
  /** Undefined without a body, and below the audit level Request. */
  readonly body: unknown;
  readonly answer: unknown;
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: { readonly metadata?: { readonly name?: string } };
  readonly responseObject?: unknown;
  /** With microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp?: string;
}

/** Reads the audit log incrementally, at each call. */
export class AuditTrail {
  readonly #file: string;
  readonly #concerns: (user: string) => boolean;
  readonly #requests: AuditedRequest[] = [];
  #place = 0;
  #rest = Buffer.alloc(0);

  /** Requests of one user, or of all users. */
  constructor(file: string, user?: string) {
    this.#file = file;
    this.#concerns = (other) => user === undefined || other === user;
  }

  /** All requests so far, in the order in which they were received. */
  requests(): readonly AuditedRequest[] {
    for (const line of this.#newLines()) {
      const event = JSON.parse(line) as AuditEvent;
      if (this.#concerns(event.user.username) && isAnswer(event)) this.#requests.push(requestOf(event));
    }
    return this.#requests.toSorted((a, b) => a.atMs - b.atMs);
  }

  #newLines(): readonly string[] {
    const all = Buffer.concat([this.#rest, ...this.#newChunks()]);
    const end = all.lastIndexOf('\n') + 1;
    this.#rest = all.subarray(end);
    return all
      .subarray(0, end)
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  *#newChunks(): Generator<Buffer> {
    const log = openSync(this.#file, 'r');
    try {
      for (;;) {
        const chunk = Buffer.alloc(chunkBytes);
        const bytes = readSync(log, chunk, 0, chunkBytes, this.#place);
        if (bytes === 0) return;
        this.#place += bytes;
        yield chunk.subarray(0, bytes);
      }
    } finally {
      closeSync(log);
    }
  }
}

/** A watch has an entry for its start and one for its end; any other request has one. */
function isAnswer({ stage, verb }: AuditEvent): boolean {
  return stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete');
}

function requestOf(event: AuditEvent): AuditedRequest {
  const { resource = '', namespace = '', name = '', subresource = '' } = event.objectRef ?? {};
  return {
    atMs: preciseMs(event.requestReceivedTimestamp),
    endedAtMs: preciseMs(event.stageTimestamp ?? event.requestReceivedTimestamp),
    user: event.user.username,
    verb: event.verb,
    uri: event.requestURI,
    resource,
    namespace,
    name: name === '' && event.verb === 'create' ? (event.requestObject?.metadata?.name ?? '') : name,
    subresource,
    code: event.responseStatus?.code ?? 0,
    body: event.requestObject,
    answer: event.responseObject,
  };
}

function preciseMs(time: string): number {
  const microseconds = /\.\d{3}(\d{3})Z$/.exec(time)?.[1] ?? '0';
  return Date.parse(time) + Number(microseconds) / 1_000;
}
