/**
 * Label selectors: `a=b,c!=d,e in (f,g),!h,i>3` (upstream `labels.Parse`). `in` and `notin` are keywords only where an
 * operator is expected.
 */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { type LabelRequirement, meetsRequirement } from '../../../machinery/api/label-selector.ts';
import { isLabelValue, isQualifiedName } from '../../../machinery/api/names.ts';
import { badRequest } from '../api-errors/api-errors.ts';

interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const tokenPattern = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)/y;
/** `=` is a set of one, `!=` the complement of one. */
const operators: ReadonlyMap<string, string> = new Map([
  ['=', 'In'],
  ['==', 'In'],
  ['in', 'In'],
  ['!=', 'NotIn'],
  ['notin', 'NotIn'],
  ['>', 'Gt'],
  ['<', 'Lt'],
]);
const end: Token = { kind: 'end', text: '' };

/** Throws a 400 ApiError for an invalid selector. Empty text selects everything. */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  return new Parser(tokensOf(text)).requirements();
}

export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return requirements.every((requirement) => meetsRequirement(requirement, ownValue(labels, requirement.key)));
}

function assertInteger(value: string): void {
  if (/^-?\d+$/.test(value)) return;
  fail(`values[0]: Invalid value: "${value}": for 'Gt', 'Lt', the value must be an integer`);
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  for (let match = tokenPattern.exec(text); match !== null; match = tokenPattern.exec(text)) {
    const word = match[1] ?? '';
    tokens.push({ kind: /^[=!(),<>]/.test(word) ? 'symbol' : 'word', text: word });
  }
  return tokens;
}

function fail(why: string): never {
  throw badRequest(`unable to parse requirement: ${why}`);
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  requirements(): readonly LabelRequirement[] {
    const found: LabelRequirement[] = [];
    while (this.#peek().kind !== 'end') {
      found.push(this.#requirement());
      if (this.#peek().kind === 'end') break;
      this.#expect(',');
      if (this.#peek().kind === 'end') fail("found '', expected: identifier after ','");
    }
    return found;
  }

  #requirement(): LabelRequirement {
    const absent = this.#accept('!');
    const key = this.#take();
    if (key.kind !== 'word') fail(`found '${key.text}', expected: identifier`);
    if (!isQualifiedName(key.text)) fail(`key: Invalid value: "${key.text}": not a qualified name`);
    if (absent) return { key: key.text, operator: 'DoesNotExist' };
    if (this.#endsRequirement()) return { key: key.text, operator: 'Exists' };
    return this.#comparison(key.text);
  }

  #comparison(key: string): LabelRequirement {
    const isSet = ['in', 'notin'].includes(this.#peek().text);
    const operator = this.#operator();
    const values = isSet ? this.#valueSet() : [this.#exactValue()];
    for (const value of values) {
      if (!isLabelValue(value)) fail(`values[0][${key}]: Invalid value: "${value}": not a label value`);
      if (operator === 'Gt' || operator === 'Lt') assertInteger(value);
    }
    return { key, operator, values };
  }

  #operator(): string {
    const { text } = this.#take();
    return operators.get(text) ?? fail(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  #exactValue(): string {
    if (this.#endsRequirement()) return '';
    const value = this.#take();
    return value.kind === 'word' ? value.text : fail(`found '${value.text}', expected: identifier`);
  }

  /** `()` is the set of the empty value; bare commas add the empty value as well. */
  #valueSet(): readonly string[] {
    this.#expect('(');
    const values: string[] = [];
    for (;;) {
      const next = this.#peek();
      values.push(next.kind === 'word' ? this.#take().text : '');
      if (this.#accept(')')) return values;
      this.#expect(',');
    }
  }

  #endsRequirement(): boolean {
    const next = this.#peek();
    return next.kind === 'end' || next.text === ',';
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? end;
  }

  #take(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #accept(symbol: string): boolean {
    if (this.#peek().text !== symbol) return false;
    this.#at += 1;
    return true;
  }

  #expect(symbol: string): void {
    const found = this.#take();
    if (found.text !== symbol) fail(`found '${found.text}', expected: '${symbol}'`);
  }
}
