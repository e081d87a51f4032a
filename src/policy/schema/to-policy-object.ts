// A policy of the config file as an object of the API, and back. Nothing is lost or added in either direction.
import { policyApiVersion, policyResource } from '../../machinery/api/node-lifecycle-policy.ts';
import type { PolicyInput } from './policy-schema.ts';

/** A NodeLifecyclePolicy as in a manifest, with its name only. */
interface PolicyManifest {
  readonly apiVersion: typeof policyApiVersion;
  readonly kind: typeof policyResource.kind;
  readonly metadata: { readonly name: string };
  readonly spec: Omit<PolicyInput, 'name'>;
}

export function toPolicyManifest({ name, ...spec }: PolicyInput): PolicyManifest {
  return { apiVersion: policyApiVersion, kind: policyResource.kind, metadata: { name }, spec };
}

/** The policy of an object, as in the list `policies` of the config file. */
export function toPolicyInput({ metadata, spec }: Pick<PolicyManifest, 'metadata' | 'spec'>): PolicyInput {
  return { name: metadata.name, ...spec };
}
