// Opens the web pages of toolcrib in Chromium and checks what a person would. Usage: node check.mjs [PATH/TO/toolcrib]
//
// Two catalogs are rendered; each site is opened as files and over HTTP, in light and dark, at 360 and 1440 pixels.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
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
  await page.locator('#found li').first().waitFor();
  same(await box.getAttribute('aria-expanded'), 'true', 'the list is announced as open');
  same(await page.locator('#found b').first().textContent(), 'create_issue', 'the exact name comes first');
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
  await page.locator('#q').fill('reviewers');
  await page.locator('#found li').first().waitFor();
  check(await page.locator('#found li').count() > 0, 'tools are found by a parameter');
  await page.locator('#q').fill('milestone');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search.html?q=milestone');
  await page.locator('.tools li').first().waitFor();
  check((await page.locator('#results .lead').textContent()).includes('milestone'), 'Enter without a selection opens all results');
  await page.locator('.tools a').first().click();
  await page.waitForURL('**/tools/*.html');
  await page.goto(`${base}search.html?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E`);
  await page.waitForFunction(() => document.querySelector('#results q'));
  same(await page.locator('#results img').count(), 0, 'a query is text');
  await page.context().close();
}

/** Payloads load when they are opened; a page opened from disk has a link to them. */
async function payloads(page, base) {
  const link = page.locator('#payloads ~ p a');
  if (!base.startsWith('http')) {
    same(await page.locator('.forms details').count(), 0, 'nothing offers to load from disk');
    await link.click();
    check(page.url().endsWith('/payloads/issue_write.json'), 'payloads are linked', page.url());
    return void await page.goBack();
  }
  const all = JSON.parse(await page.evaluate(href => fetch(href).then(answer => answer.text()), await link.getAttribute('href')));
  const rows = page.locator('.forms [data-key]');
  for (let at = 0; at < await rows.count(); at += 1) {
    const row = rows.nth(at);
    same(await row.locator('pre').count(), 0, 'nothing is loaded before it is opened');
    await row.locator('summary').click();
    await row.locator('pre').waitFor();
    const key = await row.getAttribute('data-key');
    same(JSON.stringify(JSON.parse(await row.locator('pre').textContent())), JSON.stringify(all[key]), `${key} is shown as it is in the file`);
    same(await row.locator('.copy').count(), 1, `${key} can be copied`);
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
  same(await page.locator('#payloads ~ ul > li').count(), 11, 'each provider has a payload');
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
    same(await page.locator('main img, main iframe, main form, main input').count(), 0, `${path} has nothing that loads`);
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} stays within the screen`);
  }
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
  server.close();
  oddServer.close();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
console.log(`${checks} checks, ${failures} failed`);
process.exit(failures ? 1 : 0);
