import { type Entry, find, type Index, indexOf } from './find.ts';

/** The search in all pages. The first word loads their texts. */

// The script is in assets/ of the site.
const root = new URL('..', import.meta.url);
const maxResults = 12;
/** Characters of a text that are shown before and after the word. */
const around = [60, 140] as const;

interface Texts {
  entries: Entry[];
  index: Index;
}

const load = async (): Promise<Texts> => {
  const response = await fetch(new URL('search.json', root));
  if (!response.ok) throw new Error(`search.json: ${response.status}`);
  const entries = (await response.json()) as Entry[];
  return { entries, index: indexOf(entries) };
};

/** The part of a text with the first of the words, which is marked. */
const excerpt = (text: string, words: string[]): (Node | string)[] => {
  const lower = text.toLowerCase();
  const places = words.map((word) => ({ at: lower.indexOf(word), word })).filter(({ at }) => at >= 0);
  const [first = { at: 0, word: '' }] = places.sort((a, b) => a.at - b.at);
  const end = first.at + first.word.length;
  const from = Math.max(0, first.at - around[0]);
  const mark = document.createElement('mark');
  mark.textContent = text.slice(first.at, end);
  return [
    from > 0 ? '… ' : '',
    text.slice(from, first.at),
    mark,
    text.slice(end, end + around[1]),
    end + around[1] < text.length ? ' …' : '',
  ];
};

const itemOf = ([path, anchor, page, title, text]: Entry, words: string[]): HTMLLIElement => {
  const link = document.createElement('a');
  link.href = new URL(path + (anchor && `#${anchor}`), root).href;
  const name = document.createElement('strong');
  name.textContent = anchor ? `${page} › ${title}` : page;
  const shown = document.createElement('span');
  shown.append(...excerpt(text, words));
  link.append(name, shown);
  const item = document.createElement('li');
  item.append(link);
  return item;
};

export const startSearch = (): void => {
  const field = document.querySelector<HTMLInputElement>('#search');
  const results = document.querySelector<HTMLElement>('#results');
  const status = document.querySelector<HTMLElement>('#found');
  if (!field || !results || !status) return;
  let loading: Promise<Texts> | undefined;

  const show = async (): Promise<void> => {
    const words = field.value.trim();
    results.hidden = words.length < 2;
    if (results.hidden) return;
    loading ??= load();
    const { entries, index } = await loading;
    if (field.value.trim() !== words) return;
    const found = find(index, words);
    status.textContent = found.length ? `${found.length} results` : 'No results';
    if (!found.length) return void results.replaceChildren(`Nothing found for “${words}”. Try fewer words.`);
    const list = document.createElement('ul');
    for (const { id, terms } of found.slice(0, maxResults)) list.append(itemOf(entries[id] as Entry, terms));
    results.replaceChildren(list);
  };
  const reported = (): void =>
    void show().catch(() => {
      loading = undefined;
      results.replaceChildren('The search could not be loaded. Reload the page.');
    });

  const links = () => [...results.querySelectorAll('a')];
  const step = (by: number): void => {
    const at = links().indexOf(document.activeElement as HTMLAnchorElement) + by;
    if (at < 0) field.focus();
    else links()[at]?.focus();
  };
  const close = (): void => {
    results.hidden = true;
    field.focus();
  };

  field.disabled = false;
  field.addEventListener('input', reported);
  field.addEventListener('focus', reported);
  field.addEventListener('keydown', ({ key, isComposing }) => {
    if (key === 'Enter' && !isComposing) links()[0]?.click();
  });
  field.closest('search')?.addEventListener('keydown', (event) => {
    const { key } = event as KeyboardEvent;
    if (key === 'ArrowDown') step(1);
    else if (key === 'ArrowUp') step(-1);
    else if (key === 'Escape') close();
    else return;
    event.preventDefault();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !field.closest('search')?.contains(target)) results.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || document.activeElement === field) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
};
