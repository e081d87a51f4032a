// The page of the dashboard: connects the event stream with what is shown.
import { h, render } from 'preact';
import { App } from './page/app.ts';
import { DashboardContext } from './page/dashboard-context.ts';
import { Navigation } from './page/navigation.ts';
import { eventsUrl } from './page/server-client.ts';
import { applyTheme } from './page/theme.ts';
import { Ticker } from './page/ticker.ts';
import { followEventStream } from './stream/event-stream.ts';
import { DashboardStore } from './stream/store.ts';

const store = new DashboardStore();
const navigation = new Navigation();
applyTheme(navigation.current.theme);
navigation.subscribe(() => applyTheme(navigation.current.theme));
const dashboard = { store, navigation, ticker: new Ticker() };
const place = document.getElementById('app');
if (place === null) throw new Error('the page has no element app');
place.replaceChildren();
render(h(DashboardContext.Provider, { value: dashboard }, h(App, null)), place);
void followEventStream(eventsUrl, store);
