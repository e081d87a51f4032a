import type { Dispatcher } from 'undici';

/**
 * A dispatcher that calls `assertMayLeave` once more when a request has its connection and is about to be sent: it may
 * have waited for a handshake or behind other requests, and the process may have been paused meanwhile. If that throws,
 * the request fails with the error and is not sent.
 */
export function withLastCheck(dispatcher: Dispatcher, assertMaySend: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, guarded(handler, assertMaySend)));
}

function guarded(handler: Dispatcher.DispatchHandler, assertMaySend: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...args) => {
      assertMaySend();
      handler.onRequestStart?.(...args);
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}
