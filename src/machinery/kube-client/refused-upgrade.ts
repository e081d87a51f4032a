import type { Dispatcher } from 'undici';

const bodyCharsMax = 8 * 1024;

/** Keeps the response of a server that answers a WebSocket handshake with something else: a WebSocket only reports that it failed. */
export class RefusedUpgrade {
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
