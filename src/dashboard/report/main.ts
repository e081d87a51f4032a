// The page of `nlc simulate --html`: data and scripts are in the page itself.
import { h, render } from 'preact';
import { DashboardContext } from '../page/dashboard-context.ts';
import { Navigation } from '../page/navigation.ts';
import { Ticker } from '../page/ticker.ts';
import type { Report } from './report-data.ts';
import { ReportPage } from './report-page.ts';
import { ReportStore } from './report-store.ts';

function elementOf(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`no element ${id}`);
  return element;
}

function start(): void {
  const report: Report = JSON.parse(elementOf('report-data').textContent ?? '');
  const [run] = report.runs;
  if (run === undefined) throw new Error('the report has no run');
  const store = new ReportStore(report, run);
  const dashboard = { store, navigation: new Navigation(), ticker: new Ticker() };
  render(h(DashboardContext.Provider, { value: dashboard }, h(ReportPage, { store })), elementOf('app'));
}

start();
