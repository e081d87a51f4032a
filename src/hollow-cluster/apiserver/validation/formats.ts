/** What is wrong with a text, in the words of upstream (`apimachinery/pkg/util/validation`). No problem: an empty list. */

type Explain = (text: string) => readonly string[];

const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`;
const namePattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const valuePattern = `(${namePattern})?`;
const keyPattern = '[-._a-zA-Z0-9]+';

const namePartMax = 63;
const subdomainMax = 253;
const portNameMax = 15;
const portMax = 65_535;

const alphanumeric = 'must start and end with an alphanumeric character';
const labelRule = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and ${alphanumeric}`;
const subdomainRule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and ${alphanumeric}`;
const nameRule = `must consist of alphanumeric characters, '-', '_' or '.', and ${alphanumeric}`;

function withExamples(rule: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const labelMessage = withExamples(labelRule, labelPattern, 'my-name', '123-abc');
const subdomainMessage = withExamples(subdomainRule, subdomainPattern, 'example.com');
const nameMessage = withExamples(nameRule, namePattern, 'MyName', 'my.name', '123-abc');
const valueMessage = withExamples(
  `a valid label must be an empty string or ${nameRule.replace('must ', '')}`,
  valuePattern,
  'MyValue',
  'my_value',
  '12345',
);
const keyMessage = withExamples(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  keyPattern,
  'key.name',
  'KEY_NAME',
  'key-name',
);
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const isLabel = whole(labelPattern);
const isSubdomain = whole(subdomainPattern);
const isName = whole(namePattern);
const isValue = whole(valuePattern);
const isKey = whole(keyPattern);

/** Shared, as most texts have no problem. */
const none: readonly string[] = [];

/** The messages that apply. */
function applying(...rules: readonly (readonly [boolean, string])[]): readonly string[] {
  return rules.filter(([applies]) => applies).map(([, message]) => message);
}

function tooLong(text: string, max: number): readonly [boolean, string] {
  return [text.length > max, `must be no more than ${max} characters`];
}

/** A DNS label of RFC 1123. */
export const explainLabel: Explain = (text) => {
  if (text.length <= namePartMax && isLabel.test(text)) return none;
  const message = isSubdomain.test(text) ? 'must not contain dots' : labelMessage;
  return applying(tooLong(text, namePartMax), [!isLabel.test(text), message]);
};

/** A DNS subdomain of RFC 1123. */
export const explainSubdomain: Explain = (text) => {
  if (text.length <= subdomainMax && isSubdomain.test(text)) return none;
  return applying(tooLong(text, subdomainMax), [!isSubdomain.test(text), subdomainMessage]);
};

/** `name` or `prefix/name`: keys of labels and annotations, names of resources. */
export const explainQualifiedName: Explain = (text) => {
  // Most names have no prefix and are valid.
  if (text.length <= namePartMax && isName.test(text)) return none;
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    const prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${nameMessage} ${prefix}`];
  }
  const name = second ?? first;
  return [
    ...(second === undefined ? [] : explainPrefix(first)),
    ...applying(
      [name === '', 'name part must be non-empty'],
      [name.length > namePartMax, `name part must be no more than ${namePartMax} characters`],
      [!isName.test(name), `name part ${nameMessage}`],
    ),
  ];
};

function explainPrefix(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return explainSubdomain(prefix).map((message) => `prefix part ${message}`);
}

export const explainLabelValue: Explain = (text) => {
  if (text.length <= namePartMax && isValue.test(text)) return none;
  return applying(tooLong(text, namePartMax), [!isValue.test(text), valueMessage]);
};

/** A key of a ConfigMap, which becomes the name of a file. */
export const explainDataKey: Explain = (text) =>
  applying(
    tooLong(text, subdomainMax),
    [!isKey.test(text), keyMessage],
    [text === '.', "must not be '.'"],
    [text === '..', "must not be '..'"],
    [text !== '..' && text.startsWith('..'), "must not start with '..'"],
  );

export const explainPortName: Explain = (text) =>
  applying(
    tooLong(text, portNameMax),
    [!/^[-a-z0-9]+$/.test(text), 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'],
    [!/[a-z]/.test(text), 'must contain at least one letter (a-z)'],
    [text.includes('--'), 'must not contain consecutive hyphens'],
    [text.startsWith('-') || text.endsWith('-'), 'must not begin or end with a hyphen'],
  );

export function explainPort(port: number): readonly string[] {
  return port >= 1 && port <= portMax ? none : [`must be between 1 and ${portMax}, inclusive`];
}
