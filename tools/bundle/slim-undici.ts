// undici in the bundle: HTTP/1.1 alone. Its index also loads fetch, caches, mocks and SOCKS, its connections HTTP/2: 20 MB of
// resident memory in each controller, and a tenth of a second in each command.
import type { Plugin } from 'esbuild';

/** What the program uses of undici. The build fails for any other name, except in {@link wholeImporters}. */
const contents = `
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import api from 'undici/lib/api/index.js';
// As undici's index does.
Object.assign(Dispatcher.prototype, api);
export { Dispatcher };
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
`;

/** Files that need more of it: WebSockets, redirects. Commands load them when they are needed. */
const wholeImporters = /[\\/](kube-client[\\/]port-forward|hollow-nodes[\\/]manifests[\\/]http)\.ts$/;

const undiciFile = /[\\/]node_modules[\\/]undici[\\/]/;

/** As undici has it where Node.js is built without HTTP/2; every agent of the program is made with `allowH2: false`. */
const withoutHttp2 = 'module.exports = { constants: {} };';

export function slimUndici(root: string): Plugin {
  return {
    name: 'slim-undici',
    setup: (bundle) => {
      bundle.onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
        undiciFile.test(importer) ? { path: 'http2', namespace: 'slim-undici' } : undefined,
      );
      bundle.onLoad({ filter: /^http2$/, namespace: 'slim-undici' }, () => ({ contents: withoutHttp2 }));
      bundle.onResolve({ filter: /^undici$/ }, ({ importer }) =>
        wholeImporters.test(importer) ? undefined : { path: 'undici', namespace: 'slim-undici' },
      );
      bundle.onLoad({ filter: /^undici$/, namespace: 'slim-undici' }, () => ({ contents, resolveDir: root }));
    },
  };
}
