// Theme, navigation, copy buttons and search. Pages are whole without it.
(() => {
  'use strict';
  const root = document.documentElement;
  root.classList.add('js');

  // The theme is set before anything is painted.
  const store = {
    get() { try { return localStorage.getItem('toolcrib-theme'); } catch { return null; } },
    set(theme) { try { localStorage.setItem('toolcrib-theme', theme); } catch { /* not remembered */ } },
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const theme = () => root.dataset.theme || (dark.matches ? 'dark' : 'light');
  if (['light', 'dark'].includes(store.get())) root.dataset.theme = store.get();

  // What follows has the same rules as src/site/search.rs.
  const MAX_QUERY = 200, MAX_WORDS = 12;
  const clip = text => { const all = [...text]; return all.length > MAX_QUERY ? all.slice(0, MAX_QUERY).join('').trimEnd() : text; };
  const words = text => ' ' + text.toLowerCase().split(/[^\p{Alphabetic}\p{N}]+/u).filter(Boolean).join(' ') + ' ';
  const place = (text, word, [whole, beginning, within]) =>
    text.includes(` ${word} `) ? whole : text.includes(` ${word}`) ? beginning : text.includes(word) ? within : 0;
  const score = (tool, list, query) => {
    let total = tool.flat === query ? 1000 : tool.flat.startsWith(query) ? 400 : 0;
    const named = total > 0;
    for (const word of list) {
      const best = Math.max(place(tool.inName, word, [60, 40, 25]), place(tool.inShort, word, [12, 8, 0]), place(tool.inMore, word, [6, 4, 0]));
      if (!best && !named) return 0;
      total += best;
    }
    return total;
  };
  const find = (tools, text) => {
    const list = words(clip(text)).split(' ').filter(Boolean).slice(0, MAX_WORDS);
    const query = list.join('');
    if (!query) return [];
    const found = [];
    tools.forEach((tool, at) => { const points = score(tool, list, query); if (points) found.push([points, at]); });
    found.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    return found.map(([, at]) => tools[at]);
  };
  let loading;
  const load = base => loading ||= new Promise((done, failed) => {
    const script = document.createElement('script');
    script.src = base + 'search-index.js';
    script.onload = () => done(window.toolcribIndex.tools.map(([name, file, short, category, effect, more]) => {
      const inName = words(name);
      return { name, file: file || name, short, category, effect, inName, flat: inName.replaceAll(' ', ''), inShort: words(short), inMore: words(`${category} ${more}`) };
    }));
    script.onerror = () => { loading = undefined; failed(new Error('no search index')); };
    document.head.append(script);
  });

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  function searchBox(base) {
    const input = document.getElementById('q');
    if (!input) return;
    const list = make('ul', { id: 'found', className: 'found', hidden: true });
    list.setAttribute('role', 'listbox');
    list.setAttribute('aria-label', 'Tools found');
    const status = make('p', { className: 'hidden' });
    status.setAttribute('role', 'status');
    input.closest('form').append(list, status);
    for (const [name, value] of Object.entries({ role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found', 'aria-autocomplete': 'list' })) input.setAttribute(name, value);
    let shown = [], active = -1;
    const close = () => {
      list.hidden = true; active = -1;
      input.setAttribute('aria-expanded', 'false');
      input.removeAttribute('aria-activedescendant');
    };
    const select = at => {
      [...list.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === at)));
      active = at;
      if (at < 0) return input.removeAttribute('aria-activedescendant');
      input.setAttribute('aria-activedescendant', `found-${at}`);
      list.children[at].scrollIntoView({ block: 'nearest' });
    };
    const go = tool => { location.href = `${base}tools/${tool.file}.html`; };
    const update = async () => {
      const text = input.value;
      const tools = await load(base).catch(() => []);
      if (text !== input.value) return;
      const all = find(tools, text);
      shown = all.slice(0, 10);
      list.replaceChildren(...shown.map((tool, index) => {
        const item = make('li', { id: `found-${index}` }, make('b', { textContent: tool.name }), make('small', { textContent: tool.short, dir: 'auto' }));
        item.setAttribute('role', 'option');
        item.addEventListener('mousedown', event => { event.preventDefault(); go(tool); });
        return item;
      }));
      select(-1);
      list.hidden = !shown.length;
      input.setAttribute('aria-expanded', String(shown.length > 0));
      status.textContent = text.trim() ? `${all.length} found` : '';
    };
    input.addEventListener('focus', () => { load(base).catch(() => {}); });
    input.addEventListener('input', update);
    input.addEventListener('blur', close);
    input.addEventListener('keydown', event => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && !list.hidden) {
        event.preventDefault();
        const places = shown.length + 1;
        select((active + 1 + step + places) % places - 1);
      } else if (step && input.value) {
        event.preventDefault();
        update();
      } else if (event.key === 'Enter' && active >= 0 && !event.isComposing) {
        event.preventDefault();
        go(shown[active]);
      } else if (event.key === 'Escape') {
        event.preventDefault();
        if (list.hidden) input.value = '';
        close();
      }
    });
    document.addEventListener('keydown', event => {
      const typing = event.target.closest('input, textarea, select, [contenteditable]');
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  }

  // The search page of a site without a server.
  async function searchPage(base) {
    const results = document.getElementById('results');
    const query = (new URLSearchParams(location.search).get('q') || '').trim();
    if (!results || 'served' in document.body.dataset || !query) return;
    document.getElementById('q').value = query;
    const all = find(await load(base).catch(() => []), query);
    const items = all.slice(0, 50).map(tool => make('li', {},
      make('a', { href: `${base}tools/${tool.file}.html`, textContent: tool.name }), ' ',
      make('span', { className: `effect ${tool.effect}`, textContent: tool.effect }),
      make('p', { dir: 'auto', textContent: tool.short })));
    const said = all.length ? `${all.length} tool${all.length === 1 ? '' : 's'} for ` : 'No tool has all words of ';
    results.replaceChildren(
      make('p', { className: 'lead' }, said, make('q', { textContent: query, dir: 'auto' }), all.length ? '' : '. Try fewer words, or another.'),
      make('ul', { className: 'tools' }, ...items));
  }

  // Schemas and payloads are loaded when one is opened. A page opened from disk may load nothing: it keeps its links.
  const files = new Map();
  const fileText = path => {
    if (!files.has(path)) {
      files.set(path, fetch(path).then(answer => { if (!answer.ok) throw new Error(answer.status); return answer.text(); }));
      files.get(path).catch(() => files.delete(path));
    }
    return files.get(path);
  };
  // The text of one value, unchanged: a key of the file stands behind two spaces, all else is further in.
  const valueText = (text, key) => {
    const lines = text.split('\n');
    const start = lines.findIndex(line => line.startsWith(`  "${key}": `));
    if (start < 0) throw new Error(key);
    let end = start;
    if (/[[{]$/.test(lines[start])) while (!/^  [\]}]/.test(lines[end])) end += 1;
    const own = lines.slice(start, end + 1).map(line => line.slice(2));
    own[0] = own[0].slice(key.length + 4);
    return own.join('\n').replace(/,$/, '');
  };
  function forms() {
    if (location.protocol === 'file:') return;
    for (const item of document.querySelectorAll('[data-file] > [data-key]')) {
      const path = item.parentElement.dataset.file, key = item.dataset.key;
      const title = item.querySelector('span');
      const name = title.firstChild.textContent.trim();
      title.remove();
      const details = make('details', {}, make('summary', {}, ...title.childNodes), ...item.childNodes);
      item.append(details);
      details.addEventListener('toggle', () => {
        if (!details.open || details.querySelector('pre, [role=status]')) return;
        const status = make('p', { className: 'remark', textContent: 'Loading …' });
        status.setAttribute('role', 'status');
        details.append(status);
        fileText(path).then(text => {
          const block = make('pre', { tabIndex: 0 }, make('code', { textContent: valueText(text, key) }));
          block.dataset.copy = name;
          status.replaceWith(block);
          copyButton(block);
        }).catch(() => {
          status.removeAttribute('role');
          status.replaceChildren('It could not be loaded. ', make('a', { href: path, textContent: 'Open the file' }));
        });
      });
    }
  }

  function copyButton(block) {
    const button = make('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    button.setAttribute('aria-label', `Copy ${block.dataset.copy}`);
    button.addEventListener('click', async () => {
      const text = block.textContent;
      let copied = true;
      try { await navigator.clipboard.writeText(text); } catch {
        const field = make('textarea', { value: text, className: 'hidden' });
        document.body.append(field);
        field.select();
        copied = document.execCommand('copy');
        field.remove();
        button.focus();
      }
      button.textContent = copied ? 'Copied' : 'Not copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    const box = make('div', { className: 'box' });
    block.before(box);
    box.append(block, button);
  }

  function themeButton() {
    const button = document.querySelector('.theme');
    const show = () => button.setAttribute('aria-pressed', String(theme() === 'dark'));
    button.addEventListener('click', () => {
      root.dataset.theme = theme() === 'dark' ? 'light' : 'dark';
      store.set(root.dataset.theme);
      show();
    });
    dark.addEventListener('change', show);
    show();
  }

  function navigation() {
    const [button, nav] = [document.querySelector('.menu'), document.getElementById('nav')];
    button.addEventListener('click', () => button.setAttribute('aria-expanded', String(nav.classList.toggle('open'))));
    const here = nav.querySelector('[aria-current]');
    if (here) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
    // Which part of the page is being read.
    const links = new Map([...document.querySelectorAll('.toc a')].map(link => [link.hash.slice(1), link]));
    if (!links.size || !window.IntersectionObserver) return;
    const seen = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        links.forEach(link => link.removeAttribute('aria-current'));
        links.get(target.id)?.setAttribute('aria-current', 'true');
      }
    }, { rootMargin: '-64px 0px -75% 0px' });
    links.forEach((_, id) => { const part = document.getElementById(id); if (part) seen.observe(part); });
  }

  document.addEventListener('DOMContentLoaded', () => {
    const base = document.body.dataset.root;
    // The page of signing in has no frame.
    if (base === undefined) return;
    themeButton();
    navigation();
    document.querySelectorAll('pre[data-copy]').forEach(copyButton);
    forms();
    searchBox(base);
    searchPage(base);
  });
})();
