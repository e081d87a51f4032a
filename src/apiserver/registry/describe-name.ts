/** What is wrong with the name of an object, in the words of kube-apiserver (upstream `apimachinery/pkg/util/validation`). */
import {
  hasLabelForm,
  hasSubdomainForm,
  isDnsLabel,
  isPathSegment,
  labelLengthMax,
  nameLengthMax,
} from '../../api/names.ts';

const labelMessage =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

export const subdomainMessage =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** Each problem of a name for which `isName` is false; one that is too long may have the wrong form too. */
export function describeNameProblems(name: string, isName: (name: string) => boolean): readonly string[] {
  if (isName === isPathSegment) return pathProblems(name);
  const isLabel = isName === isDnsLabel;
  const lengthMax = isLabel ? labelLengthMax : nameLengthMax;
  const tooLong = name.length > lengthMax ? [`must be no more than ${lengthMax} characters`] : [];
  return [...tooLong, ...(isLabel ? labelProblems(name) : subdomainProblems(name))];
}

function labelProblems(name: string): readonly string[] {
  if (hasLabelForm(name)) return [];
  return [hasSubdomainForm(name) ? 'must not contain dots' : labelMessage];
}

function subdomainProblems(name: string): readonly string[] {
  return hasSubdomainForm(name) ? [] : [subdomainMessage];
}

function pathProblems(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((char) => name.includes(char)).map((char) => `may not contain '${char}'`);
}
