/** Handles resource requests: from a route to the verbs of the registry, and from their result to a response. */
import type { OutgoingHttpHeaders } from 'node:http';
import { ownValue } from '../../../machinery/api/json-map.ts';
import type { Clock } from '../../../machinery/ports/clock.ts';
import type { AccessReviews } from '../authorization/access-reviews.ts';
import type { GroupVersionKind, ServedResource, ServedSubresource, Verb } from '../resources.ts';
import { type IncludeObject, parseIncludeObject } from '../printing/table.ts';
import { isSet, limitOf, parseListPlan, parseWatchPlan, requireRevision } from '../registry/list-query.ts';
import type { ObjectLister } from '../registry/object-lister.ts';
import type { Deleted, ObjectRegistry, WriteOptions, Written } from '../registry/object-registry.ts';
import { type PatchKind, patchObject } from '../patch/object-patch.ts';
import type { PodSubresources } from '../kinds/pod/pod-subresources.ts';
import { badRequest, methodNotAllowed } from '../api-errors/api-errors.ts';
import { fieldLabelsOf, type Target } from '../registry/request-target.ts';
import type { ServedTargets } from '../registry/served-targets.ts';
import { alignNamespace } from '../registry/body-reader.ts';
import { readTypedBody } from '../registry/typed-body.ts';
import { buildScale, writeScale } from '../kinds/workloads/scale.ts';
import { parseSelection, type Selection } from '../registry/selection.ts';
import type { Endpoint } from '../kinds/strategy.ts';
import { mapAt, type MutableJsonMap } from '../../../machinery/api/select-field.ts';
import { bodyTypeOf, chooseForm, chooseFormat, type ResponseForm, type WireFormat } from './accept.ts';
import type { AccessControl } from './access-control.ts';
import { decodeDeleteOptions, parseDeleteRequest } from './delete-options.ts';
import { type Exchange, headerOf } from './exchange.ts';
import { JsonPresenter } from './json-presenter.ts';
import type { Presenter } from './presenter.ts';
import { ProtobufPresenter } from './protobuf-presenter.ts';
import { bytesReply, objectReply, type Reply, scaleReply, textReply } from './reply.ts';
import { decodeApply, decodeBody, decodePatch, readBytes, type RequestBody, unsupported } from './request-body.ts';
import type { ResourceRoute } from './request-route.ts';
import type { WatchOpener } from './watch-opener.ts';
import { parseApplyOptions, parseWriteOptions } from './write-query.ts';

interface ResourceHandlerOptions {
  readonly targets: ServedTargets;
  readonly registry: ObjectRegistry;
  readonly lister: ObjectLister;
  readonly pods: PodSubresources;
  readonly access: AccessControl;
  readonly reviews: AccessReviews;
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
const endpoints: ReadonlySet<string> = new Set<Endpoint>(['status', 'finalize']);
const indentingAgents = ['curl', 'Wget', 'Mozilla/5.0'];

/** The verb of a request (upstream `request.RequestInfo`); undefined for an unsupported method. */
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

export class ResourceHandler {
  readonly #options: ResourceHandlerOptions;

  constructor(options: ResourceHandlerOptions) {
    this.#options = options;
  }

  /** Resolves with the response, or with undefined after a watch. Rejects with an ApiError. */
  async handle(exchange: Exchange, route: ResourceRoute, headers: OutgoingHttpHeaders): Promise<Reply | undefined> {
    const verb = verbOf(exchange, route.name);
    if (verb === undefined || !allows(route, verb)) throw methodNotAllowed();
    const call: Call = { ...route, exchange, verb };
    return route.served.review ? this.#review(call) : this.#dispatch(call, headers);
  }

  async #dispatch(call: Call, headers: OutgoingHttpHeaders): Promise<Reply | undefined> {
    switch (call.subresource?.name ?? '') {
      case 'binding':
        return this.#bind(call);
      case 'eviction':
        return this.#evict(call);
      case 'log':
        return this.#log(call);
      case 'scale':
        return this.#scale(call);
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
      case 'update':
        return this.#write(call, call.verb);
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
    await this.#options.lister.reach(requireRevision(call.exchange.query), call.exchange.signal);
    return bytesReply(200, presenter.contentType, presenter.object(this.#options.registry.get(this.#target(call))));
  }

  async #list(call: Call): Promise<Reply> {
    const { query, signal } = call.exchange;
    const presenter = this.#presenter(call);
    const target = this.#target(call);
    const selection = selectionOf(call, target);
    const found = await this.#options.lister.list(target.strategy.table, selection, parseListPlan(query), signal);
    return { code: 200, contentType: presenter.contentType, body: presenter.list(found.metadata, found.items) };
  }

  async #watch(call: Call, headers: OutgoingHttpHeaders): Promise<undefined> {
    const target = this.#target(call);
    await this.#options.watches.serve({
      exchange: call.exchange,
      resource: target.strategy.table,
      plan: parseWatchPlan(call.exchange.query),
      selection: selectionOf(call, target),
      presenter: this.#presenter(call),
      headers,
    });
  }

  async #write(call: Call, verb: 'create' | 'update'): Promise<Reply> {
    const target = this.#target(call);
    if (call.served.namespaced && target.namespace === undefined) throw methodNotAllowed();
    const presenter = this.#presenter(call);
    const options = this.#writeOptions(call, verb === 'create' ? 'CreateOptions' : 'UpdateOptions');
    const { value, repeated } = await this.#body(call);
    return written(presenter, this.#options.registry[verb](target, value, { ...options, problems: repeated }));
  }

  async #patch(call: Call): Promise<Reply> {
    const presenter = this.#presenter(call);
    const given = bodyTypeOf(headerOf(call.exchange.incoming, 'content-type'));
    if (given === applyType) return this.#apply(call, presenter);
    const type = patchKindOf(given, call.served);
    const options = this.#writeOptions(call, 'PatchOptions');
    const patch = decodePatch(await readBytes(call.exchange), type);
    return written(
      presenter,
      this.#options.registry.patch(this.#target(call), patch, { ...options, problems: patch.problems }),
    );
  }

  async #apply(call: Call, presenter: Presenter): Promise<Reply> {
    const options = parseApplyOptions(call.exchange.query);
    const { value, repeated } = decodeApply(await readBytes(call.exchange), options.fieldValidation === 'Strict');
    const applied = this.#options.registry.apply(this.#target(call), value, {
      ...options,
      authorize: this.#options.access.writeCheckOf(call.exchange),
      problems: repeated,
    });
    return written(presenter, applied);
  }

  async #delete(call: Call): Promise<Reply> {
    const presenter = this.#presenter(call);
    const target = this.#target(call);
    const request = parseDeleteRequest(call.exchange.query, await this.#deleteBody(call));
    const deleted = this.#options.registry.delete(target, request);
    const asStatus = deleted.removed && !target.strategy.returnsDeleted;
    if (asStatus) return objectReply(200, deletedStatus(target, deleted), presenter.usesJson ? 'json' : 'protobuf');
    return bytesReply(200, presenter.contentType, presenter.object(deleted.object));
  }

  async #deleteCollection(call: Call): Promise<Reply> {
    const { query, signal } = call.exchange;
    const target = this.#target(call);
    if (call.served.namespaced && target.namespace === undefined) throw methodNotAllowed();
    const presenter = this.#presenter(call);
    const request = parseDeleteRequest(query, await this.#deleteBody(call));
    const plan = { kind: 'now', atLeast: 0, limit: limitOf(query) } as const;
    const found = await this.#options.lister.list(target.strategy.table, selectionOf(call, target), plan, signal);
    for (const { name, namespace } of found.items) {
      this.#options.registry.delete({ ...target, name, namespace: namespace || undefined }, request);
    }
    return { code: 200, contentType: presenter.contentType, body: presenter.list(found.metadata, found.items) };
  }

  #writeOptions(call: Call, kind: Parameters<typeof optionsOf>[1]): WriteOptions {
    const { exchange } = call;
    return { ...optionsOf(call, kind), authorize: this.#options.access.writeCheckOf(exchange) };
  }

  async #bind(call: Call): Promise<Reply> {
    const format = formatOf(call);
    const { object, warnings, options } = await this.#typedBody(call, 'CreateOptions');
    this.#options.pods.bind(this.#target(call), object, options.dryRun);
    return objectReply(201, success, format, warningHeaders(warnings));
  }

  async #evict(call: Call): Promise<Reply> {
    const format = formatOf(call);
    const { object, warnings, options } = await this.#typedBody(call, 'CreateOptions');
    const request = parseDeleteRequest(call.exchange.query, mapAt(object, 'deleteOptions'));
    this.#options.pods.evict(this.#target(call), object, { ...request, dryRun: options.dryRun || request.dryRun });
    return objectReply(201, success, format, warningHeaders(warnings));
  }

  async #scale(call: Call): Promise<Reply> {
    const { registry, clock } = this.#options;
    const form = responseFormOf(call);
    const target = this.#target(call);
    if (call.verb === 'get') return scaleReply(buildScale(registry.get(target)), form, clock.nowMs(), {});
    const body = call.verb === 'patch' ? await this.#patchedScale(call) : await this.#typedBody(call, 'UpdateOptions');
    const scale = writeScale(registry, target, body.object, body.options);
    return scaleReply(scale, form, clock.nowMs(), warningHeaders(body.warnings));
  }

  async #patchedScale(call: Call): Promise<TypedRequest> {
    const { incoming } = call.exchange;
    const type = patchKindOf(bodyTypeOf(headerOf(incoming, 'content-type')), call.served);
    const options = optionsOf(call, 'PatchOptions');
    const patch = decodePatch(await readBytes(call.exchange), type);
    const { spec } = buildScale(this.#options.registry.get(this.#target(call)));
    // Without a version: a patch that states none applies to what is stored when it is carried out.
    const metadata = { name: call.name ?? '', namespace: call.namespace ?? '' };
    const current = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata, spec: mapAt(spec) };
    const value = patchObject(current, patch);
    return readBodyOf(call, { value, repeated: patch.problems }, options);
  }

  /** No containers run, so the log of an existing pod is empty. */
  #log(call: Call): Reply {
    this.#options.registry.get(this.#target(call));
    return textReply(200, '');
  }

  async #review(call: Call): Promise<Reply> {
    const format = formatOf(call);
    const { object: body, warnings } = await this.#typedBody(call, 'CreateOptions');
    const { served, namespace, exchange } = call;
    const { user } = exchange;
    const review = this.#options.reviews.review({ kind: served.kind, body, namespace, user });
    if (review === undefined) throw new Error(`${served.kind} is not a review`);
    return objectReply(201, review, format, warningHeaders(warnings));
  }

  #target({ served, namespace, name, subresource }: Call): Target {
    return { ...this.#options.targets.all(served), namespace, name, endpoint: endpointOf(subresource) };
  }

  /** Called before any write: an unacceptable response form must be rejected first. */
  #presenter(call: Call): Presenter {
    const { exchange, served } = call;
    const form = responseFormOf(call);
    if (form.format === 'protobuf') return new ProtobufPresenter(served, form);
    const presentation = { ...form, pretty: form.pretty || wantsIndent(exchange) };
    return new JsonPresenter(served, presentation, this.#options.clock);
  }

  async #body(call: Call): Promise<RequestBody> {
    const { incoming } = call.exchange;
    return decodeBody(await readBytes(call.exchange), headerOf(incoming, 'content-type'), bodyKindOf(call));
  }

  /** A body that is not stored. Its response has one form only. */
  async #typedBody(call: Call, kind: Parameters<typeof optionsOf>[1]): Promise<TypedRequest> {
    const body = await this.#body(call);
    return readBodyOf(call, body, optionsOf(call, kind));
  }

  async #deleteBody(call: Call): Promise<MutableJsonMap | undefined> {
    const { incoming } = call.exchange;
    const bytes = await readBytes(call.exchange);
    return bytes.length === 0 ? undefined : decodeDeleteOptions(bytes, headerOf(incoming, 'content-type'));
  }
}

interface TypedRequest extends ReturnType<typeof readTypedBody> {
  readonly options: WriteOptions;
}

function readBodyOf(call: Call, body: RequestBody, options: WriteOptions): TypedRequest {
  const { object, warnings } = readTypedBody(body, bodyKindOf(call), options.fieldValidation);
  alignNamespace(object, call.namespace);
  return { object, warnings, options };
}

/** The kind of the body of a create or update. */
function bodyKindOf({ served, subresource }: Call): GroupVersionKind {
  return subresource?.responseKind ?? served;
}

function endpointOf(subresource: ServedSubresource | undefined): Endpoint {
  const name = subresource?.name ?? '';
  return isEndpoint(name) ? name : '';
}

function isEndpoint(name: string): name is Endpoint {
  return endpoints.has(name);
}

function allows({ served, subresource, name }: ResourceRoute, verb: Verb): boolean {
  if (subresource !== undefined) return subresource.verbs.includes(verb);
  const misplaced = name === undefined ? verb === 'update' || verb === 'patch' : verb === 'create';
  return !misplaced && served.verbs.includes(verb);
}

function patchKindOf(type: string, { custom }: ServedResource): PatchKind {
  const kind = ownValue(patchTypes, type);
  // A custom resource has no merge keys.
  const accepted = Object.keys(patchTypes).filter(
    (each) => custom === undefined || ownValue(patchTypes, each) !== 'strategic-merge',
  );
  if (kind !== undefined && accepted.includes(type)) return kind;
  throw unsupported('the body of the request was in an unknown format', [...accepted, applyType]);
}

function optionsOf(
  { exchange: { query, incoming } }: Call,
  kind: Parameters<typeof parseWriteOptions>[1],
): WriteOptions {
  return parseWriteOptions(query, kind, headerOf(incoming, 'user-agent'));
}

/** Throws an ApiError for a form that does not exist. */
function responseFormOf({
  exchange: { query, incoming },
  served,
}: Call): ResponseForm & { readonly includeObject: IncludeObject } {
  const form = chooseForm(headerOf(incoming, 'accept'), served.custom !== undefined);
  const includeObject = parseIncludeObject(form.as === 'table' ? query.get('includeObject') : null);
  if (includeObject === undefined) throw badRequest('unrecognized includeObject value');
  return { ...form, includeObject };
}

/** Format of a response that has one form only. */
function formatOf({ exchange: { incoming } }: Call): WireFormat {
  return chooseFormat(headerOf(incoming, 'accept'));
}

function selectionOf({ exchange: { query }, namespace }: Call, target: Target): Selection {
  return parseSelection(query, namespace, fieldLabelsOf(target));
}

function wantsIndent({ query, incoming }: Exchange): boolean {
  if (query.has('pretty')) return isSet(query, 'pretty');
  const agent = headerOf(incoming, 'user-agent');
  return indentingAgents.some((prefix) => agent.startsWith(prefix));
}

function written(presenter: Presenter, { object, created, warnings }: Written): Reply {
  const headers = warningHeaders(warnings);
  return bytesReply(created ? 201 : 200, presenter.contentType, presenter.object(object), headers);
}

function warningHeaders(warnings: readonly string[]): Record<string, string[]> {
  return warnings.length === 0 ? {} : { warning: warnings.map(warningHeader) };
}

function warningHeader(text: string): string {
  return `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** The Status of a created binding or eviction. */
const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const;

function deletedStatus({ served }: Target, { object }: Deleted): Readonly<Record<string, unknown>> {
  const group = served.group === '' ? {} : { group: served.group };
  const details = { name: object.name, ...group, kind: served.plural, uid: object.uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
