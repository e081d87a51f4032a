/** Requests on resources: from a route to the registry's verbs, and from what those return to an answer. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import { deriveReview } from '../discovery/derive-review.ts';
import { apiVersionOf, type Verb } from '../discovery/served-resources.ts';
import { parseIncludeObject } from '../printing/table.ts';
import { parseListPlan, parseRevision } from '../registry/list-query.ts';
import type { ObjectLister } from '../registry/object-lister.ts';
import type { Deleted, ObjectRegistry, Written } from '../registry/object-registry.ts';
import type { ObjectPatch, PatchKind } from '../registry/object-patch.ts';
import { deleteOptionsOf, type PodSubresources } from '../registry/pod-subresources.ts';
import { badRequest, methodNotAllowed, notImplemented } from '../registry/refusals.ts';
import { fieldLabelsOf, type Target } from '../registry/request-target.ts';
import { parseSelection, type Selection } from '../registry/selection.ts';
import { type Endpoint, isRecord, type Strategy } from '../registry/strategy.ts';
import { chooseForm, parseMediaType } from './accept.ts';
import { type Exchange, headerOf, integerOf, isSet } from './exchange.ts';
import { Presenter } from './presenter.ts';
import { bytesReply, jsonReply, jsonType, type Reply, textReply } from './reply.ts';
import { decodeBody, decodeJson, type ExpectedBody, readBytes, unsupported } from './request-body.ts';
import type { ResourceRoute } from './request-route.ts';
import type { WatchOpener } from './watch-opener.ts';
import { badVersion, parseWatchPlan } from './watch-query.ts';
import { parseDeleteRequest, parseWriteOptions } from './write-query.ts';

export interface ResourceHandlerOptions {
  readonly strategies: ReadonlyMap<string, Strategy>;
  readonly registry: ObjectRegistry;
  readonly lister: ObjectLister;
  readonly pods: PodSubresources;
  readonly watches: WatchOpener;
  readonly clock: Clock;
}

interface Call extends ResourceRoute {
  readonly exchange: Exchange;
  readonly verb: Verb;
}

const patchTypes: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic-merge',
};
const applyType = 'application/apply-patch+yaml';
const endpoints: Readonly<Record<string, Endpoint>> = { status: 'status', finalize: 'finalize' };
const streamedSubresources: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy']);
const indentingAgents = ['curl', 'Wget', 'Mozilla/5.0'];

/** The verb of a request (upstream `request.RequestInfo`); undefined for a method that has none. */
export function verbOf({ method, query }: Exchange, name: string | undefined): Verb | undefined {
  switch (method) {
    case 'GET':
      if (name !== undefined) return 'get';
      return isSet(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === undefined ? 'deletecollection' : 'delete';
    default:
      return undefined;
  }
}

/** Paths like `pods/NAME/exec` exist elsewhere; here they are refused by name. */
export function refuseStreamed(path: string): void {
  const last = path.split('/').at(-1) ?? '';
  if (path.includes('/pods/') && streamedSubresources.has(last)) throw notImplemented(`pods/${last}`);
}

export class ResourceHandler {
  readonly #options: ResourceHandlerOptions;

  constructor(options: ResourceHandlerOptions) {
    this.#options = options;
  }

  /** Resolves with the answer, or with undefined once a watch has been served. Rejects with an ApiError. */
  async handle(exchange: Exchange, route: ResourceRoute, headers: OutgoingHttpHeaders): Promise<Reply | undefined> {
    const verb = verbOf(exchange, route.name);
    if (verb === undefined || !allows(route, verb)) throw methodNotAllowed();
    const call: Call = { ...route, exchange, verb };
    if (route.served.review) return this.#review(call);
    switch (route.subresource?.name ?? '') {
      case 'binding':
        return this.#bind(call);
      case 'eviction':
        return this.#evict(call);
      case 'log':
        return this.#log(call);
      default:
        return this.#objects(call, headers);
    }
  }

  async #objects(call: Call, headers: OutgoingHttpHeaders): Promise<Reply | undefined> {
    switch (call.verb) {
      case 'get':
        return this.#get(call);
      case 'list':
        return this.#list(call);
      case 'watch':
        return this.#watch(call, headers);
      case 'create':
        return this.#create(call);
      case 'update':
        return this.#update(call);
      case 'patch':
        return this.#patch(call);
      case 'delete':
        return this.#delete(call);
      case 'deletecollection':
        return this.#deleteCollection(call);
    }
  }

  async #get(call: Call): Promise<Reply> {
    const presenter = this.#presenter(call);
    const version = call.exchange.query.get('resourceVersion') ?? '';
    const revision = parseRevision(version);
    if (revision === undefined) throw badVersion(version);
    await this.#options.lister.reach(revision, call.exchange.signal);
    return bytesReply(200, jsonType, presenter.object(this.#options.registry.get(this.#target(call))));
  }

  async #list(call: Call): Promise<Reply> {
    const { query, signal } = call.exchange;
    const presenter = this.#presenter(call);
    const target = this.#target(call);
    const plan = parseListPlan({
      resourceVersion: query.get('resourceVersion') ?? '',
      resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
      continue: query.get('continue') ?? '',
      limit: limitOf(query),
      sendInitialEvents: query.has('sendInitialEvents') ? isSet(query, 'sendInitialEvents') : undefined,
    });
    const { metadata, items } = await this.#options.lister.list(
      target.strategy.plural,
      selectionOf(call, target),
      plan,
      signal,
    );
    return { code: 200, contentType: jsonType, body: presenter.list(metadata, items) };
  }

  async #watch(call: Call, headers: OutgoingHttpHeaders): Promise<undefined> {
    const target = this.#target(call);
    await this.#options.watches.serve({
      exchange: call.exchange,
      resource: target.strategy.plural,
      plan: parseWatchPlan(call.exchange.query),
      selection: selectionOf(call, target),
      presenter: this.#presenter(call),
      headers,
    });
  }

  async #create(call: Call): Promise<Reply> {
    const target = this.#target(call);
    if (call.served.namespaced && target.namespace === undefined) throw methodNotAllowed();
    const presenter = this.#presenter(call);
    const options = parseWriteOptions(call.exchange.query, 'CreateOptions');
    const body = await this.#body(call);
    return written(presenter, this.#options.registry.create(target, body, options));
  }

  async #update(call: Call): Promise<Reply> {
    const presenter = this.#presenter(call);
    const options = parseWriteOptions(call.exchange.query, 'UpdateOptions');
    const body = await this.#body(call);
    return written(presenter, this.#options.registry.update(this.#target(call), body, options));
  }

  async #patch(call: Call): Promise<Reply> {
    const presenter = this.#presenter(call);
    const { type } = parseMediaType(headerOf(call.exchange.incoming, 'content-type'));
    const kind = patchKindOf(type);
    const options = parseWriteOptions(call.exchange.query, 'PatchOptions');
    const body = decodeJson(await readBytes(call.exchange.incoming), 'the patch');
    const patch: ObjectPatch = { type: kind, body };
    return written(presenter, this.#options.registry.patch(this.#target(call), patch, options));
  }

  async #delete(call: Call): Promise<Reply> {
    const presenter = this.#presenter(call);
    const target = this.#target(call);
    const request = parseDeleteRequest(call.exchange.query, await this.#deleteBody(call));
    const deleted = this.#options.registry.delete(target, request);
    if (deleted.removed && !target.strategy.returnsDeleted) return jsonReply(200, deletedStatus(target, deleted));
    return bytesReply(200, jsonType, presenter.object(deleted.object));
  }

  async #deleteCollection(call: Call): Promise<Reply> {
    const { query, signal } = call.exchange;
    const target = this.#target(call);
    if (call.served.namespaced && target.namespace === undefined) throw methodNotAllowed();
    const presenter = this.#presenter(call);
    const request = parseDeleteRequest(query, await this.#deleteBody(call));
    const plan = { kind: 'now', atLeast: 0, limit: limitOf(query) } as const;
    const found = await this.#options.lister.list(target.strategy.plural, selectionOf(call, target), plan, signal);
    for (const { name, namespace } of found.items) {
      this.#options.registry.delete({ ...target, name, namespace: namespace || undefined }, request);
    }
    return { code: 200, contentType: jsonType, body: presenter.list(found.metadata, found.items) };
  }

  async #bind(call: Call): Promise<Reply> {
    const { dryRun } = parseWriteOptions(call.exchange.query, 'CreateOptions');
    this.#options.pods.bind(this.#target(call), asObject(await this.#body(call)), dryRun);
    return jsonReply(201, success(201));
  }

  async #evict(call: Call): Promise<Reply> {
    const { dryRun } = parseWriteOptions(call.exchange.query, 'CreateOptions');
    const eviction = asObject(await this.#body(call));
    const request = parseDeleteRequest(call.exchange.query, deleteOptionsOf(eviction));
    this.#options.pods.evict(this.#target(call), eviction, { ...request, dryRun: dryRun || request.dryRun });
    return jsonReply(201, success(201));
  }

  /** Nothing runs here, so nothing was ever written: an empty log, once the pod exists. */
  #log(call: Call): Reply {
    this.#options.registry.get(this.#target(call));
    return textReply(200, '');
  }

  async #review(call: Call): Promise<Reply> {
    const body = asObject(await this.#body(call));
    const review = deriveReview(call.served.kind, body, call.exchange.user);
    if (review === undefined) throw notImplemented(call.served.plural);
    return jsonReply(201, review);
  }

  #target({ served, namespace, name, subresource }: Call): Target {
    const strategy = this.#options.strategies.get(served.plural);
    if (strategy === undefined) throw notImplemented(served.plural);
    return { served, strategy, namespace, name, endpoint: endpoints[subresource?.name ?? ''] ?? '' };
  }

  /** Called before anything is done: an answer that nobody accepts must not follow a write. */
  #presenter({ exchange, served }: Call): Presenter {
    const includeObject = parseIncludeObject(exchange.query.get('includeObject'));
    if (includeObject === undefined) throw badRequest('unrecognized includeObject value');
    const form = chooseForm(headerOf(exchange.incoming, 'accept'));
    return new Presenter(served, { ...form, includeObject, pretty: wantsIndent(exchange) }, this.#options.clock);
  }

  async #body(call: Call): Promise<unknown> {
    const { incoming } = call.exchange;
    const bytes = await readBytes(incoming);
    return decodeBody(bytes, headerOf(incoming, 'content-type'), expectedBody(call));
  }

  async #deleteBody(call: Call): Promise<unknown> {
    const { incoming } = call.exchange;
    const bytes = await readBytes(incoming);
    if (bytes.length === 0) return undefined;
    const expected = { apiVersion: 'v1', kind: 'DeleteOptions' };
    const options = asObject(decodeBody(bytes, headerOf(incoming, 'content-type'), expected));
    const { kind } = options;
    if (kind !== undefined && kind !== 'DeleteOptions')
      throw badRequest('decoded object cannot be converted to DeleteOptions');
    return options;
  }
}

function allows({ served, subresource, name }: ResourceRoute, verb: Verb): boolean {
  if (subresource !== undefined) return subresource.verbs.includes(verb);
  const onObject = verb === 'update' || verb === 'patch';
  const onCollection = verb === 'create';
  const misplaced = name === undefined ? onObject : onCollection;
  return !misplaced && served.verbs.includes(verb);
}

function patchKindOf(type: string): PatchKind {
  const kind = patchTypes[type];
  if (kind !== undefined) return kind;
  const accepted = Object.keys(patchTypes);
  if (type === applyType) {
    throw unsupported('the embedded API server has no server-side apply - accepted media types include', accepted);
  }
  throw unsupported('the body of the request was in an unknown format - accepted media types include', accepted);
}

function expectedBody({ served, subresource }: Call): ExpectedBody {
  const kind = subresource?.responseKind ?? served;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}

function asObject(body: unknown): Record<string, unknown> {
  if (isRecord(body)) return body;
  throw badRequest('the body of the request is not an object');
}

function selectionOf({ exchange: { query }, namespace }: Call, target: Target): Selection {
  return parseSelection(
    {
      namespace,
      labelSelector: query.get('labelSelector') ?? undefined,
      fieldSelector: query.get('fieldSelector') ?? undefined,
    },
    fieldLabelsOf(target),
  );
}

function limitOf(query: URLSearchParams): number {
  return Math.max(0, integerOf(query, 'limit'));
}

function wantsIndent({ query, incoming }: Exchange): boolean {
  if (query.has('pretty')) return isSet(query, 'pretty');
  const agent = headerOf(incoming, 'user-agent');
  return indentingAgents.some((prefix) => agent.startsWith(prefix));
}

function written(presenter: Presenter, { object, created, warnings }: Written): Reply {
  const headers: Record<string, string[]> = warnings.length === 0 ? {} : { warning: warnings.map(warningHeader) };
  return bytesReply(created ? 201 : 200, jsonType, presenter.object(object), headers);
}

function warningHeader(text: string): string {
  return `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function success(code: number): Readonly<Record<string, unknown>> {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
}

function deletedStatus({ served }: Target, { object }: Deleted): Readonly<Record<string, unknown>> {
  const group = served.group === '' ? {} : { group: served.group };
  const details = { name: object.name, ...group, kind: served.plural, uid: object.uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
