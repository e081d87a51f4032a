/** All paths other than resources: discovery, OpenAPI, health, version, metrics. */
import type { OutgoingHttpHeaders } from 'node:http';
import { encodeEnvelope } from '../codec/protobuf-encoder.ts';
import { type EncodedDocument, encodeDocument } from '../discovery/content-hash.ts';
import {
  aggregatedDiscovery,
  aggregatedDiscoveryParameters,
  aggregatedDiscoveryKind,
  coreVersions,
  type DiscoveryDocument,
  groupDocument,
  groupList,
  resourceList,
} from '../discovery/discovery-documents.ts';
import { OpenApi } from '../discovery/open-api.ts';
import type { ServedResource } from '../resources.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { chooseFormat, contentTypeOf, findAggregatedFormat, jsonType, type WireFormat } from './accept.ts';
import { type Exchange, headerOf } from './exchange.ts';
import { bytesReply, jsonReply, objectReply, type Reply, textReply } from './reply.ts';

/** Version reported by the server: the release whose behaviour it implements. */
const serverVersion = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.37.2-nlc',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'embedded',
} as const;

/** Indented for every client, as upstream (`WriteRawJSON`). */
const versionText = Buffer.from(JSON.stringify(serverVersion, null, 2));

/** Paths without authentication (upstream role `system:public-info-viewer`). */
const publicPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version']);
const discoveryHeaders: OutgoingHttpHeaders = { 'cache-control': 'public', vary: 'Accept' };
const foreverHeaders: OutgoingHttpHeaders = { 'cache-control': 'public, immutable', vary: 'Accept' };
const healthChecks = ['ping', 'log', 'storage'] as const;

export function isPublicPath(path: string): boolean {
  return publicPaths.has(path) || [...publicPaths].some((known) => path.startsWith(`${known}/`));
}

interface Gauges {
  readonly inFlight: number;
  readonly watches: number;
}

export class DocumentHandler {
  readonly #store: VersionedStore;
  readonly #gauges: () => Gauges;
  readonly #served: readonly ServedResource[];
  readonly #openApi: OpenApi;

  constructor(store: VersionedStore, gauges: () => Gauges, served: readonly ServedResource[]) {
    this.#store = store;
    this.#gauges = gauges;
    this.#served = served;
    this.#openApi = new OpenApi({ title: 'Kubernetes', version: serverVersion.gitVersion }, served);
  }

  /** Undefined for an unknown path. */
  handle(exchange: Exchange): Reply | undefined {
    const path = exchange.path === '/' ? '/' : exchange.path.replace(/\/$/, '');
    switch (path) {
      case '/':
        return jsonReply(200, { paths: rootPaths });
      case '/version':
        return bytesReply(200, jsonType, versionText);
      case '/metrics':
        return textReply(200, this.#metrics());
      case '/api':
      case '/apis':
        return this.#groups(exchange, path);
      default:
        return this.#below(exchange, path);
    }
  }

  #below(exchange: Exchange, path: string): Reply | undefined {
    if (isPublicPath(path)) return describeHealth(exchange, path);
    if (path === '/openapi/v2') return openApiV2Of(exchange);
    if (path === '/openapi/v3') return documentReply(exchange, this.#openApi.index(), discoveryHeaders);
    if (path.startsWith('/openapi/v3/')) return this.#openApiDocument(exchange, path);
    return legacyDocument(exchange, path.split('/').slice(1), this.#served);
  }

  #groups(exchange: Exchange, root: '/api' | '/apis'): Reply {
    const aggregated = findAggregatedFormat(headerOf(exchange.incoming, 'accept'));
    if (aggregated !== undefined) return aggregatedReply(exchange, aggregatedDiscovery(root, this.#served), aggregated);
    const document = root === '/apis' ? groupList(this.#served) : coreVersions(authorityOf(exchange));
    return discoveryReply(exchange, document);
  }

  #openApiDocument(exchange: Exchange, path: string): Reply | undefined {
    const document = this.#openApi.document(path.slice('/openapi/v3/'.length));
    if (document === undefined) return undefined;
    const hashed = exchange.query.get('hash') === document.hash;
    return documentReply(exchange, document, hashed ? foreverHeaders : discoveryHeaders);
  }

  /** Metric names are those of kube-apiserver where the meaning is the same. */
  #metrics(): string {
    const { inFlight, watches } = this.#gauges();
    const lines = [
      '# TYPE apiserver_current_inflight_requests gauge',
      `apiserver_current_inflight_requests ${inFlight}`,
      '# TYPE apiserver_longrunning_requests gauge',
      `apiserver_longrunning_requests{verb="WATCH"} ${watches}`,
      '# TYPE apiserver_storage_objects gauge',
      ...[...this.#store.tables()].map(([name, { size }]) => `apiserver_storage_objects{resource="${name}"} ${size}`),
      '# TYPE apiserver_storage_revision gauge',
      `apiserver_storage_revision ${this.#store.revision}`,
    ];
    return `${lines.join('\n')}\n`;
  }
}

const rootPaths = ['/api', '/apis', '/healthz', '/livez', '/metrics', '/openapi/v3', '/readyz', '/version'];

/** The media type of OpenAPI v2 in protobuf, and how clients spell it. */
const openApiV2Type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const acceptedOpenApiV2Type = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
/** `Document{swagger: "2.0"}` */
const openApiV2Bytes = Buffer.from('\n\u00032.0');

/**
 * An OpenAPI v2 document without schemas, for kubectl alone, which asks for it in protobuf: what it cannot find in v3, such
 * as the kind `List`, it checks by v2, and sends nothing if there is none. Here it finds nothing to check, and the server
 * checks each item.
 */
function openApiV2Of({ incoming }: Exchange): Reply | undefined {
  const isAccepted = headerOf(incoming, 'accept').includes(acceptedOpenApiV2Type);
  return isAccepted ? bytesReply(200, openApiV2Type, openApiV2Bytes) : undefined;
}

function legacyDocument(
  exchange: Exchange,
  parts: readonly string[],
  served: readonly ServedResource[],
): Reply | undefined {
  if (exchange.method !== 'GET') return undefined;
  const document = findLegacy(parts, served);
  return document === undefined ? undefined : discoveryReply(exchange, document);
}

function discoveryReply({ incoming }: Exchange, document: DiscoveryDocument): Reply {
  return objectReply(200, document, chooseFormat(headerOf(incoming, 'accept')), discoveryHeaders);
}

function aggregatedReply(exchange: Exchange, document: DiscoveryDocument, format: WireFormat): Reply {
  const { text, hash } = encodeDocument(document);
  const bytes = format === 'json' ? Buffer.from(text) : encodeEnvelope(aggregatedDiscoveryKind, document);
  const contentType = `${contentTypeOf(format)};${aggregatedDiscoveryParameters}`;
  return hashedReply(exchange, { bytes, hash, contentType, headers: discoveryHeaders });
}

function findLegacy(
  [root, first, second, ...rest]: readonly string[],
  served: readonly ServedResource[],
): DiscoveryDocument | undefined {
  if (first === undefined || rest.length > 0) return undefined;
  if (root === 'api') return second === undefined ? resourceList('', first, served) : undefined;
  if (root !== 'apis') return undefined;
  return second === undefined ? groupDocument(first, served) : resourceList(first, second, served);
}

function describeHealth({ query }: Exchange, path: string): Reply | undefined {
  const [, probe = '', check, ...rest] = path.split('/');
  if (rest.length > 0 || probe === 'version') return undefined;
  if (check !== undefined) return healthChecks.some((known) => known === check) ? textReply(200, 'ok') : undefined;
  if (!query.has('verbose')) return textReply(200, 'ok');
  const lines = healthChecks.map((name) => `[+]${name} ok`);
  return textReply(200, `${[...lines, `${probe} check passed`].join('\n')}\n`);
}

function documentReply(exchange: Exchange, { text, hash }: EncodedDocument, headers: OutgoingHttpHeaders): Reply {
  return hashedReply(exchange, { bytes: Buffer.from(text), hash, contentType: jsonType, headers });
}

interface HashedDocument {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly contentType: string;
  readonly headers: OutgoingHttpHeaders;
}

function hashedReply({ incoming }: Exchange, { bytes, hash, contentType, headers }: HashedDocument): Reply {
  const etag = `"${hash}"`;
  const all = { ...headers, etag };
  if (headerOf(incoming, 'if-none-match') === etag) return bytesReply(304, contentType, Buffer.alloc(0), all);
  return bytesReply(200, contentType, bytes, all);
}

/** `host:port` as the client reached the server. */
function authorityOf({ incoming }: Exchange): string {
  return headerOf(incoming, ':authority') || headerOf(incoming, 'host');
}
