/**
 * Label selectors: `a=b,c!=d,e in (f,g),!h,i>3` (upstream `labels.Parse`). `in` and `notin` are keywords only where an
 * operator is expected.
 */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { isLabelValue, isQualifiedName } from '../../../machinery/api/names.ts';
import { badRequest } from '../api-errors/api-errors.ts';

/** `=` is a set of one, `!=` the complement of one. */
type Operator = 'in' | 'notin' | 'exists' | 'absent' | '>' | '<';

interface LabelRequirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: ReadonlySet<string>;
}

interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const tokenPattern = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)/y;
const end: Token = { kind: 'end', text: '' };

/** Throws a 400 ApiError for an invalid selector. Empty text selects everything. */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  return new Parser(tokensOf(text)).requirements();
}

export function matchesLabels(
  requirements: readonly LabelRequirement[],
  labels: Readonly<Record<string, string>>,
): boolean {
  return requirements.every((requirement) => matches(requirement, ownValue(labels, requirement.key)));
}

function matches({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case '>':
    case '<':
      return compares(operator, value, [...values][0]);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && values.has(value);
    case 'notin':
      return value === undefined || !values.has(value);
  }
}

function compares(operator: '>' | '<', value: string | undefined, bound: string | undefined): boolean {
  if (value === undefined || bound === undefined || !isInteger(value) || !isInteger(bound)) return false;
  return operator === '>' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
}

function isInteger(text: string | undefined): boolean {
  return text !== undefined && /^[+-]?\d+$/.test(text);
}

function assertInteger(value: string): void {
  if (!isInteger(value)) fail(`values[0]: Invalid value: "${value}": for 'Gt', 'Lt', the value must be an integer`);
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
    if (absent) return { key: key.text, operator: 'absent', values: new Set() };
    if (this.#endsRequirement()) return { key: key.text, operator: 'exists', values: new Set() };
    return this.#comparison(key.text);
  }

  #comparison(key: string): LabelRequirement {
    const isSet = ['in', 'notin'].includes(this.#peek().text);
    const operator = this.#operator();
    const values = isSet ? this.#valueSet() : new Set([this.#exactValue()]);
    for (const value of values) {
      if (!isLabelValue(value)) fail(`values[0][${key}]: Invalid value: "${value}": not a label value`);
      if (operator === '>' || operator === '<') assertInteger(value);
    }
    return { key, operator, values };
  }

  #operator(): Operator {
    const { text } = this.#take();
    switch (text) {
      case '=':
      case '==':
      case 'in':
        return 'in';
      case '!=':
      case 'notin':
        return 'notin';
      case '>':
      case '<':
        return text;
      default:
        return fail(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #exactValue(): string {
    if (this.#endsRequirement()) return '';
    const value = this.#take();
    return value.kind === 'word' ? value.text : fail(`found '${value.text}', expected: identifier`);
  }

  /** `()` is the set of the empty value; bare commas add the empty value as well. */
  #valueSet(): ReadonlySet<string> {
    this.#expect('(');
    const values = new Set<string>();
    for (;;) {
      const next = this.#peek();
      values.add(next.kind === 'word' ? this.#take().text : '');
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
