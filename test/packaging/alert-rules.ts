// The alerts in the rule files of the chart.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
const chart = join(root, 'charts', 'node-lifecycle-controller');

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Paths of the rule files. */
export const ruleFiles: readonly string[] = globSync(join(chart, 'rules', '*.yaml')).sort();
export const dashboardFile = join(chart, 'dashboards', 'node-lifecycle.json');

export function alertRules(): readonly AlertRule[] {
  return ruleFiles.flatMap((file) => {
    const { groups } = parse(readFileSync(file, 'utf8')) as { groups: readonly { rules: readonly AlertRule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  });
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(dashboardFile, 'utf8')) as Dashboard;
}
