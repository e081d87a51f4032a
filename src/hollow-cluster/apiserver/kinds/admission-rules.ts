/** Configuration of admission, which this server stores and does not carry out (upstream `admissionregistration/v1`). */
import type { KindRules } from '../registry/plain-strategy.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap } from '../select-field.ts';
import type { Draft } from '../storage/stored-object.ts';
import { fillAt, fillIn } from './fill-in.ts';

const matching = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} } as const;
const webhookDefaults = { ...matching, failurePolicy: 'Fail', timeoutSeconds: 10 } as const;
const policy: KindRules = { hasGeneration: true, setDefaults: ({ spec }) => defaultPolicy(spec) };
const binding: KindRules = {
  hasGeneration: true,
  setDefaults: ({ spec }) => defaultMatching(mapAt(spec)['matchResources']),
};

/** By the table of the kind. */
export const admissionRules: Readonly<Record<string, KindRules>> = {
  'validatingwebhookconfigurations.admissionregistration.k8s.io': {
    hasGeneration: true,
    setDefaults: (draft) => defaultWebhooks(draft, webhookDefaults),
  },
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': {
    hasGeneration: true,
    setDefaults: (draft) => defaultWebhooks(draft, { ...webhookDefaults, reinvocationPolicy: 'Never' }),
  },
  'validatingadmissionpolicies.admissionregistration.k8s.io': policy,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': policy,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': binding,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': binding,
};

function defaultWebhooks(draft: Draft, defaults: Readonly<Record<string, unknown>>): void {
  for (const webhook of mapsAt(draft, 'webhooks')) {
    fillIn(webhook, defaults);
    fillAt(webhook, ['clientConfig', 'service'], { port: 443 });
    for (const rule of mapsAt(webhook, 'rules')) fillIn(rule, { scope: '*' });
  }
}

function defaultPolicy(spec: MutableJsonMap | undefined): void {
  if (spec === undefined) return;
  fillIn(spec, { failurePolicy: 'Fail' });
  defaultMatching(spec['matchConstraints']);
}

function defaultMatching(resources: unknown): void {
  if (!isMap(resources)) return;
  fillIn(resources, matching);
  for (const rule of [...mapsAt(resources, 'resourceRules'), ...mapsAt(resources, 'excludeResourceRules')]) {
    fillIn(rule, { scope: '*' });
  }
}
