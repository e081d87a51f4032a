// What validate-policies.ts checks between fields, as rules of the CustomResourceDefinition, so that the API server refuses
// an object that the controller would not accept. What CEL cannot express is found by the controller only: times that do
// not exist, and what depends on its settings.
import { heartbeatConditionTypes, maintenanceConditions } from '../../src/machinery/api/conditions.ts';
import { healthTaintKeys, outOfServiceTaintKey } from '../../src/machinery/api/taints.ts';
import { evictionLimits } from '../../src/controller/model/policy.ts';
import { flappingMaxDefault } from '../../src/policy/schema/decode-policies.ts';

export interface CelRule {
  /** Below the spec; `[]` is each item of a list. */
  readonly path: string;
  readonly rule: string;
  /** What is accepted. */
  readonly message: string;
  /** The field below that the error is about; the one of the rule where absent. */
  readonly fieldPath?: string;
}

const silenceTaintKeys: readonly string[] = [...healthTaintKeys, outOfServiceTaintKey];

export function buildCelRules(): readonly CelRule[] {
  return [
    {
      path: 'nodeSelector',
      rule: '(has(self.matchLabels) && size(self.matchLabels) > 0) || has(self.matchExpressions)',
      message: 'must be a selector with at least one requirement',
    },
    {
      path: 'nodeSelector.matchExpressions[]',
      rule: "(self.operator == 'In' || self.operator == 'NotIn') == has(self.values)",
      message: 'must be set with operator In or NotIn, and absent with Exists or DoesNotExist',
      fieldPath: '.values',
    },
    {
      path: 'maintenance',
      rule: '!has(self.conditions) || size(self.conditions) > 0 || (has(self.taints) && size(self.taints) > 0)',
      message: 'must be set with at least one condition or taint',
    },
    {
      path: 'maintenance',
      rule: `!has(self.holdsWhileSilent) || self.holdsWhileSilent.all(type, type in (has(self.conditions) ? self.conditions : [${maintenanceConditions.map((type) => `'${type}'`).join(', ')}]))`,
      message: 'must be some of the conditions',
      fieldPath: '.holdsWhileSilent',
    },
    noneOf('maintenance.conditions[]', heartbeatConditionTypes),
    noneOf('maintenance.taints[]', healthTaintKeys),
    noneOf('outOfService.conditions[]', heartbeatConditionTypes),
    noneOf('outOfService.taints[]', silenceTaintKeys),
    {
      path: 'limits',
      rule: ['maxUnhealthy', ...evictionLimits].map((limit) => `has(self.${limit})`).join(' || '),
      message: 'must be set with at least one limit',
    },
    ...['cooldown', 'resetAt'].map((field) => ({
      path: 'limits',
      rule: `!has(self.${field}) || has(self.maxUnhealthy)`,
      message: 'must be absent without maxUnhealthy',
      fieldPath: `.${field}`,
    })),
    {
      path: 'limits.maxUnhealthy',
      rule: 'has(self.percent) || has(self.count)',
      message: 'must be percent, count or both',
    },
    {
      path: '',
      rule: '!has(self.outerFailureDomain) || (has(self.failureDomain) && self.outerFailureDomain.all(key, !(key in self.failureDomain)))',
      message: 'must be absent without failureDomain, and have none of its keys',
      fieldPath: '.outerFailureDomain',
    },
    ...buildFlappingRules(),
  ];
}

function buildFlappingRules(): readonly CelRule[] {
  return [
    {
      path: 'flapping',
      rule: `!has(self.initial) || duration(self.initial) <= duration(has(self.max) ? self.max : '${flappingMaxDefault}')`,
      message: `must be at most max, which is ${flappingMaxDefault} if not set`,
      fieldPath: '.initial',
    },
    {
      path: 'flapping.budget',
      rule: 'has(self.percent) || has(self.count)',
      message: 'must be percent, count or both',
    },
  ];
}

function noneOf(path: string, refused: readonly string[]): CelRule {
  const list = refused.map((value) => `'${value}'`).join(', ');
  return { path, rule: `!(self in [${list}])`, message: `must be none of ${refused.join(', ')}` };
}

/** Rule of each duration: a pattern cannot exclude those that are too long, or too short to be a nanosecond. */
export const durationRule: Omit<CelRule, 'path'> = {
  rule: "duration(self) > duration('0s')",
  message: 'must be a duration > 0 and below 292 years',
};

/** Rule for the keys of a mapping: a structural schema has no schema of keys. */
export function buildKeyRule(pattern: string): Omit<CelRule, 'path'> {
  return { rule: `self.all(key, key.matches(r'${pattern}'))`, message: `each key must match ${pattern}` };
}

/** Rule for a minimum with a fraction: kube-apiserver rounds it down for a value without one. */
export function buildMinimumRule(minimum: number): Omit<CelRule, 'path'> {
  return { rule: `self >= ${minimum}`, message: `must be a number >= ${minimum}` };
}
