/** Reads a request body and converts it to JSON values, from any supported format. */
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { decodeProtobufBody, protobufContentType } from '../codec/protobuf-body.ts';
import { badRequest, statusError } from '../api-errors/api-errors.ts';
import { parseMediaType } from './accept.ts';
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
  const { type } = parseMediaType(contentType);
  switch (type) {
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
