// Some browsers report a language that Intl rejects (such as en-GB@posix). uPlot formats numbers in
// the browser's language while it loads and would take the page with it, so this file is imported before it.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-GB' });
}
