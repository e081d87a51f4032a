/** Validation of names, label keys and label values (upstream `util/validation`). */

const nameLengthMax = 253;
const labelLengthMax = 63;

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedName = /^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$/;

export function isDnsLabel(text: string): boolean {
  return text.length <= labelLengthMax && dnsLabel.test(text);
}

export function isDnsSubdomain(text: string): boolean {
  return text.length <= nameLengthMax && dnsSubdomain.test(text);
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
