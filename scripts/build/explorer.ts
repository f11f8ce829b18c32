// Part of the build: OpenAPI Explorer, adapted to the page: to its policy, which allows no inline styles, to phones, to
// keyboards and screen readers, and to lines of JSON.

/** What to replace in the bundle. Each of these must occur in it. */
const CHANGES: [RegExp, string][] = [
  // The colours come from page.css.
  [/<style>[^<]*<\/style>/g, ''],
  // On a phone, the cells of a table are below each other.
  [/vertical-align:baseline;/g, '$&display:var(--cell);overflow-wrap:anywhere;'],
  // Lit then sets the property `style`, which the policy allows, not the attribute (CSP 3 §8.3).
  [/ style="([^"$]*)"/g, ' .style="${"$1"}"'],
  [/ style="([^"]*\$\{)/g, ' .style="$1'],
  // A type such as application/x-ndjson is not JSON: it is shown as text.
  [/(\w)\.includes\("json"\)\)if\(\/charset/g, '/[/+]json/.test($1))if(/charset'],
  [/,null,8\)/g, ',null,2)'],
  // A response is shown when it arrives, not 200 ms later.
  [/new Promise\(e=>setTimeout\(e,200\)\)/g, 'null'],
  // The focus is visible, and never behind a dialog. The page does not take it at first, and the button
  // of a request keeps it.
  [
    /\.m-btn\{border/g,
    ':focus-visible{outline:2px solid var(--primary-color)!important;outline-offset:2px}' +
      ':is([tabindex],select,.tab-btn):focus-visible{outline-offset:-2px}$&',
  ],
  [/position:fixed;left:0;top:0;width:100vw;height:100vh/g, 'position:absolute;inset:0'],
  [/id="the-main-body"/g, '$& ?inert="${this.showAdvancedSearchDialog}"'],
  [/this\.scrollTo\(this\.explorerLocation\|\|\w/g, '$&,false'],
  [/\.disabled=(!\d)/g, '.ariaDisabled=$1'],
  [/onTryClick\(\)\{const (\w)=[^;]*;/g, '$&if($1.ariaDisabled==="true")return;'],
  // The text of the body is sent as it is: never repaired.
  [/if\((\w\.body=\w\.value),\w\.includes\("json"\)\)try\{.{1,80}?catch\(\w\)\{\}/g, '$1;'],
  // After a request or a mistake in a field, the status and the start of the response are in view.
  [
    /async onTryClick\(\)\{/g,
    'async onTryClick(){await this.send();await this.updateComplete;' +
      'this.querySelector(".response-message")?.scrollIntoView({block:"nearest"})}async send(){',
  ],
  // An empty field looks empty.
  [/placeholder="\$\{\w\.example\|\|\w\|\|""\}"/g, ''],
  // The search looks everywhere at first.
  [/id="search-api-(params|request-body|resp-descr)"/g, '$& checked="checked"'],
  // While its colours change slowly, the text of a button has too little contrast.
  [/transition:background-color \.2s;/g, ''],
  // The keyboard can scroll the page. The search is a dialog; its title is not the page's header.
  [/<main /g, '<main tabindex="0" '],
  [
    /class="dialog-box"> <header/g,
    'class="dialog-box" role="dialog" aria-label="Search"> <header role="none"',
  ],
]

const MISMATCH = 'scripts/build/explorer.ts does not fit this version of openapi-explorer'

/** @throws Error when the bundle of a new version does not have what is to be changed */
export function adaptExplorer(bundle: string): string {
  let result = bundle
  for (const [pattern, replacement] of CHANGES) {
    if (result.search(pattern) < 0) throw new Error(`${MISMATCH}: nothing in it matches ${pattern}`)
    result = result.replace(pattern, replacement)
  }
  const left = / style=.{20}|<style.{20}/.exec(result)
  if (left) throw new Error(`${MISMATCH}: it still has an inline style: ${left[0]}`)
  return `/* Changed by the build of the Users Service: see scripts/build/explorer.ts. */\n${result}`
}
