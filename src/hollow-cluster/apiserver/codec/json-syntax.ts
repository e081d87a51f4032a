/**
 * What is wrong with a text that is not JSON, in the words of kube-apiserver (upstream `encoding/json`, `scanner.go`).
 * Only called for a text that `JSON.parse` rejects, or that is nested too deeply.
 */
import { depthMax } from '../../../machinery/yaml/json-reader.ts';

const literals = ['true', 'false', 'null'] as const;
const spaces: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n']);
const escapes: ReadonlySet<string> = new Set(['b', 'f', 'n', 'r', 't', '\\', '/', '"']);
const hexDigits = 4;
const unexpectedEnd = 'unexpected end of JSON input';

class Problem extends Error {}

/** `invalid character 'x' ...` or `unexpected end of JSON input`. */
export function describeJsonProblem(text: string): string {
  try {
    new Scanner(text).scan();
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
  return 'invalid JSON';
}

class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Throws a Problem. */
  scan(): void {
    this.#value();
    this.#skipSpaces();
    if (this.#at < this.#text.length) this.#fail('after top-level value');
  }

  #value(): void {
    this.#skipSpaces();
    const first = this.#peek();
    this.#depth += 1;
    if (this.#depth > depthMax + 1) this.#fail('exceeded max depth');
    if (first === '{') this.#object();
    else if (first === '[') this.#list();
    else if (first === '"') this.#string();
    else if (first === '-' || isDigit(first)) this.#number();
    else this.#literal(first);
    this.#depth -= 1;
  }

  #object(): void {
    this.#at += 1;
    this.#skipSpaces();
    if (this.#accept('}')) return;
    for (;;) {
      this.#skipSpaces();
      if (this.#peek() !== '"') this.#fail('looking for beginning of object key string');
      this.#string();
      this.#skipSpaces();
      if (!this.#accept(':')) this.#fail('after object key');
      this.#value();
      this.#skipSpaces();
      if (this.#accept('}')) return;
      if (!this.#accept(',')) this.#fail('after object key:value pair');
    }
  }

  #list(): void {
    this.#at += 1;
    this.#skipSpaces();
    if (this.#accept(']')) return;
    for (;;) {
      this.#value();
      this.#skipSpaces();
      if (this.#accept(']')) return;
      if (!this.#accept(',')) this.#fail('after array element');
    }
  }

  #string(): void {
    this.#at += 1;
    while (!this.#accept('"')) {
      if (this.#peek() < ' ') this.#fail('in string literal');
      if (this.#accept('\\')) this.#escape();
      else this.#at += 1;
    }
  }

  #escape(): void {
    if (this.#accept('u')) {
      for (let digit = 0; digit < hexDigits; digit += 1) {
        if (!/[\da-fA-F]/.test(this.#peek())) this.#fail(String.raw`in \u hexadecimal character escape`);
        this.#at += 1;
      }
    } else if (escapes.has(this.#peek())) {
      this.#at += 1;
    } else {
      this.#fail('in string escape code');
    }
  }

  #number(): void {
    this.#accept('-');
    if (!this.#accept('0')) this.#digits('in numeric literal');
    if (this.#at < this.#text.length && this.#accept('.')) this.#digits('after decimal point in numeric literal');
    if (this.#at < this.#text.length && (this.#accept('e') || this.#accept('E'))) {
      if (!this.#accept('+')) this.#accept('-');
      this.#digits('in exponent of numeric literal');
    }
  }

  #digits(context: string): void {
    if (!isDigit(this.#peek())) this.#fail(context);
    while (isDigit(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #literal(first: string): void {
    const word = literals.find((literal) => literal.startsWith(first));
    if (word === undefined) return this.#fail('looking for beginning of value');
    for (const letter of word) {
      if (!this.#accept(letter)) this.#fail(`in literal ${word} (expecting '${letter}')`);
    }
  }

  #skipSpaces(): void {
    while (spaces.has(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #accept(wanted: string): boolean {
    if (this.#peek() !== wanted) return false;
    this.#at += 1;
    return true;
  }

  /** Throws at the end of the text, which every rule but that of the top level does not expect. */
  #peek(): string {
    const next = this.#text[this.#at];
    if (next === undefined) throw new Problem(unexpectedEnd);
    return next;
  }

  #fail(context: string): never {
    throw new Problem(`invalid character ${quote(this.#peek())} ${context}`);
  }
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function quote(character: string): string {
  if (character === "'") return String.raw`'\''`;
  return character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`;
}
