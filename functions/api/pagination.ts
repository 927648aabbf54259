import { type Answer, json, type Resource } from './answer.ts';
import { badRequest } from './errors.ts';
import type { ApiRequest } from './request.ts';

export interface Page {
  /** Starts at 1. */
  page: number;
  size: number;
}

const defaultSize = 20;
const maxSize = 100;

const positive = (request: ApiRequest, parameter: string, otherwise: number): number => {
  const text = request.query.get(parameter);
  if (text === null || text === '') return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw badRequest(`${parameter} must be a whole number of at least 1.`, parameter);
  return Number(text);
};

/** @throws {ApiError} 400 for an invalid page */
export const pageOf = (request: ApiRequest, usual: number = defaultSize, max: number = maxSize): Page => ({
  page: positive(request, 'page[number]', 1),
  size: Math.min(max, positive(request, 'page[size]', usual)),
});

/** Lower bound for the total of a filtered list: the entries seen so far, plus one if there is another page. */
export const totalOf = ({ page, size }: Page, total: number, more: boolean): number =>
  more ? Math.max(total, page * size + 1) : total;

export const pageSlice = <T>(items: T[], { page, size }: Page): T[] => items.slice((page - 1) * size, page * size);

const link = ({ path, query }: ApiRequest, number: number, size: number): string => {
  const next = new URLSearchParams(query);
  next.set('page[number]', String(number));
  next.set('page[size]', String(size));
  return `${path}?${next}`;
};

/** Page links of a list; null for pages that do not exist. */
const links = (request: ApiRequest, { page, size }: Page, prev: number | null, next: number | null) => ({
  self: link(request, page, size),
  first: link(request, 1, size),
  prev: prev && link(request, prev, size),
  next: next && link(request, next, size),
});

const listOf = (
  request: ApiRequest,
  { page, size }: Page,
  {
    total,
    pages,
    data,
    included,
    meta,
  }: {
    total: number;
    pages: number;
    data: Resource[];
    included?: Resource[];
    meta?: Record<string, unknown>;
  },
): Answer => {
  const prev = page > 1 ? page - 1 : null;
  const next = page < pages ? page + 1 : null;
  return json(200, {
    data,
    included,
    links: {
      ...links(request, { page, size }, prev, next),
      last: link(request, Math.max(1, pages), size),
    },
    meta: {
      ...meta,
      pagination: {
        'current-page': page,
        'page-size': size,
        'prev-page': prev,
        'next-page': next,
        'total-pages': pages,
        'total-count': total,
      },
    },
  });
};

/** A page past the end is empty and keeps its number. */
export const list = (
  request: ApiRequest,
  page: Page,
  total: number,
  data: Resource[],
  included?: Resource[],
  meta?: Record<string, unknown>,
): Answer => listOf(request, page, { total, pages: Math.max(1, Math.ceil(total / page.size)), data, included, meta });

/** The requested page of a list that is already in memory. @throws {ApiError} 400 for an invalid page */
export const pageFrom = <T>(request: ApiRequest, all: T[], document: (one: T) => Resource): Answer => {
  const page = pageOf(request);
  return list(
    request,
    page,
    all.length,
    pageSlice(all, page).map((one) => document(one)),
  );
};

/** Like {@link pageFrom}, for documents that are read, or have included resources. */
export const pageWith = async <T>(
  request: ApiRequest,
  all: T[],
  show: (shown: T[]) => Promise<{ data: Resource[]; included?: Resource[] | undefined }>,
): Promise<Answer> => {
  const page = pageOf(request);
  const { data, included } = await show(pageSlice(all, page));
  return list(request, page, all.length, data, included);
};

/** For the private registry, where an empty list has 0 pages (HCP API: registry providers). */
export const registryList = (
  request: ApiRequest,
  page: Page,
  total: number,
  data: Resource[],
  included?: Resource[],
): Answer => listOf(request, page, { total, pages: Math.ceil(total / page.size), data, included });

/** For lists without a known total, such as an organization's runs. */
export const listWithoutTotal = (
  request: ApiRequest,
  { page, size }: Page,
  more: boolean,
  data: Resource[],
  included?: Resource[],
): Answer => {
  const prev = page > 1 ? page - 1 : null;
  const next = more ? page + 1 : null;
  return json(200, {
    data,
    included,
    links: links(request, { page, size }, prev, next),
    meta: { pagination: { 'current-page': page, 'page-size': size, 'prev-page': prev, 'next-page': next } },
  });
};

/** A complete list as a single page. */
export const wholeList = (request: ApiRequest, data: Resource[], included?: Resource[]): Answer =>
  list(request, { page: 1, size: Math.max(defaultSize, data.length) }, data.length, data, included);
