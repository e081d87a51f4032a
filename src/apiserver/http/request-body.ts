/** Reads a request body and converts it to JSON values, from any supported format. */
import { parse as parseYaml, type Tags, YAMLParseError } from 'yaml';
import { decodeProtobufBody, protobufContentType } from '../codec/protobuf-body.ts';
import { badRequest, statusError } from '../api-errors/api-errors.ts';
import { isMap, type MutableJsonMap } from '../select-field.ts';
import { bodyTypeOf } from './accept.ts';
import { headerOf, type Incoming } from './exchange.ts';

/** Upstream `MaxRequestBodyBytes`. */
const bodyBytesMax = 3 * 1024 * 1024;

/** Rejects with a 413 ApiError as soon as the body is too large; the rest is read and discarded. */
export async function readBytes(incoming: Incoming): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  if (Number(headerOf(incoming, 'content-length')) > bodyBytesMax) throw tooLarge(incoming);
  return new Promise((resolve, reject) => {
    incoming.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > bodyBytesMax) reject(tooLarge(incoming));
      else parts.push(part);
    });
    incoming.once('end', () => resolve(Buffer.concat(parts, Math.min(bytes, bodyBytesMax))));
    incoming.once('error', (error) => reject(badRequest(`the body could not be read: ${error.message}`)));
    incoming.once('close', () => reject(badRequest('the body ended before it was complete')));
  });
}

function tooLarge(incoming: Incoming): Error {
  incoming.resume();
  return statusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyBytesMax}`);
}

/** Throws a 400 ApiError for a body that does not match its content type, 415 for an unsupported type. */
export function decodeBody(
  bytes: Buffer,
  contentType: string,
  expected: { apiVersion: string; kind: string },
): unknown {
  switch (bodyTypeOf(contentType)) {
    case '':
    case 'application/json':
      return decodeJson(bytes, expected.kind);
    case 'application/yaml':
      return decodeYaml(bytes);
    case protobufContentType:
      return decodeProtobufBody(bytes, expected);
    default:
      throw unsupported('the body of the request was in an unknown format', [
        'application/json',
        'application/yaml',
        protobufContentType,
      ]);
  }
}

export function unsupported(why: string, accepted: readonly string[]): Error {
  return statusError(415, 'UnsupportedMediaType', `${why} - accepted media types include: ${accepted.join(', ')}`);
}

export function decodeJson(bytes: Buffer, what: string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error of ${what}: ${error.message}`);
  }
}

function decodeYaml(bytes: Buffer): unknown {
  try {
    return parseYaml(bytes.toString());
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw badRequest(`yaml: ${error.message}`);
  }
}

/**
 * The configuration of an apply, in YAML or JSON. Throws a 400 ApiError; for duplicate keys only if `strict` (upstream
 * `applyPatcher`).
 */
export function decodeApply(bytes: Buffer, strict: boolean): MutableJsonMap {
  const body = parseApply(bytes, strict);
  if (isMap(body)) return body;
  if (body === null || body === undefined) return {};
  const type = Array.isArray(body) ? 'array' : typeof body;
  const why = `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
}

/** Go's parser reads YAML 1.1 without times and without numbers in base 60, which stay texts. */
function goTags(tags: Tags): Tags {
  return tags.filter((tag) => {
    return typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME');
  });
}

function parseApply(bytes: Buffer, strict: boolean): unknown {
  try {
    return parseYaml(bytes.toString(), { uniqueKeys: strict, version: '1.1', customTags: goTags });
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    const duplicate = error.code === 'DUPLICATE_KEY';
    throw badRequest(
      `error ${duplicate ? 'strict ' : ''}decoding YAML: error converting YAML to JSON: yaml: ${error.message}`,
    );
  }
}
