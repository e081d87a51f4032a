/** Content negotiation (upstream `handlers/negotiation`). All responses are JSON. */
import { statusError } from '../api-errors/api-errors.ts';

interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** The object itself, its metadata, or a table of it. */
export interface ResponseForm {
  readonly as: 'object' | 'partial' | 'table';
  readonly version: 'v1' | 'v1beta1';
}

/** Those of kube-apiserver. */
const responseTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const;
const plain: ResponseForm = { as: 'object', version: 'v1' };
const anyJson: ReadonlySet<string> = new Set(['application/json', 'application/*', '*/*']);
const forms: Readonly<Record<string, ResponseForm['as']>> = {
  Table: 'table',
  PartialObjectMetadata: 'partial',
  PartialObjectMetadataList: 'partial',
};

/** The first supported form in the order of the client's preference; throws a 406 ApiError if there is none. */
export function chooseForm(accept: string): ResponseForm {
  if (accept.trim() === '') return plain;
  for (const media of parseAccept(accept)) {
    const form = formOf(media);
    if (form !== undefined) return form;
  }
  throw notAcceptable();
}

/** Throws a 406 ApiError unless the client accepts the object itself: reviews and their like have no table. */
export function assertPlainForm(accept: string): void {
  if (accept.trim() === '' || parseAccept(accept).some((media) => formOf(media)?.as === 'object')) return;
  throw notAcceptable();
}

function notAcceptable(): Error {
  return statusError(406, 'NotAcceptable', `only the following media types are accepted: ${responseTypes.join(', ')}`);
}

/** The client accepts aggregated discovery in the served version. */
export function wantsAggregatedDiscovery(accept: string): boolean {
  return parseAccept(accept).some(
    ({ type, parameters }) =>
      type === 'application/json' &&
      parameters.get('as') === 'APIGroupDiscoveryList' &&
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      parameters.get('v') === 'v2',
  );
}

function formOf({ type, parameters }: MediaType): ResponseForm | undefined {
  if (!anyJson.has(type)) return undefined;
  const wanted = parameters.get('as');
  if (wanted === undefined) return plain;
  const as = forms[wanted];
  const version = parameters.get('v');
  if (as === undefined || parameters.get('g') !== 'meta.k8s.io') return undefined;
  return version === 'v1' || version === 'v1beta1' ? { as, version } : undefined;
}

function parseAccept(accept: string): readonly MediaType[] {
  return accept
    .split(',')
    .map(parseMediaType)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
}

/** `type/subtype; name=value; ...` */
export function parseMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(
    rest.map((parameter) => {
      const [name = '', value = ''] = parameter.split('=');
      return [name.trim(), value.trim().replaceAll('"', '')] as const;
    }),
  );
  const quality = Number(parameters.get('q') ?? '1');
  return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 1 : quality };
}
