/** Reading a request's body and turning it into JSON values, whatever it was written in. */
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { decodeProtobufBody, protobufContentType } from '../codec/protobuf-body.ts';
import { badRequest, refusal } from '../registry/refusals.ts';
import { parseMediaType } from './accept.ts';
import { headerOf, type Incoming } from './exchange.ts';

/** Upstream `MaxRequestBodyBytes`. */
export const bodyBytesMax = 3 * 1024 * 1024;

/** Rejects with a 413 ApiError as soon as the body is too large; the rest is read and dropped. */
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
  return refusal(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${bodyBytesMax}`);
}

export interface ExpectedBody {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Throws a 400 ApiError for a body that is not what its content type says, 415 for a type nobody reads. */
export function decodeBody(bytes: Buffer, contentType: string, expected: ExpectedBody): unknown {
  const { type } = parseMediaType(contentType);
  switch (type) {
    case '':
    case 'application/json':
      return decodeJson(bytes, expected.kind);
    case 'application/yaml':
      return decodeYaml(bytes);
    case protobufContentType:
      return decodeProtobuf(bytes, expected);
    default:
      throw unsupported('the body of the request was in an unknown format - accepted media types include', [
        'application/json',
        'application/yaml',
        protobufContentType,
      ]);
  }
}

export function unsupported(why: string, accepted: readonly string[]): Error {
  return refusal(415, 'UnsupportedMediaType', `${why}: ${accepted.join(', ')}`);
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

function decodeProtobuf(bytes: Buffer, expected: ExpectedBody): unknown {
  try {
    return decodeProtobufBody(bytes, expected);
  } catch (error) {
    if (error instanceof Error) throw badRequest(error.message);
    throw error;
  }
}
