/** Validation of names, label keys and label values (upstream `util/validation`). */

export const nameLengthMax = 253;
export const labelLengthMax = 63;

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedName = /^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$/;

export function isDnsLabel(text: string): boolean {
  return text.length <= labelLengthMax && hasLabelForm(text);
}

export function isDnsSubdomain(text: string): boolean {
  return text.length <= nameLengthMax && hasSubdomainForm(text);
}

/** Whether the text is a label but for its length. */
export function hasLabelForm(text: string): boolean {
  return dnsLabel.test(text);
}

/** Whether the text is a subdomain but for its length. */
export function hasSubdomainForm(text: string): boolean {
  return dnsSubdomain.test(text);
}

/** Whether the text can stand in a path as it is: names of roles, which contain colons. */
export function isPathSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !/[/%]/.test(text);
}

/** `name` or `prefix/name`: keys of labels, annotations and taints, names of finalizers. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash >= 0 && !isDnsSubdomain(text.slice(0, slash))) return false;
  return isNamePart(text.slice(slash + 1));
}

function isNamePart(text: string): boolean {
  return text.length <= labelLengthMax && qualifiedName.test(text);
}

export function isLabelValue(text: string): boolean {
  return text === '' || isNamePart(text);
}
