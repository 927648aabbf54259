import { existsSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { isBase64 } from '#clients/web-server/files.ts';
import { apiReference } from './api-reference.ts';
import { type Rendered, render } from './markdown.ts';

/**
 * The pages of the site: infra/docs/README.md, which is also its navigation, and every page that it leads to.
 */

export interface Page extends Rendered {
  /** Path of the source from the root of the checkout. */
  source: string;
  /** Path on the site. */
  path: string;
}

export interface Pages {
  pages: Page[];
  /** Other files of infra/docs that pages link to or show, by path on the site; pictures of bits in Base64. */
  files: Record<string, string>;
}

export const home = 'infra/docs/README.md';
const description = 'infra/docs/openapi.json';

/** @returns path on the site; undefined for sources, which are only in the repository */
export const pathOf = (source: string): string | undefined => {
  if (source === description) return 'api.html';
  const inDocs = source.startsWith('infra/docs/');
  if (!source.endsWith('.md'))
    return inDocs && !source.endsWith('.ts') ? source.slice('infra/docs/'.length) : undefined;
  if (source === 'README.md') return undefined;
  const outside = source.startsWith('infra/') ? source.slice('infra/'.length) : `project/${source.toLowerCase()}`;
  const path = inDocs ? source.slice('infra/docs/'.length) : outside;
  return path.replace(/(^|\/)readme\.md$/i, '$1index.html').replace(/\.md$/, '.html');
};

const isExternal = (href: string): boolean => /^[a-z]+:/.test(href);

interface Target {
  source: string;
  path: string;
  anchor: string;
}

/** @throws {Error} for a file that does not exist */
const targetOf = (root: string, from: string, href: string): Target | undefined => {
  const [file = '', anchor = ''] = href.split('#');
  let source = file ? posix.normalize(posix.join(posix.dirname(from), file)).replace(/\/$/, '') : from;
  if (!existsSync(posix.join(root, source))) throw new Error(`${from}: ${href} does not exist`);
  if (statSync(posix.join(root, source)).isDirectory()) source = `${source}/README.md`;
  const path = pathOf(source);
  return path === undefined ? undefined : { source, path, anchor };
};

/** From one path of the site to another. */
export const relativePath = (from: string, to: string): string => posix.relative(posix.dirname(from), to);

/** @throws {Error} for a link to a page or heading, or a picture, that does not exist */
export const readPages = (root: string): Pages => {
  const pages = new Map<string, Page>();
  const files: Record<string, string> = {};
  const links: { from: string; to: Target }[] = [];
  const textOf = (source: string): string => {
    const text = readFileSync(posix.join(root, source), isBase64(source) ? 'base64' : 'utf8');
    return source === description ? apiReference(text) : text;
  };
  const waiting = [home];
  const seen = new Set(waiting);
  for (const source of waiting) {
    const path = pathOf(source) as string;
    const picture = (href: string): string => {
      const to = targetOf(root, source, href);
      if (!to) throw new Error(`${source}: ${href} is not below infra/docs, where the site has its pictures`);
      files[to.path] = textOf(to.source);
      return relativePath(path, to.path);
    };
    const link = (href: string): string | undefined => {
      if (isExternal(href)) return href;
      const to = targetOf(root, source, href);
      if (!to) return undefined;
      links.push({ from: source, to });
      if (!seen.has(to.source)) {
        seen.add(to.source);
        if (to.path.endsWith('.html')) waiting.push(to.source);
        else files[to.path] = textOf(to.source);
      }
      return (to.path === path ? '' : relativePath(path, to.path)) + (to.anchor && `#${to.anchor}`);
    };
    pages.set(source, { source, path, ...render(textOf(source), { link, picture }) });
  }
  for (const { from, to } of links) {
    const page = pages.get(to.source);
    if (to.anchor && page && !page.anchors.has(to.anchor))
      throw new Error(`${from}: ${to.source} has no heading #${to.anchor}`);
  }
  return { pages: [...pages.values()], files };
};
