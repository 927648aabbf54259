import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';

/** The script of the documentation's pages, which work without it except for the search. */

// The choice on the platform's page (web/parts/theme.tsx).
document.documentElement.dataset.theme = localStorage.getItem('stepform-theme') ?? 'system';
const menu = document.querySelector<HTMLElement>('#menu');
const current = menu?.querySelector<HTMLElement>('[aria-current]');
if (menu && current) menu.scrollTop = current.offsetTop - menu.clientHeight / 2;
addCopyButtons();
startSearch();
