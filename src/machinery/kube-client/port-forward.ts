// A port of a pod as a stream, through the API server and the kubelet: a WebSocket with the protocol v4.channel.k8s.io. Each
// message begins with the number of its channel: 0 is data, 1 are errors. The first message of each channel is the port.
import { Duplex } from 'node:stream';
import { type Dispatcher, WebSocket } from 'undici';
import type { ApiError } from '../api/api-error.ts';
import type { Headers } from './connection.ts';
import { errorFromFailure, errorFromResponse } from './errors.ts';

const protocol = 'v4.channel.k8s.io';
const dataChannel = 0;
const errorChannel = 1;
const portBytes = 2;
/** Received and not read, or to be sent: a stream with more is closed, because a WebSocket cannot be paused. */
const bufferedBytesMax = 32 * 1024 * 1024;

export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

interface PortForwardOptions {
  /** URL of the API server, without a trailing slash. */
  readonly server: string;
  readonly headers: Headers;
  readonly dispatcher: Dispatcher;
  readonly target: PodPort;
  readonly signal: AbortSignal;
}

/**
 * Opens one connection to the port. Rejects with an ApiError that has the status of the API server's response, if there is
 * one. That the port refuses connections is an error of the stream.
 */
export function openPortForward({ server, headers, dispatcher, target, signal }: PortForwardOptions): Promise<Duplex> {
  const path = pathOf(target);
  const refusal = new RefusedUpgrade();
  const socket = new WebSocket(`${server.replace(/^http/, 'ws')}${path}`, {
    protocols: [protocol],
    headers: { ...headers },
    dispatcher: dispatcher.compose(refusal.interceptor),
  });
  socket.binaryType = 'arraybuffer';
  const stream = new ForwardedPort(socket);
  return new Promise((resolve, reject) => {
    const abort = (): void => void stream.destroy();
    signal.addEventListener('abort', abort, { once: true });
    const settle = (): void => signal.removeEventListener('abort', abort);
    socket.addEventListener('open', () => {
      settle();
      resolve(stream);
    });
    socket.addEventListener('close', () => {
      settle();
      reject(failureOf(path, refusal, signal));
    });
    if (signal.aborted) abort();
  });
}

function pathOf({ namespace, pod, port }: PodPort): string {
  const [space, name] = [namespace, pod].map(encodeURIComponent);
  return `/api/v1/namespaces/${space}/pods/${name}/portforward?ports=${port}`;
}

function failureOf(path: string, { status, body }: RefusedUpgrade, { aborted }: AbortSignal): ApiError {
  const line = { method: 'GET', path };
  if (status > 0) return errorFromResponse(line, { code: status, headers: {}, body }, Date.now());
  const error = new Error('the API server did not accept a WebSocket');
  return errorFromFailure(line, { error, aborted, overdue: false, unsent: false });
}

class ForwardedPort extends Duplex {
  readonly #socket: WebSocket;
  /** Channels whose first message, the port, has not arrived. */
  readonly #unopened = new Set([dataChannel, errorChannel]);

  constructor(socket: WebSocket) {
    super();
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(data));
    socket.addEventListener('close', () => void this.push(null));
    // A failed connection is reported by `close` too.
    socket.addEventListener('error', () => undefined);
    // Until a reader listens, an error must not end the process.
    this.on('error', () => undefined);
  }

  #receive(message: unknown): void {
    if (this.destroyed) return;
    if (!(message instanceof ArrayBuffer) || message.byteLength === 0) return;
    const bytes = Buffer.from(message);
    const channel = bytes[0] ?? dataChannel;
    const isFirst = this.#unopened.delete(channel);
    const content = bytes.subarray(isFirst ? 1 + portBytes : 1);
    if (content.length > 0) this.#take(channel, content);
  }

  #take(channel: number, content: Buffer): void {
    if (channel === errorChannel) this.destroy(new Error(content.toString('utf8').trim()));
    else if (this.readableLength > bufferedBytesMax) this.destroy(new Error('what the pod sends is not read'));
    else this.push(content);
  }

  override _read(): void {
    // A WebSocket cannot be paused: messages are pushed as they arrive.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    if (this.#socket.bufferedAmount > bufferedBytesMax) return done(new Error('the API server does not read'));
    this.#socket.send(Buffer.concat([Buffer.of(dataChannel), chunk]));
    done();
  }

  /** The protocol has no half-closed connection. */
  override _final(done: () => void): void {
    this.#socket.close();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.close();
    done(error);
  }
}

const bodyCharsMax = 8 * 1024;

/** Keeps the response of a server that answers a WebSocket handshake with something else: a WebSocket only reports that it failed. */
class RefusedUpgrade {
  #status = 0;
  #body = '';

  /** 0: there was no response. */
  get status(): number {
    return this.#status;
  }

  get body(): string {
    return this.#body;
  }

  readonly interceptor: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, this.#recording(handler));

  #recording(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (...given) => handler.onRequestStart?.(...given),
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart: (...given) => {
        const [, status] = given;
        if (status >= 200) this.#status = status;
        handler.onResponseStart?.(...given);
      },
      onResponseData: (...given) => {
        const [, chunk] = given;
        if (this.#body.length < bodyCharsMax) this.#body += chunk.toString('utf8');
        handler.onResponseData?.(...given);
      },
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    };
  }
}
