/**
 * JSON with the integers of 64 bits that Go reads and writes: those beyond 2^53 - 1, which a number would round, are
 * bigints. Objects hardly ever have one, so texts without 16 digits in a row, and values without a bigint, take the short way.
 */
declare global {
  interface JSON {
    /** A value whose JSON is this text. */
    rawJSON(text: string): object;
  }
}

const manyDigits = /\d{16}/;
const integerText = /^-?\d+$/;

/** Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  return manyDigits.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source = '' } = context ?? {};
  return typeof value === 'number' && integerText.test(source) ? exactInteger(BigInt(source)) : value;
}

/** A number if it is exact, a bigint within 64 bits, and as in Go the nearest number beyond. */
export function exactInteger(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) || !isInt64(value) ? number : value;
}

export function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** JSON of a value that may contain bigints. */
export function stringifyExact(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, rawInteger, indent);
  }
}

/** JSON as Go writes it, so that it can be part of HTML. */
export function escapeAsGo(json: string): string {
  return json.replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function rawInteger(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
}
