// The Grafana dashboard: renders dashboard-rows.ts as the JSON that Grafana imports. `npm run docs` writes it.
import { dashboardRows, type DashboardRow, type Panel, type Query } from './dashboard-rows.ts';

/** Grafana 12; later versions migrate it. */
const schemaVersion = 41;
const gridWidth = 24;
const datasource = { type: 'prometheus', uid: '${datasource}' } as const;
const selections = {
  SELECTED: 'cluster=~"$cluster", job=~"$job"',
  ZONED: 'cluster=~"$cluster", job=~"$job", zone=~"$zone"',
} as const;

export function dashboardText(): string {
  return `${JSON.stringify(dashboard(), undefined, 2)}\n`;
}

function dashboard(): object {
  return {
    uid: 'node-lifecycle-controller',
    title: 'Node lifecycle controller',
    description: 'Unhealthy nodes, taints and evictions, holds, and the health of the controller.',
    tags: ['kubernetes', 'node-lifecycle-controller'],
    schemaVersion,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    annotations: { list: [firingAlerts()] },
    templating: { list: variables() },
    links: [],
    panels: placed(dashboardRows),
  };
}

function firingAlerts(): object {
  return {
    name: 'Alerts',
    datasource,
    enable: true,
    iconColor: 'red',
    expr: 'ALERTS{alertname=~"NodeLifecycle.+", alertstate="firing"}',
    titleFormat: '{{alertname}}',
    textFormat: '{{zone}}',
  };
}

function variables(): readonly object[] {
  const builds = 'node_lifecycle_controller_build_info';
  return [
    { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
    // Without the label, as in a Prometheus of one cluster, "All" matches the missing label.
    variable('cluster', 'Cluster', `label_values(${builds}, cluster)`),
    variable('job', 'Job', `label_values(${builds}{cluster=~"$cluster"}, job)`),
    variable('zone', 'Zone', `label_values(node_lifecycle_zone_eviction_rate{${selections.SELECTED}}, zone)`),
  ];
}

function variable(name: string, label: string, query: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource,
    definition: query,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
  };
}

interface PanelPosition {
  readonly x: number;
  readonly y: number;
}

/** Places rows below each other, and the panels of a row from left to right in as many lines as needed. */
function placed(rows: readonly DashboardRow[]): readonly object[] {
  let y = 0;
  let id = 0;
  return rows.flatMap(({ title, panels }) => {
    const row = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: gridWidth, h: 1 },
    };
    y += 1;
    const [w, h] = panels.every(({ kind }) => kind === 'stat') ? [gridWidth / panels.length, 4] : [gridWidth / 3, 8];
    const perLine = gridWidth / w;
    const place = (index: number): PanelPosition => ({
      x: (index % perLine) * w,
      y: y + Math.floor(index / perLine) * h,
    });
    const made = panels.map((panel, index) => ({ id: ++id, ...panelOf(panel), gridPos: { ...place(index), w, h } }));
    y += Math.ceil(panels.length / perLine) * h;
    return [row, ...made];
  });
}

function panelOf(panel: Panel): object {
  const { title, about, queries } = panel;
  const type = panel.kind ?? 'timeseries';
  const common = { type, title, description: about, datasource, targets: queries.map(targetOf) };
  switch (type) {
    case 'stat':
      return { ...common, options: statOptions, fieldConfig: { defaults: statDefaults(panel), overrides: [] } };
    case 'state-timeline':
      return { ...common, options: legend, fieldConfig: { defaults: { unit: panel.unit }, overrides: [] } };
    case 'timeseries':
      return { ...common, options: timeOptions, fieldConfig: { defaults: timeDefaults(panel), overrides: [] } };
  }
}

function targetOf({ expr, legend: legendFormat }: Query, index: number): object {
  const refId = String.fromCharCode('A'.charCodeAt(0) + index);
  return { refId, datasource, expr: selected(expr), ...(legendFormat === '' ? {} : { legendFormat }) };
}

function selected(expr: string): string {
  return expr.replaceAll(/\b(SELECTED|ZONED)\b/g, (word) => selections[word as keyof typeof selections]);
}

const legend = { legend: { displayMode: 'list', placement: 'bottom', showLegend: true } } as const;
const timeOptions = { ...legend, tooltip: { mode: 'multi', sort: 'desc' } } as const;
const statOptions = {
  colorMode: 'value',
  graphMode: 'area',
  reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
} as const;

function timeDefaults({ unit }: Panel): object {
  return { unit, min: 0, custom: { drawStyle: 'line', fillOpacity: 10, lineWidth: 1, showPoints: 'never' } };
}

function statDefaults({ unit, redFrom, redUpTo }: Panel): object {
  const steps =
    redUpTo === undefined
      ? [{ color: 'green', value: null }, ...(redFrom === undefined ? [] : [{ color: 'red', value: redFrom }])]
      : [
          { color: 'red', value: null },
          { color: 'green', value: redUpTo + 1 },
        ];
  return { unit, color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps } };
}
