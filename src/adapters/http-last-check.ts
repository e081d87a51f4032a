import type { Dispatcher } from 'undici';

/**
 * The same dispatcher, which asks once more when a request gets its connection and is about to leave: it may have waited
 * for a handshake or behind other requests, and the process may have been paused meanwhile. What `assertMayLeave` throws
 * then ends the request instead.
 */
export function withLastCheck(dispatcher: Dispatcher, assertMayLeave: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, guarded(handler, assertMayLeave)));
}

function guarded(handler: Dispatcher.DispatchHandler, assertMayLeave: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...args) => {
      assertMayLeave();
      handler.onRequestStart?.(...args);
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}
