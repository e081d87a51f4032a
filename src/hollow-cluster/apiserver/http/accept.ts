/** Content negotiation (upstream `handlers/negotiation` and `goautoneg`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { statusError } from '../api-errors/api-errors.ts';
import { protobufContentType } from '../codec/protobuf-body.ts';

/** A clause of an Accept header. */
interface MediaType {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

export type WireFormat = 'json' | 'protobuf';

/** The object itself, its metadata, or a table of it, and how it is encoded. */
export interface ResponseForm {
  readonly as: 'object' | 'partial' | 'table';
  readonly version: 'v1' | 'v1beta1';
  readonly format: WireFormat;
  /** The JSON is indented. */
  readonly pretty: boolean;
}

export const jsonType = 'application/json';

/** Formats in the order in which wildcards choose. */
const formats: readonly { readonly format: WireFormat; readonly type: string; readonly subtype: string }[] = [
  { format: 'json', type: 'application', subtype: 'json' },
  { format: 'protobuf', type: 'application', subtype: 'vnd.kubernetes.protobuf' },
];
/** Media types of kube-apiserver, for messages. */
const upstreamTypes = [jsonType, 'application/yaml', protobufContentType] as const;
const plain: ResponseForm = { as: 'object', version: 'v1', format: 'json', pretty: false };
const forms: Readonly<Record<string, ResponseForm['as']>> = {
  Table: 'table',
  PartialObjectMetadata: 'partial',
  PartialObjectMetadataList: 'partial',
};

/** The media type of a format. */
export function contentTypeOf(format: WireFormat): string {
  return format === 'json' ? jsonType : protobufContentType;
}

/**
 * The first supported form in the order of the client's preference; throws a 406 ApiError if there is none. Tables exist
 * in JSON only, and so do custom resources but for their metadata.
 */
export function chooseForm(accept: string, custom = false): ResponseForm {
  if (accept === '') return plain;
  assertRouted(accept);
  const form = findClause(accept, (media, format) => formOf(media, format, custom));
  if (form !== undefined) return form;
  throw notAcceptable();
}

/** The format of a response that has one form only, as a Status; throws a 406 ApiError. */
export function chooseFormat(accept: string): WireFormat {
  assertRouted(accept);
  const format = findFormat(accept);
  if (format !== undefined) return format;
  throw notAcceptable();
}

/** The format of an error, which is never hidden by one of the negotiation. */
export function chooseErrorFormat(accept: string): WireFormat {
  return findFormat(accept) ?? 'json';
}

/** The format in which the client accepts aggregated discovery in the served version; undefined if in none. */
export function findAggregatedFormat(accept: string): WireFormat | undefined {
  return findClause(accept, ({ parameters }, format) => {
    const isWanted =
      parameters.get('as') === 'APIGroupDiscoveryList' &&
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      parameters.get('v') === 'v2';
    return isWanted && isUsable(parameters, []) ? format : undefined;
  });
}

function findFormat(accept: string): WireFormat | undefined {
  if (accept === '') return 'json';
  return findClause(accept, ({ parameters }, format) => {
    return !isConverted(parameters) && isUsable(parameters, []) ? format : undefined;
  });
}

/** Upstream routes requests by media types without wildcards, but for that of everything. */
function assertRouted(accept: string): void {
  const routed = ['', '*/*', ...formats.map(({ format }) => contentTypeOf(format))];
  const types = accept.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim());
  if (!types.some((type) => routed.includes(type))) throw notAcceptable();
}

function notAcceptable(): Error {
  return statusError(406, 'NotAcceptable', `only the following media types are accepted: ${upstreamTypes.join(', ')}`);
}

/** What `choose` returns for the first clause, and the first format that it matches, for which it is defined. */
function findClause<T>(accept: string, choose: (media: MediaType, format: WireFormat) => T | undefined): T | undefined {
  for (const media of parseAccept(accept)) {
    for (const { format, type, subtype } of formats) {
      const chosen = matches(media, type, subtype) ? choose(media, format) : undefined;
      if (chosen !== undefined) return chosen;
    }
  }
  return undefined;
}

function matches(media: MediaType, type: string, subtype: string): boolean {
  if (media.type === '*') return media.subtype === '*';
  return media.type === type && (media.subtype === subtype || media.subtype === '*');
}

function formOf({ parameters }: MediaType, format: WireFormat, custom: boolean): ResponseForm | undefined {
  if (!isUsable(parameters, ['v1'])) return undefined;
  const pretty = parameters.get('pretty') === '1';
  if (!isConverted(parameters)) return custom && format !== 'json' ? undefined : { ...plain, format, pretty };
  const converted = conversionOf(parameters);
  if (converted?.as === 'table' && format !== 'json') return undefined;
  return converted === undefined ? undefined : { ...converted, format, pretty };
}

function conversionOf(parameters: MediaType['parameters']): Pick<ResponseForm, 'as' | 'version'> | undefined {
  const as = ownValue(forms, parameters.get('as') ?? '');
  const version = parameters.get('v');
  if (as === undefined || parameters.get('g') !== 'meta.k8s.io') return undefined;
  return version === 'v1' || version === 'v1beta1' ? { as, version } : undefined;
}

/** The client asks for another kind than that of the resource. */
function isConverted(parameters: MediaType['parameters']): boolean {
  return parameters.has('as') || parameters.has('g') || parameters.has('v');
}

function isUsable(parameters: MediaType['parameters'], serverVersions: readonly string[]): boolean {
  const serverVersion = parameters.get('sv') ?? '';
  return (
    (parameters.get('stream') ?? 'watch') === 'watch' &&
    (serverVersion === '' || serverVersions.includes(serverVersion))
  );
}

/** The clauses by preference. Those that are no media type are ignored. */
function parseAccept(accept: string): readonly MediaType[] {
  const sorted: MediaType[] = [];
  for (const media of accept.split(',').map(parseMediaType)) {
    if (media.type === '' || media.subtype === '') continue;
    // The order is no total one, so the result depends on the steps: those of an insertion sort, as upstream.
    let index = sorted.length;
    for (let before = sorted[index - 1]; before !== undefined && isPreferred(media, before); before = sorted[index - 1])
      index -= 1;
    sorted.splice(index, 0, media);
  }
  return sorted;
}

function isPreferred(a: MediaType, b: MediaType): boolean {
  if (a.quality > b.quality) return true;
  return (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');
}

/** The type of a body, without parameters. */
export function bodyTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** `type/subtype; name=value; ...` */
function parseMediaType(text: string): MediaType {
  const [name = '', ...rest] = text.split(';');
  const [type = '', subtype = type.trim() === '*' ? '*' : '', ...more] = name.split('/').map((part) => part.trim());
  const parameters = new Map(rest.flatMap(parseParameter));
  const quality = Number.parseFloat(parameters.get('q') ?? '1');
  return {
    type: more.length > 0 ? '' : type,
    subtype,
    parameters,
    quality: Number.isNaN(quality) ? 0 : quality,
  };
}

function parseParameter(parameter: string): readonly (readonly [string, string])[] {
  const [name = '', value = '', ...more] = parameter.split('=');
  return value === '' || more.length > 0 ? [] : [[name.trim(), value.trim()]];
}
