// The inbox page. All mail content is inserted as text; its HTML is shown in a sandboxed frame with its own URL.

const PAGE = 50;
const $ = (id) => document.getElementById(id);
const state = { mails: [], hasMore: false, selected: undefined, tab: 'html', pictures: false, phone: false };

/** Creates an element with attributes, properties such as `onclick`, and children. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element && typeof value !== 'string') element[name] = value;
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

async function api(path, method = 'GET') {
  const response = await fetch(path, { method });
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.error.message), { status: response.status });
  return body;
}

const number = new Intl.NumberFormat();
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });

function shortTime(text) {
  const time = new Date(text);
  return time.toDateString() === new Date().toDateString() ? clock.format(time) : day.format(time);
}

function bytes(size) {
  if (size < 1000) return `${size} B`;
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

// ---- the list

function listQuery(before) {
  const query = new URLSearchParams({
    limit: String(before === undefined ? Math.max(PAGE, Math.min(state.mails.length, 1000)) : PAGE),
  });
  if ($('search').value.trim() !== '') query.set('search', $('search').value.trim());
  if (before !== undefined) query.set('before', before);
  return query;
}

let loading;
/**
 * Reloads the list. Changes during a reload are covered by a single further one, and under load, most of the time is
 * left to the server.
 */
async function refresh() {
  if (loading !== undefined) {
    loading.again = true;
    return;
  }
  loading = { again: false };
  const started = performance.now();
  try {
    const query = listQuery();
    const [page, stats] = await Promise.all([api(`/api/mails?${query}`), api(`/api/stats?${query}`)]);
    state.mails = page.data;
    state.hasMore = page.has_more;
    showList();
    showStats(stats.data);
  } finally {
    const { again } = loading;
    loading = undefined;
    if (again) setTimeout(refresh, 4 * (performance.now() - started));
  }
}

async function showOlder() {
  const page = await api(`/api/mails?${listQuery(state.mails.at(-1).id)}`);
  state.mails.push(...page.data);
  state.hasMore = page.has_more;
  showList();
}

function showStats({ mails, uniqueRecipients, duplicates }) {
  const plural = (count, one, many) => `${number.format(count)} ${count === 1 ? one : many}`;
  const parts = [plural(mails, 'mail', 'mails'), plural(uniqueRecipients, 'recipient', 'recipients')];
  if (duplicates > 0) parts.push(plural(duplicates, 'duplicate', 'duplicates'));
  $('stats').textContent = parts.join(' · ');
  document.title = `${mails === 0 ? '' : `(${number.format(mails)}) `}Inbox · Postroom`;
  $('clear').disabled = mails === 0;
}

const rows = new Map();
function showList() {
  const shown = state.mails.map((mail) => {
    if (!rows.has(mail.id)) rows.set(mail.id, listRow(mail));
    return rows.get(mail.id);
  });
  $('mails').replaceChildren(...shown);
  const wanted = new Set(state.mails.map((mail) => mail.id));
  for (const id of rows.keys()) if (!wanted.has(id)) rows.delete(id);
  $('more').hidden = !state.hasMore;
  markSelected();
  if (state.selected === undefined) showNothing();
}

function listRow(mail) {
  const link = el(
    'a',
    { href: `#${mail.id}` },
    el('span', { class: 'recipient' }, mail.recipient),
    el(
      'time',
      { datetime: mail.receivedAt, title: full.format(new Date(mail.receivedAt)) },
      shortTime(mail.receivedAt),
    ),
    el('span', { class: 'subject' }, mail.subject || '(no subject)'),
    el('span', { class: 'sender' }, mail.sender || mail.mailFrom),
  );
  return el('li', {}, link);
}

function markSelected() {
  for (const link of $('mails').querySelectorAll('a')) {
    if (link.hash.slice(1) === state.selected) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

// ---- one mail

async function open(id) {
  state.selected = id;
  markSelected();
  if (id === undefined) return showNothing();
  try {
    const { data } = await api(`/api/mails/${id}`);
    if (state.selected === id) showMail(data);
  } catch (error) {
    if (error.status !== 404) throw error;
    location.hash = '';
  }
}

function showNothing() {
  const empty = state.mails.length === 0 && $('search').value === '';
  const words = empty
    ? el('p', { class: 'empty' }, 'No mail yet. Everything this system sends arrives here; nothing is delivered.')
    : el('p', { class: 'empty' }, state.mails.length === 0 ? 'No matching mail.' : 'Select a mail.');
  $('mail').replaceChildren(words);
}

const TABS = { html: 'HTML', text: 'Text', headers: 'Headers', source: 'Source' };
const people = (list) => list.map(({ name, address }) => (name ? `${name} <${address}>` : address)).join(', ');

function showMail(mail) {
  const tabs = Object.entries(TABS).filter(([tab]) => !(tab in mail) || mail[tab] !== null);
  const tab = tabs.some(([name]) => name === state.tab) ? state.tab : tabs[0][0];
  const facts = [
    ['From', people(mail.from) || mail.mailFrom],
    ['To', people(mail.to) || mail.recipient],
    ['Cc', people(mail.cc)],
    ['Reply-to', people(mail.replyTo)],
    [
      'Delivered',
      mail.to.some(({ address }) => address.toLowerCase() === mail.recipient) ? '' : `to ${mail.recipient}`,
    ],
    ['Received', `${full.format(new Date(mail.receivedAt))} · ${bytes(mail.size)}`],
  ].filter(([, value]) => value !== '');
  $('mail').replaceChildren(
    el(
      'div',
      { class: 'top' },
      el(
        'div',
        { class: 'line' },
        el('button', { class: 'back', type: 'button', onclick: () => (location.hash = '') }, '‹ Mails'),
        el('h1', {}, mail.subject || '(no subject)'),
        el('button', { class: 'delete danger', type: 'button', onclick: () => remove(mail.id) }, 'Delete'),
      ),
      el('dl', {}, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
      attachmentList(mail),
      el('div', { class: 'bar' }, tabBar(mail, tabs, tab), options(mail, tab)),
    ),
    el('div', { class: 'body' }, body(mail, tab)),
  );
}

function attachmentList({ id, attachments }) {
  if (attachments.length === 0) return undefined;
  const items = attachments.map(({ index, filename, size, mimeType }) =>
    el(
      'li',
      {},
      el(
        'a',
        { href: `/api/mails/${id}/attachments/${index}`, title: mimeType },
        filename ?? mimeType,
        ' ',
        el('small', {}, bytes(size)),
      ),
    ),
  );
  return el('ul', { class: 'attachments', 'aria-label': 'Attachments' }, ...items);
}

function tabBar(mail, tabs, chosen) {
  const choose = (tab) => () => {
    state.tab = tab;
    showMail(mail);
    document.querySelector('.tabs [aria-selected=true]').focus();
  };
  const buttons = tabs.map(([tab, label]) =>
    el('button', { type: 'button', role: 'tab', 'aria-selected': String(tab === chosen), onclick: choose(tab) }, label),
  );
  return el('div', { class: 'tabs', role: 'tablist' }, ...buttons);
}

function options(mail, tab) {
  const box = (name, label, attributes = {}) => {
    const change = ({ target }) => {
      state[name] = target.checked;
      showMail(mail);
    };
    return el('label', attributes, el('input', { type: 'checkbox', checked: state[name], onchange: change }), label);
  };
  if (tab === 'source')
    return el('div', { class: 'options' }, el('a', { href: `/api/mails/${mail.id}/source?download` }, 'Download .eml'));
  if (tab !== 'html') return undefined;
  const remote = /\b(src|background)\s*=\s*["']?https?:|url\(\s*["']?https?:/i.test(mail.html);
  return el(
    'div',
    { class: 'options' },
    remote
      ? box('pictures', 'Load images', { title: 'Loads remote images, including the open-tracking pixel' })
      : undefined,
    box('phone', 'Mobile width', { class: 'only-wide' }),
  );
}

function body(mail, tab) {
  if (tab === 'html') {
    const src = `/mails/${mail.id}/html${state.pictures ? '?pictures' : ''}`;
    return el('iframe', {
      src,
      sandbox: 'allow-popups allow-popups-to-escape-sandbox',
      title: 'The mail',
      class: state.phone ? 'phone' : '',
    });
  }
  if (tab === 'text') return el('pre', { class: 'text' }, mail.text);
  if (tab === 'headers')
    return el(
      'table',
      {},
      ...mail.headers.map(({ name, value }) => el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, value))),
    );
  const pre = el('pre', {}, 'Loading…');
  void fetch(`/api/mails/${mail.id}/source`)
    .then((response) => response.text())
    .catch(() => 'The inbox is not responding.')
    .then((text) => (pre.textContent = text));
  return pre;
}

async function remove(id) {
  const place = state.mails.findIndex((mail) => mail.id === id);
  const next = state.mails[place + 1] ?? state.mails[place - 1];
  await api(`/api/mails/${id}`, 'DELETE');
  location.hash = next === undefined || matchMedia('(max-width: 700px)').matches ? '' : next.id;
  await refresh();
}

// ---- what happens

const fromHash = () => open(location.hash.slice(1) || undefined);
addEventListener('hashchange', fromHash);

let typing;
$('search').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(refresh, 150);
});
$('more').addEventListener('click', showOlder);
new IntersectionObserver(([entry]) => entry.isIntersecting && !$('more').hidden && showOlder(), {
  root: $('list'),
  rootMargin: '300px',
}).observe($('more'));

$('clear').addEventListener('click', () => $('confirm').showModal());
$('confirm').addEventListener('close', async () => {
  if ($('confirm').returnValue !== 'delete') return;
  await api('/api/mails', 'DELETE');
  location.hash = '';
  await refresh();
});

addEventListener('keydown', (event) => {
  if (event.target.closest?.('input, dialog') || event.metaKey || event.ctrlKey || event.altKey) return;
  const place = state.mails.findIndex((mail) => mail.id === state.selected);
  const go = { j: place + 1, ArrowDown: place + 1, k: place - 1, ArrowUp: place - 1 }[event.key];
  if (go !== undefined && state.mails[go] !== undefined) {
    location.hash = state.mails[go].id;
    rows.get(state.mails[go].id).scrollIntoView({ block: 'nearest' });
  } else if (event.key === '/') $('search').focus();
  else if (event.key === 'Delete' && state.selected !== undefined) void remove(state.selected);
  else return;
  event.preventDefault();
});

const events = new EventSource('/api/events');
const setLive = (on) => {
  $('live').classList.toggle('off', !on);
  $('live').textContent = on ? 'live' : 'connecting…';
};
events.addEventListener('open', () => {
  setLive(true);
  void refresh();
});
events.addEventListener('error', () => setLive(false));
events.addEventListener('changed', refresh);

await refresh();
await fromHash();
