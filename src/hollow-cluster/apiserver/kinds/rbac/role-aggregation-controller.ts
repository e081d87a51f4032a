/** Writes the rules of ClusterRoles that collect those of others (upstream `clusterroleaggregation`). */
import { rbacGroup } from '../../authorization/rbac-tables.ts';
import type { ControllerContext, ServerController } from '../../controllers/controller-loop.ts';
import { sameJson } from '../../../../machinery/api/json-values.ts';
import { selectsLabels } from '../../../../machinery/api/label-selector.ts';
import { mapsAt, type MutableJsonMap } from '../../../../machinery/api/select-field.ts';

const table = `clusterroles.${rbacGroup}`;

export class RoleAggregationController implements ServerController {
  readonly name = 'clusterrole-aggregation-controller';
  readonly tables = [table];
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  /** A role that collects from another aggregated role is complete after the change of that one. */
  sync(): undefined {
    const { store, registry, targets } = this.#context;
    const target = targets.of(rbacGroup, 'clusterroles');
    for (const { name, rules } of planAggregation([...store.table(table).now().list()])) {
      registry.amend({ ...target, name }, (draft) => Object.assign(draft, { rules }), false);
    }
  }
}

interface Role {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly content: unknown;
}

/** A role whose rules differ from those that its selectors collect. */
interface AggregatedRole {
  readonly name: string;
  readonly rules: readonly unknown[];
}

/** The aggregated roles to be written, from all ClusterRoles. Equal rules are collected once, in the order of names. */
export function planAggregation(roles: readonly Role[]): readonly AggregatedRole[] {
  const sorted = [...roles].sort((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap((role) => {
    const selectors = mapsAt(role.content, 'aggregationRule', 'clusterRoleSelectors');
    if (selectors.length === 0) return [];
    const rules = collectRules(role, selectors, sorted);
    return areSameRules(rules, mapsAt(role.content, 'rules')) ? [] : [{ name: role.name, rules }];
  });
}

/**
 * Whether the rules are equal in any order: roles that collect from each other would otherwise change the order for
 * ever.
 */
function areSameRules(collected: readonly unknown[], current: readonly unknown[]): boolean {
  return collected.length === current.length && collected.every((rule) => includesRule(current, rule));
}

function includesRule(rules: readonly unknown[], rule: unknown): boolean {
  return rules.some((known) => sameJson(known, rule));
}

function collectRules(
  { name }: Role,
  selectors: readonly MutableJsonMap[],
  sorted: readonly Role[],
): readonly MutableJsonMap[] {
  const collected: MutableJsonMap[] = [];
  for (const selector of selectors) {
    const matching = sorted.filter((role) => role.name !== name && selectsLabels(selector, role.labels));
    for (const rule of matching.flatMap(({ content }) => mapsAt(content, 'rules'))) {
      if (!includesRule(collected, rule)) collected.push(rule);
    }
  }
  return collected;
}
