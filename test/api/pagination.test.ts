import { expect, it } from 'vitest';
import {
  list,
  listWithoutTotal,
  type Page,
  pageOf,
  pageSlice,
  registryList,
  totalOf,
  wholeList,
} from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';

const request = (query = '') => ({ path: '/api/v2/things', query: new URLSearchParams(query) }) as ApiRequest;
const items = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `${n}`, type: 'things', attributes: {} }));
const bodyOf = (answer: unknown) => {
  const { body } = answer as { body: string };
  return JSON.parse(body);
};

it.each([
  ['', { page: 1, size: 20 }],
  ['page[number]=3&page[size]=7', { page: 3, size: 7 }],
  ['page[size]=100', { page: 1, size: 100 }],
  ['page[size]=101', { page: 1, size: 100 }],
  ['page[number]=&page[size]=', { page: 1, size: 20 }],
])('the query "%s" requests the page %j', (query, page) => {
  expect(pageOf(request(query))).toEqual(page);
});

it.each(['page[number]=0', 'page[size]=-1', 'page[size]=1.5', 'page[number]=x', 'page[number]=1234567890'])(
  'the query "%s" is rejected, and the error names the parameter',
  (query) => {
    expect(() => pageOf(request(query))).toThrow('must be a whole number of at least 1');
  },
);

it('a page has its slice of the list, and links to the previous and next page', () => {
  const all = items(5);
  expect([1, 2, 3, 4].map((page) => pageSlice(all, { page, size: 2 }).map(({ id }) => id))).toEqual([
    ['0', '1'],
    ['2', '3'],
    ['4'],
    [],
  ]);
  const shown = (page: Page) => bodyOf(list(request('q=a'), page, 5, pageSlice(all, page)));
  const { links, meta } = shown({ page: 2, size: 2 });
  const to = (number: number) => `/api/v2/things?q=a&page%5Bnumber%5D=${number}&page%5Bsize%5D=2`;
  expect(links).toEqual({ self: to(2), first: to(1), prev: to(1), next: to(3), last: to(3) });
  expect(meta.pagination).toEqual({
    'current-page': 2,
    'page-size': 2,
    'prev-page': 1,
    'next-page': 3,
    'total-pages': 3,
    'total-count': 5,
  });
  expect(shown({ page: 1, size: 2 }).links).toMatchObject({ prev: null, next: to(2) });
  expect(shown({ page: 3, size: 2 }).links).toMatchObject({ prev: to(2), next: null });
});

it('an empty list has one page, and none in the registry', () => {
  const pagesOf = (answer: unknown) => bodyOf(answer).meta.pagination['total-pages'];
  const page = { page: 1, size: 20 };
  expect([list, registryList].map((make) => pagesOf(make(request(), page, 0, [])))).toEqual([1, 0]);
  expect([list, registryList].map((make) => pagesOf(make(request(), page, 21, [])))).toEqual([2, 2]);
});

it('an unpaginated list is one page of any length', () => {
  const paginationOf = (count: number) => bodyOf(wholeList(request(), items(count))).meta.pagination;
  expect(paginationOf(3)).toMatchObject({ 'current-page': 1, 'page-size': 20, 'next-page': null, 'total-count': 3 });
  expect(paginationOf(150)).toMatchObject({ 'page-size': 150, 'total-pages': 1, 'next-page': null });
});

it('a list without a total links to the next page, and its count covers the pages read so far', () => {
  const paginationOf = (page: number, more: boolean) =>
    bodyOf(listWithoutTotal(request(), { page, size: 2 }, more, items(2))).meta.pagination;
  expect(paginationOf(1, true)).toEqual({ 'current-page': 1, 'page-size': 2, 'prev-page': null, 'next-page': 2 });
  expect(paginationOf(2, false)).toEqual({ 'current-page': 2, 'page-size': 2, 'prev-page': 1, 'next-page': null });
  const page = { page: 2, size: 10 };
  expect([totalOf(page, 13, false), totalOf(page, 13, true), totalOf(page, 30, true)]).toEqual([13, 21, 30]);
});

it('related documents are included on request', () => {
  const page = { page: 1, size: 20 };
  expect(bodyOf(list(request(), page, 1, items(1)))).not.toHaveProperty('included');
  expect(bodyOf(list(request(), page, 1, items(1), items(2))).included).toHaveLength(2);
  expect(bodyOf(wholeList(request(), items(1), items(2))).included).toHaveLength(2);
  expect(bodyOf(listWithoutTotal(request(), page, false, items(1), items(2))).included).toHaveLength(2);
});
