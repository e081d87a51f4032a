/** The error of a request that the authorizer denies (upstream `responsewriters.ForbiddenStatusError`). */
import type { ApiError } from '../../../machinery/api/api-error.ts';
import { forbidden } from '../api-errors/api-errors.ts';
import type { Authorizer } from './authorizer.ts';
import type { Attributes } from './parse-attributes.ts';
import type { User } from '../authentication/user.ts';

/** Throws a 403 ApiError unless the authorizer allows the request. */
export function assertAllowed(authorizer: Authorizer, user: User, attributes: Attributes): void {
  const { allowed, reason } = authorizer.decide(user, attributes);
  if (!allowed) throw forbiddenRequest(user, attributes, reason);
}

function forbiddenRequest(user: User, attributes: Attributes, reason: string): ApiError {
  const text = sanitize(describeDenial(user, attributes));
  const why = reason === '' ? text : `${text}: ${reason}`;
  if (attributes.kind === 'path') return forbidden({ group: '', name: '' }, '', why);
  return forbidden({ group: attributes.group, name: attributes.resource }, attributes.name, why);
}

function describeDenial({ name }: User, attributes: Attributes): string {
  const who = `User ${JSON.stringify(name)} cannot ${attributes.verb}`;
  if (attributes.kind === 'path') return `${who} path ${JSON.stringify(attributes.path)}`;
  const { group, resource, subresource, namespace } = attributes;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}

/** The message must not look like HTML. */
function sanitize(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
