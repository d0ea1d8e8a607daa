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

  // Search without a server: a filter by words of the name and the short description. The list of tools is loaded when somebody is
  // about to search.
  let loading;
  const load = base => {
    loading ||= new Promise((done, failed) => {
      const element = document.createElement('script');
      element.src = `${base}search-index.js`;
      element.onload = () => done(window.toolcribTools);
      element.onerror = () => failed(new Error(element.src));
      document.head.append(element);
    });
    loading.catch(() => { loading = undefined; });
    return loading;
  };
  const plain = text => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const filter = (tools, query) => {
    const words = plain(query).split(/[^\p{L}\p{N}]+/u);
    const fits = ([name, , short]) => { const text = plain(`${name} ${short}`); return words.every(word => text.includes(word)); };
    return tools.filter(fits).map(([name, file, short, effect]) => ({ name, href: `tools/${file}.html`, short, effect }));
  };

  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const isServed = () => 'served' in document.body.dataset;
  const search = async (base, text) => {
    const query = [...text.trim()].slice(0, 200).join('');
    if (!query) return { tools: [] };
    if (!isServed()) return { tools: filter(await load(base), query) };
    const answer = await fetch(`${base}search.json?q=${encodeURIComponent(query)}`);
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
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
    const go = tool => { location.href = base + tool.href; };
    const update = async () => {
      const text = input.value;
      const { tools: all, verdict } = await search(base, text).catch(() => ({ tools: [] }));
      if (text !== input.value) return;
      shown = all.slice(0, 10);
      list.replaceChildren(...shown.map((tool, index) => {
        const item = make('li', { id: `found-${index}` }, make('b', { textContent: tool.name }), make('small', { textContent: tool.summary || tool.short, dir: 'auto' }));
        item.setAttribute('role', 'option');
        item.addEventListener('mousedown', event => { event.preventDefault(); go(tool); });
        return item;
      }));
      select(-1);
      list.hidden = !shown.length;
      input.setAttribute('aria-expanded', String(shown.length > 0));
      status.textContent = !text.trim() ? '' : verdict === 'no_match' || !all.length ? 'No tool fits' : `${all.length} found`;
    };
    let waiting;
    input.addEventListener('focus', () => { if (!isServed()) load(base).catch(() => {}); });
    // A server is asked when a person stops typing.
    input.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(update, isServed() ? 150 : 0); });
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
    if (!results || isServed() || !query) return;
    document.getElementById('q').value = query;
    const { tools } = await search(base, query).catch(() => ({ tools: [] }));
    const items = tools.map(tool => make('li', {},
      make('a', { href: base + tool.href, textContent: tool.name }), ' ',
      make('span', { className: `effect ${tool.effect}`, textContent: tool.effect }),
      make('p', { dir: 'auto', textContent: tool.short })));
    const quoted = make('q', { textContent: query, dir: 'auto' });
    const count = tools.length > 1 ? `${tools.length} tools match ` : `${tools.length ? 1 : 'No'} tool matches `;
    results.replaceChildren(make('p', { className: 'lead' }, count, quoted, '.'), make('ul', { className: 'tools' }, ...items));
    if (tools.length) return;
    const categories = [...document.querySelectorAll('.side .d0 > a')].slice(0, 12);
    results.append(make('h2', { textContent: 'Look into' }), make('ul', { className: 'hints' }, ...categories.map(link =>
      make('li', {}, make('a', { href: link.href, textContent: link.firstElementChild.textContent, dir: 'auto' })))));
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
  // The value of a key in a file, in place of a block.
  const show = (place, path, key, name) => {
    const status = make('p', { className: 'remark', textContent: 'Loading …' });
    status.setAttribute('role', 'status');
    place.replaceChildren(status);
    return fileText(path).then(text => {
      const block = make('pre', { tabIndex: 0 }, make('code', { textContent: valueText(text, key) }));
      block.dataset.copy = name;
      status.replaceWith(block);
      copyButton(block);
    }).catch(() => {
      status.removeAttribute('role');
      status.replaceChildren('It could not be loaded. ', make('a', { href: path, textContent: 'Open the file' }));
    });
  };
  function forms() {
    for (const select of document.querySelectorAll('[data-choice]')) {
      const choose = () => [...select.closest('fieldset').children].filter(one => 'form' in one.dataset).forEach(one => { one.hidden = one.dataset.form !== select.value; });
      select.addEventListener('change', choose);
      choose();
    }
    if (location.protocol === 'file:') return;
    for (const form of document.querySelectorAll('form[data-file]')) {
      const place = make('div'), select = form.querySelector('select');
      form.after(place);
      form.addEventListener('submit', event => {
        event.preventDefault();
        const key = select.value, title = select.selectedOptions[0].textContent.split(' · ')[0];
        show(place, form.dataset.file, key, title);
      });
      select.addEventListener('change', () => form.requestSubmit());
    }
    for (const item of document.querySelectorAll('[data-file] > [data-key]')) {
      const title = item.querySelector('span');
      const name = title.textContent.trim();
      title.remove();
      const place = make('div'), details = make('details', {}, make('summary', {}, name), place);
      item.append(details);
      details.addEventListener('toggle', () => {
        if (details.open && !place.firstChild) show(place, item.parentElement.dataset.file, item.dataset.key, name);
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
