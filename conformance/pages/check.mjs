// Opens the web pages of toolcrib in Chromium and checks what a person would. Usage: node check.mjs [PATH/TO/toolcrib]
//
// Two catalogs are rendered; each site is opened as files and over HTTP, in light and dark, at 360 and 1440 pixels. Then the
// program serves one of them: a person connects, searches and tries a tool, with and without scripts. A third one is served for
// the pages of operators. SCREENSHOTS=FOLDER keeps pictures of these.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const here = fileURLToPath(new URL('.', import.meta.url));
const project = join(here, '../..');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browserPath = process.env.CHROMIUM || ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const TYPES = { '.html': 'text/html; charset=utf-8', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml', '.md': 'text/markdown; charset=utf-8', '.json': 'application/json' };

let failures = 0, checks = 0;
function check(holds, what, detail = '') {
  checks += 1;
  if (holds) return;
  failures += 1;
  console.log(`FAILED ${what}${detail ? `: ${detail}` : ''}`);
}
const same = (got, expect, what) => check(got === expect, what, `got ${JSON.stringify(got)}, not ${JSON.stringify(expect)}`);

function render(program, catalog, out) {
  execFileSync(program, ['render', catalog, '--out', out, '--site'], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** No page is larger than 200 kB. */
function sizes(root) {
  for (const name of readdirSync(root, { recursive: true }).filter(name => name.endsWith('.html'))) {
    const { size } = statSync(join(root, name));
    check(size < 200_000, `${name} is small`, `${size} bytes`);
  }
}

/** A static server with the policy as a header, as `toolcrib serve` sends it. */
function serve(root) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    if (path === '/favicon.ico') return response.writeHead(204).end();
    let file = normalize(join(root, path));
    if (existsSync(file) && statSync(file).isDirectory()) file = join(file, 'index.html');
    if (!file.startsWith(root) || !existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES[extname(file)] || 'text/plain', 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' });
    response.end(readFileSync(file));
  });
  return new Promise(done => server.listen(0, '127.0.0.1', () => done(server)));
}

/** A page that reports what it should not do. */
async function open(browser, base, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.on('console', message => check(!['error', 'warning'].includes(message.type()), `console of ${page.url()}`, message.text()));
  page.on('pageerror', error => check(false, `script of ${page.url()}`, error.message));
  page.on('dialog', dialog => { check(false, `a dialog on ${page.url()}`); dialog.dismiss(); });
  page.on('request', request => check(request.url().startsWith(base) || request.url().startsWith('data:'), 'a request leaves the site', request.url()));
  return page;
}

async function accessible(page, what) {
  await page.evaluate(axe).catch(error => check(false, `axe on ${what}`, error.message));
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], preload: false }));
  for (const { id, impact, nodes } of violations) {
    check(!['serious', 'critical'].includes(impact), `${what}: ${id} (${impact})`, nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | '));
  }
}

/** Every kind of page, in both themes and at both widths. */
async function looks(browser, base, paths) {
  for (const colorScheme of ['light', 'dark']) for (const width of [360, 1440]) {
    const page = await open(browser, base, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    for (const path of paths) {
      await page.goto(base + path);
      const what = `${path} (${colorScheme}, ${width})`;
      same(await page.evaluate(() => document.documentElement.scrollWidth), width, `${what} is as wide as the screen`);
      same(await page.locator('h1').count(), 1, `${what} has one heading`);
      await page.evaluate(() => document.querySelectorAll('details').forEach(details => { details.open = true; }));
      await accessible(page, what);
    }
    await page.context().close();
  }
}

async function search(browser, base) {
  const page = await open(browser, base);
  await page.goto(`${base}index.html`);
  await page.keyboard.press('/');
  const box = page.getByRole('combobox');
  same(await box.evaluate(input => input === document.activeElement), true, '/ goes to the search box');
  await page.keyboard.type('create issue');
  // The first letters find tools as well.
  await page.locator('#found li:first-child b', { hasText: 'create_issue' }).waitFor().catch(() => {});
  same(await box.getAttribute('aria-expanded'), 'true', 'the list is announced as open');
  same(await page.locator('#found b').first().textContent(), 'create_issue', 'the words of its name find a tool');
  await page.keyboard.press('ArrowDown');
  same(await page.locator('#found [aria-selected=true] b').textContent(), 'create_issue', 'the arrow selects the first');
  same(await box.getAttribute('aria-activedescendant'), 'found-0', 'what is selected is announced');
  await page.keyboard.press('ArrowUp');
  same(await page.locator('#found [aria-selected=true]').count(), 0, 'the arrow goes back to the text');
  await page.keyboard.press('Escape');
  same(await page.locator('#found').isHidden(), true, 'Escape closes the list');
  await page.keyboard.press('ArrowDown');
  await page.locator('#found').waitFor();
  await page.keyboard.press('ArrowDown');
  await accessible(page, 'the open list');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/tools/create_issue.html');
  same(await page.locator('h1').textContent(), 'create_issue', 'Enter opens the tool');

  await page.keyboard.press('/');
  await page.locator('#q').fill('reviewers PULL');
  await page.locator('#found li').first().waitFor();
  check((await page.locator('#found b').allTextContents()).includes('request_pull_request_reviewers'), 'words in any order find a tool');
  await page.locator('#q').fill('merge pull');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search.html?q=merge+pull');
  await page.locator('.tools li').first().waitFor();
  check((await page.locator('#results .lead').textContent()).includes('merge pull'), 'Enter without a selection opens all results');
  await page.locator('.tools a').first().click();
  await page.waitForURL('**/tools/*.html');
  await page.goto(`${base}search.html?q=bake+a+cake`);
  await page.locator('#results .hints a').first().waitFor();
  check((await page.locator('#results').textContent()).includes('No tool matches'), 'nothing fits');
  await page.locator('#results .hints a').first().click();
  await page.waitForURL('**/categories/*.html');
  await page.goto(`${base}search.html?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E`);
  await page.waitForFunction(() => document.querySelector('#results q'));
  same(await page.locator('#results img').count(), 0, 'a query is text');
  await page.context().close();
}

/** Payloads load when one is chosen; a page opened from disk opens their file. */
async function payloads(page, base) {
  const form = page.locator('form.payload'), select = page.getByLabel('Provider');
  same(await select.locator('option').count(), 11, 'each provider has a payload');
  if (!base.startsWith('http')) {
    await page.locator('#payloads ~ p a').click();
    check(page.url().endsWith('/payloads/issue_write.json'), 'payloads are linked', page.url());
    return void await page.goBack();
  }
  const file = await form.getAttribute('action');
  const all = JSON.parse(await page.evaluate(href => fetch(href).then(answer => answer.text()), file));
  for (const key of ['gemini', 'anthropic', 'langchain']) {
    await select.selectOption(key);
    await page.locator('form.payload + div pre').waitFor();
    await page.waitForFunction(text => JSON.stringify(JSON.parse(document.querySelector('form.payload + div pre').textContent)) === text, JSON.stringify(all[key]));
    same(await page.locator('form.payload + div .copy').count(), 1, `${key} can be copied`);
  }
}

async function follow(browser, base) {
  const page = await open(browser, base);
  await page.goto(`${base}index.html`);
  await page.getByRole('link', { name: /^Issues/ }).first().click();
  await page.waitForURL('**/categories/Issues.html');
  await page.getByRole('main').getByRole('link', { name: 'issue_write', exact: true }).click();
  await page.waitForURL('**/tools/issue_write.html');
  same(await page.locator('nav [aria-current=page]').first().textContent(), 'issue_write', 'the navigation shows where one is');
  await page.getByRole('link', { name: 'Payloads' }).click();
  same(new URL(page.url()).hash, '#payloads', 'parts of the page have addresses');
  await payloads(page, base);
  await page.getByRole('link', { name: 'issue_write.md' }).click();
  check(page.url().endsWith('/tools/issue_write.md'), 'the doc for agents is linked', page.url());
  await page.goto(`${base}index.html`);
  await page.keyboard.press('Tab');
  same(await page.evaluate(() => document.activeElement.textContent), 'Skip to content', 'the first stop is the skip link');
  await page.keyboard.press('Enter');
  same(await page.evaluate(() => document.activeElement.id), 'main', 'it leads to the content');
  await page.context().close();

  const phone = await open(browser, base, { viewport: { width: 360, height: 800 } });
  await phone.goto(`${base}tools/issue_write.html`);
  same(await phone.locator('#nav').isHidden(), true, 'the navigation is folded on a phone');
  await phone.getByRole('button', { name: 'Navigation' }).click();
  await phone.getByRole('link', { name: /^Findings/ }).first().click();
  await phone.waitForURL('**/findings.html');
  await phone.context().close();
}

async function copy(browser, base) {
  const page = await open(browser, base, base.startsWith('http') ? { permissions: ['clipboard-read', 'clipboard-write'] } : {});
  await page.goto(`${base}tools/issue_write.html`);
  const text = await page.locator('#call ~ .box pre').textContent();
  const button = page.getByRole('button', { name: 'Copy the call', exact: true });
  await button.click();
  await page.waitForFunction(() => [...document.querySelectorAll('.copy')].some(one => one.textContent === 'Copied'));
  if (base.startsWith('http')) {
    same(await page.evaluate(() => navigator.clipboard.readText()), text, 'the call is on the clipboard');
    JSON.parse(text);
  }
  await page.context().close();
}

async function theme(browser, base) {
  const page = await open(browser, base, { colorScheme: 'light' });
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.goto(`${base}index.html`);
  const light = await colour();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  const dark = await colour();
  check(light !== dark, 'the theme changes', light);
  await page.goto(`${base}findings.html`);
  same(await colour(), dark, 'the theme is remembered');
  await page.reload();
  same(await colour(), dark, 'the theme is remembered after a reload');
  same(await page.getByRole('button', { name: 'Dark theme' }).getAttribute('aria-pressed'), 'true', 'the button says so');
  await page.context().close();
}

async function withoutScript(browser, base, paths) {
  const page = await open(browser, base, { javaScriptEnabled: false });
  for (const path of paths) {
    await page.goto(base + path);
    same(await page.locator('h1').count(), 1, `${path} is whole without scripts`);
    same(await page.locator('.find').isVisible(), false, `${path} offers no search that cannot work`);
    same(await page.locator('#nav').isVisible(), true, `${path} has its navigation`);
  }
  await page.goto(`${base}search.html`);
  check((await page.locator('main').textContent()).includes('JavaScript'), 'the search page says what it needs');
  await page.goto(`${base}tools/issue_write.html`);
  await page.locator('#payloads ~ p a').click();
  check((await page.locator('body').textContent()).includes('"anthropic": {'), 'payloads can be read without scripts');
  await page.goBack();
  await page.emulateMedia({ media: 'print' });
  same(await page.locator('#nav').isVisible(), false, 'the navigation is not printed');
  await page.context().close();
}

async function hostile(browser, base, root) {
  const page = await open(browser, base);
  const tools = readdirSync(join(root, 'tools')).filter(name => name.endsWith('.html')).map(name => `tools/${name}`);
  for (const path of ['index.html', 'findings.html', 'search.html?q=a', ...tools]) {
    await page.goto(base + path);
    const handlers = await page.evaluate(() => [...document.querySelectorAll('*')].filter(element =>
      [...element.attributes].some(({ name, value }) => name.startsWith('on') || name === 'style' || /^\s*javascript:/i.test(value))).length);
    same(handlers, 0, `${path} has no handler`);
    same(await page.evaluate(() => [...document.scripts].every(script => script.src && !script.textContent)), true, `${path} has no script of its own`);
    same(await page.locator('main img, main iframe, main form:not(.payload), main input').count(), 0, `${path} has nothing that loads`);
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} stays within the screen`);
  }
  await page.context().close();
}

/** A server with an agent and an operator, a call that waits, and calls that failed. */
async function operated(program, root) {
  const tokens = { T_AGENT: 'agent-token-0123456789', T_ROOT: 'root-token-0123456789' };
  mkdirSync(root);
  writeFileSync(join(root, 'tools.json'), JSON.stringify([
    { name: 'pay_bill', op: 'bank.bill.pay', effect: 'destructive', approval: true, description: 'Pay a bill. The money is gone.',
      parameters: { type: 'object', properties: { to: { type: 'string' }, amount: { type: 'number' }, note: { type: 'string' } }, required: ['to'] },
      backend: { type: 'static', content: 'paid' } },
    { name: 'read_balance', op: 'bank.balance.read', effect: 'read', description: 'Read the balance of an account.',
      parameters: { type: 'object', properties: { account: { type: 'string' } }, required: ['account'] }, backend: { type: 'static', content: 7 } },
  ]));
  writeFileSync(join(root, 'lister.mjs'), LISTER);
  writeFileSync(join(root, 'toolcrib.toml'), `title = "Bank"
[exec]
allow = "destructive"
[state]
url = "state.db"
[[serve.token]]
env = "T_AGENT"
name = "agent"
roles = ["clerk"]
[[serve.token]]
env = "T_ROOT"
name = "root"
roles = ["*"]
[[source]]
path = "tools.json"
[[source]]
server = "mail"
mcp = { command = ["${process.execPath}", "lister.mjs"] }
[[source]]
server = "gone"
mcp = { command = ["no-such-program-at-all"] }
`);
  const server = spawn(program, ['serve', root, '--listen', '127.0.0.1:0'], { env: { ...process.env, ...tokens }, stdio: ['ignore', 'ignore', 'pipe'] });
  const base = await new Promise((done, failed) => {
    let told = '';
    server.stderr.on('data', data => { told += data; const found = /listening on (http:\/\/[0-9.:]+)/.exec(told); if (found) done(`${found[1]}/`); });
    server.on('exit', () => failed(new Error(told)));
  });
  const call = async (path, body) => (await fetch(`${base}v1/${path}`, { method: 'POST', body: JSON.stringify(body), headers: {
    authorization: `Bearer ${tokens.T_AGENT}`, 'content-type': 'application/json', 'x-session-id': 's-42' } })).json();
  return { server, base, call, tokens };
}

/** A live server whose list has a definition to repair. */
const LISTER = `import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', line => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === 'initialize' ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'mail', version: '1' } }
    : method === 'tools/list' ? { tools: [{ name: 'send', description: 'Send a mail.', inputSchema: { type: 'object', properties: { to: { type: 'string' } } } },
        { name: 'odd', description: 'A tool with a mistake.', inputSchema: '{"type": "object"}' }] } : undefined;
  console.log(JSON.stringify(result ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }));
});
`;

/** An operator approves a call, and finds a failed one. */
async function operate(browser, program, root) {
  const { server, base, call, tokens } = await operated(program, root);
  try {
    await call('tool_search', { query: 'read the balance' });
    await call('read_tool_doc', { names: ['pay_bill'] });
    await call('tool_exec', { op: 'bank.balance.read', args: { account: 'a-1' } });
    await call('tool_exec', { op: 'bank.balance.read', args: {} });
    await call('tool_search', { query: 'zymurgy of the quagga' });
    const bill = { op: 'bank.bill.pay', args: { to: 'bob@example.com', amount: 12.5, note: 'For the garden.\nThe second half comes in May.' } };
    same((await call('tool_exec', bill)).error.code, 'APPROVAL_REQUIRED', 'the call waits');
    const signIn = async page => {
      await page.goto(`${base}sign-in?return=/approvals.html`);
      await page.getByLabel('Token').fill(tokens.T_ROOT);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL('**/approvals.html');
    };
    const page = await open(browser, base);
    await signIn(page);
    await page.getByRole('main').getByRole('link', { name: 'bank.bill.pay' }).click();
    check((await page.locator('#arguments ~ pre').textContent()).includes('The second half comes in May.'), 'all arguments are shown');
    const approval = page.url();
    const session = `${base}sessions/s-42?caller=agent`;
    const paths = ['approvals.html', approval.slice(base.length), 'sessions.html', 'sessions.html?outcome=failed', session.slice(base.length), 'usage.html', 'servers.html'];
    for (const colorScheme of ['light', 'dark']) for (const width of [360, 768, 1280]) {
      const page = await open(browser, base, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
      await signIn(page);
      for (const path of paths) {
        await page.goto(base + path);
        const what = `${path} (${colorScheme}, ${width})`;
        same(await page.evaluate(() => document.documentElement.scrollWidth), width, `${what} is as wide as the screen`);
        same(await page.locator('h1').count(), 1, `${what} has one heading`);
        await page.evaluate(() => document.querySelectorAll('main details').forEach(details => { details.open = true; }));
        await accessible(page, what);
        if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `${path.replace(/\W+/g, '-').replace(/ap_\w+/, 'one')}-${width}-${colorScheme}.png`), fullPage: true });
      }
      await page.context().close();
    }
    await page.getByLabel(/Reason/).fill('The garden is fine.');
    await page.getByRole('button', { name: 'Yes, run it once' }).click();
    await page.getByText('approved, not used yet').waitFor();
    same((await call('tool_exec', bill)).result, 'paid', 'the approved call runs');
    same((await call('tool_exec', bill)).error.code, 'APPROVAL_REQUIRED', 'it runs once');

    await page.getByRole('link', { name: 'Sessions', exact: true }).first().click();
    await page.getByLabel('Outcome').fill('failed');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('VALIDATION_ERROR').first().waitFor();
    await page.getByRole('link', { name: 'session s-42' }).last().click();
    same(await page.locator('h1').textContent(), 's-42', 'the failed call leads to its session');
    const kinds = await page.locator('.events > li .badges > :first-child').allTextContents();
    same(kinds.slice(0, 5).join(), 'search,page,call,call,search', 'the session is in order');
    const lines = await page.request.get(new URL(await page.getByRole('link', { name: 'JSON Lines' }).getAttribute('href'), page.url()).href);
    check((await lines.text()).trim().split('\n').every(line => JSON.parse(line).kind), 'a session is exported as JSON Lines');
    await page.context().close();

    const plain = await open(browser, base, { javaScriptEnabled: false });
    await signIn(plain);
    await plain.goto(`${base}approvals.html`);
    await plain.getByRole('main').getByRole('link', { name: 'bank.bill.pay' }).first().click();
    await plain.getByRole('button', { name: 'No', exact: true }).click();
    await plain.locator('.effect.denied').waitFor();
    await plain.context().close();
  } finally {
    server.removeAllListeners('exit');
    server.kill();
  }
}

/** Serves a catalog with the program, and gives its address when it answers. */
function serveWith(program, catalog) {
  const child = spawn(program, ['serve', catalog, '--listen', '127.0.0.1:0'], { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((done, failed) => {
    let log = '';
    child.stderr.on('data', data => {
      log += data;
      const address = /listening on (http:\/\/[\d.:]+)/.exec(log);
      if (address) done([child, `${address[1]}/`]);
    });
    child.on('exit', () => failed(new Error(log)));
  });
}

/** A person connects a client, searches for a tool and tries it. */
async function served(browser, base, javaScriptEnabled) {
  const page = await open(browser, base, { javaScriptEnabled, permissions: javaScriptEnabled ? ['clipboard-read', 'clipboard-write'] : [] });
  await page.goto(base);
  const what = javaScriptEnabled ? 'with scripts' : 'without scripts';
  for (const client of ['Claude Code', 'Claude Desktop', 'Cursor', 'VS Code', 'Codex', 'opencode', 'Gemini CLI', 'Windsurf']) {
    const snippet = await page.locator(`[data-copy="the snippet for ${client}"]`).textContent();
    check(snippet.includes(`${base}mcp`), `the snippet for ${client} has the address ${what}`, snippet);
    if (snippet.startsWith('{')) JSON.parse(snippet);
  }
  if (javaScriptEnabled) {
    await page.getByText('Cursor', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy the snippet for Cursor' }).click();
    await page.waitForFunction(() => [...document.querySelectorAll('.copy')].some(one => one.textContent === 'Copied'));
    same(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).mcpServers.toolcrib.url, `${base}mcp`, 'the snippet is on the clipboard');
  }
  await page.getByLabel('Search tools').fill('get a ntoe');
  if (javaScriptEnabled) {
    await page.locator('#found li').first().waitFor();
  }
  await page.getByLabel('Search tools').press('Enter');
  await page.waitForURL('**/search.html?q=*');
  await page.getByRole('main').getByRole('link', { name: 'get_note' }).click();
  await page.waitForURL('**/tools/get_note.html');
  const send = async name => { await page.getByRole('button', { name, exact: true }).press('Enter'); await page.waitForLoadState(); };
  await page.getByLabel('id', { exact: false }).first().fill('many');
  await send('Dry run');
  const invalid = page.locator('[aria-invalid]');
  same(await invalid.count(), 1, `one field is wrong ${what}`);
  check((await page.locator('.field .problem').textContent()).includes('integer'), `its error stands at it ${what}`);
  await invalid.fill('7');
  await send('Dry run');
  check((await page.locator('.outcome').textContent()).includes('fits'), `the call fits ${what}`);
  check(!(await page.locator('.try').textContent()).includes('the note itself'), `a dry run runs nothing ${what}`);
  await send('Run it');
  check((await page.locator('.try').textContent()).includes('the note itself'), `the tool has run ${what}`);
  await page.context().close();
}

const program = process.argv[2] || (() => {
  execFileSync('cargo', ['build', '--release', '--locked'], { cwd: project, stdio: 'inherit' });
  return join(process.env.CARGO_TARGET_DIR || join(project, 'target'), 'release/toolcrib');
})();
if (!browserPath) {
  execFileSync(join(project, '.ci/not_checked'), ['the pages in a browser', 'there is no Chromium'], { stdio: 'inherit' });
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'toolcrib-pages-'));
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
try {
  const [site, odd] = [join(folder, 'github'), join(folder, 'hostile')];
  render(program, join(project, 'examples/github'), site);
  render(program, join(project, 'tests/golden/hostile/tools.json'), odd);
  [site, odd].forEach(sizes);
  const [server, oddServer] = [await serve(site), await serve(odd)];
  const http = server => `http://127.0.0.1:${server.address().port}/`;
  const file = root => `${pathToFileURL(root).href}/`;
  const kinds = ['index.html', 'categories/Issues.html', 'tools/issue_write.html', 'tools/projects_write.html', 'profiles.html', 'profiles/core.html', 'findings.html', 'search.html?q=issue', '404.html'];
  for (const base of [file(site), http(server)]) {
    await looks(browser, base, kinds);
    await search(browser, base);
    await follow(browser, base);
    await copy(browser, base);
    await theme(browser, base);
    await withoutScript(browser, base, kinds);
  }
  await hostile(browser, file(odd), odd);
  await hostile(browser, http(oddServer), odd);
  await operate(browser, program, join(folder, 'bank'));
  server.close();
  oddServer.close();
  const notes = join(folder, 'notes.json');
  writeFileSync(notes, JSON.stringify([
    { name: 'get_note', description: 'Get a note.', effect: 'read', backend: { type: 'static', content: 'the note itself' },
      parameters: { type: 'object', required: ['id'], properties: { id: { type: 'integer', description: 'The number of the note.' }, level: { enum: ['low', 'high'] },
        tags: { type: 'array', items: { type: 'string' } }, options: { type: 'object', properties: { path: { type: 'string' } } },
        target: { oneOf: [{ type: 'object', properties: { kind: { const: 'user' }, name: { type: 'string' } } }, { type: 'object', properties: { kind: { const: 'team' }, slug: { type: 'string' } } }] } } } },
    { name: 'add_comment', description: 'Add a comment to a note.', effect: 'write', parameters: { type: 'object', properties: { text: { type: 'string' } } } },
  ]));
  const [child, base] = await serveWith(program, notes);
  try {
    await looks(browser, base, ['index.html', 'tools/get_note.html', 'search.html?q=note', 'search.html?q=bake+a+cake', 'findings.html', 'profiles.html']);
    await served(browser, base, true);
    await served(browser, base, false);
  } finally {
    child.kill();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
console.log(`${checks} checks, ${failures} failed`);
process.exit(failures ? 1 : 0);
